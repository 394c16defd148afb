"""Write facts to CSV files.

Strings, integers, decimals and IRIs are written such that they are read back as what they were. Other terms,
and IRIs that contain the delimiter, are written in Turtle form in quotes, which is read back as a string; a
warning says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from modulog.formats import DataWarning, warn_user
from modulog.formats.folders import replacing
from modulog.formats.tables import pieces
from modulog.kernels.csv_fields import Fields, Keys, write_rows
from modulog.kernels.strings import measure_texts
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
        warn_user(f"{path}: {said} in quotes and will read back as strings", DataWarning)
    return rows


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
