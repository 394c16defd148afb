"""Components: merging, splitting, facts written both ways, cliques."""

from __future__ import annotations

import numpy as np

from modulog.closures.components import Components


def array(edges: list[tuple[int, int]]) -> np.ndarray:
    return np.array(edges, np.int32).reshape(-1, 2).T


def test_a_fact_written_both_ways() -> None:
    components = Components()
    assert components.add(array([(1, 2), (2, 1)])).come.count() == 4
    assert components.delete(array([(1, 2)])).gone.count() == 0
    assert components.delete(array([(1, 2)])).gone.count() == 0
    assert components.delete(array([(2, 1)])).gone.count() == 4
    assert (components.state.count(), len(components)) == (0, 0)


def test_merging_and_splitting() -> None:
    components = Components()
    components.add(array([(1, 2), (3, 4), (5, 5)]))
    delta = components.add(array([(2, 3)]))
    assert (delta.come.count(), sorted(components.state.successors(4).tolist())) == (8, [1, 2, 3, 4])
    delta = components.update(array([(4, 5)]), array([(3, 2)]))
    assert (delta.come.count(), delta.gone.count()) == (8, 0)
    delta = components.delete(array([(2, 3)]))
    assert (delta.gone.count(), components.state.count()) == (12, 4 + 9)


def test_a_clique_loses_and_regains_facts() -> None:
    members = np.arange(60, dtype=np.int32)
    sources, targets = np.repeat(members, 60), np.tile(members, 60)
    clique = np.stack([sources, targets])[:, sources < targets]
    components = Components()
    assert components.add(clique).come.count() == 3600
    some = clique[:, ::3]
    assert not components.delete(some).gone.some()
    assert not components.add(some).come.some()
    around = clique[:, (clique == 7).any(axis=0)]
    delta = components.delete(around)
    assert delta.gone.count() == 3600 - 59 * 59
    assert sorted(delta.gone.successors(7).tolist()) == list(range(60))
    assert components.add(around[:, :1]).come.count() == 3600 - 59 * 59
