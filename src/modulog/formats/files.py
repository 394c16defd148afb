"""Which files hold facts, of which predicate and in which format.

A folder holds one file for each predicate, named for it: `edge.csv`, `edge.tsv`, `edge.parquet`, perhaps with
`.gz` behind.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from modulog.errors import DataError
from modulog.formats import DataWarning

FORMATS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
RDF_FORMATS = (".nt", ".ttl", ".rdf", ".owl", ".nq", ".trig", ".n3", ".jsonld")
_COMPRESSED = ".gz"
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ARITY = re.compile(r"@[0-9]+$")
_PLAIN_NAME = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class FactFile:
    """A file with the facts of one predicate, or with triples; `format` says how it is read."""

    path: Path
    predicate: str
    format: str
    gzip: bool = False


def discover(path: str | os.PathLike[str], formats: Mapping[str, str] = FORMATS) -> list[FactFile]:
    """The fact files that a path stands for: the file itself, or the files of a folder, by name.

    `formats` has the extensions that are known. Files of a folder that hold no facts are left out, with a warning; hidden files
    without one.
    """
    path = Path(path)
    if path.is_dir():
        return _discover_folder(path, formats)
    if not path.exists():
        raise DataError(f"{path}: there is no such file or folder")
    suffix, stem, gzip = _split(path)
    if suffix not in formats:
        _refuse_rdf(path, suffix)
        raise DataError(f"{path}: facts are read from {', '.join(formats)} files, also with .gz behind")
    return [FactFile(path, predicate_name(stem), formats[suffix], gzip)]


def _refuse_rdf(path: Path, suffix: str) -> None:
    if suffix in RDF_FORMATS:
        raise DataError(f"{path}: RDF files are not supported yet")


def file_name(predicate: str, arity: int | None = None) -> str:
    """The name of a predicate's file, without extension: IRIs and odd names are percent-encoded.

    The arity is added for a name that has several.

    >>> file_name("edge"), file_name("<http://a/b>"), file_name("<http://a/b>", 2)
    ('edge', 'http%3A%2F%2Fa%2Fb', 'http%3A%2F%2Fa%2Fb@2')
    """
    behind = "" if arity is None else f"@{arity}"
    if _PLAIN_NAME.fullmatch(predicate):
        return predicate + behind
    if predicate.endswith(">") and _ABSOLUTE.match(predicate, 1):
        predicate = predicate[1:-1]
    encoded = quote(predicate, safe="")
    # Dots would be taken for extensions.
    return encoded.replace(".", "%2E") + behind


def predicate_name(stem: str) -> str:
    """The predicate that a file name without extension stands for: the inverse of `file_name`.

    >>> predicate_name("edge"), predicate_name("http%3A%2F%2Fa%2Fb@2")
    ('edge', '<http://a/b>')
    """
    name = unquote(_ARITY.sub("", stem))
    return f"<{name}>" if _ABSOLUTE.match(name) else name


def _discover_folder(folder: Path, formats: Mapping[str, str]) -> list[FactFile]:
    found, skipped = [], []
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.is_dir():
            continue
        suffix, stem, gzip = _split(path)
        if suffix not in formats:
            _refuse_rdf(path, suffix)
            skipped.append(path.name)
            continue
        found.append(FactFile(path, predicate_name(stem), formats[suffix], gzip))
    if skipped:
        names = ", ".join(skipped[:5]) + (", …" if len(skipped) > 5 else "")
        warnings.warn(f"{folder}: skipped {names}: not {', '.join(formats)}", DataWarning, stacklevel=3)
    return found


def _split(path: Path) -> tuple[str, str, bool]:
    """Extension in lower case, name without extensions, and whether the file is compressed."""
    gzip = path.suffix.lower() == _COMPRESSED
    inner = path.with_suffix("") if gzip else path
    return inner.suffix.lower(), inner.stem, gzip
