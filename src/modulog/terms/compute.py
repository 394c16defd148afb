"""The values of expressions over rows of terms.

Rows with the same terms are done once. Between functions numbers stay numbers; only what somebody will see gets a term: in the dictionary
if it is to have an id there, else in one that lasts as long as the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from modulog.engines.protocol import Compute, Condition, Failures, Value
from modulog.kernels import arithmetic as kernels
from modulog.kernels import packing, sorting
from modulog.kernels.arithmetic import FINE
from modulog.terms.arithmetic import Numbers, Status, change, encode_numbers, operate, read_numbers
from modulog.terms.columns import encode_arrow
from modulog.terms.dictionary import Dictionary, Ids, Texts
from modulog.terms.functions import NUMERIC
from modulog.terms.model import Constant, Kind
from modulog.terms.texts import apply_text, lengths, skolem_names
from modulog.terms.values import Mask, compare

Columns = Mapping[str, Any]


@dataclass(slots=True)
class Terms:
    """A column of terms of some dictionary; rows that have failed may hold any term."""

    dictionary: Dictionary
    ids: Ids
    status: Status


Column = Terms | Numbers


def compute(
    dictionary: Dictionary, function: Compute, columns: Columns, rows: int
) -> tuple[npt.NDArray[np.int64], Mask, Failures]:
    """What a function gives for rows of terms: ids, new ones where need be, which rows have a value, and why others have none.

    >>> d = Dictionary()
    >>> one, text = d.encode([Constant(Kind.INTEGER, "1"), Constant(Kind.STRING, "a")])
    >>> ids, fine, failures = compute(d, Compute("+", ("x", int(one))), {"x": np.array([one, text], np.int32)}, 2)
    >>> d.decode(ids[fine]), failures.ill_typed
    ([Constant(kind=<Kind.INTEGER: 2>, text='2', qualifier='')], 1)
    """
    distinct, inverse, rows = _distinct(columns, function.variables, rows)
    evaluation = _Evaluation(dictionary, distinct, rows)
    column = evaluation.value(function)
    ids = _into(dictionary, column)
    status = column.status[inverse]
    return ids[inverse], status == FINE, _failures(status)


def satisfy(
    dictionary: Dictionary, condition: Condition, columns: Columns, rows: int
) -> tuple[Mask, Failures]:
    """Which rows of terms satisfy a condition with functions; the dictionary does not grow."""
    distinct, inverse, rows = _distinct(columns, tuple(dict.fromkeys(condition.variables)), rows)
    evaluation = _Evaluation(dictionary, distinct, rows)
    sides = [evaluation.value(side) for side in (condition.left, condition.right)]
    status = np.where(sides[0].status != FINE, sides[0].status, sides[1].status)
    scratch = Dictionary()
    left, right = (_into(scratch, side).astype(np.uint32)[inverse] for side in sides)
    status = status[inverse]
    mask = status == FINE
    holds, incomparable = compare(scratch, condition.operator, left[mask], right[mask])
    failures = _failures(status) + Failures(incomparable=incomparable)
    mask[mask] = holds
    return mask, failures


def _failures(status: Status) -> Failures:
    counts = np.bincount(status, minlength=kernels.SLOW)
    overflows, divisions, ill_typed = (
        int(counts[s]) for s in (kernels.OVERFLOW, kernels.DIVISION, kernels.ILL_TYPED)
    )
    return Failures(0, overflows, divisions, ill_typed)


def _distinct(
    columns: Columns, names: tuple[str, ...], rows: int
) -> tuple[dict[str, Ids], npt.NDArray[np.int64], int]:
    """The different rows of some columns, and which of them each row is."""
    if not names:
        return {}, np.zeros(rows, np.int64), 1
    ids = np.stack([np.asarray(columns[name]).view(np.int32) for name in names])
    words = packing.pack(ids, np.arange(len(names)))
    order = sorting.positions_sorted(words)
    ordered = words[:, order]
    first = np.ones(rows, np.bool_)
    first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    inverse = np.empty(rows, np.int64)
    inverse[order] = np.cumsum(first) - 1
    chosen = order[first]
    return {name: ids[j][chosen].view(np.uint32) for j, name in enumerate(names)}, inverse, len(chosen)


def _into(target: Dictionary, column: Column) -> npt.NDArray[np.int64]:
    """The ids of a column in a dictionary; rows that failed have any."""
    if isinstance(column, Numbers):
        return encode_numbers(target, column)
    if column.dictionary is target:
        return column.ids.astype(np.int64)
    keys, offsets = column.dictionary.keys(column.ids)
    texts = Texts(keys, offsets[:-1] + 1, offsets[1:], keys[offsets[:-1]])
    return target.encode_texts(texts).astype(np.int64)


class _Evaluation:
    """One evaluation over different rows."""

    def __init__(self, dictionary: Dictionary, columns: Mapping[str, Ids], rows: int) -> None:
        self.dictionary, self.columns, self.rows = dictionary, columns, rows

    def value(self, value: Value) -> Column:
        """The column of a value."""
        if isinstance(value, Compute):
            arguments = [self.value(argument) for argument in value.arguments]
            return self._apply(value.function, arguments)
        ids = self.columns[value] if isinstance(value, str) else np.full(self.rows, value, np.uint32)
        return Terms(self.dictionary, ids, np.zeros(self.rows, np.uint8))

    def _apply(self, function: str, arguments: list[Column]) -> Column:
        if function in NUMERIC:
            numbers = [self._numbers(argument) for argument in arguments]
            return operate(function, *numbers) if len(numbers) == 2 else change(function, *numbers)
        status = np.zeros(self.rows, np.uint8)
        for argument in arguments:
            status = np.where(status != FINE, status, argument.status)
        columns = [self._scratch(argument) for argument in arguments]
        if function == "STRLEN":
            return lengths(self.scratch, columns[0], status)
        if function == "SKOLEM":
            ids = self.scratch.encode_strings(*skolem_names(self.scratch, columns), Kind.BLANK)
        else:
            texts = apply_text(function, self.scratch, columns, status)
            ids = encode_arrow(self.scratch, texts)
        return Terms(self.scratch, ids, status)

    @cached_property
    def scratch(self) -> Dictionary:
        """Terms that last as long as the evaluation; the first is the empty string."""
        dictionary = Dictionary()
        dictionary.encode([Constant(Kind.STRING, "")])
        return dictionary

    def _numbers(self, column: Column) -> Numbers:
        if isinstance(column, Numbers):
            return column
        numbers = read_numbers(column.dictionary, column.ids)
        numbers.status = np.where(column.status != FINE, column.status, numbers.status)
        return numbers

    def _scratch(self, column: Column) -> Ids:
        """The terms of a column in the scratch dictionary; rows that failed hold the empty string."""
        ids = _into(self.scratch, column)
        ids[ids < 0] = 0
        return ids.astype(np.uint32)
