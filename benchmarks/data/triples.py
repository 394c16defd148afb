"""Triples as relations: a class is a unary predicate, a property a binary one, and every term a number."""

import re
from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.lubm import TYPE


def relations(lines: Iterable[str]) -> dict[str, NDArray[np.int64]]:
    """Return the relations of N-Triples, named by the last part of the class or property, without rows twice.

    >>> lines = ["<a> <u#knows> <b> .", f"<a> {TYPE} <u#Person> ."]
    >>> {name: rows.tolist() for name, rows in relations(lines).items()}
    {'knows': [[0, 1]], 'Person': [[0]]}
    """
    numbers: dict[str, int] = {}
    found: dict[str, list[tuple[int, ...]]] = defaultdict(list)
    for line in lines:
        subject, predicate, rest = line.split(" ", 2)
        thing = rest.rstrip().removesuffix(".").rstrip()
        row = [numbers.setdefault(subject, len(numbers))]
        if predicate == TYPE:
            found[_local(thing)].append(tuple(row))
        else:
            found[_local(predicate)].append((*row, numbers.setdefault(thing, len(numbers))))
    return {name: np.unique(np.array(rows, dtype=np.int64), axis=0) for name, rows in found.items()}


def _local(iri: str) -> str:
    return re.split("[#/]", iri.strip("<>"))[-1]
