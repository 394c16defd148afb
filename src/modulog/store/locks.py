"""Who uses a store: one process at most writes, any number reads.

A reader holds the file of its state, shared. Whoever removes what old states need asks for the files of those states alone, without waiting. The
system gives locks up when a process ends, however it ends. Where locks cannot be had, as on some network drives, reading goes on without.
"""

from __future__ import annotations

import os
from pathlib import Path

from modulog.errors import DataError

try:
    import fcntl
except ImportError:  # pragma: no cover  (Windows has no such locks)
    fcntl = None  # type: ignore[assignment]

LOCK = "modulog-store.lock"
READERS = "readers"


class Lock:
    """An open file that is locked until `release`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Give the lock up; again does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __del__(self) -> None:
        self.release()


def lock_for_writing(folder: Path) -> Lock:
    """The lock of the one who writes; an error if another process has it."""
    path = folder / LOCK
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        lock = _locked(descriptor, shared=False)
        if lock is None:
            raise DataError(f"{folder}: another process is writing this store; try again when it is done")
        if os.fstat(descriptor).st_nlink:
            return lock
        lock.release()  # a writer that failed removed the file while we waited for it


def reader_file(folder: Path, generation: int) -> Path:
    """The file that readers of a state hold."""
    return folder / READERS / f"{generation:06d}"


def lock_for_reading(folder: Path, generation: int) -> Lock | None:
    """A hold on a state, so that its files stay; None where there is nothing to hold."""
    try:
        return _locked(os.open(reader_file(folder, generation), os.O_RDONLY), shared=True)
    except OSError:
        return None


def read_states(folder: Path, before: int) -> set[int]:
    """The states before one that somebody still reads; what marked the others is removed."""
    found = set()
    for path in (folder / READERS).glob("[0-9]*"):
        if int(path.name) >= before:
            continue
        lock = _locked(os.open(path, os.O_RDONLY), shared=False)
        if lock is None:
            found.add(int(path.name))
        else:
            path.unlink()
            lock.release()
    return found


def _locked(descriptor: int, shared: bool) -> Lock | None:
    """The open file as a lock; None, and the file closed, if another has it."""
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
