"""How long kernels were compiled in this process, and a clock that leaves this time out.

A kernel is compiled when it is first needed, and the result is kept on disk; so whatever rule happens to run first in a
new installation would seem to take seconds. Statistics measure rules by `working_time`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter

NOTICE = "modulog: compiling kernels, once for each installation: 10 to 20 seconds in all"

announce: Callable[[str], object] = lambda message: sys.stderr.write(message + "\n")  # noqa: E731
"""Says the notice when the first kernel is compiled; programs with a terminal of their own may replace it."""


class _CompileTime:
    """Seconds spent compiling, counted while `depth` is above zero: compiling a kernel compiles those that it calls."""

    def __init__(self) -> None:
        self.seconds, self.depth, self.began = 0.0, 0, 0.0

    def start(self) -> None:
        """Compiling begins."""
        if not self.depth:
            if not self.seconds:
                announce(NOTICE)
            self.began = perf_counter()
        self.depth += 1

    def stop(self) -> None:
        """It ends."""
        self.depth -= 1
        if not self.depth:
            self.seconds += perf_counter() - self.began


compile_time = _CompileTime()


def working_time() -> float:
    """Seconds on a clock that stands still while kernels are compiled.

    >>> began = working_time()
    >>> working_time() >= began
    True
    """
    return perf_counter() - compile_time.seconds
