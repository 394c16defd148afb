"""The decorator of all kernels: interpreted while there is little to do, then compiled and cached on disk.

Compiling a kernel takes Numba 0.1 to 1 s, and a first answer needs about fifty kernels, while Python runs a
loop over a handful of facts in milliseconds. So a kernel that has never been compiled in this installation
runs as plain Python as long as its arrays are short and all such runs together have not taken a second.
Compiled code is the same function, without the interpreter lock.
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
"""Numba's options for all kernels."""


class Interpreting:
    """When kernels are interpreted: below this many entries of all arrays of a call, for this many seconds.

    `seconds` is what is left of them.
    """

    entries = 2048  # a call whose work is quadratic in this takes about a second
    seconds = 1.0  # what compiling two or three kernels takes


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function with one signature for integers of all widths.

    Numba would compile a function again for every combination of types: a constant or a variable, 32 or 64
    bits.
    """

    def compile(self, sig: Any) -> Any:
        """The entry point for a signature, from the cache on disk or compiled now."""
        args, returned = sigutils.normalize_signature(sig)
        assert returned is None
        return super().compile(tuple(map(_widened, args)))


class NewKernel(Kernel):
    """A kernel that is not compiled in this installation; it becomes a `Kernel` when there is much to do."""

    def __call__(self, *args: Any) -> Any:
        """Run as Python if that takes less time than compiling; otherwise become a `Kernel`."""
        if Interpreting.seconds > 0 and not _is_cached(self) and _entries(args) <= Interpreting.entries:
            began = perf_counter()
            with np.errstate(all="ignore"):
                result = self.py_func(*args)
            Interpreting.seconds -= perf_counter() - began
            return result
        self.__class__ = Kernel  # whose calls do not come through here
        return self(*args)


def kernel(function: Function) -> Function:
    """Make a kernel of a function of arrays and numbers; the types are those of its first call."""
    return _made(function, OPTIONS)


def inlined(function: Function) -> Function:
    """As `kernel`, for a few lines that are compiled into each kernel that calls them."""
    return _made(function, {**OPTIONS, "inline": "always"})


def _made(function: Function, options: dict[str, object]) -> Function:
    """A kernel with these options of Numba."""
    if config.DISABLE_JIT:
        return function
    made = NewKernel(py_func=function, targetoptions=dict(options))
    made.enable_caching()
    return cast(Function, made)


def _widened(kind: Any) -> Any:
    """The type that is compiled for a type of an argument: 64 bits for all integers that fit."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.Integer) and (kind.signed or kind.bitwidth < 64):
        return types.int64
    return kind


def _entries(args: tuple[Any, ...]) -> int:
    """How many entries the arrays of a call have, those in tuples as well."""
    arrays = (arg.size for arg in args if isinstance(arg, np.ndarray))
    return sum(arrays) + sum(_entries(arg) for arg in args if isinstance(arg, tuple))


def _is_cached(made: NewKernel) -> bool:
    """Whether a compiled form of a kernel is on disk, so that it can be loaded in milliseconds."""
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
    """Counts the time that Numba spends compiling."""

    def on_start(self, event: Any) -> None:
        """Numba starts to compile a function: a kernel, or one that a kernel calls."""
        compile_time.start()

    def on_end(self, event: Any) -> None:
        """Numba has compiled it."""
        compile_time.stop()


event.register("numba:compile", _Listener())
