"""The engine contract on Spark: the tests of `tests/contracts`, with fewer examples.

Filling relations costs Spark seconds: all random expressions read the same ones.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from modulog.engines.spark.engine import SparkEngine
from modulog.engines.spark.table import SparkTable, frame_of
from modulog.engines.spark.terms import SparkTerms
from modulog.terms.constant import Constant, Kind
from support import engine_contract as contract
from support import engine_updates
from support.counter_pair import Both
from support.engine_model import Builder
from support.implementations import Numbers
from support.relation_pair import SMALL

WIDE = [0, 3, 4, 70, 800]
SEEDS = st.integers(0, 2**32)
NODES = st.integers(0, 4)
EDGES = st.sets(st.tuples(NODES, NODES), max_size=8)
Make = Callable[..., SparkEngine]


def of(examples: int) -> Any:
    return settings(
        max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )


@pytest.fixture(scope="module")
def terms(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> SparkTerms:
    """Terms as the contract has them: the numbers below 900 are their own ids, the others cannot be ordered."""
    made = SparkTerms(spark, str(tmp_path_factory.mktemp("terms")))
    strange = [Constant(Kind.IRI, f"a:{i}") for i in range(Numbers.STRANGE, 1000)]
    plain = [Constant(Kind.INTEGER, str(i)) for i in range(Numbers.STRANGE)]
    made.adopt([c.key.decode() for c in (*plain, *strange)])
    made.write_pending()
    return made


@pytest.fixture(scope="module")
def make_engine(spark: Any, terms: SparkTerms, tmp_path_factory: pytest.TempPathFactory) -> Make:
    folder, number = tmp_path_factory.mktemp("facts"), count()
    return lambda **_: SparkEngine(spark, terms, f"{folder}/{next(number)}")


@pytest.fixture(scope="module")
def builder(make_engine: Make) -> Callable[..., Builder]:
    """As the contract's, but the relations are filled once."""
    filled = {max(ids): contract.make_builder(make_engine, 7, ids) for ids in (contract.IDS, WIDE)}

    def build(seed: int, ids: list[int] = contract.IDS) -> Builder:
        it = filled[max(ids)]
        return Builder(it.engine, it.relations, seed, ids)

    return build


# ---- Expressions and rounds


@of(6)
@given(seed=SEEDS, depth=st.integers(1, 3), wide=st.booleans())
def test_expressions(builder: Any, seed: int, depth: int, wide: bool) -> None:
    contract.check_expressions(builder, seed, depth, wide)


@of(3)
@given(seed=SEEDS, depth=st.integers(1, 2), limit=st.integers(0, 9))
def test_a_limit_and_a_count(builder: Any, seed: int, depth: int, limit: int) -> None:
    contract.check_a_limit(builder, seed, depth, limit)
    contract.check_count_is_the_number_of_rows(builder, seed, depth)


@of(2)
@given(seed=SEEDS, depth=st.integers(0, 2), rounds=st.integers(2, 3))
def test_a_round_schedules_what_is_new(builder: Any, seed: int, depth: int, rounds: int) -> None:
    contract.check_a_round_schedules_what_is_new(builder, seed, depth, rounds)


@pytest.mark.parametrize("example", contract.EXAMPLES, ids=lambda e: e.__name__)
def test_an_example(make_engine: Make, example: Any) -> None:
    example(make_engine)


@pytest.mark.parametrize("linear", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_closure_by_rounds(make_engine: Make, linear: bool) -> None:
    edges = {(i, (i * 5 + 3) % 11) for i in range(9)} | {(3, 3), (7, 1)}
    contract.check_a_closure_by_rounds(make_engine, edges, linear)


# ---- Many rows. A table of Spark's is a plan, not a chunk: what bounds chunks does not concern it.


@pytest.mark.parametrize(("arity", "ids"), [(3, 200), pytest.param(1, 2**30, marks=pytest.mark.long)])
def test_many_facts(make_engine: Make, arity: int, ids: int) -> None:
    contract.check_many_facts(make_engine, arity, ids)


@pytest.mark.long
def test_a_large_join(make_engine: Make) -> None:
    contract.check_a_large_join(make_engine, 1_000_000)


# ---- Updates and counters


@of(1)
@given(edges=EDGES, changes=st.lists(st.tuples(EDGES, EDGES, st.booleans()), min_size=2, max_size=2))
def test_a_closure_through_updates(make_engine: Make, edges: Any, changes: Any) -> None:
    engine_updates.check_a_closure_through_updates(make_engine, edges, changes)


@of(3)
@given(
    facts=EDGES,
    gone=EDGES,
    come=EDGES,
    leave=EDGES,
    version=st.sampled_from(["all", "old", "kept", "either"]),
)
def test_filters_over_layers(
    make_engine: Make, facts: Any, gone: Any, come: Any, leave: Any, version: str
) -> None:
    engine_updates.check_filters_over_layers(make_engine, facts, gone, come, leave, version)


@pytest.mark.parametrize("arity", [2, pytest.param(0, marks=pytest.mark.long)])
def test_counters_through_any_sequence(make_engine: Make, arity: int) -> None:
    engine = make_engine()

    def table(rows: Any, arity: int) -> SparkTable:
        ids = np.array(rows, np.int64).reshape(len(rows), arity).T
        return engine.table(tuple(f"c{j}" for j in range(arity)), ids)

    def weighted(rows: SparkTable, weights: list[int]) -> SparkTable:
        found = rows.frame.toArrow()
        columns = {name: found.column(name).to_numpy() for name in rows.columns}
        columns |= {"#": np.array(weights, np.int64)}
        return SparkTable(rows.columns, frame_of(engine.spark, columns, len(weights)), len(weights), True)

    both = Both(engine, table, arity, SMALL, arity, weighted)
    for step in ["adjust", "adjust", "begin", "undo", "adjust", "rollback", "begin", "adjust", "commit"]:
        both.step(step)
