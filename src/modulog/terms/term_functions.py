"""The values of expressions with functions, over rows of terms.

Equal rows are computed once. Between functions, numbers stay numbers. Terms of intermediate results are put
into a dictionary of their own, which lasts as long as the call, and only the terms of the results into that
of the engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from modulog.algebra.expressions import Compute, Condition, Value
from modulog.engines.values import Failures
from modulog.kernels import number_arithmetic as kernels
from modulog.kernels import packing, sort
from modulog.kernels.number_arithmetic import FINE, ILL_TYPED, INTEGER
from modulog.terms.arithmetic import Numbers, Status, change, encode_numbers, operate, read_numbers
from modulog.terms.arrow import encode_arrow
from modulog.terms.constant import Constant, Kind
from modulog.terms.dictionary import Bytes, Dictionary, Ids, Offsets, Texts
from modulog.terms.functions import NUMERIC
from modulog.terms.literal_values import Mask, compare

if TYPE_CHECKING:
    import pyarrow as pa


Columns = Mapping[str, Any]


@dataclass(slots=True)
class Terms:
    """A column of terms, as ids of some dictionary; a row that has failed holds any term."""

    dictionary: Dictionary
    ids: Ids
    status: Status


Column = Terms | Numbers


def compute(
    dictionary: Dictionary, function: Compute, columns: Columns, rows: int
) -> tuple[npt.NDArray[np.int64], Mask, Failures]:
    """The results of a function for rows of terms: ids, which rows have a value, and counts of those without.

    New terms are added to the dictionary. `columns` has the ids of each variable of the function.

    >>> d = Dictionary()
    >>> one, text = d.encode([Constant(Kind.INTEGER, "1"), Constant(Kind.STRING, "a")])
    >>> columns = {"x": np.array([one, text], np.int32)}
    >>> ids, fine, failures = compute(d, Compute("+", ("x", int(one))), columns, 2)
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
    """Which rows of terms satisfy a comparison of expressions, and counts of those that it cannot decide.

    The dictionary does not grow. `columns` has the ids of each variable of the comparison.
    """
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
    """How many rows have failed, by reason."""
    counts = np.bincount(status, minlength=kernels.SLOW)
    overflows, divisions, ill_typed = (
        int(counts[s]) for s in (kernels.OVERFLOW, kernels.DIVISION, kernels.ILL_TYPED)
    )
    return Failures(0, overflows, divisions, ill_typed)


def _distinct(
    columns: Columns, names: tuple[str, ...], rows: int
) -> tuple[dict[str, Ids], npt.NDArray[np.int64], int]:
    """The different rows of some columns, the place of each row among them, and how many there are.

    This sorts the rows: O(n log n).
    """
    if not names:
        return {}, np.zeros(rows, np.int64), 1
    ids = np.stack([np.asarray(columns[name]).view(np.int32) for name in names])
    words = packing.pack(ids, np.arange(len(names)))
    order = sort.positions_sorted(words)
    ordered = words[:, order]
    first = np.ones(rows, np.bool_)
    first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    inverse = np.empty(rows, np.int64)
    inverse[order] = np.cumsum(first) - 1
    chosen = order[first]
    return {name: ids[j][chosen].view(np.uint32) for j, name in enumerate(names)}, inverse, len(chosen)


def _into(target: Dictionary, column: Column) -> npt.NDArray[np.int64]:
    """The ids of a column in a dictionary, to which new terms are added; rows that failed have any id."""
    if isinstance(column, Numbers):
        return encode_numbers(target, column)
    if column.dictionary is target:
        return column.ids.astype(np.int64)
    keys, offsets = column.dictionary.keys(column.ids)
    texts = Texts(keys, offsets[:-1] + 1, offsets[1:], keys[offsets[:-1]])
    return target.encode_texts(texts).astype(np.int64)


class _Evaluation:
    """The evaluation of expressions over rows that are all different."""

    def __init__(self, dictionary: Dictionary, columns: Mapping[str, Ids], rows: int) -> None:
        self.dictionary, self.columns, self.rows = dictionary, columns, rows

    def value(self, value: Value) -> Column:
        """The column of a variable, a constant (its id) or a function."""
        if isinstance(value, Compute):
            arguments = [self.value(argument) for argument in value.arguments]
            return self._apply(value.function, arguments)
        ids = self.columns[value] if isinstance(value, str) else np.full(self.rows, value, np.uint32)
        return Terms(self.dictionary, ids, np.zeros(self.rows, np.uint8))

    def _apply(self, function: str, arguments: list[Column]) -> Column:
        """The column of a function whose arguments are these columns."""
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
        """The dictionary for intermediate results; the empty string, for rows that failed, has id 0."""
        dictionary = Dictionary()
        dictionary.encode([Constant(Kind.STRING, "")])
        return dictionary

    def _numbers(self, column: Column) -> Numbers:
        """The numbers of a column."""
        if isinstance(column, Numbers):
            return column
        numbers = read_numbers(column.dictionary, column.ids)
        numbers.status = np.where(column.status != FINE, column.status, numbers.status)
        return numbers

    def _scratch(self, column: Column) -> Ids:
        """The ids of a column in the scratch dictionary; rows that failed hold the empty string."""
        ids = _into(self.scratch, column)
        ids[ids < 0] = 0
        return ids.astype(np.uint32)


# Functions on columns of terms that give strings, the length of a string, or blank nodes (SKOLEM).
SKOLEM_BYTES = 16
"""Bytes of the hash that is the label of a blank node of SKOLEM."""
_PLAIN = (Kind.STRING, Kind.LANGUAGE)


def texts_of(dictionary: Dictionary, ids: Ids) -> pa.Array:
    """The texts of terms: of a literal what is between its quotes, of a node its IRI or label."""
    import pyarrow as pa

    kinds = dictionary.kinds(ids)
    buffer, offsets = dictionary.keys(ids, skip=1)
    texts = pa.LargeStringArray.from_buffers(len(ids), pa.py_buffer(offsets), pa.py_buffer(buffer))
    qualified = kinds >= Kind.LANGUAGE
    if qualified.any():
        texts = pa.array(
            [
                text.partition("\0")[2] if marked else text
                for text, marked in zip(texts.to_pylist(), qualified, strict=True)
            ],
            pa.large_string(),
        )
    return texts


def apply_text(function: str, dictionary: Dictionary, columns: Sequence[Ids], status: Status) -> pa.Array:
    """The strings that STR, UCASE, LCASE or CONCAT give for each row.

    Rows with an argument of the wrong kind get the status ILL_TYPED, and some string.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    _require(function, dictionary, columns, status)
    texts = [texts_of(dictionary, ids) for ids in columns]
    match function:
        case "UCASE":
            return pc.utf8_upper(texts[0])
        case "LCASE":
            return pc.utf8_lower(texts[0])
        case "CONCAT":
            return pc.binary_join_element_wise(*texts, pa.scalar("", pa.large_string()))
    return texts[0]


def lengths(dictionary: Dictionary, ids: Ids, status: Status) -> Numbers:
    """The number of characters of each string; other terms get the status ILL_TYPED."""
    import pyarrow.compute as pc

    _require("STRLEN", dictionary, [ids], status)
    result = Numbers.empty(len(ids), status)
    result.kinds[:] = INTEGER
    result.integers[:] = pc.utf8_length(texts_of(dictionary, ids)).to_numpy(zero_copy_only=False)
    return result


def _require(function: str, dictionary: Dictionary, columns: Sequence[Ids], status: Status) -> None:
    """Set the status of rows with an argument that the function does not take to ILL_TYPED."""
    for ids in columns:
        kinds = dictionary.kinds(ids)
        wrong = kinds == Kind.BLANK if function == "STR" else ~np.isin(kinds, _PLAIN)
        status[wrong & (status == FINE)] = ILL_TYPED


def skolem_names(dictionary: Dictionary, columns: Sequence[Ids]) -> tuple[Bytes, Offsets]:
    """The labels of the blank nodes that SKOLEM gives, as bytes with offsets: equal rows get equal labels.

    A label is a hash of the keys of the arguments, each after its length, so that no two rows give the same
    bytes.
    """
    rows = len(columns[0])
    parts = zip(*(_prefixed_keys(dictionary, ids) for ids in columns), strict=True)
    hashes = [blake2b(b"".join(row), digest_size=SKOLEM_BYTES).digest() for row in parts]
    labels = np.empty((rows, 2 + 2 * SKOLEM_BYTES), np.uint8)
    labels[:, :2] = np.frombuffer(b"sk", np.uint8)
    labels[:, 2:] = np.frombuffer(b"".join(hashes).hex().encode(), np.uint8).reshape(rows, 2 * SKOLEM_BYTES)
    return labels.reshape(-1), np.arange(rows + 1, dtype=np.int64) * labels.shape[1]


def _prefixed_keys(dictionary: Dictionary, ids: Ids) -> list[bytes]:
    """The keys of terms, each behind its length in four bytes."""
    distinct, inverse = np.unique(ids, return_inverse=True)
    buffer, offsets = dictionary.keys(distinct)
    data, sizes = buffer.tobytes(), np.diff(offsets).astype("<u4").tobytes()
    keys = [sizes[4 * i : 4 * i + 4] + data[a:b] for i, (a, b) in enumerate(pairwise(offsets.tolist()))]
    return [keys[i] for i in inverse.tolist()]
