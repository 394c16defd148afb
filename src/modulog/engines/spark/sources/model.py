"""What a source is once it is opened."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from modulog.engines.spark.key_blocks import Reader
from modulog.formats.fact_file import Bad as Bad

BAD_SCHEMA = "file string, line long, text string, reason string"


@dataclass(frozen=True, slots=True)
class Source:
    """A source of facts.

    `raw` is lazy; `read`, if there is one, turns its batches into batches of keys, with the columns k0, k1, … or, for RDF, s, p, o and perhaps
    g. `bad` has the bad records: file, line, text and reason; it is lazy too, reads the source again, and is None if a bad record is an error.
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
        return (
            self.raw
            if self.read is None
            else self.raw.mapInArrow(self.read, strings_schema(list(self.names)))
        )


def key_columns(arity: int) -> list[str]:
    """The names of the columns of a key frame."""
    return [f"k{i}" for i in range(arity)]


def strings_schema(names: list[str]) -> str:
    """A schema of strings only."""
    return ", ".join(f"`{name}` string" for name in names)


def shown_file(column: str) -> Column:
    """A column of URIs as `shown_path` shows one."""
    path = F.regexp_replace(F.regexp_replace(column, "^file:/+", "/"), r"\+", "%2B")
    return F.when(F.col(column).startswith("file:"), F.url_decode(path)).otherwise(F.col(column))
