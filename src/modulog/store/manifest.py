"""The manifest of a store: a JSON file with the program and all files, which alone defines the state.

The facts of a relation are a list of files, each with a sign. A file of sign -1 removes facts that earlier
files added, so that a change can be written without rewriting the relation; a fact is present if its signs
add up to more than zero. Terms are a list of files, too, to which files are only added.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal
from zlib import crc32

from modulog.errors import DataError, InternalError
from modulog.language.model import Predicate

VERSION = 2
"""The newest version of the format that this code reads; it reads all older ones, too.

Version 2 added relations with a storage scheme other than "plain"; a store without them is written as version
1.
"""

FORMAT = "modulog store"
MANIFEST = "modulog-store.json"
FILE_PATH = re.compile(r"(?:terms|facts/[0-9]+/p=[0-9]+)/([0-9]{6,})-[0-9]+\.parquet")
"""The paths of files in a store; the group is the number of the state that wrote the file."""

Role = Literal["explicit", "derived", "kept"]
Bounds = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class TermsFile:
    """A file with `rows` terms, whose ids are consecutive and begin with `first`."""

    path: str
    bytes: int
    checksum: str
    rows: int
    first: int


@dataclass(frozen=True, slots=True)
class FactsFile:
    """A file with facts of one relation.

    `bounds` has the smallest and the largest id of each argument, `is_sorted` says that rows are sorted by
    c0, c1, …, and `sign` is 1 for added and -1 for removed facts.
    """

    path: str
    bytes: int
    checksum: str
    rows: int
    bounds: Bounds
    is_sorted: bool = True
    sign: int = 1


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """A relation in a store.

    `role` is "explicit" for the explicit facts of a predicate, "derived" for all facts of a predicate that
    rules derive, and "kept" for a relation that a stratum needs for maintenance. A predicate without
    arguments has no files, only the number of `rows`. If `scheme` is not "plain", the facts follow from
    others in the store; then the files, if there are any, have the edges of a closure to which other
    recursive rules add facts.
    """

    number: int
    predicate: Predicate
    role: Role
    rows: int
    files: tuple[FactsFile, ...] = ()
    scheme: str = "plain"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One state of a store.

    `generation` is the number of the state. `notes` are data of the caller of `Reasoner.save`, who last
    passed some with the state `noted`.
    """

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
        """The number of terms; all ids are smaller."""
        return sum(file.rows for file in self.terms)

    def files(self) -> Iterator[TermsFile | FactsFile]:
        """All files of the state."""
        yield from self.terms
        for relation in self.relations:
            yield from relation.files

    def to_json(self) -> str:
        """The text of the manifest, with a checksum of its own."""
        plain = all(relation.scheme == "plain" for relation in self.relations)
        content = {"format": FORMAT, "version": 1 if plain else VERSION, **asdict(self)}
        return json.dumps({**content, "checksum": _checksum(content)}, indent=1, ensure_ascii=False) + "\n"


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a store; a DataError says why there is none."""
    return parse_manifest(folder, read_text(folder))


def read_text(folder: Path) -> bytes:
    """The bytes of the manifest; a DataError if the folder is not a store."""
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
    """Parse a manifest; the version is checked first, since a newer one may have anything else in it."""
    try:
        content = json.loads(text)
        if content["format"] != FORMAT:
            raise ValueError
        version = int(content["version"])
        if version > VERSION:
            raise DataError(
                f"{folder}: written by {content.get('writer') or 'a newer Modulog'} "
                f"in version {version} of the format; "
                f"this Modulog reads up to version {VERSION}: install a newer one"
            )
        if content.pop("checksum") != _checksum(content):
            raise ValueError
        return _manifest(content)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{folder / MANIFEST}: damaged: the store cannot be read") from error


def _manifest(content: dict[str, Any]) -> Manifest:
    relations = tuple(map(relation_from, content["relations"]))
    found = Manifest(
        content["generation"],
        content["program"],
        content["syntax"],
        content["switches"],
        content["statistics"],
        terms_from(content["terms"]),
        relations,
        content["writer"],
        content.get("notes", {}),
        content.get("noted", 0),
    )
    if not all(FILE_PATH.fullmatch(file.path) for file in found.files()):
        raise ValueError
    return found


def terms_from(files: Iterable[Mapping[str, Any]]) -> tuple[TermsFile, ...]:
    """The files of terms from their entries in JSON."""
    return tuple(TermsFile(**file) for file in files)


def relation_from(entry: Mapping[str, Any]) -> StoredRelation:
    """A relation from its entry in JSON."""
    return StoredRelation(
        entry["number"],
        Predicate(**entry["predicate"]),
        entry["role"],
        entry["rows"],
        tuple(FactsFile(**{**f, "bounds": tuple(map(tuple, f["bounds"]))}) for f in entry["files"]),
        entry.get("scheme", "plain"),
    )


def _checksum(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return f"{crc32(text.encode()):08x}"


# ---- Which files of a changed relation stay

# The first file of a relation is its base, with all facts; the other files are changes, the latest last. As
# in a log-structured merge tree, a new change is merged with earlier ones that are not much larger than it.
# So there are few files however many changes there have been, and each fact is written a logarithmic number
# of times.

SHARE = 2
"""The base is written anew when the changes have at least half as many rows."""
RATIO = 8
"""A change is merged with a later one that has at least an eighth of its rows."""


def state_of(file: FactsFile | TermsFile) -> int:
    """The number of the state in which a file was written.

    >>> state_of(TermsFile("terms/000012-0.parquet", 0, "", 0, 0))
    12
    """
    found = FILE_PATH.fullmatch(file.path)
    if found is None:
        raise InternalError(f"{file.path} is no path of a store")
    return int(found[1])


def staying(files: Sequence[FactsFile] | Sequence[TermsFile], rows: int) -> int:
    """How many files stay, from the first on, when a change of `rows` rows comes; it is merged with the
    others.

    >>> base, small = (TermsFile(f"terms/{n:06d}-0.parquet", 0, "", r, 0) for n, r in ((1, 100), (2, 7)))
    >>> staying([base, small], 0), staying([base, small], 1), staying([base, small], 49)
    (2, 1, 0)
    """
    count = len(files)
    while count and rows:
        made = state_of(files[count - 1])
        start = count
        while start and state_of(files[start - 1]) == made:
            start -= 1
        held = sum(file.rows for file in files[start:count])
        if rows * (RATIO if start else SHARE) < held:
            break
        rows, count = rows + held, start
    return count
