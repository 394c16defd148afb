"""What options of the command line choose from."""

from __future__ import annotations

from enum import StrEnum


class Modules(StrEnum):
    """The switch `modules` of a reasoner."""

    auto = "auto"
    off = "off"


class Storage(StrEnum):
    """The switch `storage` of a reasoner."""

    auto = "auto"
    plain = "plain"
    compact = "compact"


class Decompose(StrEnum):
    """The switch `decompose` of a reasoner."""

    auto = "auto"
    all = "all"
    off = "off"


class EngineName(StrEnum):
    """Where the work is done."""

    auto = "auto"
    local = "local"
    spark = "spark"


class BadRecords(StrEnum):
    """What is done about records that are no facts."""

    fail = "fail"
    set_aside = "set-aside"


class FileFormat(StrEnum):
    """What `materialise` writes."""

    csv = "csv"
    tsv = "tsv"
    parquet = "parquet"
    nt = "nt"
    ttl = "ttl"


class AnswerFormat(StrEnum):
    """What `query` prints."""

    table = "table"
    csv = "csv"
    json = "json"


class ChangeFormat(StrEnum):
    """What `update` prints."""

    table = "table"
    json = "json"
