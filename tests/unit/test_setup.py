"""What `make` does where Java, Python or packages are missing: `scripts/setup.sh` with tools of its own on PATH."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[2] / "scripts" / "setup.sh"
NEEDED = "sh dirname sed cut tail cp mktemp mkdir rm sleep env".split()
"""What the script, and the tools that are made here, use of every system."""


@dataclass
class Machine:
    """A folder of tools that is all of PATH, and a note of each call of those that were made here."""

    folder: Path

    def __post_init__(self) -> None:
        self.tools.mkdir()
        for name in NEEDED:
            if (found := shutil.which(name)) is not None:
                (self.tools / name).symlink_to(found)

    @property
    def tools(self) -> Path:
        return self.folder / "tools"

    @property
    def calls(self) -> list[str]:
        """Each call as it was, first to last."""
        noted = self.folder / "calls"
        return noted.read_text(encoding="utf-8").splitlines() if noted.exists() else []

    def tool(self, name: str, script: str) -> None:
        """Let there be a command that notes how it was called and then runs a script."""
        path = self.tools / name
        path.write_text(f'#!/bin/sh\necho "{name} $*" >>{self.folder}/calls\n{script}\n', encoding="utf-8")
        path.chmod(0o755)

    def java(self, version: str, name: str = "java") -> None:
        self.tool(name, f"echo 'openjdk version \"{version}\" 2025-04-15' >&2")

    def python(self, name: str, *, new: bool) -> None:
        """An interpreter that says whether it is new enough, and whose environments hold itself."""
        made = 'if [ "$2" = venv ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; fi'
        self.tool(
            name, f'case $1 in -c) exit {0 if new else 1};; esac\n{made}\nif [ "$2" = pip ]; then {PIP}; fi'
        )

    def user(self, number: int) -> None:
        self.tool("id", f"echo {number}")

    def apt(self, *, lists: bool, installs: str) -> None:
        """apt-get and apt-cache; without lists no package is known before an update."""
        if lists:
            (self.folder / "lists").touch()
        self.tool("apt-cache", f"[ -e {self.folder}/lists ]")
        update = f"if [ $1 = update ]; then : >{self.folder}/lists; fi"
        self.tool("apt-get", f"{update}\nif [ $1 = install ]; then {installs}; fi")

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self.tools / "sh", SETUP, *arguments],
            env={"PATH": str(self.tools), "TMPDIR": str(self.folder), **environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        # On a busy machine the tools may take so long that there are signs of life.
        done.stderr = re.sub(r"(?m)^      \S.*, \d+ s(: .*)?\n", "", done.stderr)
        return done


PIP = "echo Successfully installed everything"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    if os.name != "posix":
        pytest.skip("needs a POSIX shell")
    return Machine(tmp_path)


# ---- Java


@pytest.mark.parametrize("version", ["17.0.15", "21", "25.0.1"])
def test_java_that_is_there_is_taken(machine: Machine, version: str) -> None:
    machine.java(version)
    done = machine.run("java", STEP="[1/3]")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"[1/3] Java {version.partition('.')[0]} is there\n"
    assert machine.calls == ["java -version"]


@pytest.mark.parametrize("lists", [True, False])
@pytest.mark.parametrize("old", [None, "11.0.2", "1.8.0_292"])
def test_root_on_debian_gets_java(machine: Machine, lists: bool, old: str | None) -> None:
    if old is not None:
        machine.java(old)
    machine.user(0)
    machine.java("17.0.15", name="packed")
    machine.apt(lists=lists, installs=f"cp {machine.tools}/packed {machine.tools}/java")
    done = machine.run("java", STEP="[1/3]")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[1/3] installing Java 17 (about half a minute)\n"
    assert [call for call in machine.calls if call.startswith("apt-get")] == [
        "apt-get update",
        "apt-get install -y --no-install-recommends openjdk-17-jre-headless",
    ]


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        ("apt-get", "sudo apt-get install openjdk-17-jre-headless"),
        ("dnf", "sudo dnf install java-21-openjdk-headless"),
        ("brew", "brew install openjdk@17; export JAVA_HOME=$(brew --prefix openjdk@17)"),
        ("nothing", "a package from https://adoptium.net"),
    ],
)
def test_elsewhere_one_line_says_what_installs_java(machine: Machine, tool: str, command: str) -> None:
    machine.user(1000)
    machine.tool(tool, "exit 1")
    done = machine.run("java")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"Spark needs Java 17 or newer, and there is none. This installs it: {command}\n"


def test_root_elsewhere_installs_nothing(machine: Machine) -> None:
    machine.user(0)
    machine.tool("dnf", "exit 1")
    done = machine.run("java")
    assert done.returncode == 1
    assert "dnf install java-21-openjdk-headless" in done.stderr
    assert [call for call in machine.calls if call.startswith("dnf")] == []


def test_java_home_counts_before_the_path(machine: Machine) -> None:
    machine.java("17.0.15")
    home = machine.folder / "jdk"
    home.mkdir()
    done = machine.run("java", JAVA_HOME=str(home))
    assert done.returncode == 1
    assert done.stderr == (
        f"Spark needs Java 17 or newer, and there is none in JAVA_HOME ({home}): name another folder, or unset it\n"
    )


def test_an_error_of_apt_get_is_shown(machine: Machine) -> None:
    machine.user(0)
    machine.apt(lists=True, installs="echo 'E: no space left'; exit 100")
    done = machine.run("java")
    assert done.returncode == 100
    assert "E: no space left" in done.stderr


# ---- Python and packages


@pytest.mark.parametrize(
    ("there", "taken"),
    [
        ({"python3": True, "python3.13": True}, "python3"),
        ({"python3": False, "python3.13": False, "python3.12": True, "python3.11": True}, "python3.12"),
        ({"python3.11": True}, "python3.11"),
    ],
)
def test_first_python_that_is_new_enough(machine: Machine, there: dict[str, bool], taken: str) -> None:
    for name, new in there.items():
        machine.python(name, new=new)
    environment = machine.folder / "environment"
    done = machine.run("packages", str(environment), STEP="[2/3]")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"[2/3] making {environment} and installing packages (about a minute)\n"
    assert f"{taken} -m venv {environment}" in machine.calls
    assert (environment / "install.log").read_text(encoding="utf-8") == f"{PIP[5:]}\n"


def test_python_is_the_one_that_was_asked_for(machine: Machine) -> None:
    machine.python("python3", new=True)
    machine.python("mine", new=True)
    machine.run("packages", str(machine.folder / "environment"), PYTHON="mine")
    assert f"mine -m venv {machine.folder}/environment" in machine.calls


@pytest.mark.parametrize(
    ("tool", "command"),
    [
        ("apt-get", "sudo apt-get install python3.13-venv"),
        ("brew", "brew install python@3.13"),
        ("nothing", "a package from https://www.python.org/downloads"),
    ],
)
def test_one_line_says_what_installs_python(machine: Machine, tool: str, command: str) -> None:
    machine.user(1000)
    machine.python("python3", new=False)
    machine.tool("apt-cache", "exit 0")
    machine.tool(tool, "exit 1")
    done = machine.run("packages", str(machine.folder / "environment"))
    assert done.returncode == 1
    assert done.stderr == (
        "Modulog needs Python 3.11 or newer with its module venv, and there is none. "
        f"This installs it: {command}\n"
    )
    assert not (machine.folder / "environment").exists()


def test_root_on_debian_gets_python(machine: Machine) -> None:
    machine.user(0)
    machine.python("python3", new=False)
    machine.python("later", new=True)
    machine.apt(lists=False, installs=f"cp {machine.tools}/later {machine.tools}/python3.13")
    done = machine.run("packages", str(machine.folder / "environment"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "apt-get install -y --no-install-recommends python3.13-venv" in machine.calls


def test_an_environment_that_is_there_is_kept(machine: Machine) -> None:
    environment = machine.folder / "environment"
    machine.python("python3", new=True)
    assert machine.run("packages", str(environment)).returncode == 0
    (environment / "mine").touch()
    assert machine.run("packages", str(environment)).returncode == 0
    assert (environment / "mine").exists()


def test_an_error_of_pip_is_shown_with_its_log(machine: Machine) -> None:
    broken = PIP.replace("Successfully installed everything", "ERROR: no such package; exit 3")
    machine.python("python3", new=True)
    script = (machine.tools / "python3").read_text(encoding="utf-8").replace(PIP, broken)
    (machine.tools / "python3").write_text(script, encoding="utf-8")
    environment = machine.folder / "environment"
    done = machine.run("packages", str(environment))
    assert done.returncode == 3
    assert (
        done.stderr == f"ERROR: no such package\npip failed: above is the end of {environment}/install.log\n"
    )


def test_a_long_command_gives_signs_of_life(machine: Machine) -> None:
    """The command waits until a sign has come, and ends then: without one this would wait for ever."""
    script = f"""
        . {SETUP.parent}/alive.sh
        echo 'Collecting numpy' >log
        alive pip log 2>signs
        until [ -s signs ]; do sleep 0.1; done
        quiet
        cat signs
    """
    done = subprocess.run(
        ["sh", "-euc", script], cwd=machine.folder, capture_output=True, text=True, timeout=600
    )
    assert done.stdout.startswith("      pip, 4 s: Collecting numpy\n")
