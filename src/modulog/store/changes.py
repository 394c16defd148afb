"""Which files a changed relation keeps: changes are written beside what is there, and folded when they have grown.

The files of a relation come from several states: first the *base*, all facts at once, then changes, the youngest last. A new change takes up those before it
that it is not small beside, so that there are few files however many changes there are, and each fact is written a logarithmic number of times.
"""

from __future__ import annotations

from collections.abc import Sequence

from modulog.errors import InternalError
from modulog.store.manifest import FILE_PATH, FactsFile, TermsFile

SHARE = 2  # the base is written anew when the changes are half as many
RATIO = 8  # a change is folded into a younger one that is at least an eighth of it


def state_of(file: FactsFile | TermsFile) -> int:
    """The number of the state that made a file.

    >>> state_of(TermsFile("terms/000012-0.parquet", 0, "", 0, 0))
    12
    """
    found = FILE_PATH.fullmatch(file.path)
    if found is None:
        raise InternalError(f"{file.path} is no path of a store")
    return int(found[1])


def staying(files: Sequence[FactsFile] | Sequence[TermsFile], rows: int) -> int:
    """How many of the files, from the first on, stay as they are when a change of so many rows comes; the others are folded into it.

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
