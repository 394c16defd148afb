"""Working on all cores of one machine: kernels run without the interpreter lock, so threads run them at the
same time.

An engine has one `Threads`. While it works, these are the *current* ones of its thread (`with
threads.current():`), and whatever can be cut into parts asks for them: sorting and merging (`split_work.py`),
joins (`stream`). In a thread of the pool, and wherever no engine has said otherwise, there is no other
thread, and all parts are done one after the other. How work is cut, and the order of results, never depends
on the number of threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import wraps
from itertools import count, islice, pairwise
from typing import Generic, ParamSpec, Protocol, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

LEAST = 1 << 16
"""Entries from which work is divided. Waking a thread and waiting for it takes 0.05 to 0.1 ms, which is what
kernels need for 10,000 to 50,000 entries.
"""

PIECE = 1 << 16
"""Rows that go through the joins of a rule at once. The order of results depends on this, so it is the same
for any number of threads.
"""

GROUP = 4
"""Parts of a stream, for each thread, that are worked on before any of them is handed out."""

ROOM = 1 << 19
"""Rows of one part of a stream that may wait to be handed out; what is beyond is computed when it is asked
for.
"""


class Threads:
    """The threads that an engine may use at the same time, the caller's among them. They start when there is
    enough to do and end at `close`.

    >>> threads = Threads(2, least=1)
    >>> threads.run([lambda: 1, lambda: 2, lambda: 3])
    [1, 2, 3]
    >>> threads.close()
    """

    def __init__(self, workers: int = 1, least: int = LEAST, piece: int = PIECE) -> None:
        self.workers, self.least, self.piece = workers, least, piece
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def current(self) -> Current:
        """A context in which these threads are what work of the caller's thread is divided between."""
        return Current(self)

    def parts(self, entries: int) -> int:
        """How many parts so many entries are worth."""
        return min(self.workers, entries // self.least) if entries >= 2 * self.least else 1

    def run(self, tasks: Sequence[Callable[[], T]]) -> list[T]:
        """The results of all tasks. The first that fails, in the order given, is the one whose error is
        raised; no task is still running then.
        """
        if self.workers < 2 or len(tasks) < 2:
            return [task() for task in tasks]
        job, pool = _Job(tasks), self._helpers()
        helpers: list[Future[None]] = []
        try:
            for _ in range(min(self.workers, len(tasks)) - 1):
                helpers.append(pool.submit(job.work))
            job.work()
            _finish(helpers)
        except BaseException:
            job.stopped = True
            _finish(helpers)
            raise
        return job.outcome()

    def _helpers(self) -> ThreadPoolExecutor:
        """The threads beside the caller's; a forked process has none of those that its parent had."""
        if self._pool is None or self._process != os.getpid():
            self._pool = ThreadPoolExecutor(self.workers - 1, thread_name_prefix="modulog")
            self._process = os.getpid()
        return self._pool

    def close(self) -> None:
        """End the threads; they start again if there is more to do."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown()
        self._pool = None


class Current:
    """What `Threads.current` gives. A class, because small updates enter it often: a generator takes
    longer.
    """

    __slots__ = ("_before", "_threads")

    def __init__(self, threads: Threads) -> None:
        self._threads = threads

    def __enter__(self) -> None:
        self._before, _LOCAL.threads = _LOCAL.threads, self._threads

    def __exit__(self, *_: object) -> None:
        _LOCAL.threads = self._before


class _Job(Generic[T]):
    """Tasks that several threads take one after the other."""

    def __init__(self, tasks: Sequence[Callable[[], T]]) -> None:
        self.tasks, self.stopped = tasks, False
        self._numbers = count()
        self._results: dict[int, T] = {}
        self._errors: dict[int, BaseException] = {}

    def work(self) -> None:
        """Do tasks while there are any. Once one has failed no other begins; those before it have all
        begun.
        """
        with ALONE.current():
            while not self.stopped and (number := next(self._numbers)) < len(self.tasks):
                try:
                    self._results[number] = self.tasks[number]()
                except BaseException as error:
                    self.stopped = True
                    self._errors[number] = error

    def outcome(self) -> list[T]:
        """All results, or the error of the first task that failed; what stops a program goes before other
        errors.
        """
        if self._errors:
            raise self._errors[min(self._errors, key=lambda n: (isinstance(self._errors[n], Exception), n))]
        return [self._results[number] for number in range(len(self.tasks))]


def _finish(helpers: Sequence[Future[None]]) -> None:
    """Wait for the helpers that have begun, in a way that Ctrl-C can interrupt on every system."""
    begun = [helper for helper in helpers if not helper.cancel()]
    while begun and wait(begun, timeout=1.0).not_done:
        pass


ALONE = Threads()
"""No thread but the caller's."""


class _Local(threading.local):
    """What each thread has for itself."""

    threads = ALONE


_LOCAL = _Local()


def current() -> Threads:
    """The threads that work may be divided between.

    >>> current().workers
    1
    """
    return _LOCAL.threads


def undivided(entries: int) -> bool:
    """Whether so many entries are one part: what small work asks first.

    >>> undivided(1000)
    True
    """
    threads = _LOCAL.threads
    return entries < 2 * threads.least or threads.workers == 1


def ranges(entries: int, longest: int | None = None) -> list[tuple[int, int]]:
    """Ranges of so many entries for the current threads, each at most so long: at least one for each thread
    if there are enough.
    """
    parts = current().parts(entries)
    if longest is not None:
        parts = max(parts, -(-entries // longest))
    edges = [entries * part // parts for part in range(parts + 1)] if entries else [0, 0]
    return list(pairwise(edges))


def for_ranges(entries: int, task: Callable[[int, int], T], longest: int | None = None) -> list[T]:
    """The results of a task for ranges that cover all entries, in their order.

    >>> for_ranges(10, lambda low, high: high - low)
    [10]
    """
    found = ranges(entries, longest)
    if len(found) == 1:
        return [task(*found[0])]
    return current().run([lambda low=low, high=high: task(low, high) for low, high in found])  # type: ignore[misc]


class Sized(Protocol):
    """Something with a number of rows."""

    @property
    def rows(self) -> int:
        """How many there are."""


S = TypeVar("S", bound=Sized)
Part = tuple[int, Callable[[], Iterator[S]]]
"""How many rows there are to work on, and what does that."""


def divided(method: Callable[P, T]) -> Callable[P, T]:
    """A method of something that has `threads`: while it runs, they are the current ones."""

    @wraps(method)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        threads: Threads = args[0].threads  # type: ignore[attr-defined]
        before = _LOCAL.threads
        if before is threads:
            return method(*args, **kwargs)
        _LOCAL.threads = threads
        try:
            return method(*args, **kwargs)
        finally:
            _LOCAL.threads = before

    return run


def divided_steps(method: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
    """As `divided`, for what is computed a step at a time."""

    @wraps(method)
    def run(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        threads: Threads = args[0].threads  # type: ignore[attr-defined]
        steps = method(*args, **kwargs)
        while True:
            with threads.current():
                found = list(islice(steps, 1))
            if not found:
                return
            yield found[0]

    return run


def stream(parts: Iterable[Part[S]]) -> Iterator[S]:
    """Everything that the parts give, in order. The first part is done by the caller, so that what all of
    them need is there before threads start.

    >>> from types import SimpleNamespace as Rows
    >>> [found.rows for found in stream([(1, lambda: iter([Rows(rows=3)])), (1, lambda: iter([Rows(rows=2)]))])]
    [3, 2]
    """
    threads, waiting = current(), iter(parts)
    ahead = GROUP * threads.workers if threads.workers > 1 else 1
    for _, part in islice(waiting, 1):
        yield from part()
    while group := list(islice(waiting, ahead)):
        if threads.parts(sum(rows for rows, _ in group)) < 2:
            for _, part in group:
                yield from part()
            continue
        begun = threads.run([lambda part=part: _begun(part) for _, part in group])  # type: ignore[misc]
        for found, rest in begun:
            yield from found
            yield from rest


def _begun(part: Callable[[], Iterator[S]]) -> tuple[list[S], Iterator[S]]:
    """What a part gives first, and the rest of it."""
    rest, found, rows = part(), list[S](), 0
    for piece in rest:
        found.append(piece)
        rows += piece.rows
        if rows >= ROOM:
            break
    return found, rest


def usable_cores() -> int:
    """How many cores this process may use.

    >>> usable_cores() >= 1
    True
    """
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
