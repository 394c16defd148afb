"""No test asserts seconds: a machine may be busy. Work is counted instead, and speed is measured by the benchmarks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time", "process_time_ns"}
CLOCKS |= {"thread_time", "thread_time_ns", "time", "time_ns"}


def asks_a_clock(node: ast.AST, timed: set[str]) -> bool:
    """Whether an expression calls a clock or speaks of a name that holds what one said."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            called = part.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name in CLOCKS and not part.args:
                return True
        elif isinstance(part, ast.Name) and part.id in timed:
            return True
    return False


def given(tree: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names, and what they are given: variables, lists something is added to, functions that return something."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from ((n.id, value) for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                yield name, value
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[value]):
                yield name, value
            case ast.FunctionDef(name=name):
                yield from ((name, r.value) for r in ast.walk(node) if isinstance(r, ast.Return) and r.value)


def timed_names(tree: ast.AST) -> set[str]:
    """Names of a module that hold what a clock said, or what was computed from it."""
    timed: set[str] = set()
    while True:
        before = len(timed)
        timed |= {name for name, value in given(tree) if asks_a_clock(value, timed)}
        if len(timed) == before:
            return timed


def comparisons(text: str) -> Iterator[int]:
    """The lines of assertions and comparisons in which a clock has a say."""
    tree = ast.parse(text)
    timed = timed_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert | ast.Compare) and asks_a_clock(node, timed):
            yield node.lineno


@pytest.mark.parametrize("path", sorted(TESTS.rglob("*.py")), ids=lambda p: str(p.relative_to(TESTS)))
def test_no_test_asserts_seconds(path: Path) -> None:
    assert not sorted(set(comparisons(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("began = perf_counter()\nwork()\nassert perf_counter() - began < 2", [3]),
        ("import time\nbegan = time.monotonic()\ntook = time.monotonic() - began\nassert took < 1", [4]),
        ("times = []\nend = time.time() + 9\nwhile time.time() < end:\n    work()", [3]),
        ("took: float = process_time()\nlimit = took * 2\nif limit > 3:\n    fail()", [3]),
        ("def best():\n    times.append(time.time() - a)\n    return min(times)\nassert best() < 1", [4]),
        ("assert statistics.time == 3\nfor event in log:\n    assert event['seconds'] >= 0", []),
    ],
)
def test_clocks_are_noticed(text: str, lines: list[int]) -> None:
    assert sorted(set(comparisons(text))) == lines
