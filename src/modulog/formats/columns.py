"""Choose the columns of a table that are the arguments of a predicate, and encode them as ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from modulog.errors import DataError
from modulog.terms.arrow import encode_arrow, is_turtle
from modulog.terms.dictionary import Dictionary, Ids
from modulog.wording import plural

CHUNK = 1 << 20
"""The most rows of a chunk of ids."""


def choose_columns(
    names: Sequence[str] | None,
    width: int,
    arity: int | None,
    columns: Sequence[int | str] | None,
    source: str,
) -> list[int]:
    """The positions of the columns to read, from 0, in the order of the arguments.

    `columns` are the columns that the user asks for, by name or position; None means all, in their order.
    `names` are the names of the table's columns, None if it has none, `width` how many there are. `arity` is
    the number of arguments if it is known. A column that does not exist, or a wrong number of columns, is a
    DataError that names `source`.
    """
    if columns is None:
        if arity is not None and width != arity:
            shown = f" ({', '.join(names)})" if names else ""
            raise DataError(
                f"{source}: {plural(width, 'column')}{shown} where {plural(arity, 'argument')} should be"
            )
        return list(range(width))
    if arity is not None and len(columns) != arity:
        raise DataError(f"{source}: {plural(len(columns), 'column')} named for {plural(arity, 'argument')}")
    known = list(names or ())
    chosen = []
    for column in columns:
        place = known.index(column) if isinstance(column, str) and column in known else column
        if not isinstance(place, int) or not 0 <= place < width:
            have = f"columns {', '.join(map(repr, known))}" if known else plural(width, "column")
            raise DataError(f"{source}: there is no column {column!r}, but {have}")
        chosen.append(place)
    return chosen


def encode_batches(
    batches: Iterator[pa.RecordBatch], dictionary: Dictionary, chosen: Sequence[int], source: str
) -> Iterator[Ids]:
    """Record batches as chunks of ids: column `chosen[j]` of the table is argument j.

    A DataError names the source, the column and the row, counted from 1.
    """
    row = 1
    for whole in batches:
        for start in range(0, whole.num_rows, CHUNK):
            batch = whole.slice(start, CHUNK)
            ids = np.empty((len(chosen), batch.num_rows), np.uint32)
            for place, column in enumerate(chosen):
                field = batch.schema.field(column)
                try:
                    ids[place] = encode_arrow(
                        dictionary, batch.column(column), row=row, turtle=is_turtle(field)
                    )
                except DataError as error:
                    raise DataError(f"{source}: column {field.name!r}, {error}") from error
            row += batch.num_rows
            yield ids
