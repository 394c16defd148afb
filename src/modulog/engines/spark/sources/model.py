"""What a source is once it is opened, and the table of bad records, which executors find and write."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from modulog.engines.spark.key_blocks import Reader
from modulog.formats.fact_file import Bad as Bad
from modulog.formats.folders import file_uri
from modulog.spark.errors import translated
from modulog.spark.file_systems import folder_of

BAD_SCHEMA = "file string, line long, text string, reason string"


@dataclass(frozen=True, slots=True)
class Source:
    """A source of facts.

    `raw` is lazy; `read`, if there is one, turns its batches into batches of keys, with the columns k0, k1, …
    or, for RDF, s, p, o and perhaps g. `bad` has the bad records: file, line, text and reason; it is lazy,
    too, reads the source again, and is None if a bad record is an error.
    """

    raw: DataFrame
    names: tuple[str, ...] = ()
    bad: DataFrame | None = None
    read: Reader | None = None

    @property
    def arity(self) -> int:
        """How many columns of keys there are."""
        return len(self.names)

    @property
    def frame(self) -> DataFrame:
        """The keys."""
        if self.read is None:
            return self.raw
        return self.raw.mapInArrow(self.read, ", ".join(f"`{name}` string" for name in self.names))


def key_columns(arity: int) -> list[str]:
    """The names of the columns of a key frame."""
    return [f"k{i}" for i in range(arity)]


def shown_file(column: str) -> Column:
    """A column of URIs as `shown_path` shows one."""
    path = F.regexp_replace(F.regexp_replace(column, "^file:/+", "/"), r"\+", "%2B")
    return F.when(F.col(column).startswith("file:"), F.url_decode(path)).otherwise(F.col(column))


class SparkAside:
    """The table of bad records: a folder of Parquet files, a part for each source that has any."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self._spark, self._folder = spark, folder_of(spark, folder)
        self.parts: list[tuple[str, int]] = []

    @property
    def place(self) -> str:
        """The folder."""
        return self._folder.uri

    def __len__(self) -> int:
        return sum(count for _, count in self.parts)

    def add(self, frame: DataFrame) -> None:
        """Write the bad records of a source; reads the source once more than its facts need."""
        name, counted = self._folder.fresh("part"), Observation()
        with translated():
            frame.observe(counted, F.count(F.lit(1)).alias("n")).write.parquet(self._folder / name)
        if count := int(counted.get["n"]):
            self.parts.append((name, count))
        else:
            self._folder.delete(name)

    def take(self, folder: str) -> None:
        """Have the bad records that lie in the Parquet files of a folder, too."""
        self.add(self._spark.read.schema(BAD_SCHEMA).parquet(folder))

    def call_files(self, called: Mapping[str, str]) -> None:
        """Executors read files where they are, and no copies."""

    def table(self, limit: int | None = None) -> pa.Table:
        """The records, or some of them, on the driver."""
        frame = self._frame()
        with translated():
            return (frame if limit is None else frame.limit(limit)).toArrow()

    def write(self, path: str) -> None:
        """Write all of them into one folder."""
        with translated():
            self._frame().write.mode("overwrite").parquet(path)

    def write_into(self, folder: Path) -> None:
        """Write all of them into a folder of this machine."""
        self.write(file_uri(folder.absolute()))

    @property
    def pieces(self) -> Sequence[tuple[str, int]]:
        """The parts."""
        return self.parts

    def forget(self, pieces: Collection[object]) -> None:
        """Drop some of the parts."""
        for part in [part for part in self.parts if part in pieces]:
            self.parts.remove(part)
            self._folder.delete(part[0])

    def _frame(self) -> DataFrame:
        if not self.parts:
            return self._spark.createDataFrame([], BAD_SCHEMA)
        paths = [self._folder / name for name, _ in self.parts]
        return self._spark.read.schema(BAD_SCHEMA).parquet(*paths)
