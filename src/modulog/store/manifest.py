"""The manifest of a store: what it holds and in which files. This alone decides what the state of a store is.

Facts of a relation are a list of files, each with a sign: a file of sign -1 takes facts back that earlier files gave, so that a change can be
written without the whole. A fact is there if its signs sum above zero. Terms are a list of files, too, which only grows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

from modulog.errors import DataError
from modulog.language.model import Predicate

VERSION = 2
"""The version of the format that this code writes; it reads all up to this one. Version 2 has relations that are represented."""

FORMAT = "modulog store"
MANIFEST = "modulog-store.json"
FILE_PATH = re.compile(r"(?:terms|facts/[0-9]+/p=[0-9]+)/([0-9]{6,})-[0-9]+\.parquet")
"""Where files lie; the group is the state that made them."""

Role = Literal["explicit", "derived", "kept"]
Bounds = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class TermsFile:
    """Terms of consecutive ids, `rows` of them from `first` on."""

    path: str
    bytes: int
    checksum: str
    rows: int
    first: int


@dataclass(frozen=True, slots=True)
class FactsFile:
    """Facts of one relation. `bounds` has the least and the greatest id of each argument; `is_sorted` means by c0, c1, …"""

    path: str
    bytes: int
    checksum: str
    rows: int
    bounds: Bounds
    is_sorted: bool = True
    sign: int = 1


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """The facts that were given for a predicate, or all that hold for one that rules derive. Without arguments there are no files, only a count.

    Nor are there files if `scheme` is not "plain": the facts then follow from others that are kept, as the plan of the program says.
    """

    number: int
    predicate: Predicate
    role: Role
    rows: int
    files: tuple[FactsFile, ...] = ()
    scheme: str = "plain"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One state of a store. `notes` are what a caller of `Reasoner.save` wants to remember, given with the state `noted`."""

    generation: int
    program: str
    syntax: str
    switches: Mapping[str, Any]
    statistics: Mapping[str, Any] = field(default_factory=dict)
    terms: tuple[TermsFile, ...] = ()
    relations: tuple[StoredRelation, ...] = ()
    writer: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)
    noted: int = 0

    @property
    def term_count(self) -> int:
        """How many terms there are; ids are smaller."""
        return sum(file.rows for file in self.terms)

    def files(self) -> Iterator[TermsFile | FactsFile]:
        """Every file."""
        yield from self.terms
        for relation in self.relations:
            yield from relation.files

    def to_json(self) -> str:
        """The text of the manifest, with a checksum of its own."""
        plain = all(relation.scheme == "plain" for relation in self.relations)
        content = {"format": FORMAT, "version": 1 if plain else VERSION, **asdict(self)}
        return json.dumps({**content, "checksum": _checksum(content)}, indent=1, ensure_ascii=False) + "\n"


def read_manifest(folder: Path) -> Manifest:
    """The state of a store; the error says why there is none."""
    return parse_manifest(folder, read_text(folder))


def read_text(folder: Path) -> bytes:
    """The bytes of the manifest."""
    if not folder.exists():
        raise DataError(f"{folder}: there is no such folder")
    if not folder.is_dir():
        raise DataError(f"{folder}: not a store, which is a folder")
    try:
        return (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        raise DataError(f"{folder}: not a store: it has no {MANIFEST}") from None
    except OSError as error:
        raise DataError(f"{folder / MANIFEST}: cannot be read: {error.strerror}") from error


def parse_manifest(folder: Path, text: bytes) -> Manifest:
    """A manifest from its bytes; a newer version is refused before anything else of it is looked at."""
    try:
        content = json.loads(text)
        if content["format"] != FORMAT:
            raise ValueError
        version = int(content["version"])
        if version > VERSION:
            raise DataError(
                f"{folder}: written by {content.get('writer') or 'a newer Modulog'} in version {version} of the format; "
                f"this Modulog reads up to version {VERSION}: install a newer one"
            )
        if content.pop("checksum") != _checksum(content):
            raise ValueError
        return _manifest(content)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{folder / MANIFEST}: damaged: the store cannot be read") from error


def _manifest(content: dict[str, Any]) -> Manifest:
    relations = tuple(
        StoredRelation(
            r["number"],
            Predicate(**r["predicate"]),
            r["role"],
            r["rows"],
            tuple(FactsFile(**{**f, "bounds": tuple(map(tuple, f["bounds"]))}) for f in r["files"]),
            r.get("scheme", "plain"),
        )
        for r in content["relations"]
    )
    found = Manifest(
        content["generation"],
        content["program"],
        content["syntax"],
        content["switches"],
        content["statistics"],
        tuple(TermsFile(**f) for f in content["terms"]),
        relations,
        content["writer"],
        content.get("notes", {}),
        content.get("noted", 0),
    )
    if not all(FILE_PATH.fullmatch(file.path) for file in found.files()):
        raise ValueError
    return found


def _checksum(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return f"{crc32(text.encode()):08x}"
