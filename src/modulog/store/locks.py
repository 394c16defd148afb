"""File locks on a store: at most one process writes, any number of processes read.

A run of a pipeline locks a file of its own from beginning to end, and writes into it who it is. A reader has
a shared lock on the file of its state. Before the files of an old state are deleted, an exclusive lock on the
file of the state is tried, without waiting. The operating system releases the locks of a process when it
ends, for whatever reason. Where locks are not available, as on some network drives, states are read without a
lock.
"""

from __future__ import annotations

import getpass
import os
import socket
from datetime import UTC, datetime
from pathlib import Path

from modulog.errors import DataError

try:
    import fcntl
except ImportError:  # pragma: no cover  (Windows has no such locks)
    fcntl = None  # type: ignore[assignment]

LOCK = "modulog-store.lock"
RUN_LOCK = "modulog-run.lock"
READERS = "readers"


class Lock:
    """An open file that is locked until `release` is called or the object is deleted."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Release the lock; a second call does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self.release()


def lock_for_writing(folder: Path) -> Lock:
    """Take the lock for writing; a DataError if another process has it."""
    while True:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        lock = _try_lock(descriptor, shared=False)
        if lock is None:
            raise DataError(f"{folder}: another process is writing this store; try again when it is done")
        if os.fstat(descriptor).st_nlink:
            return lock
        lock.release()  # a writer that failed removed the file while we waited for it


def lock_for_running(folder: Path) -> Lock:
    """Take the lock for a run of a pipeline; if it is taken, a DataError says who has it since when."""
    path = folder / RUN_LOCK
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    lock = _try_lock(descriptor, shared=False)
    if lock is None:
        who = path.read_text(encoding="utf-8") or "just started"
        raise DataError(f"{folder}: another run is at work on this store ({who}); try again when it is done")
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
    os.ftruncate(descriptor, 0)
    os.write(
        descriptor,
        f"process {os.getpid()} of {getpass.getuser()} on {socket.gethostname()}, since {now} UTC".encode(),
    )
    return lock


def reader_file(folder: Path, generation: int) -> Path:
    """The file that readers of a state lock."""
    return folder / READERS / f"{generation:06d}"


def lock_for_reading(folder: Path, generation: int) -> Lock | None:
    """Take a shared lock on a state, so that its files are not deleted; None where that is not possible."""
    try:
        return _try_lock(os.open(reader_file(folder, generation), os.O_RDONLY), shared=True)
    except OSError:
        return None


def read_states(folder: Path, before: int) -> set[int]:
    """The states before `before` that some process still reads; the lock files of the others are deleted."""
    found = set()
    for path in (folder / READERS).glob("[0-9]*"):
        if int(path.name) >= before:
            continue
        lock = _try_lock(os.open(path, os.O_RDONLY), shared=False)
        if lock is None:
            found.add(int(path.name))
        else:
            path.unlink()
            lock.release()
    return found


def _try_lock(descriptor: int, shared: bool) -> Lock | None:
    """Lock an open file without waiting; if another process has it locked, close the file and return None."""
    if fcntl is None:
        return Lock(descriptor)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        os.close(descriptor)
        raise
    return Lock(descriptor)
