"""Cross-node evaluation: what the reducer leaves, where it begins, and what the join goes through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from modulog.algebra.expressions import Expr, Join, Read, Rows
from modulog.engines.local.engine import LocalEngine
from modulog.modules import tree_join
from modulog.modules.tree_join import Active, CrossNode
from support.implementations import Numbers
from support.instances import rows_of

ENGINE = LocalEngine(Numbers(1_000_000))


def relation(rows: Any) -> Any:
    made: Any = ENGINE.relation("n", len(rows[0]))
    ids = np.ascontiguousarray(np.array(rows, np.int32).T)
    made.schedule(ENGINE.table(tuple("abc"[: len(ids)]), ids), 0)
    made.derive()
    made.merge()
    return made


def active(rows: Any, names: str) -> Active:
    return Active(Read(relation(rows), tuple(names), "old"), len(set(rows)))


def cross(nodes: list[Active], parents: list[int], needed: str) -> CrossNode:
    return CrossNode(ENGINE, nodes, parents, frozenset(needed))


def found(node: CrossNode, delta: int | None, names: str) -> set[Any]:
    rows = node.rows(delta)
    if rows is None:
        return set()
    places = [rows.variables.index(v) for v in names]
    return {tuple(row[j] for j in places) for row in rows_of(ENGINE.collect(rows))}


CHAIN = ([(1, 2), (1, 3), (4, 5)], [(2, 6), (3, 7), (9, 9)], [(6, 8), (9, 9)])


@pytest.mark.parametrize("delta", [None, 0, 1, 2])
@pytest.mark.parametrize("smaller", [0, 10**9])
@pytest.mark.parametrize("lookup", [0, 10**9])
def test_every_row_takes_part(
    delta: int | None, smaller: int, lookup: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the first pass is made, and how semi-joins are, changes nothing."""
    monkeypatch.setattr(tree_join, "SMALLER", smaller)
    monkeypatch.setattr(tree_join, "LOOKUP", lookup)
    nodes = [active(rows, names) for rows, names in zip(CHAIN, ("xy", "yz", "zw"), strict=True)]
    node = cross(nodes, [-1, 0, 1], "xw")
    assert found(node, delta, "xw") == {(1, 8)}
    assert [a.size for a in node.active] == [1, 1, 1]


def test_the_first_pass_looks_up_from_the_changed_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """One new row among a thousand: large tables are looked up in, never read from end to end."""
    scanned: list[int] = []
    collect = ENGINE.collect

    def noted(expr: Expr) -> Any:
        left = expr
        while hasattr(left, "left") or hasattr(left, "child"):
            left = getattr(left, "left", None) or left.child  # type: ignore[union-attr]
        scanned.append(left.relation.size("old") if isinstance(left, Read) else len(left.table))  # type: ignore[union-attr]
        return collect(expr)

    monkeypatch.setattr(ENGINE, "collect", noted)
    many = [(i, i) for i in range(1000)]
    nodes = [active(many, "xy"), active([(5, 5)], "yz"), active(many, "zw")]
    assert found(cross(nodes, [-1, 0, 1], "xw"), 1, "xw") == {(5, 5)}
    assert max(scanned[:-1]) == 1


def test_a_table_that_loses_nothing_stays_where_its_indexes_are() -> None:
    node = cross([active([(1, 2)], "xy"), active([(2, 3)], "yz")], [-1, 0], "xz")
    assert found(node, None, "xz") == {(1, 3)}
    assert all(isinstance(a.expr, Read) for a in node.active)


def test_errata_a_child_is_projected_before_it_is_joined() -> None:
    """h(x) ← a(x,y), b(y,z): the child brings nothing that the head needs, and has done its work by filtering."""
    many = 50
    nodes = [active([(i, 1) for i in range(many)], "xy"), active([(1, i) for i in range(many)], "yz")]
    rows = cross(nodes, [-1, 0], "x").rows(None)
    assert rows is not None and not isinstance(rows, Join)
    assert ENGINE.count(rows) == many


def test_a_child_with_one_needed_variable_gives_each_value_once() -> None:
    nodes = [active([(1, 1)], "xy"), active([(1, 7, i) for i in range(50)], "yzu")]
    rows = cross(nodes, [-1, 0], "xz").rows(None)
    assert rows is not None and ENGINE.count(rows) == 1


def test_nodes_without_common_variables() -> None:
    nodes = [active([(1, 2)], "xy"), active([(5, 6), (7, 8)], "zu")]
    assert found(cross(nodes, [-1, 0], "xz"), None, "xz") == {(1, 5), (1, 7)}
    nothing = Active(Rows(ENGINE.table(("z",), np.empty((1, 0), np.int32))), 0)
    assert cross([nodes[0], nothing], [-1, 0], "x").rows(None) is None
