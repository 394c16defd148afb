"""The time that this process has spent compiling kernels, and a clock that leaves it out.

A kernel is compiled when it is first needed, and the result is cached on disk. In a new installation the rule
that happens to run first would seem to take seconds, so statistics measure rules by `working_time`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter

NOTICE = "modulog: compiling kernels, once for each installation: 10 to 20 seconds in all"
"""The message for users when the first kernel is compiled."""

announce: Callable[[str], object] = lambda message: sys.stderr.write(message + "\n")  # noqa: E731
"""Shows the notice; programs that control the terminal replace it."""


class _CompileTime:
    """The seconds spent compiling.

    Compiling a kernel compiles those that it calls: `depth` is how many are being compiled, and time is
    counted while it is above zero.
    """

    def __init__(self) -> None:
        self.seconds, self.depth, self.began = 0.0, 0, 0.0

    def start(self) -> None:
        """Numba starts to compile a function."""
        if not self.depth:
            if not self.seconds:
                announce(NOTICE)
            self.began = perf_counter()
        self.depth += 1

    def stop(self) -> None:
        """Numba has compiled a function."""
        self.depth -= 1
        if not self.depth:
            self.seconds += perf_counter() - self.began


compile_time = _CompileTime()


def working_time() -> float:
    """Seconds on a clock that stops while kernels are compiled.

    >>> began = working_time()
    >>> working_time() >= began
    True
    """
    return perf_counter() - compile_time.seconds
