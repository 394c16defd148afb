"""Closures and components equal a naive computation on sets, in all versions, after any sequence of changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.closures import giant_component as hubs
from modulog.closures import reachable_sets
from modulog.closures.closure import Closure
from modulog.closures.closure_difference import Change, Delta
from modulog.closures.closure_state import State
from modulog.closures.components import Components
from modulog.closures.linear_closure import LinearClosure, Seeded
from modulog.kernels.types import Columns
from support.instances import transitive

Pair = tuple[int, int]
Pairs = set[Pair]
View = State | Change

SPREAD = 0x9E3779B1
"""Node numbers become ids all over the 31 bits."""


def identity(node: int) -> int:
    return node * SPREAD % 2**31


def array(pairs: Iterable[Pair]) -> Columns:
    return np.array(sorted(pairs), np.int64).reshape(-1, 2).T


def listed(pieces: Iterator[Columns], limit: int) -> Pairs:
    result: list[Pair] = []
    for piece in pieces:
        assert 0 < piece.shape[1] <= limit
        result += [(int(a), int(b)) for a, b in piece.T]
    assert len(result) == len(set(result))
    return set(result)


def closed(edges: Pairs, reflexive: bool = False) -> Pairs:
    return transitive(edges) | ({(x, x) for edge in edges for x in edge} if reflexive else set())


def check(view: View | Seeded, wanted: Pairs, ids: list[int], limit: int) -> None:
    """Every question has the answer that the pairs give."""
    assert view.count() == len(wanted)
    assert listed(view.scan(limit=limit), limit) == wanted
    for column in (0, 1):
        counts = {v: sum(p[column] == v for p in wanted) for v in {p[column] for p in wanted}}
        values, numbers = view.count_by(column)
        assert dict(zip(values.tolist(), numbers.tolist(), strict=True)) == counts
        assert sorted(view.distinct(column).tolist()) == sorted(counts)
    every = [(a, b) for a in ids for b in ids]
    assert {p for p, held in zip(sorted(every), view.contains(array(every)), strict=True) if held} == wanted
    some = np.array(ids[::2], np.int32)
    for a in ids[:3]:
        assert sorted(view.successors(a).tolist()) == sorted(y for x, y in wanted if x == a)
        assert sorted(view.predecessors(a).tolist()) == sorted(x for x, y in wanted if y == a)
    assert listed(view.scan(sources=some, limit=limit), limit) == {p for p in wanted if p[0] in some}
    assert listed(view.scan(targets=some, limit=limit), limit) == {p for p in wanted if p[1] in some}
    both = {p for p in wanted if p[0] in some and p[1] in some}
    assert listed(view.scan(some, some, limit), limit) == both


def check_delta(delta: Delta, before: Pairs, after: Pairs, ids: list[int], limit: int) -> None:
    check(delta.come, after - before, ids, limit)
    check(delta.gone, before - after, ids, limit)
    check(delta.before, before, ids, limit)
    check(delta.after, after, ids, limit)


@st.composite
def changes(draw: st.DrawFn) -> tuple[list[int], list[tuple[Pairs, Pairs]]]:
    """The ids in use, and what to add and delete in each step: shapes that make chains, circles, dense cores,
    fresh nodes.
    """
    n = draw(st.sampled_from([2, 4, 8, 14]))
    node = st.integers(0, n - 1)
    shapes = {
        "any": st.tuples(node, node),
        "acyclic": st.tuples(node, node).map(lambda p: (min(p), max(p))),
        "chain": node.map(lambda x: (x, min(x + 1, n - 1))),
        "circle": node.map(lambda x: (x, (x + 1) % n)),
        "core": st.tuples(node, st.integers(0, min(2, n - 1))),
    }
    edge = st.one_of(shapes[draw(st.sampled_from(sorted(shapes)))], shapes["any"])
    edges = st.sets(edge, max_size=2 * n)
    nothing: st.SearchStrategy[set[Pair]] = st.just(set())
    step = st.one_of(st.tuples(edges, nothing), st.tuples(nothing, edges), st.tuples(edges, edges))
    steps = draw(st.lists(step, min_size=1, max_size=6))
    named = [tuple({(identity(x), identity(y)) for x, y in part} for part in step) for step in steps]
    return [identity(v) for v in range(n)], named  # type: ignore[return-value]


schemes = pytest.mark.parametrize(
    ("bits", "effort", "kept", "hub", "left"),
    [
        (0, 1 << 40, 4, 64, 32),
        (0, 1 << 40, 4, 1, 32),
        (0, 1 << 40, 4, 1, 1),
        (0, 1 << 40, 0, 1, 32),
        (1 << 20, -1, 4, 64, 32),
        (0, -1, 4, 64, 32),
    ],
    ids=["intervals", "hub", "hub, few left", "searches", "bits", "blocks"],
)
"""Each way to keep rows is forced in turn: what is chosen by size otherwise must not change an answer."""


@schemes
@given(steps=changes(), reflexive=st.booleans(), read=st.booleans(), limit=st.sampled_from([1, 7, 1000]))
def test_closure(
    bits: int,
    effort: int,
    kept: int,
    hub: int,
    left: int,
    steps: tuple[list[int], list[tuple[Pairs, Pairs]]],
    reflexive: bool,
    read: bool,
    limit: int,
) -> None:
    ids, closure, edges = steps[0], Closure(reflexive), set[Pair]()
    with (
        patch.object(reachable_sets, "BITS", bits),
        patch.object(reachable_sets, "PER_ELEMENT", kept),
        patch.object(hubs, "MEMBERS", hub),
        patch.object(hubs, "MOST_LEFT", left),
        patch.object(hubs, "REST", 4 if hub > 1 else 100),
        patch.object(hubs, "SHARE", 8 if hub > 1 else 100),
        patch.object(reachable_sets.Rows, "_effort_allowed", lambda _: effort),
    ):
        for come, gone in steps[1]:
            before = closed(edges, reflexive)
            edges = (edges - gone) | come
            delta = closure.update(array(come), array(gone))
            if read:
                check_delta(delta, before, closed(edges, reflexive), ids, limit)
        check(closure.state, closed(edges, reflexive), ids, limit)
        closure.settle()
        check(closure.state, closed(edges, reflexive), ids, limit)
    assert len(closure) == len(edges)


@given(steps=changes(), back=st.lists(st.booleans(), min_size=6, max_size=6))
def test_going_back(steps: tuple[list[int], list[tuple[Pairs, Pairs]]], back: list[bool]) -> None:
    """A change that is undone leaves no trace, in counts or in what later changes give; the abandoned state
    stays valid too.
    """
    ids, closure, edges = steps[0], Closure(), set[Pair]()
    with patch.object(hubs, "MEMBERS", 1), patch.object(hubs, "REST", 100), patch.object(hubs, "SHARE", 100):
        for (come, gone), undone in zip(steps[1], back, strict=False):
            before, wanted = closed(edges), closed((edges - gone) | come)
            delta = closure.update(array(come), array(gone))
            if undone:
                closure.state.count()
                closure.go_back(delta.before)
            else:
                edges = (edges - gone) | come
            check_delta(delta, before, wanted, ids, 1000)
            check(closure.state, closed(edges), ids, 1000)
    assert len(closure) == len(edges)


@given(steps=changes(), limit=st.sampled_from([1, 1000]))
def test_components(steps: tuple[list[int], list[tuple[Pairs, Pairs]]], limit: int) -> None:
    ids, components, edges = steps[0], Components(), set[Pair]()
    for come, gone in steps[1]:
        before = closed(edges | {(y, x) for x, y in edges})
        edges = (edges - gone) | come
        after = closed(edges | {(y, x) for x, y in edges})
        check_delta(components.update(array(come), array(gone)), before, after, ids, limit)
    assert len(components) == len(edges)


@given(seeds=changes(), graphs=changes(), limit=st.sampled_from([1, 1000]))
def test_linear_closure(
    seeds: tuple[list[int], list[tuple[Pairs, Pairs]]],
    graphs: tuple[list[int], list[tuple[Pairs, Pairs]]],
    limit: int,
) -> None:
    """P = B ∘ E*, also where ids are both sources of seeds and nodes of the graph."""
    linear, base, edges = LinearClosure(), set[Pair](), set[Pair]()
    ids = sorted({*seeds[0], *graphs[0]})
    after: Pairs = set()
    for (come, gone), (more, fewer) in zip(seeds[1], graphs[1], strict=False):
        before = after
        base, edges = (base - gone) | come, (edges - fewer) | more
        star = closed(edges, True)
        after = base | {(x, z) for x, y in base for v, z in star if v == y}
        delta = linear.update(array(come), array(gone), array(more), array(fewer))
        check(delta.come, after - before, ids, limit)
        check(delta.gone, before - after, ids, limit)
        check(linear.state, after, ids, limit)
