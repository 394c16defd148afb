"""Write facts to CSV and Parquet files.

A file gets its name only when it is complete, so an error leaves no part of it. In CSV, strings, integers,
decimals and IRIs are written such that they are read back as what they were. Other terms, and IRIs that
contain the delimiter, are written in Turtle form in quotes, which is read back as a string; a warning says
so. Parquet holds every term.
"""

from __future__ import annotations

import os
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from modulog.errors import DataError
from modulog.formats import DataWarning
from modulog.formats.columns import CHUNK
from modulog.formats.parquet import HOLDS
from modulog.kernels.csv_fields import Fields, Keys, write_rows
from modulog.kernels.strings import measure_texts
from modulog.terms.arrow import column_field, to_arrow
from modulog.terms.constant import XSD, Constant, Kind, term_text
from modulog.terms.dictionary import Bytes, Dictionary, Ids, Offsets, frozen
from modulog.wording import plural

_OTHER = np.ones(256, np.bool_)
"""The kinds of terms that CSV has no form for."""
_OTHER[[Kind.STRING, Kind.INTEGER, Kind.DECIMAL, Kind.IRI]] = False
_ROWS = 1 << 16
"""Rows of CSV that are formatted at once."""


def write_csv(
    path: str | os.PathLike[str], chunks: Iterable[Ids], dictionary: Dictionary, *, delimiter: str = ","
) -> int:
    """Write facts to a CSV file, compressed if its name ends in .gz; returns the number of rows."""
    rows = lost = 0
    with replacing(path) as partial:
        compression = "gzip" if Path(path).suffix.lower() == ".gz" else None
        with pa.output_stream(str(partial), compression=compression) as stream:
            for chunk in pieces(chunks, _ROWS):
                if chunk.shape[0] == 0:
                    stream.write(b"" if rows else b"\n")
                else:
                    content, quoted = format_rows(dictionary, chunk, ord(delimiter))
                    stream.write(content)
                    lost += quoted
                rows += chunk.shape[1]
    if lost:
        said = plural(lost, "term is", "terms are")
        warnings.warn(f"{path}: {said} in quotes and will read back as strings", DataWarning, stacklevel=2)
    return rows


def write_parquet(
    path: str | os.PathLike[str],
    chunks: Iterable[Ids] | Callable[[], Iterable[Ids]],
    dictionary: Dictionary,
    *,
    names: Sequence[str] | None = None,
) -> int:
    """Write facts to a Parquet file; returns the number of rows.

    The type of a column depends on all of its terms, so the chunks are read twice: once for the types, once
    to write. `chunks` may be a function that gives them anew; an iterator, which can be read only once, is
    kept in memory.
    """
    if not callable(chunks):
        kept = list(chunks) if isinstance(chunks, Iterator) else chunks
        again: Callable[[], Iterable[Ids]] = lambda: kept  # noqa: E731
    else:
        again = chunks
    kinds = _kinds(again(), dictionary)
    rows = 0
    schema = _schema(kinds, names)
    with replacing(path) as partial, pq.ParquetWriter(partial, schema) as writer:
        for chunk in pieces(again(), CHUNK):
            rows += chunk.shape[1]
            if kinds:
                arrays = [to_arrow(dictionary, column, schema.field(i)) for i, column in enumerate(chunk)]
                writer.write_batch(pa.record_batch(arrays, schema=schema))
        if not kinds and rows:
            writer.write_batch(pa.record_batch([pa.array([True])], schema=schema))
    return rows


def _kinds(chunks: Iterable[Ids], dictionary: Dictionary) -> list[set[int]] | None:
    """The kinds of terms that each column has; None if there is no chunk."""
    kinds: list[set[int]] | None = None
    for chunk in chunks:
        if kinds is None:
            kinds = [set() for _ in chunk]
        for seen, column in zip(kinds, chunk, strict=True):
            seen.update(np.flatnonzero(np.bincount(dictionary.kinds(column), minlength=1)).tolist())
    return kinds


def _schema(kinds: list[set[int]] | None, names: Sequence[str] | None) -> pa.Schema:
    """The types of columns with these kinds of terms; a predicate without arguments has the column HOLDS."""
    if not kinds:
        if names and kinds is None:
            return pa.schema([column_field(name, ()) for name in names])
        return pa.schema([pa.field(HOLDS, pa.bool_())])
    names = names if names is not None else [f"c{i}" for i in range(len(kinds))]
    if len(names) != len(kinds):
        raise DataError(f"{plural(len(names), 'name')} for {plural(len(kinds), 'column')}")
    return pa.schema([column_field(name, seen) for name, seen in zip(names, kinds, strict=True)])


def pieces(chunks: Iterable[Ids], rows: int) -> Iterator[Ids]:
    """Cut chunks into chunks of at most this many rows."""
    for chunk in chunks:
        for start in range(0, chunk.shape[1], rows):
            yield np.ascontiguousarray(chunk[:, start : start + rows], np.uint32)


def format_rows(dictionary: Dictionary, ids: Ids, delimiter: int) -> tuple[Bytes, int]:
    """Rows of ids as bytes of CSV, and how many terms will be read back as strings.

    A kernel writes the bytes; only terms for which CSV has no form are formatted in Python, each different
    one once.
    """
    kinds = dictionary.kinds(ids.reshape(-1)).reshape(ids.shape)
    other = _OTHER[kinds]
    places = np.zeros(ids.shape, np.int64)
    texts, offsets, quoted = np.empty(0, np.uint8), np.zeros(1, np.int64), np.empty(0, np.bool_)
    if other.any():
        distinct, inverse = np.unique(ids[other], return_inverse=True)
        texts, offsets, quoted = _other_texts(dictionary.decode(distinct))
        places[other] = inverse
    data, starts, kinds_of_terms = dictionary.arrays()
    ends = np.empty(ids.size + 1, np.int64)
    # Every byte may be a quote that is doubled, and every field has quotes, angle brackets and a delimiter.
    size = 2 * measure_texts(starts, ids.reshape(-1), 0, ends) + 6 * ids.size + ids.shape[1]
    size += int(np.diff(offsets)[places[other]].sum()) if len(quoted) else 0
    out = np.empty(size, np.uint8)
    keys = Keys(frozen(data), starts, kinds_of_terms)
    written, lost = write_rows(keys, Fields(places, texts, offsets), ids, delimiter, out)
    return out[:written], int(lost) + (int(quoted[places[other]].sum()) if len(quoted) else 0)


def _other_texts(constants: list[Constant]) -> tuple[Bytes, Offsets, npt.NDArray[np.bool_]]:
    """The fields of terms that CSV has no form for, as bytes with offsets, and which are in quotes."""
    fields = []
    for constant in constants:
        bare = constant.kind == Kind.TYPED and _reads_back(constant)
        fields.append(constant.text if bare else '"' + term_text(constant).replace('"', '""') + '"')
    encoded = [field.encode() for field in fields]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(e) for e in encoded], dtype=np.int64)])
    quoted = np.array([field.startswith('"') for field in fields], np.bool_)
    return np.frombuffer(b"".join(encoded), np.uint8), offsets, quoted


def _reads_back(constant: Constant) -> bool:
    """Whether this is a number too long for its kind, whose digits in CSV are read as the same term."""
    whole, point, fraction = constant.text.removeprefix("-").partition(".")
    if not whole.isdecimal() or not whole.isascii() or (len(whole) > 1 and whole[0] == "0"):
        return False
    if constant.qualifier == f"{XSD}integer":
        return not point and len(whole) > 18
    return constant.qualifier == f"{XSD}decimal" and fraction.isdecimal() and fraction.isascii()


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path in the same folder; at the end the file there gets the name `path`.

    After an error it is deleted, and what was at `path` stays.
    """
    path = Path(path)
    partial = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        yield partial
        os.replace(partial, path)
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}: cannot be written: {error}") from error
    finally:
        partial.unlink(missing_ok=True)
