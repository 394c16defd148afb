"""Checkpoints of tasks: each attempt writes into an area of its own, which begins with links to what the newest attempt before it has left.

Nobody writes into the area of another attempt, and an area that is taken over stays as it is: two attempts at once, of which one is not quite dead, can do each other no harm.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from modulog.pipeline.checkpoint_file import STATE
from modulog.pipeline.task_log import OWN_STORE
from modulog.store.draft import CHECKPOINT
from modulog.task.states import link_file

_LEFT = "left-"
_TRIES = 5
"""How often an area is looked at that changes meanwhile."""


def take_checkpoint(tasks: Path, area: Path) -> None:
    """Let an area begin with the newest checkpoint that lies in the folder of tasks of a store; if there is none, with nothing."""
    for _ in range(_TRIES):
        newest = _newest(tasks)
        if newest is None:
            return
        try:
            _link_area(newest.parent, area)
            return
        except (OSError, ValueError, KeyError, TypeError):  # its attempt is at work, and has removed a file
            shutil.rmtree(area, ignore_errors=True)


def _newest(tasks: Path) -> Path | None:
    """The newest state that was committed."""
    found = {}
    patterns = (f"{_LEFT}*/{STATE}", f"*/tasks/*/*/{OWN_STORE}/{CHECKPOINT}/{STATE}")
    for path in (path for pattern in patterns for path in tasks.glob(pattern)):
        with suppress(OSError):
            found[path] = path.stat().st_mtime_ns
    return max(found, key=found.__getitem__, default=None)


def _link_area(source: Path, area: Path) -> None:
    """Give the files of a state second names in another area, and the state a copy."""
    sealed = (source / STATE).read_bytes()
    files = json.loads(json.loads(sealed)["content"])["files"]
    for folder, names in files.items():
        for name in names:
            link_file(source / folder / name, area / folder / name)
    area.mkdir(parents=True, exist_ok=True)
    (area / STATE).write_bytes(sealed)
    times = (source / STATE).stat()
    os.utime(area / STATE, ns=(times.st_atime_ns, times.st_mtime_ns))


def keep_checkpoint(tasks: Path) -> None:
    """Remove everything from the folder of tasks of a store but the newest checkpoint, for the next run."""
    newest, kept = _newest(tasks), tasks / f"{_LEFT}{uuid4().hex}"
    if newest is not None:
        with suppress(OSError):
            newest.parent.rename(kept)
    for path in tasks.glob("*"):
        if path != kept:
            shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        tasks.rmdir()  # if nothing is left
