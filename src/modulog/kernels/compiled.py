"""The decorator of all kernels: interpreted while there is little to do, then compiled once, and kept on disk.

Compiling a kernel takes Numba 0.1 to 1 s, and a first answer needs some fifty of them, while a loop over a handful of facts
takes Python milliseconds. So a kernel that has never been compiled in this installation runs as the plain Python function
that it is, as long as its arrays are short and all such runs together have not taken a second. Compiled code is the same function,
without the interpreter lock.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from time import perf_counter
from typing import Any, TypeVar, cast

import numpy as np
from numba import types as untyped_types
from numba.core import config, event, sigutils
from numba.core.registry import CPUDispatcher

from modulog.kernels.compile_time import compile_time

Function = TypeVar("Function", bound=Callable[..., object])

types: Any = untyped_types

OPTIONS: dict[str, object] = {"nopython": True, "nogil": True, "boundscheck": None}


class Interpreting:
    """When kernels are interpreted: below so many entries of all arrays of a call, and for so many seconds in all."""

    entries = 2048  # the longest calls, quadratic in this, take about a second
    seconds = 1.0  # what compiling two or three kernels takes


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function that has one signature for integers of all widths, and for constants and variables.

    Numba would compile a function again for each combination: `unite(row, 0, …)`, `unite(row, n, …)`, and n of 32 and of 64 bits.
    """

    def compile(self, sig: Any) -> Any:
        """The entry point for a signature, from the disk or compiled now."""
        args, returned = sigutils.normalize_signature(sig)
        assert returned is None
        return super().compile(tuple(map(_widened, args)))


class NewKernel(Kernel):
    """A kernel that has not been compiled in this installation; it becomes a `Kernel` when there is much to do."""

    def __call__(self, *args: Any) -> Any:
        """Run as Python if that takes less time than compiling."""
        if Interpreting.seconds > 0 and not _is_cached(self) and _entries(args) <= Interpreting.entries:
            began = perf_counter()
            with np.errstate(all="ignore"):
                result = self.py_func(*args)
            Interpreting.seconds -= perf_counter() - began
            return result
        self.__class__ = Kernel  # which is called without this detour
        return self(*args)


def kernel(function: Function) -> Function:
    """Make a kernel of a function of arrays and numbers; its types are those of the first call."""
    return _made(function, OPTIONS)


def inlined(function: Function) -> Function:
    """As `kernel`, for a few lines that become a part of each kernel that calls them."""
    return _made(function, {**OPTIONS, "inline": "always"})


def _made(function: Function, options: dict[str, object]) -> Function:
    if config.DISABLE_JIT:
        return function
    made = NewKernel(py_func=function, targetoptions=dict(options))
    made.enable_caching()
    return cast(Function, made)


def _widened(kind: Any) -> Any:
    """The type that stands for a type of an argument: 64 bits for integers that fit."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.Integer) and (kind.signed or kind.bitwidth < 64):
        return types.int64
    return kind


def _entries(args: tuple[Any, ...]) -> int:
    """How many entries the arrays of a call have."""
    return sum(arg.size for arg in args if isinstance(arg, np.ndarray))


def _is_cached(made: NewKernel) -> bool:
    """Whether some compiled form of a kernel is on disk, for then it is there in milliseconds."""
    return made.__qualname__ in _cached(made._cache.cache_path, made.__module__)


@lru_cache
def _cached(folder: str, module: str) -> frozenset[str]:
    """The names of the kernels of a module that have an index file in the cache."""
    begin = module.rpartition(".")[2] + "."
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return frozenset(
        n[len(begin) :].split("-")[0] for n in names if n.startswith(begin) and n.endswith(".nbi")
    )


class _Listener(event.Listener):  # type: ignore[misc]
    """Counts the time that Numba takes to compile."""

    def on_start(self, event: Any) -> None:
        """A function, a kernel or one that a kernel calls, is about to be compiled."""
        compile_time.start()

    def on_end(self, event: Any) -> None:
        """It has been compiled."""
        compile_time.stop()


event.register("numba:compile", _Listener())
