"""Functions on texts, and SKOLEM, over columns of terms."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from modulog.kernels.arithmetic import FINE, ILL_TYPED, INTEGER
from modulog.terms.arithmetic import Numbers, Status
from modulog.terms.dictionary import Bytes, Dictionary, Ids, Offsets
from modulog.terms.model import Kind

if TYPE_CHECKING:
    import pyarrow as pa

SKOLEM_BYTES = 16
_PLAIN = (Kind.STRING, Kind.LANGUAGE)


def texts_of(dictionary: Dictionary, ids: Ids) -> pa.Array:
    """The texts of terms: of literals what stands between the quotes, of nodes the IRI or the label."""
    import pyarrow as pa

    kinds = dictionary.kinds(ids)
    buffer, offsets = dictionary.keys(ids, skip=1)
    texts = pa.LargeStringArray.from_buffers(len(ids), pa.py_buffer(offsets), pa.py_buffer(buffer))
    qualified = kinds >= Kind.LANGUAGE
    if qualified.any():
        texts = pa.array(
            [
                text.partition("\0")[2] if marked else text
                for text, marked in zip(texts.to_pylist(), qualified, strict=True)
            ],
            pa.large_string(),
        )
    return texts


def apply_text(function: str, dictionary: Dictionary, columns: Sequence[Ids], status: Status) -> pa.Array:
    """The strings that STR, UCASE, LCASE or CONCAT give; rows with arguments of the wrong kind become ill-typed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    _require(function, dictionary, columns, status)
    texts = [texts_of(dictionary, ids) for ids in columns]
    match function:
        case "UCASE":
            return pc.utf8_upper(texts[0])
        case "LCASE":
            return pc.utf8_lower(texts[0])
        case "CONCAT":
            return pc.binary_join_element_wise(*texts, pa.scalar("", pa.large_string()))
    return texts[0]


def lengths(dictionary: Dictionary, ids: Ids, status: Status) -> Numbers:
    """How many characters strings have."""
    import pyarrow.compute as pc

    _require("STRLEN", dictionary, [ids], status)
    result = Numbers.empty(len(ids), status)
    result.kinds[:] = INTEGER
    result.integers[:] = pc.utf8_length(texts_of(dictionary, ids)).to_numpy(zero_copy_only=False)
    return result


def _require(function: str, dictionary: Dictionary, columns: Sequence[Ids], status: Status) -> None:
    for ids in columns:
        kinds = dictionary.kinds(ids)
        wrong = kinds == Kind.BLANK if function == "STR" else ~np.isin(kinds, _PLAIN)
        status[wrong & (status == FINE)] = ILL_TYPED


def skolem_names(dictionary: Dictionary, columns: Sequence[Ids]) -> tuple[Bytes, Offsets]:
    """The labels of blank nodes for rows of arguments: a hash of the keys, each after its length; one for each different row."""
    rows = len(columns[0])
    parts = zip(*(_prefixed_keys(dictionary, ids) for ids in columns), strict=True)
    hashes = [blake2b(b"".join(row), digest_size=SKOLEM_BYTES).digest() for row in parts]
    labels = np.empty((rows, 2 + 2 * SKOLEM_BYTES), np.uint8)
    labels[:, :2] = np.frombuffer(b"sk", np.uint8)
    labels[:, 2:] = np.frombuffer(b"".join(hashes).hex().encode(), np.uint8).reshape(rows, 2 * SKOLEM_BYTES)
    return labels.reshape(-1), np.arange(rows + 1, dtype=np.int64) * labels.shape[1]


def _prefixed_keys(dictionary: Dictionary, ids: Ids) -> list[bytes]:
    """The keys of terms, each after its length in four bytes."""
    distinct, inverse = np.unique(ids, return_inverse=True)
    buffer, offsets = dictionary.keys(distinct)
    data, sizes = buffer.tobytes(), np.diff(offsets).astype("<u4").tobytes()
    keys = [sizes[4 * i : 4 * i + 4] + data[a:b] for i, (a, b) in enumerate(pairwise(offsets.tolist()))]
    return [keys[i] for i in inverse.tolist()]
