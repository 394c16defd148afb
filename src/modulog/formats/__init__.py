"""Read facts from files and from tables in memory, and write them.

Every reader yields *chunks*: arrays of term ids (uint32) of shape (arity, rows), a column for each argument,
with at most about a million rows each. Writers take such chunks. `format.py` describes the formats that there
are.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

_HERE = f"{Path(__file__).parents[1]}{os.sep}"


class DataWarning(UserWarning):
    """A warning about facts that look wrong, are left out, or will read back as something else.

    >>> import warnings
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from modulog import Reasoner
    >>> with TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = Path(folder, "age.csv").write_text("Ada,36\\nBen\\n")
    ...     _ = Reasoner("").load(Path(folder, "age.csv"), bad="set-aside")
    >>> [(w.category.__name__, str(w.message).rpartition("age.csv")[2]) for w in caught]
    [('DataWarning', ': 1 bad record set aside')]
    """


def warn_user(message: str, category: type[Warning]) -> None:
    """Give a Python warning that points to the line of the user's program from which Modulog was called."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
