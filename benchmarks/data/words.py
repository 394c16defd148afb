"""A large CSV of strings, written in pieces."""

from math import gcd
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from numpy.typing import NDArray

_PIECE = 500_000
_STRIDE = 618_033_988_749
_STEMS = ("ash", "birch", "cedar", "elder", "hawthorn", "juniper", "rowan", "yew")


def words(path: Path, rows: int, distinct: int) -> None:
    """Write ``rows`` different pairs of ``distinct`` strings to a CSV file without header.

    With at least as many rows as strings, every string occurs.
    """
    if rows > distinct * distinct:
        raise ValueError(f"{distinct} strings make at most {distinct * distinct} pairs, not {rows}")
    vocabulary = _vocabulary(distinct)
    schema = pa.schema([("left", pa.string()), ("right", pa.string())])
    options = pc.WriteOptions(include_header=False, quoting_style="none")
    with pc.CSVWriter(str(path), schema, write_options=options) as writer:
        for start in range(0, rows, _PIECE):
            codes = _codes(start, min(start + _PIECE, rows), distinct)
            left, right = (
                vocabulary.take(pa.array(codes // distinct)),
                vocabulary.take(pa.array(codes % distinct)),
            )
            writer.write_batch(pa.record_batch([left, right], schema=schema))


def _vocabulary(distinct: int) -> pa.StringArray:
    # An odd multiplier permutes the 32-bit numbers, so the strings differ, and neighbours share no order.
    return pa.array(
        [f"{_STEMS[k % len(_STEMS)]}-{k * 2_654_435_761 % 2**32:08x}" for k in range(distinct)], pa.string()
    )


def _codes(start: int, stop: int, distinct: int) -> NDArray[np.int64]:
    """Return the numbers of pairs start to stop: a stride coprime to their number meets each pair once."""
    universe = distinct * distinct
    stride = _STRIDE % universe
    while gcd(stride, universe) != 1:
        stride += 1
    first = start * stride % universe
    return (first + np.arange(stop - start, dtype=np.int64) * stride) % universe
