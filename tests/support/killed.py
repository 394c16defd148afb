"""Work in a process that is killed at a step that is counted, so that it is the same moment however busy the machine is."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

STEPS = ("open", "os.mkdir", "os.remove", "os.rename", "os.rmdir")
"""What Python tells its auditors before it happens to a file."""


def die_before(step: int, folder: Path) -> None:
    """From now on this process counts what it does to files in a folder, and kills itself before one of these steps."""
    place, left = os.fspath(folder), step

    def hook(event: str, args: tuple[Any, ...]) -> None:
        nonlocal left
        if event in STEPS and isinstance(args[0], str | Path) and os.fspath(args[0]).startswith(place):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def killed(work: Callable[[], object], step: int, folder: Path) -> bool:
    """Let another process work until it is killed; False if it came to its end before that step.

    The process is forked: it has everything loaded and compiled, so that its first step belongs to the work.
    """
    worker = os.fork()
    if worker == 0:
        code = 1
        try:
            die_before(step, folder)
            work()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(worker, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the work failed by itself"
    return os.WIFSIGNALED(status)
