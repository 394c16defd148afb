"""A configuration read from a TOML file, and on which line of it each table and each key stands.

The library that reads TOML does not tell lines. The text is known to be TOML when they are looked for. A key
inside an inline table has the line of the key that the inline table belongs to.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from modulog.errors import DataError, OptionError, PipelineError
from modulog.formats.files import is_uri
from modulog.pipeline.check import mistakes_of
from modulog.pipeline.config import (
    COUNT,
    GONE,
    KEYS,
    LIMITS,
    SINK_KEYS,
    SOURCE_KEYS,
    Configuration,
    EngineKind,
    Kind,
    Places,
    Sink,
    Source,
    gone,
    shown,
)

_PART = r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'"""
_KEY = re.compile(rf"[ \t]*({_PART})[ \t]*(\.?)")
_HEADER = re.compile(r"[ \t]*(\[\[?)")
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    + r"|'''.*?'{3,5}"
    + r'|"(?:\\.|[^"\\\n])*"'
    + r"|'[^'\n]*'|#[^\n]*|[\[\]{}\n]",
    re.DOTALL,
)


def lines_of(text: str) -> dict[tuple[str | int, ...], int]:
    """The line of every table, as ("source", 0), and of every key in it, as ("source", 0, "path"), from 1.

    >>> lines_of('store = "s" # [x]\\n[[source]]\\npath = "a"\\n\\n[[source]]\\n')
    {('store',): 1, ('source', 0): 2, ('source', 0, 'path'): 3, ('source', 1): 5}
    """
    found: dict[tuple[str | int, ...], int] = {}
    counts: dict[tuple[str | int, ...], int] = {}
    table: tuple[str | int, ...] = ()
    for line, at in _statements(text):
        if header := _HEADER.match(text, at):
            names = _key(text, header.end())
            table = _table(names, counts, is_array=header[1] == "[[")
            found.setdefault(table, line)
        else:
            names = _key(text, at)
            for end in range(1, len(names) + 1):
                found.setdefault((*table, *names[:end]), line)
    return found


def _table(
    names: list[str], counts: dict[tuple[str | int, ...], int], is_array: bool
) -> tuple[str | int, ...]:
    """The path of a table; a header [[x]] opens the next element of x, and [x.y] belongs to the last one."""
    path: tuple[str | int, ...] = ()
    for place, name in enumerate(names):
        path = (*path, name)
        if is_array and place == len(names) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _key(text: str, at: int) -> list[str]:
    """The parts of a key."""
    parts = []
    while match := _KEY.match(text, at):
        part, at = match[1], match.end()
        parts.append(part[1:-1] if part[0] in "\"'" else part)
        if not match[2]:
            break
    return parts


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """The line and the place of every header and every key with its value."""
    at = 0
    while at < len(text):
        end = _end(text, at)
        if text[at:end].strip() and not text[at:end].lstrip().startswith("#"):
            yield text.count("\n", 0, at) + 1, at
        at = end + 1


def _end(text: str, at: int) -> int:
    """The end of the line on which what stands here ends: brackets and strings may go over several lines."""
    depth = 0
    for token in _TOKEN.finditer(text, at):
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
        elif token[0] == "\n" and depth == 0:
            return token.start()
    return len(text)


_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_configuration(
    file: Path, engine: EngineKind | None = None, workers: int | None = None
) -> Configuration:
    """The configuration of a file; an error lists all mistakes, each with its line: those of keys and values,
    and what `check` finds in the rest.

    With an `engine` the pipeline runs there, whatever the file says; settings and limits of Spark in the file
    are then for runs on Spark. `workers` are instead of those of the file.
    """
    content, text = _parsed(file)
    reader = _Reader(file.parent, Places(str(file), lines_of(text)))
    found = on_engine(reader.configuration(content), engine, workers)
    if reader.mistakes:
        others = [(reader.line(mistake), mistake) for mistake in mistakes_of(found)]
        raise PipelineError([mistake for _, mistake in sorted([*reader.mistakes, *others])])
    return found


def on_engine(
    configuration: Configuration, engine: EngineKind | None, workers: int | None = None
) -> Configuration:
    """The same pipeline on another engine, for which the number of workers of the file says nothing; None
    leaves it where it is.
    """
    if workers is not None and (complaint := COUNT.complaint("workers", workers)):
        raise OptionError(complaint)
    if engine not in (None, configuration.engine):
        unset: dict[str, Any] = {"spark": {}, **dict.fromkeys(LIMITS)} if engine == "local" else {}
        configuration = replace(configuration, engine=engine, workers=None, **unset)
    return configuration if workers is None else replace(configuration, workers=workers)


def _parsed(file: Path) -> tuple[dict[str, Any], str]:
    try:
        text = file.read_bytes().decode("utf-8")
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise PipelineError([f"{file}:1: not UTF-8: save the file as UTF-8"]) from error
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        at = _AT.search(said)
        line = at[1] if at and at[1] else str(1 + text.rstrip().count("\n"))
        column = f":{at[2]}" if at and at[2] else ""
        raise PipelineError([f"{file}:{line}{column}: not TOML: {_AT.sub('', said)}"]) from error


@dataclass(slots=True)
class _Reader:
    folder: Path
    places: Places
    mistakes: list[tuple[int, str]] = field(default_factory=list)  # with their lines
    unknown: set[tuple[str | int, ...]] = field(default_factory=set)  # places of values that are left out

    def configuration(self, content: dict[str, Any]) -> Configuration:
        """The whole; what is wrong is left out, and noted."""
        found = dict(self._checked((), content, KEYS))
        for name in ("rules", "store"):
            if name not in found and (name,) not in self.unknown:
                self._wrong((), f"`{name}` is missing")
                self.unknown.add((name,))
        sources = [Source(**self._source(i, s)) for i, s in enumerate(found.pop("source", ()))]
        sinks = [Sink(**self._sink(i, s)) for i, s in enumerate(found.pop("sink", ()))]
        return Configuration(
            rules=tuple(self._resolved(rule) for rule in found.pop("rules", ())),
            store=self._resolved(found.pop("store", "")),
            sources=tuple(sources),
            sinks=tuple(sinks),
            spark=dict(self._settings(found.pop("spark", {}))),
            places=self.places,
            unknown=frozenset(self.unknown),
            **found,
        )

    def _checked(
        self, path: tuple[str | int, ...], given: Mapping[str, Any], keys: Mapping[str, Kind]
    ) -> Iterator[tuple[str, Any]]:
        """The values that are what they must be.

        What stands under a misspelt key is judged as if the key were right.
        """
        for name, value in given.items():
            key = name
            if name in GONE and not path:
                self._wrong((name,), gone(name))
                continue
            if name not in keys:
                near = get_close_matches(name, keys, n=1)
                hint = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(keys)}"
                self._wrong((*path, name), f"there is no key `{name}` here; {hint}")
                if not near or near[0] in given:
                    continue
                key = near[0]
            if complaint := keys[key].complaint(key, value):
                self._wrong((*path, name), complaint)
                self.unknown.add((*path, key))
            else:
                yield key, value

    def _source(self, number: int, given: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(self._checked(("source", number), given, SOURCE_KEYS))
        if "path" in found:
            found["path"] = self._resolved(found["path"])
        return found

    def _sink(self, number: int, given: Mapping[str, Any]) -> dict[str, Any]:
        found = dict(self._checked(("sink", number), given, SINK_KEYS))
        if "path" in found:
            found["path"] = self._resolved(found["path"])
        if "predicates" in found:
            found["predicates"] = tuple(found["predicates"])
        if "table" in found:
            found.setdefault("format", "table")
        return found

    def _settings(self, given: Mapping[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
        """Settings of Spark; `driver.memory` and "spark.driver.memory" are the same."""
        for name, value in given.items():
            if isinstance(value, dict):
                yield from self._settings(value, (*path, name))
            elif isinstance(value, str | int | float):
                key = ".".join((*path, name))
                text = str(value).lower() if isinstance(value, bool) else str(value)
                yield key if key.startswith("spark.") else f"spark.{key}", text
            else:
                where = ("spark", *path, name)
                self._wrong(where, f"`{name}` is a text, a number or true or false, not {shown(value)}")

    def _resolved(self, path: str) -> str:
        """A path as it is opened from anywhere: relative ones are relative to the folder of the file."""
        return path if is_uri(path) else str(self.folder / path)

    def line(self, mistake: str) -> int:
        """The line of a mistake in this file; those of other files come last."""
        place, _, rest = mistake.removeprefix(f"{self.places.file}:").partition(":")
        return (
            int(place)
            if rest and mistake.startswith(f"{self.places.file}:") and place.isdecimal()
            else 1 << 31
        )

    def _wrong(self, path: tuple[str | int, ...], message: str) -> None:
        place = self.places.of(*path)
        self.mistakes.append((int(place.rpartition(":")[2]), f"{place}: {message}"))
