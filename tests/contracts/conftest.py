"""The implementations that every contract runs on."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from modulog.engines.engine import Engine
from modulog.engines.relation import Relation
from support.implementations import IMPLEMENTATIONS, Numbers, engine_by_name


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only the local engine can pass."""
    left_out = [i for i in items if i.get_closest_marker("inside") and re.search(r"\[.*\btoy\b", i.name)]
    if left_out:
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session", params=[name for name, _ in IMPLEMENTATIONS])
def make_engine(request: pytest.FixtureRequest) -> Callable[..., Engine]:
    """Makes engines; ids stay below `terms`."""
    return lambda terms=Numbers.TERMS: engine_by_name(request.param, terms)


@pytest.fixture(scope="session", params=IMPLEMENTATIONS, ids=lambda pair: f"{pair[0]}-{pair[1].kind}")
def make_relation(request: pytest.FixtureRequest) -> Callable[[int], Relation]:
    """Makes empty relations of an arity."""
    engine, scheme = request.param
    return lambda arity: engine_by_name(engine).relation("r", arity, scheme)


@pytest.fixture(scope="session")
def make_table() -> Callable[..., Any]:
    """Makes tables from rows of ids."""
    engine = engine_by_name("local")

    def make(rows: Any, arity: int) -> Any:
        ids = np.array(rows, np.int32).reshape(len(rows), arity).T
        return engine.table(tuple(f"c{j}" for j in range(arity)), np.ascontiguousarray(ids))

    return make
