"""Larger work divided between threads: the same facts in the same order; errors and Ctrl-C leave nothing behind."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from typing import Any
from unittest.mock import patch

import pytest

from modulog import Reasoner, Switches
from modulog.engines.local import layer_lookup
from modulog.engines.local.backend import LocalBackend
from modulog.errors import Interrupted
from modulog.kernels.threads import Threads, usable_cores
from support.divided import NUMBERS, divided, told, untimed

RULES = {
    "owned by the first argument": "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- p(?x, ?y), e(?y, ?z) .",
    "owned by the second": "p(?x, ?y) :- e(?x, ?y) . p(?x, ?z) :- e(?x, ?y), p(?y, ?z) .",
    "owned by a joined row": "p(?x, ?y) :- e(?x, ?y) . p(?x, ?w) :- p(?x, ?y), e(?y, ?z), e(?z, ?w) .",
    "owned by nobody": "p(?x, ?y) :- e(?x, ?y) . p(?z, ?w) :- e(?y, ?z), e(?y, ?w) .",
    "three arguments": "p(?x, ?y, ?z) :- e(?x, ?y), e(?y, ?z) .",
    "a triangle": "p(?x, ?y, ?z) :- e(?x, ?y), e(?y, ?z), e(?x, ?z) .",
    "negation": "p(?x, ?z) :- e(?x, ?y), e(?y, ?z), ~e(?z, ?x), ~e(?x, ?z) .",
}


def edges(nodes: int = 700, number: int = 1000) -> list[tuple[int, int]]:
    """Edges to larger nodes, not far away."""
    chance = random.Random(5)
    found = ((x := chance.randrange(nodes), x + chance.randrange(1, 9)) for _ in range(number))
    return list(dict.fromkeys(found))


def given(rules: str, workers: int) -> Reasoner:
    reasoner = divided(rules, workers, piece=64, modules="off")
    reasoner.add("e", edges())
    return reasoner


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_threads_say_the_same(rules: str) -> None:
    said = []
    for workers in NUMBERS:
        reasoner = given(rules, workers)
        said.append((untimed(reasoner.materialise()), told(reasoner)))
        reasoner.close()
    assert said[1] == said[0] and said[2] == said[0]
    usual = Reasoner(rules, switches=Switches(modules="off"))
    usual.add("e", edges())
    assert set(usual.rows("p")) == set(said[0][1]["p"][0]) and len(said[0][1]["p"][0]) == usual.count("p")


@pytest.fixture
def failing() -> Iterator[Any]:
    """Makes the look-ups of a join fail in whatever thread does the one of a number."""
    count, look = iter(range(10**6)), layer_lookup.matches
    chosen: dict[int, BaseException] = {}

    def matches(*args: Any) -> Any:
        if (error := chosen.get(next(count))) is not None:
            raise error
        return look(*args)

    with patch.object(layer_lookup, "matches", matches):
        yield chosen


@pytest.mark.parametrize("workers", NUMBERS)
@pytest.mark.parametrize("number", [0, 7, 12])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("out of luck")], ids=["Ctrl-C", "error"])
def test_a_failure_leaves_nothing_behind(
    workers: int, number: int, error: BaseException, failing: Any
) -> None:
    reasoner = given(RULES["three arguments"], workers)
    failing[number] = error
    with pytest.raises((Interrupted, RuntimeError)) as caught:
        reasoner.materialise()
    assert isinstance(caught.value, Interrupted if isinstance(error, KeyboardInterrupt) else RuntimeError)
    assert caught.value is error or isinstance(error, KeyboardInterrupt)
    reasoner.materialise()
    expected = {(x, y, z) for x, y in edges() for w, z in edges() if w == y}
    assert set(reasoner.rows("p")) == expected
    reasoner.close()


def test_close_ends_the_threads() -> None:
    there = set(threading.enumerate())
    reasoner = given(RULES["three arguments"], 3)
    reasoner.materialise()
    assert set(threading.enumerate()) - there
    reasoner.close()
    assert not set(threading.enumerate()) - there


def test_small_work_starts_no_threads() -> None:
    there = set(threading.enumerate())
    reasoner = Reasoner(RULES["three arguments"], workers=2)
    reasoner.add("e", edges())
    reasoner.materialise()
    assert not set(threading.enumerate()) - there


def test_workers() -> None:
    assert LocalBackend().threads.workers == usable_cores()
    assert LocalBackend(3).threads.workers == 3
    given_ = Threads(2, least=5)
    assert LocalBackend(given_).threads is LocalBackend(given_).engine.threads is given_
