"""Read facts from JSON lines: each line is an object, whose members are the columns, or an array.

PyArrow reads lines in bulk whose columns are texts, integers or booleans, each column of one type. All other
lines (other types, long integers, mistakes) are read by Python, one by one; both ways give the same facts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from modulog.errors import DataError
from modulog.formats.bad_records import BadRecord
from modulog.formats.tables import choose_columns
from modulog.formats.text_files import (
    BLOCK,
    NOT_UTF8,
    check_utf8,
    line_array,
    line_blocks,
    line_offsets,
    line_text,
)
from modulog.terms.arrow import encode_arrow
from modulog.terms.dictionary import Dictionary, Ids
from modulog.terms.python_values import constant
from modulog.wording import plural

Problems = list[tuple[int, str]]
"""The bad lines, by their number from 0, and what is wrong with each."""

PEEK = 21
"""How many lines are looked at to find the columns."""

_TYPES = {str: pa.string(), int: pa.int64(), bool: pa.bool_()}
"""The types that PyArrow reads exactly as Python does; it refuses a column that has another type."""


@dataclass(frozen=True, slots=True)
class JsonColumns:
    """The members of objects, or the places of arrays, that are read.

    `arity` is the length that arrays must have, None if it does not matter.
    """

    chosen: tuple[int | str, ...]
    arity: int | None

    @staticmethod
    def of(
        lines: Sequence[str], arity: int | None, columns: Sequence[int | str] | None, source: str
    ) -> JsonColumns:
        """The columns to read.

        Without `columns` they are all members of the first object, or all places of an array.

        `lines` are some lines from the start of the files; `arity` is the number of arguments if it is known.

        >>> JsonColumns.of(['{"a": 1, "b": 2}'], 2, None, "edge.jsonl").chosen
        ('a', 'b')
        """
        if columns is not None:
            if arity is not None and len(columns) != arity:
                choose_columns(None, len(columns), arity, columns, source)
            return JsonColumns(tuple(columns), None)
        first = _first_record(lines)
        if isinstance(first, dict):
            choose_columns(list(first), len(first), arity, None, source)
            return JsonColumns(tuple(first), None)
        width = arity if arity is not None else len(first)
        return JsonColumns(tuple(range(width)), width)

    def encode(self, lines: pa.Array, dictionary: Dictionary) -> tuple[Ids, Problems]:
        """The ids of the chosen columns of the good lines, and the bad lines; blank lines are neither."""
        keep = check_utf8(lines)
        problems = [(row, NOT_UTF8) for row in np.flatnonzero(~keep).tolist()]
        if not problems and (columns := self._in_bulk(lines)) is not None:
            ids = [encode_arrow(dictionary, column) for column in columns]
            return np.stack(ids), problems
        return self._line_by_line(lines, keep, problems, dictionary), problems

    def _in_bulk(self, lines: pa.Array) -> list[pa.Array] | None:
        """The chosen columns if PyArrow can read all the lines; None if it cannot, and Python must."""
        trimmed = pc.utf8_trim_whitespace(lines)
        full = trimmed.filter(pc.not_equal(trimmed, ""))
        if not len(full) or not self.chosen or not all(isinstance(name, str) for name in self.chosen):
            return None
        try:
            first = json.loads(full[0].as_py())
            schema = pa.schema([(name, _TYPES[type(first[name])]) for name in dict.fromkeys(self.chosen)])
            # PyArrow also reads an object that goes over several lines, which is a mistake here.
            if not pc.all(pc.and_(pc.starts_with(full, "{"), pc.ends_with(full, "}"))).as_py():
                return None
            block = pc.binary_join_element_wise(full, "\n", "").buffers()[2]
            table = pa.json.read_json(
                pa.BufferReader(block),
                read_options=pa.json.ReadOptions(use_threads=False, block_size=block.size + 1),
                parse_options=pa.json.ParseOptions(
                    explicit_schema=schema, unexpected_field_behavior="ignore"
                ),
            )
        except (ValueError, KeyError, TypeError, RecursionError):
            return None
        columns = [table[name].combine_chunks() for name in self.chosen]
        if table.num_rows != len(full) or any(column.null_count for column in columns):
            return None
        return columns

    def _line_by_line(
        self, lines: pa.Array, keep: npt.NDArray[np.bool_], problems: Problems, dictionary: Dictionary
    ) -> Ids:
        """The ids of the chosen columns of lines of any kind, parsed one by one.

        `keep` says which lines are UTF-8; what is wrong with others is appended to `problems`.
        """
        rows: list[list[Any]] = []
        for row in np.flatnonzero(keep).tolist():
            text = lines[row].as_py().rstrip("\r\n")
            if not text.strip():
                continue
            try:
                rows.append([constant(value) for value in self._values(text)])
            except (DataError, ValueError, RecursionError) as error:
                problems.append((row, _reason(error)))
        terms = [term for row in rows for term in row]
        ids = dictionary.encode(terms).reshape(len(rows), len(self.chosen))
        return np.ascontiguousarray(ids.T)

    def _values(self, text: str) -> list[Any]:
        """The values of one line at the chosen places; an error says what is wrong with it."""
        record = json.loads(text)
        if isinstance(record, dict):
            lacking = [name for name in self.chosen if name not in record]
            if lacking:
                raise DataError(f"there is no member {lacking[0]!r}")
        elif not isinstance(record, list):
            raise DataError("neither an object nor an array")
        elif self.arity is not None and len(record) != self.arity:
            raise DataError(f"{plural(len(record), 'value')} where {self.arity} should be")
        elif lacking := [i for i in self.chosen if not isinstance(i, int) or i >= len(record)]:
            raise DataError(
                f"there is no column {lacking[0]!r} in an array of {plural(len(record), 'value')}"
            )
        return [record[place] for place in self.chosen]


def read_json_lines(
    paths: Sequence[str | os.PathLike[str]],
    dictionary: Dictionary,
    *,
    arity: int | None = None,
    columns: Sequence[int | str] | None = None,
    aside: list[BadRecord] | None = None,
    block: int = BLOCK,
) -> Iterator[Ids]:
    """Read files as one, and yield their facts in chunks of ids.

    Bad lines are appended to `aside`; without it the first one is a DataError with the file and the line. So
    many bytes are read at once (`block`).
    """
    shown = ", ".join(map(str, paths))
    layout = JsonColumns.of(_first_lines(paths) if columns is None else [], arity, columns, shown)
    for path in paths:
        before = 0
        for lines in line_blocks(path, block):
            offsets = line_offsets(np.frombuffer(lines.data, np.uint8))
            ids, problems = layout.encode(line_array(lines.data, offsets), dictionary)
            for row, reason in sorted(problems):
                line = before + row + 1
                if aside is None:
                    raise DataError(f"{path}:{line}: {reason}")
                aside.append(BadRecord(str(path), line, line_text(lines.data, offsets, row), reason))
            before += len(offsets) - 1
            yield ids


def _first_lines(paths: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Up to `PEEK` lines from the start of the files, without blank ones."""
    found: list[str] = []
    for path in paths:
        block = next(line_blocks(path), None)
        lines = block.data.decode(errors="replace").splitlines() if block else []
        found += [line for line in lines[: PEEK * 4] if line.strip()][: PEEK - len(found)]
        if len(found) >= PEEK:
            break
    return found


def _first_record(lines: Sequence[str]) -> dict[str, object] | list[object]:
    """The first of the lines that is an object or an array; an array of one value if none is."""
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict | list):
            return record
    return [None]


def _reason(error: Exception) -> str:
    """What an error says is wrong with a line."""
    return f"not JSON: {error}" if isinstance(error, json.JSONDecodeError) else str(error)
