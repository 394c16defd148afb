"""Who uses a store: one process at most writes, any number reads.

A run of a pipeline holds a file of its own from beginning to end, and says there who it is. A reader holds the file of its state, shared. Whoever removes what old states need asks for the files of those states alone, without waiting. The
system gives locks up when a process ends, however it ends. Where locks cannot be had, as on some network drives, reading goes on without.
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
    while True:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        lock = _locked(descriptor, shared=False)
        if lock is None:
            raise DataError(f"{folder}: another process is writing this store; try again when it is done")
        if os.fstat(descriptor).st_nlink:
            return lock
        lock.release()  # a writer that failed removed the file while we waited for it


def lock_for_running(folder: Path) -> Lock:
    """The lock of a run on a store, held from beginning to end; an error says who has it, and since when."""
    path = folder / RUN_LOCK
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    lock = _locked(descriptor, shared=False)
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
