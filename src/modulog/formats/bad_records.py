"""Records of files that cannot be facts: set aside with a reason, and written out for people to read."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

MISSING = "a missing value; facts have a value in every place"
"""The reason given for a row of a table (Parquet) with a null."""

SCHEMA = pa.schema(
    [("file", pa.string()), ("line", pa.int64()), ("text", pa.string()), ("reason", pa.string())]
)
"""The columns of a table of bad records."""


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that cannot be read as a fact: the file and line where it starts, its text, and the reason."""

    file: str
    line: int
    text: str
    reason: str


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
