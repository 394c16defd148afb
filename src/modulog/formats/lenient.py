"""Read files that have bad records: the good rows become facts, the others are set aside with a reason."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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
"""The columns of a table of bad records."""


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
    """The facts of a CSV file in chunks of ids, as `read_csv` yields them; bad rows are appended to `aside`.

    A file without bad rows is read once, by the fast reader. If that fails, the rows are split into good and
    bad ones in Python, and the fast reader reads the good ones from a temporary file.
    """

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
    """The rows of batches that have no null, batch by batch; the others are appended to `aside`."""
    row = 1
    for batch in batches:
        lacking = reduce(pc.or_, [pc.is_null(column) for column in batch.columns])
        for place in pc.indices_nonzero(lacking).to_pylist():
            values = {k: v for k, v in batch.slice(place, 1).to_pylist()[0].items() if v is not None}
            aside.append(BadRecord(source, row + place, _text(values), MISSING))
        row += batch.num_rows
        yield batch.filter(pc.invert(lacking))


def _text(values: Mapping[str, Any]) -> str:
    """A row of a table as one line of JSON, for people to read."""
    return json.dumps(values, default=str, ensure_ascii=False, separators=(",", ":"))


class AsideRecords:
    """The bad records of a session, in memory; the Spark engine has a class that keeps them in files."""

    place = ""

    def __init__(self) -> None:
        self.records: list[BadRecord] = []

    def __len__(self) -> int:
        return len(self.records)

    def take(self, folder: str) -> None:
        """Add the bad records in the Parquet files of a folder, which another process has written."""
        for path in sorted(Path(folder).glob("*.parquet")):
            self.records += [BadRecord(**row) for row in pq.read_table(path).to_pylist()]

    def call_files(self, called: Mapping[str, str]) -> None:
        """Name the files of the records as those of which they are copies."""
        self.records[:] = [replace(r, file=called.get(r.file, r.file)) for r in self.records]

    def table(self, limit: int | None = None) -> pa.Table:
        """The records, or the first `limit` of them, as an Arrow table."""
        rows = self.records[:limit]
        columns = [[getattr(r, name) for r in rows] for name in SCHEMA.names]
        return pa.Table.from_arrays(
            [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
        )

    def write(self, path: str) -> None:
        """Write the records to a Parquet file."""
        pq.write_table(self.table(), path)

    def write_into(self, folder: Path) -> None:
        """Make a folder and write the records into it, as one Parquet file."""
        folder.mkdir(parents=True, exist_ok=True)
        self.write(str(folder / "part-0.parquet"))

    @property
    def pieces(self) -> Sequence[BadRecord]:
        """What `forget` takes parts of: here the records themselves."""
        return self.records

    def forget(self, pieces: Collection[object]) -> None:
        """Drop these records, because what they belong to has been taken back."""
        gone = set(map(id, pieces))
        self.records[:] = [record for record in self.records if id(record) not in gone]
