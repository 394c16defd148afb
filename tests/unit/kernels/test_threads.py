"""Tasks on several threads: results in order, the first error, nothing left behind; no test waits for a clock."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from modulog.kernels.threads import ALONE, GROUP, ROOM, Threads, current, for_ranges, ranges, stream


@pytest.fixture(params=[1, 2, 3])
def threads(request: pytest.FixtureRequest) -> Iterator[Threads]:
    found = Threads(request.param, least=1)
    yield found
    found.close()


def helpers() -> set[int | None]:
    """The threads of pools that are alive."""
    return {thread.ident for thread in threading.enumerate() if thread.name.startswith("modulog")}


def test_results_are_in_order(threads: Threads) -> None:
    assert threads.run([lambda n=n: n * n for n in range(50)]) == [n * n for n in range(50)]


def test_tasks_are_done_at_the_same_time() -> None:
    threads, both = Threads(2), threading.Barrier(2)  # which neither passes alone
    assert sorted(threads.run([both.wait, both.wait])) == [0, 1]
    threads.close()


def test_the_first_error_is_raised(threads: Threads) -> None:
    def fail(number: int) -> int:
        if number in (3, 4, 7):
            raise ValueError(number)
        return number

    with pytest.raises(ValueError, match=r"^3$") as caught:
        threads.run([lambda n=n: fail(n) for n in range(9)])
    assert caught.traceback[-1].name == "fail"


def test_an_interrupt_waits_for_what_has_begun() -> None:
    """Ctrl-C is an error of the caller's own task here: nothing else begins, and what runs is over when it is raised."""
    threads, begun, interrupted, done = Threads(2), threading.Event(), threading.Event(), list[str]()

    def interrupt() -> None:
        begun.wait()
        interrupted.set()
        raise KeyboardInterrupt

    def long() -> None:
        begun.set()
        interrupted.wait()
        done.append("long")

    tasks: list[Callable[[], None]] = [interrupt, long, *[lambda: done.append("late")] * 50]
    with pytest.raises(KeyboardInterrupt):
        threads.run(tasks)
    assert "long" in done
    threads.close()


def test_a_signal_reaches_a_caller_that_waits() -> None:
    """The caller has nothing left to do; the signal interrupts its waiting, and the helper ends only after that."""
    threads, handled = Threads(2), threading.Event()
    me = threading.main_thread()
    assert threading.current_thread() is me
    before = signal_handler(handled)
    both = threading.Barrier(2)

    def helper() -> None:
        both.wait()
        if threading.current_thread() is not me:
            signal_to(me)
            handled.wait()

    try:
        with pytest.raises(KeyboardInterrupt):
            threads.run([helper, helper])
    finally:
        restore(before)
    threads.close()


def signal_handler(handled: threading.Event) -> object:
    import signal

    def handle(*_: object) -> None:
        handled.set()
        raise KeyboardInterrupt

    return signal.signal(signal.SIGUSR1, handle)


def signal_to(thread: threading.Thread) -> None:
    import signal

    assert thread.ident is not None
    signal.pthread_kill(thread.ident, signal.SIGUSR1)


def restore(before: object) -> None:
    import signal

    signal.signal(signal.SIGUSR1, before)  # type: ignore[arg-type]


def test_threads_start_when_there_is_work_and_end_with_close() -> None:
    there, threads = helpers(), Threads(3, least=1)
    assert helpers() == there
    for _ in range(2):  # they start again after an end
        threads.run([lambda: 1, lambda: 2, lambda: 3])
        assert helpers() > there
        threads.close()
        assert helpers() == there


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own(threads: Threads) -> None:
    tasks = [lambda n=n: n for n in range(5)]
    threads.run(tasks)
    child = os.fork()
    if not child:
        os._exit(0 if threads.run(tasks) == list(range(5)) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_threads_of_a_pool_divide_nothing(threads: Threads) -> None:
    with threads.current():
        assert current() is threads
        assert threads.run([lambda: current().workers] * 3) == ([1] * 3 if threads.workers > 1 else [1, 1, 1])
        assert current() is threads
    assert current() is ALONE


@pytest.mark.parametrize("entries", [0, 1, 2, 7, 100])
def test_ranges_cover_everything(threads: Threads, entries: int) -> None:
    with threads.current():
        for longest in (None, 3):
            found = ranges(entries, longest)
            assert [n for low, high in found for n in range(low, high)] == list(range(entries))
            assert longest is None or all(high - low <= longest for low, high in found)
        assert sum(for_ranges(entries, lambda low, high: high - low)) == entries


@dataclass
class Rows:
    rows: int
    name: tuple[int, int]


@pytest.mark.parametrize("rows", [1, ROOM])
def test_a_stream_is_in_order(threads: Threads, rows: int) -> None:
    def part(number: int) -> Iterator[Rows]:
        yield from (Rows(rows, (number, n)) for n in range(3))

    parts = ((rows, lambda n=n: part(n)) for n in range(3 * GROUP * threads.workers))
    with threads.current():
        found = [piece.name for piece in stream(parts)]
    assert found == [(number, n) for number in range(3 * GROUP * threads.workers) for n in range(3)]


def test_a_stream_does_little_before_it_is_asked(threads: Threads) -> None:
    """Somebody who wants one row does not pay for all of them."""
    begun: list[int] = []

    def part(number: int) -> Iterator[Rows]:
        begun.append(number)
        yield Rows(1, (number, 0))

    with threads.current():
        found = stream((1, lambda n=n: part(n)) for n in range(1000))
        next(found)
        assert begun == [0]
        next(found)
    assert len(begun) <= 1 + GROUP * threads.workers


def test_an_error_in_a_stream_comes_after_what_is_before_it(threads: Threads) -> None:
    def part(number: int) -> Iterator[Rows]:
        if number == 5:
            raise ValueError(number)
        yield Rows(1, (number, 0))

    found: list[int] = []
    pieces = stream((1, lambda n=n: part(n)) for n in range(100))
    with threads.current(), pytest.raises(ValueError, match="5"):
        found.extend(piece.name[0] for piece in pieces)
    assert found == list(range(len(found))) and len(found) <= 5
