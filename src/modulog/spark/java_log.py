"""The file that takes what the Java process of a session of our own prints, and Spark's workers in Python
with it.

Spark logs to stderr, and so do Java itself and the workers: hundreds of lines for one bad record. The Java
process of a session that Modulog starts has a file for stdout and stderr instead, and errors that come from
Spark name it. There is one Java process for each Python process: it outlives its sessions, and so does its
file. Without a name the file is a temporary one, which is removed at the end of the process if no error has
named it. PySpark is not imported here: it may be what is missing.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import IO

_NOISE = re.compile(r"Picked up |WARNING: |NOTE: |.*/spark-class: line |\s*$")
_MOMENT = 1.0  # seconds
_MOST = 10  # lines of Java's that a message has

_path: Path | None = None
_process: Popen[bytes] | None = None
_is_named = False


@contextmanager
def opened(path: Path | None) -> Iterator[IO[bytes]]:
    """The file to start Java with, at this path or a temporary one; PySpark's own complaints about Java go
    there, too.
    """
    global _path
    if path is None:
        number, name = tempfile.mkstemp(prefix="modulog-spark-", suffix=".log")
        os.close(number)
        path = Path(name)
        atexit.register(_remove, path)
    _path = path.absolute()
    logging.getLogger("py4j").addHandler(logging.FileHandler(_path, encoding="utf-8", delay=True))
    with _path.open("ab") as file:
        yield file


def watch(process: Popen[bytes]) -> None:
    """Remember the process that prints into the file."""
    global _process
    _process = process


def has_ended() -> bool:
    """Whether the Java process that we started is no more; one that has just closed its connections is given
    a moment to end.
    """
    if _process is None:
        return False
    with suppress(TimeoutExpired):
        _process.wait(_MOMENT)
    return _process.returncode is not None


def is_there() -> bool:
    """Whether Java prints into a file of ours."""
    return _path is not None and _path.exists()


def named(message: str) -> str:
    """A message with one more line that names the file, if there is one."""
    global _is_named
    if not is_there():
        return message
    _is_named = True
    return f"{message}\nSpark's log: {_path}"


def last_words() -> list[str]:
    """The last lines in the file that are more than a greeting: why Java did not start."""
    if _path is None or not is_there():
        return []
    lines = _path.read_text("utf-8", "replace").splitlines()
    return [line for line in lines if not _NOISE.match(line)][-_MOST:]


def _remove(path: Path) -> None:
    if not _is_named:
        with suppress(OSError):
            path.unlink()
