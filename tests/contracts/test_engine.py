"""Every engine evaluates expressions as their definitions say, whatever the sizes at which it changes its
ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modulog.algebra import expressions as p
from modulog.engines.engine import Engine, Work
from support import engine_contract as contract
from support.engine_contract import loaded, make_builder, many, unique_rows
from support.engine_limits import SETTINGS, patched

SEEDS = st.integers(0, 2**32)
Make = Callable[..., Engine]


@pytest.fixture(scope="module", params=SETTINGS.values(), ids=SETTINGS)
def limits(request: pytest.FixtureRequest) -> Iterator[None]:
    with patched(request.param):
        yield


@pytest.fixture(scope="module")
def builder(make_engine: Make) -> Any:
    return partial(make_builder, make_engine)


@pytest.mark.usefixtures("limits")
@given(seed=SEEDS, depth=st.integers(0, 4), wide=st.booleans())
def test_expressions(builder: Any, seed: int, depth: int, wide: bool) -> None:
    contract.check_expressions(builder, seed, depth, wide)


@given(seed=SEEDS, depth=st.integers(0, 3), limit=st.integers(0, 9))
def test_a_limit_and_a_count(builder: Any, seed: int, depth: int, limit: int) -> None:
    contract.check_a_limit(builder, seed, depth, limit)
    contract.check_count_is_the_number_of_rows(builder, seed, depth)


@pytest.mark.usefixtures("limits")
@given(seed=SEEDS, depth=st.integers(0, 3), rounds=st.integers(1, 4))
def test_a_round_schedules_what_is_new(builder: Any, seed: int, depth: int, rounds: int) -> None:
    contract.check_a_round_schedules_what_is_new(builder, seed, depth, rounds)


@pytest.mark.usefixtures("limits")
@given(edges=st.sets(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=30), linear=st.booleans())
def test_a_closure_by_rounds(make_engine: Make, edges: Any, linear: bool) -> None:
    contract.check_a_closure_by_rounds(make_engine, edges, linear)


@pytest.mark.parametrize("example", contract.EXAMPLES, ids=lambda e: e.__name__)
def test_an_example(make_engine: Make, example: Any) -> None:
    example(make_engine)


# ---- Many rows


@pytest.mark.inside
@pytest.mark.parametrize(("arity", "ids"), [(1, 2**30), (2, 3_000), (2, 2**28), (3, 200), (5, 20)])
def test_many_facts(make_engine: Make, arity: int, ids: int) -> None:
    contract.check_many_facts(make_engine, arity, ids)


@pytest.mark.inside
@pytest.mark.parametrize("ids", [700, 1_000_000])
def test_a_large_join(make_engine: Make, ids: int) -> None:
    contract.check_a_large_join(make_engine, ids)


@pytest.mark.inside
def test_a_derived_relation_of_many_facts_joins_with_itself(make_engine: Any) -> None:
    """A relation that a bitmap kept free of duplicates is not sorted before somebody looks it up: not under a
    scan.
    """
    engine = make_engine(terms=1000)
    columns = many(3, 600_000, 1000, 2)
    facts = unique_rows(columns)
    source, relation = loaded(engine, columns), engine.relation("derived", 2)
    assert facts.shape[1] > 400_000
    engine.run([Work(relation, p.Project(p.Read(source, ("x", "y")), ("y", "x"), "keep"), 1)])
    relation.derive()
    relation.merge()
    relation.rest()
    backwards, forwards = p.Read(relation, ("y", "x")), p.Read(relation, ("x", "y"))
    both = {tuple(f) for f in facts.T.tolist()}
    assert engine.count(p.SemiJoin(backwards, forwards, ("x", "y"))) == sum((y, x) in both for x, y in both)


@pytest.mark.inside
def test_one_row_with_many_matches(make_engine: Any) -> None:
    engine = make_engine(terms=600_000)
    star = loaded(engine, np.stack([np.zeros(500_000, np.int32), np.arange(500_000, dtype=np.int32)]))
    tables = list(engine.evaluate(p.Join(p.Read(star, ("x", 17)), p.Read(star, ("x", "y")), ("y",))))
    assert sum(map(len, tables)) == 500_000
    assert max(map(len, tables)) <= 2**20, "bounded chunks"


@pytest.mark.inside
def test_a_product_comes_in_bounded_chunks(make_engine: Any) -> None:
    engine = make_engine(terms=2_000)
    line = loaded(engine, np.arange(2_000, dtype=np.int32)[np.newaxis])
    product = p.Join(p.Read(line, ("x",)), p.Read(line, ("y",)), ("x", "y"))
    sizes = [len(table) for table in engine.evaluate(product)]
    assert sum(sizes) == 4_000_000
    assert max(sizes) <= 2**20
    assert sum(len(table) for table in engine.evaluate(product, 10)) == 10
