"""The dictionary: every term has an id, and the id leads back to the term.

This is the one place where terms and ids meet. Ids are given from 0 on, in the order in which terms arrive,
and never taken back. The hash table, the keys and the kinds of the terms are plain arrays;
`kernels/strings.py` says how they are laid out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from modulog.errors import DataError, InternalError
from modulog.kernels import strings
from modulog.terms.constant import Constant, Kind

Ids = npt.NDArray[np.uint32]
Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]

T = TypeVar("T", bound=np.generic)

MOST_TERMS = 2**31 - 1
"""The most terms of a dictionary: ids are signed numbers of 32 bits in the engines."""
_FEWEST_SLOTS = 1 << 5
"""The size of the hash table of an empty dictionary."""
_FEW = 16
"""The most texts that are looked up by a pass over all keys while there is no hash table."""
_MOST_PASSES = 8
"""After so many passes a hash table is made: more lookups are likely, and a table pays for them."""

Loading = Callable[[], tuple[Bytes, Offsets]]
"""A function that gives the keys of a dictionary, one after the other, and their offsets."""


def frozen(array: npt.NDArray[T]) -> npt.NDArray[T]:
    """A read-only view of an array: kernels are compiled once, for inputs that are read-only."""
    view = array.view()
    view.flags.writeable = False
    return view


class Texts:
    """A column of terms, hashed for lookups in any dictionary.

    Term i is the text `data[starts[i]:ends[i]]` with the kind `kinds[i]`; with a qualifier, this and a zero
    byte are in front of the text.
    """

    __slots__ = ("data", "ends", "hashes", "kinds", "starts")

    def __init__(self, data: Bytes, starts: Offsets, ends: Offsets, kinds: Bytes | int) -> None:
        if isinstance(kinds, int):
            kinds = np.full(len(starts), kinds, np.uint8)
        self.data, self.starts, self.ends = frozen(data), frozen(starts), frozen(ends)
        self.kinds = frozen(kinds)
        self.hashes = np.empty(len(starts), np.int64)
        strings.hash_texts(self.data, self.starts, self.ends, self.kinds, self.hashes)

    def __len__(self) -> int:
        return len(self.hashes)


class Dictionary:
    """Terms and their ids.

    >>> d = Dictionary()
    >>> ids = d.encode([Constant(Kind.STRING, "a"), Constant(Kind.INTEGER, "1"), Constant(Kind.STRING, "a")])
    >>> ids.tolist(), len(d)
    ([0, 1, 0], 2)
    >>> d.decode([1])
    [Constant(kind=<Kind.INTEGER: 2>, text='1', qualifier='')]
    """

    __slots__ = ("__weakref__", "_counter", "_data", "_kinds", "_loading", "_offsets", "_passes", "_slots")

    def __init__(self) -> None:
        self._loading: Loading | None = None
        self._passes = 0
        self._counter = np.zeros(1, np.int64)
        self._slots = np.zeros(_FEWEST_SLOTS, np.int64)
        self._data: Bytes = np.empty(_FEWEST_SLOTS * 8, np.uint8)
        self._offsets: Offsets = np.zeros(_FEWEST_SLOTS + 1, np.int64)
        self._kinds: Bytes = np.empty(_FEWEST_SLOTS, np.uint8)

    @staticmethod
    def opened(count: int, loading: Loading) -> Dictionary:
        """A dictionary of `count` terms that are stored elsewhere; `loading` loads them when one is needed.

        It gets a hash table only when a term is added, or after several lookups.

        >>> d = Dictionary.opened(2, lambda: (np.frombuffer(b"\\x01a\\x01bc", np.uint8), np.array([0, 2, 5])))
        >>> d.decode([1]), d.find([Constant(Kind.STRING, "a")]).tolist()
        ([Constant(kind=<Kind.STRING: 1>, text='bc', qualifier='')], [0])
        """
        if count > MOST_TERMS:
            raise DataError(f"a dictionary holds at most {MOST_TERMS:,} terms")
        dictionary = Dictionary()
        dictionary._counter[0], dictionary._loading = count, loading
        return dictionary

    def _load(self) -> None:
        """Load the keys of an opened dictionary, unless this has been done."""
        if self._loading is not None:
            data, offsets = self._loading()
            self._data = np.require(data, np.uint8, ["C", "W"])
            self._offsets = np.require(offsets, np.int64, ["C", "W"])
            self._kinds = self._data[self._offsets[:-1]]
            self._slots = np.empty(0, np.int64)
            self._loading = None

    def _hash(self) -> None:
        """Make the hash table of an opened dictionary, unless it has one: O(terms)."""
        self._load()
        if not len(self._slots):
            texts = Texts(self._data, self._offsets[:-1] + 1, self._offsets[1:], self._kinds)
            slots = texts.hashes
            slots <<= 32
            slots |= np.arange(1, len(self) + 1)
            size = _FEWEST_SLOTS
            while len(self) > size // 2:
                size *= 2
            table = np.zeros(size, np.int64)
            strings.move_slots(slots, table, _shift(size))
            self._slots = table

    def _scan(self, texts: Texts) -> npt.NDArray[np.int64] | None:
        """The ids of a few texts, found without a hash table by a pass over all keys; -1 for unknown ones.

        None if there is a hash table, if the texts are not few, or if so many passes have been made that a
        table pays.
        """
        self._load()
        if len(self._slots) or len(texts) > _FEW or self._passes == _MOST_PASSES:
            return None
        self._passes += 1
        ids = np.empty(len(texts), np.int64)
        strings.scan_texts(
            texts.data, texts.starts, texts.ends, texts.kinds, self._data, self._offsets, len(self), ids
        )
        return ids

    def __len__(self) -> int:
        return int(self._counter[0])

    def encode(self, constants: Sequence[Constant]) -> Ids:
        """The ids of constants; new ones are added."""
        return self.encode_texts(_texts(constants))

    def find(self, constants: Sequence[Constant]) -> npt.NDArray[np.int64]:
        """The ids of constants, -1 for one that is unknown; nothing is added."""
        texts = _texts(constants)
        found = self._scan(texts)
        if found is not None:
            return found
        ids = np.empty(len(texts), np.int64)
        self._hash()
        strings.find_texts(
            texts.data,
            texts.starts,
            texts.ends,
            texts.kinds,
            texts.hashes,
            self._slots,
            _shift(len(self._slots)),
            self._data,
            self._offsets,
            ids,
        )
        return ids

    def decode(self, ids: npt.ArrayLike) -> list[Constant]:
        """The constants with these ids."""
        distinct, inverse = np.unique(np.asarray(ids, np.uint32), return_inverse=True)
        buffer, offsets = self.keys(distinct)
        data, ends = buffer.tobytes(), offsets.tolist()
        constants = [Constant.from_key(data[a:b]) for a, b in pairwise(ends)]
        return [constants[i] for i in inverse.tolist()]

    def encode_strings(self, buffer: Bytes, offsets: Offsets, kinds: Bytes | int = Kind.STRING) -> Ids:
        """The ids of the texts `buffer[offsets[i]:offsets[i + 1]]`; new ones are added.

        `kinds` is the kind of all, or an array of the kind of each. In a literal with a language or another
        datatype this and a zero byte are in front of the text.
        """
        offsets = np.asarray(offsets, np.int64)
        return self.encode_texts(Texts(buffer, offsets[:-1], offsets[1:], kinds))

    def encode_texts(self, texts: Texts) -> Ids:
        """The ids of texts; new ones are added. Costs one lookup in the hash table for each."""
        found = self._scan(texts)
        if found is not None and (found >= 0).all():
            return found.astype(np.uint32)
        ids = np.empty(len(texts), np.uint32)
        self._hash()
        done = 0
        while True:
            done = strings.insert_texts(
                texts.data,
                texts.starts,
                texts.ends,
                texts.kinds,
                texts.hashes,
                done,
                self._slots,
                _shift(len(self._slots)),
                self._data,
                self._offsets,
                self._kinds,
                self._counter,
                ids,
            )
            if done == len(texts):
                return ids
            self._grow(int(texts.ends[done] - texts.starts[done]) + 1)

    def extend(self, buffer: Bytes, offsets: Offsets) -> None:
        """Add keys (kind, then text) that are all new; they get the next ids in order."""
        offsets = np.asarray(offsets, np.int64)
        self.reserve(len(offsets) - 1, int(offsets[-1] - offsets[0]) if len(offsets) else 0)
        before = len(self)
        self.encode_texts(Texts(buffer, offsets[:-1] + 1, offsets[1:], buffer[offsets[:-1]]))
        if len(self) - before != len(offsets) - 1:
            raise InternalError("terms that were to be new are in the dictionary already")

    def reserve(self, terms: int, size: int) -> None:
        """Make room for so many more terms, whose keys have so many bytes."""
        self._hash()
        terms += len(self)
        size += int(self._offsets[len(self)])
        if terms > MOST_TERMS:
            raise DataError(f"a dictionary holds at most {MOST_TERMS:,} terms")
        if size > len(self._data):
            self._data = _larger(self._data, size)
        if terms > len(self._kinds):
            # Offsets first: Ctrl-C between the two leaves room for more offsets than terms, never fewer.
            self._offsets = _larger(self._offsets, terms + 1)
            self._kinds = _larger(self._kinds, terms)
        slots = len(self._slots)
        while terms > slots // 2:
            slots *= 2
        if slots > len(self._slots):
            table = np.zeros(slots, np.int64)
            strings.move_slots(self._slots, table, _shift(slots))
            self._slots = table

    def _grow(self, size: int) -> None:
        """Make room for another term, after a kernel has stopped because some array was full.

        Arrays grow by half and the hash table is doubled, so that adding terms takes constant time for each.
        """
        count = len(self)
        more = min(count // 2, MOST_TERMS - count) if count >= len(self._kinds) else 0
        lacking = int(self._offsets[len(self)]) + size > len(self._data)
        self.reserve(max(1, more), max(size, len(self._data) // 2) if lacking else 0)

    def keys(self, ids: npt.ArrayLike | None = None, *, skip: int = 0) -> tuple[Bytes, Offsets]:
        """The keys of these ids, or of all, without their first `skip` bytes, as bytes with offsets."""
        if ids is None:
            ids = np.arange(len(self), dtype=np.uint32)
        wanted = self._checked(ids)
        offsets = np.empty(len(wanted) + 1, np.int64)
        total = strings.measure_texts(self._offsets, wanted, skip, offsets)
        buffer = np.empty(total, np.uint8)
        strings.copy_texts(self._data, self._offsets, wanted, skip, buffer)
        return buffer, offsets

    def kinds(self, ids: npt.ArrayLike) -> Bytes:
        """The kind of each of these ids."""
        wanted = self._checked(ids)
        return self._kinds[wanted]

    def arrays(self) -> tuple[Bytes, Offsets, Bytes]:
        """Keys, offsets and kinds as kernels read them; they are valid until the dictionary grows."""
        self._load()
        return self._data, self._offsets, self._kinds

    def memory(self) -> int:
        """The bytes that the arrays take."""
        return self._slots.nbytes + self._data.nbytes + self._offsets.nbytes + self._kinds.nbytes

    def _checked(self, ids: npt.ArrayLike) -> Ids:
        """The ids as an array, after making sure that the dictionary has them and its keys are loaded."""
        self._load()
        wanted = np.ascontiguousarray(ids, np.uint32)
        if len(wanted) and int(wanted.max()) >= len(self):
            raise InternalError(f"the dictionary has no term {int(wanted.max())}")
        return wanted


def _shift(slots: int) -> int:
    """By how much a hash is shifted right for its place in a table of so many slots.

    A hash has 31 bits; the kernels multiply it by 8 first, so there are 34.
    """
    return 34 - (slots.bit_length() - 1)


def _larger(array: npt.NDArray[T], size: int) -> npt.NDArray[T]:
    """An array of at least `size` elements, and half as much again as this one, with the same start."""
    larger = np.empty(max(size, len(array) + len(array) // 2), array.dtype)
    larger[: len(array)] = array
    return larger


def _texts(constants: Sequence[Constant]) -> Texts:
    """A column of texts from constants."""
    keys = [c.key for c in constants]
    ends = np.cumsum([len(k) for k in keys], dtype=np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]]) if keys else ends
    data = np.frombuffer(b"".join(keys), np.uint8)
    return Texts(data, starts + 1, ends, data[starts] if keys else np.empty(0, np.uint8))
