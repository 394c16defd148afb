# For the tours: `say` prints a heading, `run` a command and then what it prints. On stderr Spark greets: that is only shown when the command fails.

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

run() {
    printf '\n$'
    for word; do
        case $word in
            *[!A-Za-z0-9_./:=,-]*) printf " '%s'" "$word" ;;
            *) printf ' %s' "$word" ;;
        esac
    done
    printf '\n'
    { greeting=$("$@" 2>&1 >&3 3>&-); } 3>&1 || { status=$?; printf '%s\n' "$greeting" >&2; exit $status; }
}
