"""Facts for the rules of the Relation Ontology: parts, places, times and causes in many small worlds, in a stream.

The ontology has no data. The storage paper uses 845,800 synthetic facts, 390,300 of them in 33 transitive properties; they become 212.2 million, 14.1 million in
transitive properties: 251 and 36 for each one given. Here they become about 135 and 41. Things live in worlds of `THINGS`, and no fact leads out of one: what follows grows with the number of facts,
not with its square. In a world properties lead from later things to earlier ones, transitive ones mostly to near ones, as parts and predecessors do, and of two
inverse properties only one has facts. Properties are used unequally, as real ones are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.lubm import TYPE

FACTS = 845_800
"""How many facts the storage paper has."""

THINGS = 60
"""How many things a world has."""

DENSITY = 845
"""How many facts a world has, about."""

TRANSITIVE = 390_300 / FACTS
"""The share of facts in transitive properties."""

TYPED = 0.05
"""The share of facts that say what a thing is."""

NEAR = 6
"""How far a transitive property mostly leads."""

WORLDS = 256
"""Worlds made at a time."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The IRIs of the properties and classes that the rules of an ontology read."""

    transitive: tuple[str, ...]
    others: tuple[str, ...]
    classes: tuple[str, ...]


def relations(
    vocabulary: Vocabulary, facts: int = FACTS, seed: int = 1
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield blocks of rows, each with the IRI of its property or class: at most so many facts, and nearly so many if there are many words; no row twice.

    >>> words = Vocabulary(("u:partOf",), ("u:near",), ("u:Cell",))
    >>> {name: rows.shape[1] for name, rows in relations(words, 10_000)}
    {'u:partOf': 2, 'u:near': 2, 'u:Cell': 1}
    """
    worlds = max(1, round(facts / DENSITY))
    for number, first in enumerate(range(0, worlds, WORLDS)):
        rng = np.random.default_rng([seed, number])
        count = min(WORLDS, worlds - first)
        share = facts * count / worlds
        kinds = (
            (vocabulary.transitive, share * TRANSITIVE, _downwards),
            (vocabulary.others, share * (1 - TRANSITIVE - TYPED), _earlier),
            (vocabulary.classes, share * TYPED, _things),
        )
        for names, wanted, draw in kinds:
            for name, size in zip(names, _sizes(len(names), int(wanted)), strict=True):
                rows = draw(size, rng)
                world = rng.integers(first, first + count, size)[:, None]
                yield name, np.unique(world * THINGS + rows, axis=0)


def write_relations(path: Path, vocabulary: Vocabulary, facts: int = FACTS, seed: int = 1) -> int:
    """Write the facts as N-Triples; return the number of triples."""
    written = 0
    with path.open("w", encoding="utf-8", buffering=1 << 20) as file:
        for name, rows in relations(vocabulary, facts, seed):
            written += len(rows)
            _write(file, name, rows.tolist())
    return written


def _write(file: TextIO, name: str, rows: list[list[int]]) -> None:
    thing = "<http://example.org/thing/{}>".format
    if rows and len(rows[0]) == 1:
        file.writelines(f"{thing(row[0])} {TYPE} <{name}> .\n" for row in rows)
    else:
        file.writelines(f"{thing(source)} <{name}> {thing(target)} .\n" for source, target in rows)


def _sizes(names: int, facts: int) -> Sequence[int]:
    """How many facts each name gets: the fourth half as many as the first."""
    weights = 1 / np.sqrt(np.arange(1, names + 1))
    ends = np.round(np.cumsum(weights) / weights.sum() * facts).astype(np.int64) if names else weights
    return np.diff(ends, prepend=0).astype(int).tolist()


def _downwards(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Pairs of a thing and an earlier one, mostly a near one."""
    later = rng.integers(1, THINGS, size)
    back = np.minimum(rng.geometric(1 / NEAR, size), later)
    return np.column_stack([later, later - back])


def _earlier(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Pairs of a thing and any earlier one."""
    later = rng.integers(1, THINGS, size)
    return np.column_stack([later, rng.integers(0, later)])


def _things(size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.integers(0, THINGS, (size, 1))
