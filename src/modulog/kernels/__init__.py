"""Array functions compiled by Numba, which both engines use. They know nothing of terms, relations or rules.

Ids are signed integers of 32 bits from 0 to 2^31 - 2. A *fact* of arity k is packed into ⌈k/2⌉ *words* of 64
bits: argument 2i is the upper half of word i, argument 2i+1 the lower half. The words of n facts are one
C-contiguous array of shape (words, n), and columns of ids one of shape (columns, n), so that every kernel has
one signature.

A kernel call should take well under half a second, because Ctrl-C has to wait for it. Work that may take
longer is done in slices: the caller passes the state and a budget of steps, and calls again.

Kernels with many arrays take named tuples of them where a call does much. They take single arrays where calls
are frequent and small: with two named tuples in place of nine arrays, looking up one text took 1.9 µs instead
of 0.7 µs (0.8 µs for Numba to take them apart, 0.5 µs to make them; Numba 0.68, Python 3.11). From 100,000
texts on there was no difference.
"""
