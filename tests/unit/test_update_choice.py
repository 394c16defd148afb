"""An update that touches most of a stratum is done from scratch, a small one is not, and the statistics say why."""

from __future__ import annotations

import numpy as np
import pytest

from modulog import Reasoner
from modulog.engines.local.engine import LocalEngine
from modulog.engines.schemes import REPRESENTABLE
from modulog.evaluation.statistics import StratumUpdate

NODES = 400
CHAIN = np.column_stack([np.arange(NODES - 1), np.arange(1, NODES)])
CYCLES = np.column_stack([np.arange(NODES), np.arange(NODES) // 20 * 20 + (np.arange(NODES) + 1) % 20])
TREE = np.column_stack([np.arange(1, 4 * NODES) // 2, np.arange(1, 4 * NODES)])
COPIES = np.column_stack([np.arange(20 * NODES), np.arange(20 * NODES)[::-1]])

PROGRAMS = {
    "transitive": ("r(?x, ?z) :- r(?x, ?y), r(?y, ?z) .", TREE),
    "linear": ("r(?x, ?y) :- e(?x, ?y) . r(?x, ?z) :- r(?x, ?y), e(?y, ?z) .", TREE),
    "symmetric": ("r(?x, ?z) :- r(?x, ?y), r(?y, ?z) . r(?x, ?y) :- r(?y, ?x) .", CYCLES),
    "nonrecursive": ("r(?y) :- e(?x, ?y), ~f(?y) .", COPIES),
    "seminaive": ("r(?x, ?y) :- e(?x, ?y) . r(?x, ?z) :- r(?x, ?y), e(?y, ?z), ~f(?z) .", CHAIN),
}


def updated(name: str, share: float) -> tuple[StratumUpdate, Reasoner]:
    """How the stratum was updated when a share of the facts went, or one fact."""
    rules, facts = PROGRAMS[name]
    predicate = "e" if "e(" in rules else "r"
    r = Reasoner(rules)
    r.add(predicate, facts)
    r.add("f", [(-1,)])
    r.materialise()
    doomed = np.random.default_rng(1).permutation(len(facts))[: max(1, int(share * len(facts)))]
    change = r.update(delete={predicate: facts[doomed]})
    (stratum,) = change.statistics.strata
    scratch = Reasoner(rules)
    scratch.add(predicate, np.delete(facts, doomed, axis=0))
    scratch.add("f", [(-1,)])
    assert sorted(r.rows("r")) == sorted(scratch.rows("r"))
    assert stratum.how in str(change.statistics)
    if stratum.incremental:
        assert f"{stratum.incremental:,.0f} facts" in str(change.statistics)
        assert f"from scratch at {stratum.scratch:,.0f}" in str(change.statistics)
    return stratum, r


@pytest.fixture(autouse=True)
def comparing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Closures are listed by an engine that represents none: what they were is compared with what they become."""
    monkeypatch.setattr(LocalEngine, "represents", frozenset())


@pytest.mark.parametrize("share", [0, 0.9])
@pytest.mark.parametrize("name", ["transitive", "linear", "symmetric"])
def test_a_closure_that_the_engine_keeps_follows(
    name: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalEngine, "represents", REPRESENTABLE)
    stratum, _ = updated(name, share)
    assert stratum.how == "exactly" and stratum.incremental == 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_most_of_a_stratum_is_done_from_scratch(name: str) -> None:
    stratum, _ = updated(name, 0.9)
    assert stratum.how == "from scratch"
    assert stratum.incremental > stratum.scratch > 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_small_update_is_not(name: str) -> None:
    stratum, _ = updated(name, 0)
    assert stratum.how == ("exactly" if name in ("transitive", "linear", "symmetric") else "incrementally")
    assert 0 < stratum.incremental < stratum.scratch
