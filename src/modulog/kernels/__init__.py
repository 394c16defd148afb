"""Pure array functions compiled by Numba; both engines may import them.

Ids are 32-bit signed integers from 0 to 2^31 - 2. A *fact* of arity k packs into ⌈k/2⌉ *words* of 64 bits: argument 2i is the upper half of word
i, argument 2i+1 the lower half. Words of n facts are one C-contiguous array of shape (words, n), columns of ids one of
shape (columns, n), so that every kernel has one signature. A kernel call should last well under half a second: Ctrl-C waits
for it.
"""
