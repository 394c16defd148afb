#!/bin/sh
# What `make` needs before anything runs. As root on Debian or Ubuntu it installs what is missing; elsewhere one line says how.
#
#   setup.sh java               Java for Spark
#   setup.sh packages FOLDER    a virtual environment in FOLDER, with Modulog, PySpark and the tools of development
#
# STEP stands before the heading, `[2/3]` for example. PYTHON is the interpreter that is tried first.
set -eu
cd "$(dirname "$0")/.."
. scripts/alive.sh
trap quiet EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

step() { printf '%s%s\n' "${STEP:+$STEP }" "$*"; }

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# logged LOG LABEL COMMAND...: runs a command that writes to LOG. When it fails, the end of LOG is shown.
logged() {
    log=$1 label=$2
    shift 2
    status=0
    alive "$label" "$log"
    "$@" </dev/null >>"$log" 2>&1 || status=$?
    quiet
    if [ "$status" -ne 0 ]; then
        tail -n 30 "$log" >&2
        printf '%s failed: above is the end of %s\n' "$label" "$log" >&2
    fi
    return "$status"
}

# ---- apt-get

installs() { has apt-get && [ "$(id -u)" -eq 0 ]; }

# known DEFAULT PACKAGE...: the first of these packages of which apt has a version, or else DEFAULT.
known() {
    default=$1
    for package; do
        if apt-cache show "$package" >/dev/null 2>&1; then
            echo "$package"
            return
        fi
    done
    echo "$default"
}

# apt_install PACKAGE...: installs one of these packages. A new container has no lists of packages, another machine old ones.
apt_install() {
    apt_log=$(mktemp)
    logged "$apt_log" "apt-get update" apt-get update || true
    name=$(known "$@")
    logged "$apt_log" "apt-get install $name" \
        env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$name"
    rm -f "$apt_log"
}

# ---- Java

JAVA_PACKAGES="openjdk-17-jre-headless openjdk-21-jre-headless"

# Whether Spark will find Java 17 or newer: JAVA_HOME counts before the path. `version` is the one that it will find.
find_java() {
    version=$("${JAVA_HOME:+$JAVA_HOME/bin/}java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
    [ "${version:-0}" -ge 17 ]
}

java_command() {
    if has apt-get; then
        # shellcheck disable=SC2086
        echo "sudo apt-get install $(known $JAVA_PACKAGES)"
    elif has dnf; then echo "sudo dnf install java-21-openjdk-headless"
    elif has zypper; then echo "sudo zypper install java-17-openjdk-headless"
    elif has pacman; then echo "sudo pacman -S jre17-openjdk-headless"
    elif has apk; then echo "apk add openjdk17-jre-headless"
    elif has brew; then echo "brew install openjdk@17; export JAVA_HOME=\$(brew --prefix openjdk@17)"
    else echo "a package from https://adoptium.net"
    fi
}

need_java() {
    if find_java; then
        step "Java $version is there"
        return
    fi
    found="Spark needs Java 17 or newer, and there is ${version:+only Java }${version:-none}"
    if [ -n "${JAVA_HOME:-}" ]; then fail "$found in JAVA_HOME ($JAVA_HOME): name another folder, or unset it"; fi
    if ! installs; then fail "$found. This installs it: $(java_command)"; fi
    step "installing Java 17 (about half a minute)"
    # shellcheck disable=SC2086
    apt_install $JAVA_PACKAGES
    find_java || fail "$name is installed, and \`java\` is still ${version:-not on PATH}: set JAVA_HOME"
}

# ---- Python

PYTHON_PACKAGES="python3.13-venv python3.12-venv python3.11-venv"

# Whether an interpreter is new enough and can make environments; Debian has `venv` in a package of its own.
is_python() { "$1" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for python in "${PYTHON:-python3}" python3.13 python3.12 python3.11; do
        if is_python "$python"; then return; fi
    done
    return 1
}

python_command() {
    if has apt-get; then
        # shellcheck disable=SC2086
        echo "sudo apt-get install $(known $PYTHON_PACKAGES)"
    elif has dnf; then echo "sudo dnf install python3.12"
    elif has zypper; then echo "sudo zypper install python312"
    elif has pacman; then echo "sudo pacman -S python"
    elif has apk; then echo "apk add python3"
    elif has brew; then echo "brew install python@3.13"
    else echo "a package from https://www.python.org/downloads"
    fi
}

need_python() {
    if find_python; then return; fi
    # shellcheck disable=SC2086
    if installs; then apt_install $PYTHON_PACKAGES; fi
    find_python || fail "Modulog needs Python 3.11 or newer with its module venv, and there is none. This installs it: $(python_command)"
}

packages() {
    step "making $1 and installing packages (about a minute)"
    log="$1/install.log"
    if ! is_python "$1/bin/python"; then
        need_python
        rm -rf "$1"
        mkdir "$1"
        logged "$log" "venv" "$python" -m venv "$1"
    fi
    logged "$log" "pip" \
        "$1/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off -e '.[dev,spark]'
}

case ${1:-} in
    java) need_java ;;
    packages) packages "$2" ;;
    *) fail "usage: setup.sh java | setup.sh packages FOLDER" ;;
esac
