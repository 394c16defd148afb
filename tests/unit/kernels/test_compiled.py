"""Kernels run as Python while there is little to do, are compiled once, and say so."""

from __future__ import annotations

import importlib.util
from itertools import count
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numba.core import config

from modulog.kernels import compile_time as clock
from modulog.kernels.compiled import Interpreting, Kernel, NewKernel

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")

SOURCE = """
from modulog.kernels.compiled import kernel

@kernel
def total(numbers, start):
    result = start
    for i in range(len(numbers)):
        result += numbers[i]
    return result

@kernel
def twice(numbers, start):
    return total(numbers, 0) + total(numbers, start)
"""

names = count()


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module with two kernels and a cache of its own; one second may be spent interpreting."""
    monkeypatch.setattr(Interpreting, "seconds", 1.0)
    monkeypatch.setattr(config, "CACHE_DIR", "")
    return load(tmp_path)


def load(folder: Path) -> ModuleType:
    """The module as a new process would import it."""
    path = folder / "summing.py"
    path.write_text(SOURCE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(f"summing{next(names)}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_little_work_is_interpreted(source: ModuleType) -> None:
    assert source.twice(np.arange(Interpreting.entries), 5) == 2 * sum(range(Interpreting.entries)) + 5
    assert type(source.twice) is NewKernel and not source.twice.overloads and not source.total.overloads


def test_much_work_is_compiled(source: ModuleType) -> None:
    numbers = np.arange(Interpreting.entries + 1)
    assert source.twice(numbers, 5) == 2 * int(numbers.sum()) + 5
    assert type(source.twice) is Kernel and len(source.twice.overloads) == 1
    assert source.twice(numbers[:3], 5) == 11


def test_often_a_little_is_much(source: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Interpreting, "seconds", 1e-9)
    assert source.total(np.arange(4), 0) == 6 and type(source.total) is NewKernel
    assert Interpreting.seconds < 0
    assert source.total(np.arange(4), 0) == 6 and type(source.total) is Kernel


def test_what_is_on_disk_is_not_interpreted(source: ModuleType, tmp_path: Path) -> None:
    source.total(np.arange(Interpreting.entries + 1), 0)
    assert list(tmp_path.rglob("*.nbi"))


def test_integers_of_all_widths_and_constants_have_one_signature(source: ModuleType) -> None:
    numbers = np.arange(Interpreting.entries + 1)
    for start in (0, np.int32(0), np.int64(0), np.uint8(0)):
        source.twice(numbers, start)
    assert [len(made.overloads) for made in (source.total, source.twice)] == [1, 1]


def test_the_clock_of_statistics_stands_still_while_compiling(
    source: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(clock, "announce", said.append)
    monkeypatch.setattr(clock.compile_time, "seconds", 0.0)
    source.twice(np.arange(Interpreting.entries + 1), 1)
    source.total(np.arange(Interpreting.entries + 1, dtype=np.int32), 1)
    assert said == [clock.NOTICE]
    spent = clock.compile_time.seconds
    assert spent > 0 and clock.compile_time.depth == 0
    before = clock.working_time()
    monkeypatch.setattr(clock.compile_time, "seconds", spent + 100)
    assert clock.working_time() < before
