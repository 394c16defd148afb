"""Every case of the paper's Algorithm 4, the examples of its errors, and deletions; then graphs large enough
to keep rows.
"""

from __future__ import annotations

import numpy as np
import pytest

from modulog.closures.closure import Closure
from modulog.closures.closure_difference import Delta
from modulog.closures.closure_state import State
from modulog.closures.components import Components
from support.instances import transitive

Pairs = set[tuple[int, int]]

A, B, C, D, E = 10, 11, 12, 13, 14


def array(edges: list[tuple[int, int]]) -> np.ndarray:
    return np.array(edges, np.int32).reshape(-1, 2).T


def pairs_of(view: object) -> Pairs:
    return {(int(a), int(b)) for piece in view.scan() for a, b in piece.T}  # type: ignore[attr-defined]


CASES = {
    "cross edge": ([(A, B), (C, D)], [(A, C)]),
    "back edge that merges two": ([(A, B)], [(B, A)]),
    "back edge that merges all between": ([(A, B), (B, C), (A, D), (D, C), (C, E)], [(C, A)]),
    "two back edges of one circle": ([(A, B), (C, D)], [(B, C), (D, A)]),
    "new child": ([(A, B)], [(B, C)]),
    "new parent": ([(A, B)], [(C, A)]),
    "both new": ([(A, B)], [(C, D)]),
    "forward edge": ([(A, B), (B, C)], [(A, C)]),
    "edge inside a component": ([(A, B), (B, C), (C, A)], [(B, A)]),
    "self-loop of a known node": ([(A, B)], [(B, B)]),
    "self-loop of a fresh node": ([(A, B)], [(C, C)]),
    "self-loop first": ([(A, A)], [(A, B)]),
    "circle first": ([(A, B), (B, A)], [(B, C)]),
    "two fathers": ([(A, B)], [(C, B)]),
    "merged father of fresh children": ([(D, B)], [(D, E), (E, D), (D, A)]),
    "nothing first": ([], [(A, B)]),
    "nothing new": ([(A, B)], [(A, B), (A, B)]),
}


@pytest.mark.parametrize("counted", [True, False], ids=["counted", "not counted"])
@pytest.mark.parametrize("name", CASES)
def test_additions_and_their_deletion(name: str, counted: bool) -> None:
    first, second = CASES[name]
    closure = Closure()
    closure.add(array(first))
    if counted:
        closure.state.count()
    old, new = transitive(set(first)), transitive({*first, *second})
    delta = closure.add(array(second))
    assert (pairs_of(delta.before), pairs_of(delta.come), pairs_of(delta.after)) == (old, new - old, new)
    assert (delta.come.count(), delta.gone.count(), len(closure)) == (
        len(new - old),
        0,
        len({*first, *second}),
    )
    fresh = set(second) - set(first)
    delta = closure.delete(array(sorted(fresh)))
    assert (pairs_of(delta.before), pairs_of(delta.gone), pairs_of(delta.after)) == (new, new - old, old)
    assert delta.gone.count() == len(new - old)


def test_states_outlive_changes() -> None:
    closure = Closure()
    states: list[tuple[State, Pairs]] = []
    edges: Pairs = set()
    for x in range(6):
        edges |= {(x, x + 1), (x + 1, x // 2)}
        closure.add(array(sorted(edges)))
        states.append((closure.state, transitive(edges)))
    closure.delete(array(sorted(edges)[::2]))
    for state, wanted in states:
        assert (pairs_of(state), state.count()) == (wanted, len(wanted))
    first, last = states[0], states[-1]
    assert pairs_of(Delta.between(first[0], last[0], "grown").come) == last[1] - first[1]
    delta = Delta.between(last[0], closure.state, "shrunk")
    assert delta.gone.count() == len(last[1] - transitive(edges - set(sorted(edges)[::2])))
    delta = Delta.between(first[0], closure.state, "mixed")
    now = pairs_of(closure.state)
    assert (pairs_of(delta.gone), pairs_of(delta.come)) == (first[1] - now, now - first[1])
    assert (delta.gone.count(), delta.come.count()) == (len(first[1] - now), len(now - first[1]))


def test_memory_of_a_chain_follows_its_nodes() -> None:
    sizes = []
    for n in (1_000, 10_000, 100_000):
        nodes = np.arange(n, dtype=np.int32)
        closure = Closure()
        closure.add(np.stack([nodes[:-1], nodes[1:]]))
        assert closure.state.count() == n * (n - 1) // 2
        closure.settle()
        sizes.append(closure.memory().bytes / n)
    assert max(sizes) < 200


def reachable(edges: set[tuple[int, int]], n: int) -> list[int]:
    """What each node reaches, as the bits of a number."""
    rows = [0] * n
    sons: list[set[int]] = [set() for _ in range(n)]
    for x, y in edges:
        sons[x].add(y)
    changed = True
    while changed:
        changed = False
        for x in range(n - 1, -1, -1):
            row = rows[x]
            for y in sons[x]:
                row |= rows[y] | 1 << y
            changed |= row != rows[x]
            rows[x] = row
    return rows


@pytest.mark.parametrize("shape", ["sparse", "layers", "core"])
def test_large_enough_to_keep_rows(shape: str) -> None:
    rng = np.random.default_rng(4)
    n = 700
    x = rng.integers(0, n - 1, 1300)
    reach = {"sparse": n, "layers": 30, "core": n}[shape]
    y = np.minimum(n - 1, x + 1 + (rng.random(1300) ** 3 * (reach - 1)).astype(np.int64))
    edges = set(zip(x.tolist(), y.tolist(), strict=True))
    if shape == "core":
        edges |= {(n - 1 - i, n - 1 - (i * 7) % 40) for i in range(40)}
    closure = Closure()
    closure.add(array(sorted(edges)))
    closure.state.count()
    for step in range(12):
        listed = sorted(edges)
        gone = {listed[i] for i in rng.integers(0, len(listed), 25)}
        come = {(int(a), int(b)) for a, b in rng.integers(0, n, (2 if step % 3 else 40, 2))}
        old = reachable(edges, n)
        edges = (edges - gone) | come
        new = reachable(edges, n)
        delta = closure.update(array(sorted(come)), array(sorted(gone)))
        assert delta.after.count() == sum(row.bit_count() for row in new)
        assert delta.gone.count() == sum((a & ~b).bit_count() for a, b in zip(old, new, strict=True))
        assert delta.come.count() == sum((b & ~a).bit_count() for a, b in zip(old, new, strict=True))
        for node in rng.integers(0, n, 20).tolist():
            assert sorted(closure.state.successors(node).tolist()) == [
                v for v in range(n) if new[node] >> v & 1
            ]


def categories(n: int, rng: np.random.Generator) -> Pairs:
    """A core in which each has few edges, and others that lead to it: members of the core come and go."""
    core = {(int(a), int(b)) for a, b in rng.integers(0, 120, (230, 2))}
    return core | {(x, int(x * rng.random() ** 2)) for x in range(120, n) for _ in range(2)}


def test_a_hub_that_loses_and_gains_members() -> None:
    rng = np.random.default_rng(8)
    n = 900
    edges = categories(n, rng)
    closure = Closure()
    closure.add(array(sorted(edges)))
    closure.state.count()
    assert closure.state.rows._hub.component >= 0
    left = 0
    for _ in range(10):
        core = sorted(edge for edge in edges if max(edge) < 120)
        gone = {core[i] for i in rng.integers(0, len(core), 12)} | {
            sorted(edges)[i] for i in rng.integers(0, len(edges), 10)
        }
        come = {(int(a), int(b)) for a, b in rng.integers(0, 120, (12, 2))} | {
            (int(rng.integers(0, 120)), int(rng.integers(0, n)))
        }
        for add, delete in ((set[tuple[int, int]](), gone), (come, set[tuple[int, int]]())):
            old = reachable(edges, n)
            edges = (edges - delete) | add
            new = reachable(edges, n)
            delta = closure.update(array(sorted(add)), array(sorted(delete)))
            left += len(closure.state.rows._hub.left)
            assert delta.after.count() == sum(row.bit_count() for row in new)
            assert delta.gone.count() == sum((a & ~b).bit_count() for a, b in zip(old, new, strict=True))
            assert delta.come.count() == sum((b & ~a).bit_count() for a, b in zip(old, new, strict=True))
            for node in rng.integers(0, n, 20).tolist():
                assert sorted(closure.state.successors(node).tolist()) == [
                    v for v in range(n) if new[node] >> v & 1
                ]
    assert left


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
