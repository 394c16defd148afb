"""The worst-case optimal join gives what nested loops give, whatever the order of variables, however it is cut into pieces."""

from __future__ import annotations

from collections import Counter
from itertools import islice, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.algebra import expressions as p
from modulog.engines.local.engine import LocalEngine
from modulog.engines.local.multiway_join import LIMITS, Limits, MultiwayJoin, variable_order
from modulog.joins.multiway_order import can_intersect
from modulog.kernels import intersect, triangle_join
from support.bodies import clique, cycle, petals
from support.implementations import Numbers

ENGINE = LocalEngine(Numbers(1_000_000))
VALUES = [0, 1, 2, 5, 70, 1000]


def relation(facts: Any, arity: int) -> Any:
    """A relation with the facts in two runs: some are old, some have just come."""
    made: Any = ENGINE.relation("r", arity)
    rows = sorted(facts)
    for part in (rows[::2], rows[1::2]):
        ids = np.ascontiguousarray(np.array(part, np.int32).reshape(len(part), arity).T)
        made.schedule(ENGINE.table(tuple("abcd"[:arity]), ids), 0)
        made.merge()
        made.derive()
    return made


def naive(atoms: Any, variables: Any, keep: int) -> Counter[tuple[int, ...]]:
    """Every assignment of values is tried; those that agree on the kept variables are counted together."""
    found: Counter[tuple[int, ...]] = Counter()
    for choice in product(VALUES, repeat=len(variables)):
        way = dict(zip(variables, choice, strict=True))
        if all(any(fits(args, fact, way) for fact in facts) for facts, args in atoms):
            found[choice[:keep]] += 1
    return found


def fits(args: Any, fact: Any, way: dict[str, int]) -> bool:
    pairs = zip(args, fact, strict=True)
    return all(a is None or (way[a] if isinstance(a, str) else a) == value for a, value in pairs)


@st.composite
def bodies(draw: st.DrawFn) -> Any:
    """Atoms with their facts, and an order of the variables."""
    edges = draw(
        st.one_of(
            st.just(cycle(3)),
            st.just(cycle(4)),
            st.just(clique(4)),
            st.just(petals(2)),
            st.lists(
                st.lists(st.sampled_from("xyzu"), unique=True, min_size=1, max_size=4), min_size=1, max_size=4
            ),
        )
    )
    stored: dict[int, Any] = {}
    atoms = []
    for edge in edges:
        args = list(edge)
        for extra in draw(st.lists(st.sampled_from([None, 1, 5]), max_size=1)):
            args.insert(draw(st.integers(0, len(args))), extra)
        arity = len(args)
        facts = st.sets(st.tuples(*[st.sampled_from(VALUES)] * arity), max_size=25)
        shared = arity in stored and draw(st.booleans())
        rows = stored[arity] if shared else draw(facts)
        stored[arity] = rows
        atoms.append((rows, tuple(args)))
    names = sorted({a for _, args in atoms for a in args if isinstance(a, str)})
    return atoms, tuple(draw(st.permutations(names)))


def reads(atoms: Any) -> list[p.Read]:
    made: dict[int, Any] = {}
    for facts, args in atoms:
        made.setdefault(id(facts), relation(facts, len(args)))
    return [p.Read(made[id(facts)], args, "all") for facts, args in atoms]


def rows(join: MultiwayJoin) -> Counter[tuple[int, ...]]:
    found: Counter[tuple[int, ...]] = Counter()
    for batch in join.batches():
        n = batch.ids.shape[1]
        weights = [1] * n if batch.weights is None else batch.weights.tolist()
        for row, weight in zip(
            zip(*batch.ids.tolist(), strict=True) if len(batch.ids) else [()] * n, weights, strict=True
        ):
            found[tuple(row)] += weight
    return found


@given(st.lists(st.integers(0, 50)), st.integers(-1, 51), st.integers(0, 10))
def test_gallop(numbers: list[int], key: int, skipped: int) -> None:
    word = np.array(sorted(numbers), np.int64)
    low = min(skipped, len(word))
    found = intersect.gallop(word, low, len(word), key)
    assert found == low + int(np.searchsorted(word[low:], key))


@given(st.sets(st.integers(0, 200), max_size=30))
def test_marks_come_and_go(values: set[int]) -> None:
    bits, chosen = np.zeros(4, np.uint64), np.array(sorted(values), np.int32)
    triangle_join.mark(chosen, bits)
    assert {64 * i + j for i in range(4) for j in range(64) if int(bits[i]) >> j & 1} == values
    triangle_join.mark(chosen, bits)
    assert not bits.any()


@given(st.data(), bodies())
def test_matches(data: st.DataObject, body: Any) -> None:
    atoms, variables = body
    made = reads(atoms)
    if not can_intersect(made):
        return
    keep = data.draw(st.integers(0, len(variables)))
    piece, budget = data.draw(st.sampled_from([(1, 1), (2, 7), (3, 1000), (1000, 2), (1000, 1000)]))
    expected = naive(atoms, variables, keep)
    limits = Limits(piece, budget, data.draw(st.sampled_from([0, LIMITS.bits])))
    assert rows(MultiwayJoin(made, variables, keep, False, limits)) == Counter(dict.fromkeys(expected, 1))
    if all(None not in args for _, args in atoms):
        assert rows(MultiwayJoin(made, variables, keep, True, limits)) == expected


@given(
    st.sets(st.integers(0, 9), max_size=3),
    st.sets(st.integers(0, 400), max_size=4),
    st.sampled_from([1, 2, 1000]),
    st.booleans(),
    st.integers(1, 3),
)
def test_hubs(spokes: set[int], rim: set[int], piece: int, counting: bool, keep: int) -> None:
    """Lists much longer than the marked one are leapt through."""
    r, s = {(7, y) for y in spokes}, {(y, z) for y in range(5) for z in range(y, 300, y + 1)}
    t = {(7, z) for z in rim}
    expected = Counter((7, y, z)[:keep] for y in spokes for z in rim if (y, z) in s)
    made = reads([(r, ("x", "y")), (s, ("y", "z")), (t, ("x", "z"))])
    join = MultiwayJoin(made, ("x", "y", "z"), keep, counting, Limits(piece))
    assert rows(join) == (expected if counting else Counter(dict.fromkeys(expected, 1)))


@pytest.mark.parametrize("piece", [1, 2, 3, 100])
@pytest.mark.parametrize("budget", [1, 1000])
@pytest.mark.parametrize("marked", [0, 40])
def test_pieces_go_on_where_they_stopped(piece: int, budget: int, marked: int) -> None:
    """Also inside one list; 40 values to a spoke are scanned for the rim of 40, and leapt through for one of 3."""
    r, s = {(7, 1), (7, 2), (8, 2)}, {(y, z) for y in (1, 2) for z in range(40)}
    rim = range(marked or 3)
    t = {(x, z) for x in (7, 8) for z in rim}
    limits = Limits(piece, budget)
    made = reads([(r, ("x", "y")), (s, ("y", "z")), (t, ("x", "z"))])
    found = [b.ids for b in islice(MultiwayJoin(made, ("x", "y", "z"), 3, False, limits).batches(), 500)]
    listed = [row for ids in found for row in zip(*ids.tolist(), strict=True)]
    assert listed == [(x, y, z) for x, y in sorted(r) for z in rim]
    assert all(ids.shape[1] <= piece for ids in found)


def test_lists_that_leap_over_each_other() -> None:
    """Two and three lists of which none is ahead for long; a value counts only when all have come to it."""
    lists = [{(n,) for n in range(0, 60, step)} for step in (2, 3, 5)]
    for some in (lists[:2], lists):
        made = reads([(facts, ("x",)) for facts in some])
        expected = Counter(dict.fromkeys(set.intersection(*some), 1))
        assert rows(MultiwayJoin(made, ("x",), 1)) == expected


def test_pieces_are_bounded() -> None:
    everything = set(product(range(40), repeat=2))
    made = reads([(everything, ("x", "y")), (everything, ("y", "z")), (everything, ("z", "x"))])
    sizes = [b.ids.shape[1] for b in MultiwayJoin(made, ("x", "y", "z"), 3).batches()]
    assert sum(sizes) == 64_000 and max(sizes) <= LIMITS.piece


def test_what_the_kernel_does_not_take() -> None:
    binary, wide = relation({(1, 2)}, 2), relation({(1, 2, 3, 4)}, 4)
    assert can_intersect([p.Read(binary, ("x", "y")), p.Read(wide, ("x", 1, None, "y"))])
    assert not can_intersect([p.Read(binary, ("x", "x"))]), "a repeated variable"
    assert not can_intersect([p.Read(binary, (1, None))]), "no variable"
    assert not can_intersect([p.Read(wide, ("x", "y", "z", "u"))] * 5), "too many words"


def test_the_order_of_variables() -> None:
    r, small = relation(set(product(range(9), repeat=2)), 2), relation({(1, 2)}, 2)
    made = [p.Read(r, ("x", "y")), p.Read(r, ("y", "z")), p.Read(r, ("x", "z")), p.Read(small, ("z", "w"))]
    assert variable_order(made, ())[0][0] == "z"
    assert set(variable_order(made, ("w", "z"))[0][:2]) == {"w", "z"}
    chain = [p.Read(r, ("x", "y")), p.Read(r, ("y", "z"))]
    assert variable_order(chain, ("x", "z"))[1] == 3, "never x with every z"
