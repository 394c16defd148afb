"""The decorator of all kernels: compiled once, cached on disk, without the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile a function of arrays and scalars."""
    return cast(Function, numba.njit(cache=True, nogil=True)(function))
