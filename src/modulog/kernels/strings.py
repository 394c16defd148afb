"""Texts in byte buffers: hashing, the hash table of a dictionary, copying, comparing.

A text is a part `data[start:end]` of a buffer, in UTF-8, with a kind, one byte. The dictionary has its keys
(kind, then text) in one buffer; `keys[offsets[i]:offsets[i + 1]]` is the key of the term i. A slot of the
hash table is `hash << 32 | id + 1`, or 0 if it is free, so that a table grows without looking at texts. A
lookup starts at the place that the upper bits of the hash give, and goes on to the next slots until it finds
the text or a free one.

A lookup waits for memory at three places: the slot, the offset, the key. So the kernels ask for those of the
next rows ahead (`prefetch`). Every function also runs as plain Python.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils as untyped_cgutils
from numba.core import types
from numba.extending import intrinsic as untyped_intrinsic
from numba.extending import overload

from modulog.kernels.compiled import inlined, kernel

cgutils: Any = untyped_cgutils


def intrinsic(function: Any) -> Any:
    """Numba's decorator of this name, which has no types."""
    return untyped_intrinsic(function)


def _load32(data: Any, index: Any) -> int:
    """The four bytes from an index on as one number, aligned or not."""
    return int.from_bytes(data[index : index + 4].tobytes(), "little")


def _load64(data: Any, index: Any) -> int:
    """The eight bytes from an index on as one number, aligned or not."""
    return int.from_bytes(data[index : index + 8].tobytes(), "little", signed=True)


def prefetch(data: Any, index: Any) -> None:
    """Ask the processor to bring `data[index]` into its cache, without waiting for it.

    Does nothing in Python.
    """


def _loader(bits: int) -> Any:
    """The compiled form of `_load32` and `_load64`: one load of so many bits."""

    @intrinsic
    def load(typing_context: Any, data: Any, index: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            pointer = cgutils.gep_inbounds(builder, array.data, arguments[1])
            word = builder.load(builder.bitcast(pointer, ir.IntType(bits).as_pointer()), align=1)
            return word if bits == 64 else builder.zext(word, ir.IntType(64))

        return types.int64(data, types.intp), generate

    return load


@intrinsic
def _prefetch_intrinsic(typing_context: Any, data: Any, index: Any) -> Any:
    """The compiled form of `prefetch`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = cgutils.gep_inbounds(builder, array.data, arguments[1])
        number, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, near, data_cache = number(0), number(3), number(1)
        builder.call(function, [builder.bitcast(pointer, byte), read, near, data_cache])
        return context.get_dummy_value()

    return types.void(data, types.intp), generate


_load32_intrinsic, _load64_intrinsic = _loader(32), _loader(64)
overload(_load32, inline="always")(lambda data, index: lambda data, index: _load32_intrinsic(data, index))
overload(_load64, inline="always")(lambda data, index: lambda data, index: _load64_intrinsic(data, index))
overload(prefetch, inline="always")(lambda data, index: lambda data, index: _prefetch_intrinsic(data, index))

AHEAD = 8
"""Rows between the steps of a lookup: enough for many of them to wait for memory at the same time."""


@inlined
def _mix(state: Any, word: Any) -> Any:
    """One round of the hash: both arguments and the result are below 2^32, the product below 2^63."""
    product = (state ^ word) * 0x7FEB352D
    return (product ^ (product >> 32)) & 0xFFFFFFFF


@kernel
def hash_text(data: Any, start: int, end: int, kind: Any) -> Any:
    """A hash of 31 bits of a kind and a text, four bytes at a time: O(bytes)."""
    length = end - start
    state = ((length << 4) ^ kind ^ 0x5BD1E995) & 0xFFFFFFFF
    if length >= 4:
        last = end - 4
        at = start
        while at < last:
            state = _mix(state, _load32(data, at))
            at += 4
        state = _mix(state, _load32(data, last))
    else:
        word = np.int64(0)
        for at in range(start, end):
            word = (word << 8) | np.int64(data[at])
        state = _mix(state, word)
    product = (state ^ (state >> 15)) * 0x6A85EBCB
    return (product ^ (product >> 31)) & 0x7FFFFFFF


@kernel
def hash_texts(data: Any, starts: Any, ends: Any, kinds: Any, hashes: Any) -> None:
    """Fill `hashes` with the hash of every text."""
    for i in range(len(starts)):
        hashes[i] = hash_text(data, starts[i], ends[i], np.int64(kinds[i]))


@inlined
def same_text(a: Any, a_start: int, b: Any, b_start: int, length: int) -> bool:
    """Whether two texts of the same length are equal, eight bytes at a time."""
    if length >= 8:
        at = 0
        while at < length - 8:
            if _load64(a, a_start + at) != _load64(b, b_start + at):
                return False
            at += 8
        return _load64(a, a_start + length - 8) == _load64(b, b_start + length - 8)
    if length >= 4:
        if _load32(a, a_start) != _load32(b, b_start):
            return False
        return _load32(a, a_start + length - 4) == _load32(b, b_start + length - 4)
    for at in range(length):
        if a[a_start + at] != b[b_start + at]:
            return False
    return True


@inlined
def find_slot(
    data: Any, start: int, end: int, kind: Any, code: int, slots: Any, shift: int, keys: Any, offsets: Any
) -> int:
    """The slot that has a text, or the free one where it belongs. O(1) expected, and one comparison."""
    mask = len(slots) - 1
    at = (code << 3) >> shift
    while True:
        slot = slots[at]
        if slot == 0:
            return at
        if slot >> 32 == code:
            term = (slot & 0xFFFFFFFF) - 1
            begin = offsets[term]
            length = end - start
            if offsets[term + 1] - begin == length + 1 and np.int64(keys[begin]) == kind:
                if same_text(keys, begin + 1, data, start, length):
                    return at
        at = (at + 1) & mask


@inlined
def _look_ahead(row: int, hashes: Any, slots: Any, shift: int, keys: Any, offsets: Any) -> None:
    """Prefetch what the next rows will read: slots, then offsets, then keys, `AHEAD` rows apart."""
    last = len(hashes) - 1
    prefetch(slots, (hashes[min(row + 3 * AHEAD, last)] << 3) >> shift)
    slot = slots[(hashes[min(row + 2 * AHEAD, last)] << 3) >> shift]
    prefetch(offsets, max(0, (slot & 0xFFFFFFFF) - 1))
    slot = slots[(hashes[min(row + AHEAD, last)] << 3) >> shift]
    prefetch(keys, offsets[max(0, (slot & 0xFFFFFFFF) - 1)])


@kernel
def insert_texts(
    data: Any,
    starts: Any,
    ends: Any,
    kinds: Any,
    hashes: Any,
    first: int,
    slots: Any,
    shift: int,
    keys: Any,
    offsets: Any,
    term_kinds: Any,
    counter: Any,
    ids: Any,
) -> int:
    """Fill `ids[first:]` with the ids of texts, adding terms that are new; returns the rows that are done.

    It stops early if the hash table is half full or another array has no room; the caller makes room and
    calls again with `first` set to what was returned. The number of terms is in `counter[0]`, which is right
    at every moment at which Ctrl-C may interrupt the caller. O(1) expected for each text, and its bytes.
    """
    count = counter[0]
    room = min(len(slots) // 2, len(term_kinds))
    for i in range(first, len(starts)):
        _look_ahead(i, hashes, slots, shift, keys, offsets)
        start, end, kind, code = starts[i], ends[i], np.int64(kinds[i]), hashes[i]
        at = find_slot(data, start, end, kind, code, slots, shift, keys, offsets)
        slot = slots[at]
        if slot == 0:
            begin = offsets[count]
            length = end - start
            if count >= room or begin + length + 1 > len(keys):
                counter[0] = count
                return i
            keys[begin] = kind
            for j in range(length):
                keys[begin + 1 + j] = data[start + j]
            offsets[count + 1] = begin + length + 1
            term_kinds[count] = kind
            count += 1
            slot = (code << 32) | count
            slots[at] = slot
        ids[i] = (slot & 0xFFFFFFFF) - 1
    counter[0] = count
    return len(starts)


@kernel
def find_texts(
    data: Any,
    starts: Any,
    ends: Any,
    kinds: Any,
    hashes: Any,
    slots: Any,
    shift: int,
    keys: Any,
    offsets: Any,
    ids: Any,
) -> None:
    """Fill `ids` with the id of every text, -1 where the dictionary has none. O(1) expected for each."""
    for i in range(len(starts)):
        _look_ahead(i, hashes, slots, shift, keys, offsets)
        at = find_slot(data, starts[i], ends[i], np.int64(kinds[i]), hashes[i], slots, shift, keys, offsets)
        ids[i] = (slots[at] & 0xFFFFFFFF) - 1


@kernel
def scan_texts(
    data: Any, starts: Any, ends: Any, kinds: Any, keys: Any, offsets: Any, count: int, ids: Any
) -> None:
    """As `find_texts` without a hash table, for a few texts: one pass over all keys.

    O(terms × texts), where texts of another length or kind cost one comparison of numbers.
    """
    for i in range(len(starts)):
        ids[i] = -1
    for term in range(count):
        begin = offsets[term]
        size = offsets[term + 1] - begin - 1
        for i in range(len(starts)):
            if ends[i] - starts[i] == size and np.int64(keys[begin]) == np.int64(kinds[i]):
                if same_text(keys, begin + 1, data, starts[i], size):
                    ids[i] = term


@kernel
def move_slots(slots: Any, larger: Any, shift: int) -> None:
    """Put every slot into a larger, empty table. O(slots)."""
    mask = len(larger) - 1
    for i in range(len(slots)):
        slot = slots[i]
        if slot != 0:
            at = ((slot >> 32) << 3) >> shift
            while larger[at] != 0:
                at = (at + 1) & mask
            larger[at] = slot


@kernel
def measure_texts(offsets: Any, ids: Any, skip: int, ends: Any) -> int:
    """Fill `ends` with the offsets of the keys of `ids` less `skip` bytes each; returns the length of all."""
    total = 0
    ends[0] = 0
    last = len(ids) - 1
    for i in range(len(ids)):
        prefetch(offsets, np.int64(ids[min(i + 2 * AHEAD, last)]))
        term = np.int64(ids[i])
        total += offsets[term + 1] - offsets[term] - skip
        ends[i + 1] = total
    return total


@kernel
def copy_texts(keys: Any, offsets: Any, ids: Any, skip: int, target: Any) -> None:
    """Write the keys of `ids`, without their first `skip` bytes, one after the other."""
    at = 0
    last = len(ids) - 1
    for i in range(len(ids)):
        prefetch(offsets, np.int64(ids[min(i + 2 * AHEAD, last)]))
        prefetch(keys, offsets[np.int64(ids[min(i + AHEAD, last)])])
        term = np.int64(ids[i])
        for j in range(offsets[term] + skip, offsets[term + 1]):
            target[at] = keys[j]
            at += 1


@kernel
def order_texts(keys: Any, offsets: Any, left: Any, right: Any, signs: Any) -> None:
    """Fill `signs` with -1, 0 or 1 for each pair of terms by their bytes, which is the order of code points.

    O(bytes up to the first difference) for each pair.
    """
    for i in range(len(left)):
        a, b = np.int64(left[i]), np.int64(right[i])
        sign = 0
        if a != b:
            p, q = offsets[a] + 1, offsets[b] + 1
            p_end, q_end = offsets[a + 1], offsets[b + 1]
            while p < p_end and q < q_end and keys[p] == keys[q]:
                p += 1
                q += 1
            if p < p_end and q < q_end:
                sign = -1 if keys[p] < keys[q] else 1
            elif p < p_end:
                sign = 1
            elif q < q_end:
                sign = -1
        signs[i] = sign
