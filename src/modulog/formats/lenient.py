"""Files with bad records, read by one machine: the good rows are facts, the others are set aside."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from modulog.errors import DataError
from modulog.formats.bad_records import BOM, MISSING, BadRecord, split_rows
from modulog.formats.csv import read_csv
from modulog.formats.records import open_stream, records
from modulog.terms.dictionary import Dictionary, Ids

SCHEMA = pa.schema(
    [("file", pa.string()), ("line", pa.int64()), ("text", pa.string()), ("reason", pa.string())]
)


def read_csv_leniently(
    path: str | os.PathLike[str],
    dictionary: Dictionary,
    aside: list[BadRecord],
    *,
    arity: int | None,
    delimiter: str,
    header: bool,
    strings: bool,
    columns: Sequence[int | str] | None,
) -> list[Ids]:
    """As `read_csv`, with the bad rows in `aside`; only a file that has one is read row by row."""

    def read(file: str | os.PathLike[str]) -> list[Ids]:
        return list(
            read_csv(
                file,
                dictionary,
                arity=arity,
                delimiter=delimiter,
                header=header,
                strings=strings,
                columns=columns,
            )
        )

    try:
        return read(path)
    except DataError:
        with open_stream(path) as stream:
            content = stream.read().removeprefix(BOM)
        rows = records(content, delimiter.encode())
        first = next((row for row in rows if not row.blank), None)
        if arity == 0 or first is None:
            raise
        width = arity if arity is not None and columns is None and not header else len(first.fields)
        good, bad = split_rows(content, delimiter.encode(), width, int(header), str(path))
        if not bad:
            raise
    with TemporaryDirectory() as folder:
        clean = Path(folder, "clean.csv")
        clean.write_bytes(content[first.start : first.end] * header + good)
        try:
            found = read(clean)
        except DataError as error:
            raise DataError(str(error).replace(str(clean), str(path))) from error
    aside += bad
    return found


def without_missing(
    batches: Iterable[pa.RecordBatch], source: str, aside: list[BadRecord]
) -> Iterator[pa.RecordBatch]:
    """The rows of typed columns that have a value in every place; the others go into `aside`."""
    row = 1
    for batch in batches:
        lacking = reduce(pc.or_, [pc.is_null(column) for column in batch.columns])
        for place in pc.indices_nonzero(lacking).to_pylist():
            values = {k: v for k, v in batch.slice(place, 1).to_pylist()[0].items() if v is not None}
            aside.append(BadRecord(source, row + place, json.dumps(values, default=str), MISSING))
        row += batch.num_rows
        yield batch.filter(pc.invert(lacking))


class AsideRecords:
    """Bad records in memory."""

    place = ""

    def __init__(self) -> None:
        self.records: list[BadRecord] = []

    def __len__(self) -> int:
        return len(self.records)

    def table(self, limit: int | None = None) -> pa.Table:
        """The records as an Arrow table."""
        rows = self.records[:limit]
        columns = [[getattr(r, name) for r in rows] for name in SCHEMA.names]
        return pa.Table.from_arrays(
            [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
        )

    def write(self, path: str) -> None:
        """Write them as Parquet."""
        pq.write_table(self.table(), path)

    def forget(self, kept: int) -> None:
        """Drop all but the first."""
        del self.records[kept:]
