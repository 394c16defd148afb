"""What a pipeline consists of: sources, rules, sinks, a store, and how they are run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Literal

from modulog.engines.backend import Bad, Columns
from modulog.pipeline.run import Mode

Role = Literal["add", "delete"]
EngineKind = Literal["spark", "local"]
Path = tuple[str | int, ...]
"""Where a value stands in a configuration: ("source", 0, "header")."""

AVAILABLE_NOW = "available-now"
"""The trigger of a stream that takes what is there and ends."""

LIMITS = ("broadcast_limit",)
"""Limits of executors that evaluate rules."""

GONE = ("local_limit", "update_limit")
"""Limits of the first versions, which kept small relations on the driver."""

_SECRET = re.compile(r"secret|password|token|credential|access\.?key", re.IGNORECASE)

PREDICATE = "{predicate}"
"""Stands in the name of a table for the name of the predicate."""


@dataclass(frozen=True, slots=True)
class Source:
    """Facts from files (a path, a folder, a glob or a URI) or from a table of Spark's catalogue.

    The options are those of `Reasoner.load`. With `role="add"` or `"delete"` the files are batches of changes, each applied once; with
    `stream=True` new files are batches that Spark's Structured Streaming finds.

    >>> Source("edges/*.csv", predicate="edge", header=True).predicates
    ('edge',)
    """

    path: str | None = None
    table: str | None = None
    format: str | None = None
    header: bool = False
    strings: bool = False
    predicate: str | None = None
    columns: Columns | None = None
    map: Mapping[str, Columns] | None = None
    bad: Bad = "fail"
    role: Role | None = None
    stream: bool = False
    trigger: str = AVAILABLE_NOW

    @property
    def place(self) -> str:
        """What `Reasoner.load` takes: the path, or the table."""
        return f"table:{self.table}" if self.path is None else self.path

    @property
    def predicates(self) -> tuple[str, ...] | None:
        """The names of the predicates it fills; None if the files tell."""
        if self.map is not None:
            return tuple(self.map)
        return None if self.predicate is None else (self.predicate,)

    @property
    def is_batch(self) -> bool:
        """Whether it says what changes, and not what there is."""
        return self.role is not None or self.stream

    def options(self) -> dict[str, Any]:
        """How it is read, as `Reasoner.load` and `Reasoner.read` take it."""
        return {
            "predicate": self.predicate,
            "header": self.header,
            "strings": self.strings,
            "columns": self.columns,
            "mapping": self.map,
            "bad": self.bad,
            "format": self.format,
        }

    @property
    def key(self) -> str:
        """The same for the same source in a later run; another if it is read in another way."""
        return sha256(json.dumps(asdict(self), sort_keys=True, default=list).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Sink:
    """Where facts go: a folder with a part for each predicate, or tables.

    Without `predicates` all are written, or those that `@output` and `@export` of the rules name. Where a table holds several predicates its name
    has `{predicate}` in it.

    >>> Sink("results", format="csv", predicates=("path",)).place
    'results'
    """

    path: str | None = None
    format: str = "parquet"
    predicates: tuple[str, ...] | None = None
    table: str | None = None

    @property
    def place(self) -> str:
        """The folder or the name of the tables."""
        return self.path or self.table or ""

    @property
    def key(self) -> str:
        """The same for the same sink in a later run."""
        return f"{self.format}:{self.place}"


@dataclass(frozen=True, slots=True)
class Places:
    """The lines of a configuration file; without a file the places are named."""

    file: str | None = None
    lines: Mapping[Path, int] = field(default_factory=dict)

    def of(self, *path: str | int) -> str:
        """Where a value stands, or the nearest thing around it.

        >>> Places("p.toml", {("source", 0): 3}).of("source", 0, "path"), Places().of("source", 0, "path")
        ('p.toml:3', 'source 1: path')
        """
        if self.file is None:
            numbered = [f"{path[0]} {path[1] + 1}"] if len(path) > 1 and isinstance(path[1], int) else []
            return ": ".join([*numbered, *map(str, path[2 if numbered else 0 :])])
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.file}:{self.lines.get(path, 1)}"


@dataclass(frozen=True, slots=True)
class Configuration:
    """A pipeline as data. Paths are as they are opened: those of a file have been resolved against its folder.

    >>> Configuration(rules=("rules.rls",), store="store").mode
    'full'
    """

    rules: tuple[str, ...]
    store: str
    sources: tuple[Source, ...] = ()
    sinks: tuple[Sink, ...] = ()
    mode: Mode = "full"
    engine: EngineKind = "spark"
    spark: Mapping[str, str] = field(default_factory=dict)
    modules: str = "auto"
    storage: str = "auto"
    decompose: str = "auto"
    maintenance: str = "auto"
    workers: int | None = None
    broadcast_limit: int | None = None
    checkpoint_rounds: int = 10
    places: Places = field(default_factory=Places, compare=False)
    unknown: frozenset[Path] = field(default=frozenset(), compare=False)
    """The places of values that a file gives and that cannot be used: what depends on them is not judged."""

    @property
    def shown_settings(self) -> dict[str, str]:
        """The settings of Spark as a log may have them: without keys and passwords.

        >>> Configuration((), "store", spark={"spark.hadoop.fs.s3a.secret.key": "x"}).shown_settings
        {'spark.hadoop.fs.s3a.secret.key': '…'}
        """
        return {name: "…" if _SECRET.search(name) else value for name, value in self.spark.items()}

    @property
    def switches(self) -> dict[str, Any]:
        """How the rules are evaluated."""
        return {name: getattr(self, name) for name in ("modules", "storage", "decompose", "maintenance")}

    @property
    def limits(self) -> dict[str, Any]:
        """The limits of the Spark engine that are set."""
        limits = {name: getattr(self, name) for name in LIMITS}
        return {name: limit for name, limit in limits.items() if limit is not None}
