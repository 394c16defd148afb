"""What a pipeline consists of: sources, rules, sinks, a store; how it is run; what each value must be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

from modulog.formats.fact_file import BAD, Bad, Columns
from modulog.formats.format import SINKS, ReadFormat
from modulog.pipeline.run import Mode
from modulog.planning.passes import CHOICES

if TYPE_CHECKING:
    from modulog.reasoner.fact_batch import ReadOptions

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


# ---- What values must be, whether a file gives them or a program


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value must be: a test, and the words for it."""

    words: str
    holds: Callable[[Any], bool]

    def complaint(self, name: str, value: object) -> str:
        """What is wrong with a value, empty if nothing is."""
        return "" if self.holds(value) else f"`{name}` is {self.words}, not {shown(value)}"


def _texts(value: object) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(v, str) for v in value)


def _columns(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(v, str) or (type(v) is int and v >= 0) for v in value)


def _one_of(choices: Any) -> Kind:
    shown = " or ".join(f'"{choice}"' for choice in choices)
    return Kind(shown, lambda value: isinstance(value, str) and value in choices)


_TEXT = Kind("a text", lambda value: isinstance(value, str) and value != "")
Text = Annotated[str, _TEXT]
Texts = Annotated[tuple[str, ...], Kind("a list of texts", _texts)]
Number = Annotated[int, Kind("a number from 0 on", lambda value: type(value) is int and value >= 0)]
COUNT = Kind("a number from 1 on", lambda value: type(value) is int and value >= 1)
Count = Annotated[int, COUNT]
Flag = Annotated[bool, Kind("true or false", lambda value: isinstance(value, bool))]
Settings = Annotated[Mapping[str, str], Kind("a table of settings", lambda value: isinstance(value, Mapping))]
TABLES = Kind("tables", lambda value: isinstance(value, list) and all(isinstance(v, dict) for v in value))
ColumnList = Annotated[Columns, Kind("a list of columns, by name or by position from 0", _columns)]
Map = Annotated[
    Mapping[str, Columns],
    Kind(
        'columns by predicate, such as { age = ["id", "age"] }',
        lambda value: isinstance(value, Mapping) and bool(value) and all(map(_columns, value.values())),
    ),
]


def kinds_of(of: type) -> dict[str, Kind]:
    """What the fields of a class must be, by name, as their annotations say.

    >>> kinds_of(Sink)["path"].complaint("path", 5)
    '`path` is a text, not 5'
    """
    hints = get_type_hints(of, include_extras=True).items()
    parts = ((name, part) for name, hint in hints for part in (hint, *get_args(hint)))
    return {name: kind for name, part in parts for kind in getattr(part, "__metadata__", ())}


def shown(value: object) -> str:
    """A value as TOML writes it, about."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


# ---- What a pipeline consists of


@dataclass(frozen=True, slots=True)
class Source:
    """Facts from files (a path, a folder, a glob or a URI) or from a table of Spark's catalogue.

    The options are those of `Reasoner.load`. With `role="add"` or `"delete"` the files are batches of
    changes, each applied once; with `stream=True` new files are batches that Spark's Structured Streaming
    finds.

    >>> Source("edges/*.csv", predicate="edge", header=True).predicates
    ('edge',)
    """

    path: Text | None = None
    table: Text | None = None
    format: Annotated[ReadFormat, _TEXT] | None = None
    header: Flag = False
    strings: Flag = False
    predicate: Text | None = None
    columns: ColumnList | None = None
    map: Map | None = None
    bad: Annotated[Bad, _one_of(BAD)] = "fail"
    role: Annotated[Role, _one_of(get_args(Role))] | None = None
    stream: Flag = False
    trigger: Text = AVAILABLE_NOW

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

    def options(self) -> ReadOptions:
        """How it is read, as `Reasoner.load` and `modulog.read` take it."""
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

    Without `predicates` all are written, or those that `@output` and `@export` of the rules name. Where a
    table holds several predicates its name has `{predicate}` in it.

    >>> Sink("results", format="csv", predicates=("path",)).place
    'results'
    """

    path: Text | None = None
    format: Annotated[str, _one_of(SINKS)] = "parquet"
    predicates: Texts | None = None
    table: Text | None = None

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
    """A pipeline as data. Paths are as they are opened: those of a file have been resolved against its
    folder.

    >>> Configuration(rules=("rules.rls",), store="store").mode
    'full'
    """

    rules: Texts
    store: Text
    sources: tuple[Source, ...] = ()
    sinks: tuple[Sink, ...] = ()
    mode: Annotated[Mode, _one_of(get_args(Mode))] = "full"
    engine: Annotated[EngineKind, _one_of(get_args(EngineKind))] = "spark"
    spark: Settings = field(default_factory=dict)
    modules: Annotated[str, _one_of(CHOICES["modules"])] = "auto"
    storage: Annotated[str, _one_of(CHOICES["storage"])] = "auto"
    decompose: Annotated[str, _one_of(CHOICES["decompose"])] = "auto"
    maintenance: Annotated[str, _one_of(CHOICES["maintenance"])] = "auto"
    workers: Count | None = None
    broadcast_limit: Number | None = None
    checkpoint_rounds: Count = 10
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


SOURCE_KEYS, SINK_KEYS = kinds_of(Source), kinds_of(Sink)
KEYS = kinds_of(Configuration) | {"source": TABLES, "sink": TABLES}
"""What a file may say, at the top and of a source and a sink, and what each value must be."""


def gone(name: str) -> str:
    """What is said of a limit of the first versions."""
    return (
        f"`{name}` is no limit any more: a pipeline on Spark is one task where its facts fit one worker; "
        "say `workers` if it is to be decided otherwise: 1 for one task, 2 or more for all executors"
    )
