"""Find the files of facts that a path stands for, and what their names say: predicate, format, arity.

A folder holds one file for each predicate, named for it: `edge.csv`, `edge.tsv`, `edge.parquet`, perhaps with
`.gz` behind. A folder that is itself named so, such as `edge.parquet`, holds the facts of one predicate in
several files, as Spark writes them. A file of RDF holds facts of many predicates, whatever its name.

Files are listed through a `Listing`: the file system of this machine here, any that Hadoop knows in the Spark
engine.

Some files are left out without a warning: hidden files, whose names begin with a point, what Spark and Hadoop
write beside data (`_SUCCESS`, `_temporary`, …), and the bad records that an export has set aside. Any other
name may begin with `_`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path, PurePath
from typing import Protocol
from urllib.parse import quote, unquote, urlsplit

from modulog.errors import DataError
from modulog.formats import DataWarning, warn_user
from modulog.formats.fact_file import FactFile
from modulog.formats.format import EXTENSIONS, RDF_EXTENSIONS, enumerated, unknown_format

BAD_RECORDS = "_bad_records.parquet"
"""The file to which an export writes the records that were set aside."""

_NOT_DATA = re.compile(
    r"_(SUCCESS|temporary|metadata|common_metadata|spark_metadata|delta_log|symlink_format_manifest"
    r"|(committed|started)_.*)"
)
"""The names of files and folders that Spark and Hadoop write beside data."""
_OTHER_RDF = (".n3", ".jsonld")
"""Extensions of files of RDF that cannot be read."""
_COMPRESSED = ".gz"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ARITY = re.compile(r"@[0-9]+$")
_PLAIN_NAME = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or a folder that a `Listing` has found."""

    path: Path | str
    folder: bool

    @property
    def name(self) -> PurePath:
        """The last part of the path."""
        return PurePath(PurePath(self.path).name)

    @property
    def hidden(self) -> bool:
        """Whether the file holds no facts by its name: hidden, written by Spark or Hadoop, or bad records."""
        name = str(self.name)
        return name.startswith(".") or name == BAD_RECORDS or _NOT_DATA.fullmatch(name) is not None


class Listing(Protocol):
    """A file system in which files of facts are looked for."""

    def matches(self, path: str) -> list[Entry]:
        """The files and folders at a path, in order: the one of this name, or all that match a glob."""

    def inside(self, folder: Path | str) -> list[Entry]:
        """The files and folders in a folder, in order."""


class LocalListing:
    """The file system of this machine."""

    def matches(self, path: str) -> list[Entry]:
        """See `Listing`. A file whose name looks like a glob is found by its name."""
        if path.startswith("table:"):
            raise DataError(f'{path}: tables are read with engine="spark"')
        if is_uri(path):
            if not path.startswith("file:"):
                raise DataError(f'{path}: one machine reads its own files only; engine="spark" reads others')
            path = unquote(urlsplit(path).path)
        found = [path] if os.path.exists(path) or not has_magic(path) else sorted(glob(path, recursive=True))
        return [Entry(Path(p), os.path.isdir(p)) for p in found if os.path.exists(p)]

    def inside(self, folder: Path | str) -> list[Entry]:
        """See `Listing`."""
        try:
            return [Entry(path, path.is_dir()) for path in sorted(Path(folder).iterdir())]
        except OSError as error:
            raise DataError(f"{folder}: cannot be read: {error.strerror or error}") from error


def is_uri(path: str) -> bool:
    """Whether a path has a scheme, which names the file system.

    >>> is_uri("s3a://bucket/facts"), is_uri("file:///facts"), is_uri("facts/edge.csv")
    (True, True, False)
    """
    return _SCHEME.match(path) is not None


def discover(
    path: str | os.PathLike[str],
    formats: Mapping[str, str] = EXTENSIONS,
    listing: Listing | None = None,
    *,
    format: str | None = None,
) -> list[FactFile]:
    """The files of facts at a path: the file itself, the files of a folder, or those that match a glob.

    `formats` maps the extensions that are read to formats. Other files of a folder or a glob are skipped with
    a warning. With a `format` all files are read in it, whatever their names, and a folder is one table. The
    files come in the order of their names; it is a DataError if there is nothing at the path, or a single
    file of another kind.
    """
    listing, text = listing or LocalListing(), os.fspath(path)
    entries = listing.matches(text)
    if not entries:
        what = "no file matches" if has_magic(text) else "there is no such file or folder"
        raise DataError(f"{text}: {what}")
    many = len(entries) > 1 or has_magic(text)
    if format is not None:
        if format not in formats.values():
            raise DataError(f"{text}: {unknown_format(format, formats.values())}")
        chosen = [entry for entry in entries if not (many and entry.hidden)]
        return [file for entry in chosen for file in _parts(entry, format, listing)]
    found, skipped = [], []
    for entry in entries:
        if many and entry.hidden:
            continue
        if entry.folder and _split(entry.name)[0] not in formats:
            found += _discover_folder(entry, formats, listing)
        elif made := _files(entry, formats, listing):
            found += made
        elif _split(entry.name)[0] in formats:
            pass  # a folder that is one table and has no parts
        elif many or entry.folder:
            skipped.append(str(entry.name))
        else:
            raise DataError(f"{text}: facts are read from {', '.join(formats)} files, also with .gz behind")
    _warn(text, skipped, formats)
    return found


def _discover_folder(folder: Entry, formats: Mapping[str, str], listing: Listing) -> list[FactFile]:
    """The files of facts in a folder with a file for each predicate; a warning names what is skipped."""
    found, skipped, is_empty = [], [], True
    for entry in listing.inside(folder.path):
        if entry.hidden or (entry.folder and _split(entry.name)[0] not in formats):
            continue
        made = _files(entry, formats, listing)
        found += made
        is_empty = False
        if not made and not entry.folder:
            skipped.append(str(entry.name))
    _warn(str(folder.path), skipped, formats)
    if is_empty:
        _warn_empty(folder)
    return found


def _files(entry: Entry, formats: Mapping[str, str], listing: Listing) -> list[FactFile]:
    """The file, or the files of a folder that is one table; none if the extension is not known."""
    suffix = _split(entry.name)[0]
    if suffix not in formats:
        _refuse_rdf(entry.path, suffix)
        return []
    return _parts(entry, formats[suffix], listing)


def _parts(entry: Entry, format: str, listing: Listing) -> list[FactFile]:
    """The file, or the files of a folder that is one table, all of them in this format."""
    _, stem, gzip = _split(entry.name)
    parts = [entry]
    if entry.folder:
        inside = [e for e in listing.inside(entry.path) if not e.hidden and not e.folder]
        # Spark does not read files whose names begin with `_`, either.
        parts = [e for e in inside if not str(e.name).startswith("_")]
        if odd := [str(e.name) for e in inside if e not in parts]:
            message = (
                f"{entry.path}: skipped {', '.join(odd)}: a part of a table has no name that begins with `_`"
            )
            warn_user(message, DataWarning)
        if not parts:
            _warn_empty(entry)
    arity = _ARITY.search(stem)
    return [
        FactFile(
            part.path,
            predicate_name(stem),
            format,
            gzip or part.name.suffix.lower() == _COMPRESSED,
            int(arity[0][1:]) if arity else None,
        )
        for part in parts
    ]


def _warn(source: str, skipped: list[str], formats: Mapping[str, str]) -> None:
    """Warn of files that were skipped, if there are any; the first five are named."""
    if skipped:
        names = ", ".join(skipped[:5]) + (", …" if len(skipped) > 5 else "")
        warn_user(f"{source}: skipped {names}: not {', '.join(formats)}", DataWarning)


def _warn_empty(folder: Entry) -> None:
    """Warn that a folder has no files of facts."""
    warn_user(f"{folder.path}: no files of facts are in this folder", DataWarning)


def _refuse_rdf(path: Path | str, suffix: str) -> None:
    """Raise an error that says which RDF is read if this is RDF in a form that is not."""
    if suffix in _OTHER_RDF:
        raise DataError(
            f"{path}: RDF is read from {enumerated(RDF_EXTENSIONS)} files; convert it to one of them"
        )


def file_name(predicate: str, arity: int | None = None) -> str:
    """The name of a predicate's file without extension, in which IRIs and odd names are percent-encoded.

    An arity is given for a name that several predicates have; it stands behind `@`. A `_` at the start is
    encoded, too, because Spark's readers leave files out whose names begin with it.

    >>> file_name("edge"), file_name("_edge"), file_name("<http://a/b>"), file_name("<http://a/b>", 2)
    ('edge', '%5Fedge', 'http%3A%2F%2Fa%2Fb', 'http%3A%2F%2Fa%2Fb@2')
    """
    suffix = "" if arity is None else f"@{arity}"
    if predicate.startswith("_"):
        return "%5F" + (file_name(predicate[1:]) if predicate[1:] else "") + suffix
    if _PLAIN_NAME.fullmatch(predicate):
        return predicate + suffix
    if predicate.endswith(">") and _ABSOLUTE.match(predicate, 1):
        predicate = predicate[1:-1]
    encoded = quote(predicate, safe="")
    # What stands behind a dot would be taken for an extension.
    return encoded.replace(".", "%2E") + suffix


def predicate_name(stem: str) -> str:
    """The predicate whose file has this name, without extension: the inverse of `file_name`.

    >>> predicate_name("edge"), predicate_name("http%3A%2F%2Fa%2Fb@2")
    ('edge', '<http://a/b>')
    """
    name = unquote(_ARITY.sub("", stem))
    return f"<{name}>" if _ABSOLUTE.match(name) else name


def holds_facts(path: str, formats: Mapping[str, str] = EXTENSIONS) -> bool:
    """Whether a file holds facts by its name.

    >>> holds_facts("a/edge.csv.gz"), holds_facts("a/README")
    (True, False)
    """
    return _split(PurePath(path))[0] in formats


def _split(path: PurePath) -> tuple[str, str, bool]:
    """The extension in lower case, the name without extensions, and whether the file is compressed."""
    gzip = path.suffix.lower() == _COMPRESSED
    inner = path.with_suffix("") if gzip else path
    return inner.suffix.lower(), inner.stem, gzip
