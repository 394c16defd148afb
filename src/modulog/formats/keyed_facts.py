"""Facts on their way between processes, whose dictionaries give the same term different ids.

The facts travel as ids together with the *keys* of the terms (`Constant.key`), or as the keys alone. The
process that receives them adds the keys to its own dictionary and replaces the ids.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from modulog.terms.arrow import text_buffers
from modulog.terms.dictionary import Dictionary, Ids, Texts

BATCH = 1 << 18
"""Rows of a Parquet file that are read at once."""


class Keyed(ABC):
    """Facts with keys, which `read_table` takes like other tables."""

    @abstractmethod
    def __len__(self) -> int:
        """How many facts there are; repeated ones count each time."""

    @abstractmethod
    def read(self, dictionary: Dictionary) -> Iterator[Ids]:
        """Add the keys to a dictionary, and yield the facts in chunks of its ids."""


@dataclass(frozen=True, slots=True)
class KeyedRows(Keyed):
    """Facts in memory: chunks in which the number k stands for the term with key `keys[k]`.

    >>> rows = KeyedRows.of([np.array([[0, 1], [1, 1]], np.uint32)], _example())
    >>> [c.tolist() for c in rows.read(Dictionary())]
    [[[0, 1], [1, 1]]]
    """

    chunks: Sequence[Ids]
    keys: pa.LargeStringArray

    @classmethod
    def of(cls, chunks: Sequence[Ids], dictionary: Dictionary) -> KeyedRows:
        """Facts in chunks of ids of a dictionary, with all keys of this dictionary."""
        buffer, offsets = dictionary.keys()
        keys = pa.LargeStringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(buffer))
        return cls(tuple(chunks), keys)

    @classmethod
    def read_from(cls, data: object, arity: int | None, columns: Sequence[int | str] | None) -> KeyedRows:
        """Facts from values in memory, whatever `read_table` takes."""
        from modulog.formats.tables import read_table

        dictionary = Dictionary()
        return cls.of(list(read_table(data, dictionary, arity=arity, columns=columns)), dictionary)

    @property
    def bytes(self) -> int:
        """The memory that chunks and keys take."""
        return sum(chunk.nbytes for chunk in self.chunks) + int(self.keys.nbytes)

    def __len__(self) -> int:
        return sum(chunk.shape[1] for chunk in self.chunks)

    def read(self, dictionary: Dictionary) -> Iterator[Ids]:
        numbers = encode_keys(dictionary, self.keys)
        for chunk in self.chunks:
            yield numbers[chunk]


@dataclass(frozen=True, slots=True)
class KeyedFiles(Keyed):
    """Facts in the Parquet files of a folder, with a column of keys for each argument."""

    folder: str

    def __len__(self) -> int:
        return sum(int(pq.read_metadata(path).num_rows) for path in Path(self.folder).glob("*.parquet"))

    def read(self, dictionary: Dictionary) -> Iterator[Ids]:
        for path in sorted(Path(self.folder).glob("*.parquet")):
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(BATCH):
                    rows = [_encode_column(dictionary, column) for column in batch.columns]
                    yield np.stack(rows) if rows else np.empty((0, batch.num_rows), np.uint32)


def _encode_column(dictionary: Dictionary, column: pa.Array) -> Ids:
    """The ids of a column of keys; each different key is looked up once."""
    coded = column.dictionary_encode()
    places = np.asarray(coded.indices)
    ids: Ids = encode_keys(dictionary, coded.dictionary)[places]
    return ids


def encode_keys(dictionary: Dictionary, keys: pa.Array) -> Ids:
    """The ids of keys in a dictionary, which gets those that are new."""
    data, offsets = text_buffers(keys)
    return dictionary.encode_texts(Texts(data, offsets[:-1] + 1, offsets[1:], data[offsets[:-1]]))


def _example() -> Dictionary:
    """A dictionary with two terms, for the doctest."""
    from modulog.terms.constant import Constant, Kind

    made = Dictionary()
    made.encode([Constant(Kind.STRING, "a"), Constant(Kind.INTEGER, "1")])
    return made
