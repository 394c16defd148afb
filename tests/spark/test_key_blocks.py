"""Facts as blocks over dictionaries of their own, numbered and put together again: the same facts, each once, with ids that stay."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modulog.engines.spark import assign_ids, key_blocks
from modulog.engines.spark.assign_ids import PLACES, ROW_BITS, SIZE, TERM, Distinct, Translate, assign
from modulog.engines.spark.key_blocks import (
    KNOWN,
    PENDING,
    SCHEMA,
    Chunks,
    TableBlocks,
    TermBlocks,
    TripleBlocks,
)
from modulog.engines.spark.table import Waiting, encode, stage
from modulog.engines.spark.terms import SparkTerms
from modulog.terms.constant import RDF
from modulog.terms.python_values import IRI, BlankNode, constant

Fact = tuple[str, ...]


def batches(rows: Sequence[Fact], names: Sequence[str], size: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(rows), size):
        columns = zip(*rows[start : start + size], strict=True)
        yield pa.RecordBatch.from_arrays([pa.array(c, pa.string()) for c in columns], list(names))


def table(found: Iterator[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in found for row in batch.to_pylist()]


def key(value: Any) -> str:
    return constant(value).key.decode()


def shuffled(
    rows: list[dict[str, Any]], columns: Sequence[str], by: Callable[[Any], int]
) -> list[pa.RecordBatch]:
    """Rows in two partitions, as a shuffle makes them."""
    halves = [[{c: row[c] for c in columns} for row in rows if by(row) % 2 == half] for half in (0, 1)]
    return [pa.RecordBatch.from_pylist(half) for half in halves if half]


FACTS = st.lists(st.tuples(st.integers(0, 8).map(key), st.sampled_from(["a", "b", ""]).map(key)), max_size=40)


@given(FACTS, FACTS, st.lists(st.sampled_from(["a", "b", "x"]), unique=True, max_size=3), st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_what_goes_in_comes_out(first: list[Fact], second: list[Fact], known: list[str], size: int) -> None:
    """Two tasks, chunks of a few facts, terms that have ids: Python sets say what must come out."""
    monkey = pytest.MonkeyPatch()
    written: list[dict[str, Any]] = []
    try:
        monkey.setattr(key_blocks, "MOST_FACTS", 5)
        for task, rows in enumerate((first, second)):
            monkey.setattr(key_blocks, "partition", lambda task=task: task)
            written += table(Chunks(TableBlocks("7"))(batches(rows, ["k0", "k1"], size)))
        terms = [pa.record_batch({"id": pa.array([i]), "key": [key(k)]}) for i, k in enumerate(known)]
        old = [*table(TermBlocks(KNOWN)(iter(terms[:1]))), *table(TermBlocks(PENDING)(iter(terms[1:])))]
        assigned: list[dict[str, Any]] = []
        keyed = [row for row in written if row["bucket"] is not None] + old
        for task, batch in enumerate(
            shuffled(keyed, ["chunk", "numbers", "data", "ends"], lambda r: r["bucket"])
        ):
            monkey.setattr(assign_ids, "partition", lambda task=task: task)
            assigned += table(assign(iter([batch])))
    finally:
        monkey.undo()
    sizes = {row["slot"] >> ROW_BITS: row["slot"] & 0xFFFF for row in assigned if row["chunk"] == SIZE}
    offsets = [len(known), len(known) + sizes.get(0, 0)]
    new = {
        row["key"]: offsets[row["slot"] >> ROW_BITS] + (row["slot"] & 0xFFFF)
        for row in assigned
        if row["kind"] == TERM and row["slot"] >= 0
    }
    ids = {key(k): i for i, k in enumerate(known)} | new
    given_keys = set(chain(*first, *second))
    assert set(new) == given_keys - {key(k) for k in known}
    assert sorted(ids.values()) == list(range(len(ids)))
    kept = {row["key"] for row in assigned if row["kind"] == TERM and row["slot"] < 0}
    assert kept == {key(k) for k in known[1:]}
    both = [{**row, "slots": None} for row in written if row["name"] is not None]
    both += [{**row, "name": None} for row in assigned if row["kind"] == PLACES and row["chunk"] >= 0]
    run = Translate(2, tuple(offsets), {(0, "7"): (3, 4)})
    encoded = table(run(iter(shuffled(both, ["chunk", "name", "numbers", "slots"], lambda r: 0))))
    found: list[tuple[int, ...]] = []
    for batch in shuffled(encoded, ["bucket", "facts"], lambda r: r["bucket"]):
        piece = [tuple(row.values()) for row in table(Distinct(2)(iter([batch])))]
        assert piece == sorted(piece)
        found += piece
    expected = {(p, ids[a], ids[b]) for p in (3, 4) for a, b in (*first, *second)}
    assert len(found) == len(expected) and set(found) == expected


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30),
    st.booleans(),
)
def test_distinct_rows(rows: list[tuple[int, int, int]], wide: bool) -> None:
    """Packed into words, and not, where they do not fit."""
    shift = 2**40 if wide else 0
    columns = np.array(rows, np.int64).T + np.array([[0], [shift], [shift]])
    found = assign_ids.distinct_columns(np.ascontiguousarray(columns)).T
    assert [(a, b - shift, c - shift) for a, b, c in found.tolist()] == sorted(set(rows))


def test_triples_by_predicate_and_view() -> None:
    iri = {name: key(IRI(f"http://e/{name}")) for name in "spogC"}
    kind, blank = key(IRI(RDF + "type")), key(BlankNode("b"))
    quads = [
        (iri["s"], iri["p"], iri["o"], iri["g"]),
        (iri["s"], kind, iri["C"], ""),
        (iri["o"], kind, blank, ""),
    ]
    run = Chunks(TripleBlocks(("triple", "quad", f"<{RDF}type>")))
    rows = table(run(batches(quads, "spog", 10)))
    facts = {(r["name"], r["arity"], r["size"]) for r in rows if r["name"] is not None}
    type_name = f"<{RDF}type>"
    assert facts == {
        ("<http://e/C>", 1, 1),
        ("<http://e/p>", 2, 1),
        (type_name, 2, 1),
        (type_name, 2, 2),
        ("triple", 3, 3),
        ("quad", 4, 1),
    }
    plain = table(Chunks(TripleBlocks(()))(batches([q[:3] for q in quads], "spo", 10)))
    keys = b"".join(r["data"] for r in plain if r["data"] is not None)
    assert b"http://e/p" not in keys and b"http://e/o" in keys and blank.encode() in keys


def test_sources_are_numbered_together(spark: Any, tmp_path: Path) -> None:
    """Two staged sources with the same names and chunks, and a plan, into relations of their own."""

    class Relation:
        def __init__(self, number: int) -> None:
            self.number = number

    terms = SparkTerms(spark, str(tmp_path))
    frames = [
        spark.createDataFrame(pa.table({"k0": list(map(key, values))})).mapInArrow(
            Chunks(TableBlocks("n")), SCHEMA
        )
        for values in (["a", "b", "a"], ["b", "c"], ["d"])
    ]
    staged = [stage(terms, frame) for frame in frames[:2]]
    assert [s.names for s in staged] == [((1, "n"),)] * 2 and staged[0].text == 4
    relations: list[Any] = [Relation(i) for i in range(4)]
    waits = [
        Waiting(1, blocks, {"n": relation}, 0)
        for blocks, relation in zip([staged[0], staged[1], frames[2], staged[0]], relations, strict=True)
    ]
    [(arity, frame, heads)] = encode(terms, waits)
    names = {row.id: row.key[1:] for row in terms.frame().collect()}
    found = sorted((row.p, names[row.c0]) for row in frame.collect())
    assert arity == 1 and list(heads) == relations
    assert found == [(0, "a"), (0, "b"), (1, "b"), (1, "c"), (2, "d"), (3, "a"), (3, "b")]

    def visible() -> list[str]:
        terms.release()
        return sorted(p.name.split("-")[0] for p in tmp_path.glob("terms-*/[!.]*"))

    assert visible() == ["part", "staged", "staged"]
    del staged, waits  # what nobody waits for any more is deleted
    assert visible() == ["part"]
