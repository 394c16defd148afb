"""Decides which files of a changed relation stay, and which are merged with the new change into a new file.

The first file of a relation is its *base* with all facts; the other files are changes, the latest last. As in
a log-structured merge tree, a new change is merged with earlier ones that are not much larger than it. So
there are few files however many changes there have been, and each fact is written a logarithmic number of
times.
"""

from __future__ import annotations

from collections.abc import Sequence

from modulog.errors import InternalError
from modulog.store.manifest import FILE_PATH, FactsFile, TermsFile

SHARE = 2  # the base is rewritten when the changes have at least half as many rows
RATIO = 8  # a change is merged with a later one that has at least an eighth of its rows


def state_of(file: FactsFile | TermsFile) -> int:
    """The number of the state in which a file was written.

    >>> state_of(TermsFile("terms/000012-0.parquet", 0, "", 0, 0))
    12
    """
    found = FILE_PATH.fullmatch(file.path)
    if found is None:
        raise InternalError(f"{file.path} is no path of a store")
    return int(found[1])


def staying(files: Sequence[FactsFile] | Sequence[TermsFile], rows: int) -> int:
    """How many files stay, from the first on, when a change of `rows` rows comes; it is merged with the
    others.

    >>> base, small = (TermsFile(f"terms/{n:06d}-0.parquet", 0, "", r, 0) for n, r in ((1, 100), (2, 7)))
    >>> staying([base, small], 0), staying([base, small], 1), staying([base, small], 49)
    (2, 1, 0)
    """
    count = len(files)
    while count and rows:
        made = state_of(files[count - 1])
        start = count
        while start and state_of(files[start - 1]) == made:
            start -= 1
        held = sum(file.rows for file in files[start:count])
        if rows * (RATIO if start else SHARE) < held:
            break
        rows, count = rows + held, start
    return count
