"""What the values of a configuration must be, whether a file gives them or a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from modulog.engines.backend import BAD
from modulog.formats.format import SINKS
from modulog.pipeline.config import EngineKind, Role
from modulog.pipeline.run import Mode
from modulog.planning.passes import CHOICES


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


TEXT = Kind("a text", lambda value: isinstance(value, str) and value != "")
TEXTS = Kind("a list of texts", _texts)
NUMBER = Kind("a number from 0 on", lambda value: type(value) is int and value >= 0)
COUNT = Kind("a number from 1 on", lambda value: type(value) is int and value >= 1)
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
TABLE = Kind("a table of settings", lambda value: isinstance(value, Mapping))
TABLES = Kind("tables", lambda value: isinstance(value, list) and all(isinstance(v, dict) for v in value))
COLUMNS = Kind("a list of columns, by name or by position from 0", _columns)
MAP = Kind(
    'columns by predicate, such as { age = ["id", "age"] }',
    lambda value: isinstance(value, Mapping) and bool(value) and all(map(_columns, value.values())),
)

KEYS: Mapping[str, Kind] = {
    "store": TEXT,
    "rules": TEXTS,
    "mode": _one_of(get_args(Mode)),
    "engine": _one_of(get_args(EngineKind)),
    "spark": TABLE,
    "source": TABLES,
    "sink": TABLES,
    **{name: _one_of(choices) for name, choices in CHOICES.items()},
    "workers": COUNT,
    "broadcast_limit": NUMBER,
    "checkpoint_rounds": COUNT,
}
SOURCE_KEYS: Mapping[str, Kind] = {
    "path": TEXT,
    "table": TEXT,
    "format": TEXT,
    "header": FLAG,
    "strings": FLAG,
    "predicate": TEXT,
    "columns": COLUMNS,
    "map": MAP,
    "bad": _one_of(BAD),
    "role": _one_of(get_args(Role)),
    "stream": FLAG,
    "trigger": TEXT,
}
SINK_KEYS: Mapping[str, Kind] = {
    "path": TEXT,
    "format": _one_of(SINKS),
    "predicates": TEXTS,
    "table": TEXT,
}


def gone(name: str) -> str:
    """What is said of a limit of the first versions."""
    return (
        f"`{name}` is no limit any more: a pipeline on Spark is one task where its facts fit one worker; "
        "say `workers` if it is to be decided otherwise: 1 for one task, 2 or more for all executors"
    )


def shown(value: object) -> str:
    """A value as TOML writes it, about."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
