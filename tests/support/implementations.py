"""Every implementation of the engine protocol, and terms that are easy to reason about."""

from __future__ import annotations

from typing import Any

import numpy as np

from modulog.engines.engine import Engine
from modulog.engines.local.engine import LocalEngine
from modulog.engines.schemes import PLAIN
from modulog.kernels.threads import Threads
from support.amounts import LONG
from support.toy_engine import ToyEngine


class Numbers:
    """Terms that are their own ids: comparing values is comparing ids. Ids from 900 up cannot be ordered."""

    TERMS = 2**31
    STRANGE = 900

    def __init__(self, terms: int = TERMS) -> None:
        self.terms = terms

    def __len__(self) -> int:
        return self.terms

    def compare(self, operator: str, left: Any, right: Any) -> tuple[Any, int]:
        fine = (left < self.STRANGE) & (right < self.STRANGE)
        functions = {
            "=": np.equal,
            "!=": np.not_equal,
            "<": np.less,
            "<=": np.less_equal,
            ">": np.greater,
            ">=": np.greater_equal,
        }
        return functions[operator](left, right) & fine, int((~fine).sum())


THREADS = {n: Threads(n, least=4, piece=16) for n in ((2, 3) if LONG else (2,))}
"""Threads between which everything is divided that has eight entries."""

IMPLEMENTATIONS = [("local", PLAIN), *((f"local on {n} threads", PLAIN) for n in THREADS), ("toy", PLAIN)]
"""Every engine with every storage scheme that can hold any facts."""


def engine_by_name(name: str, terms: int = Numbers.TERMS) -> Engine:
    """A new engine over terms that are numbers."""
    if name == "local":
        return LocalEngine(Numbers(terms))
    if name == "toy":
        return ToyEngine(Numbers(terms))
    return {f"local on {n} threads": LocalEngine(Numbers(terms), threads) for n, threads in THREADS.items()}[
        name
    ]
