"""Read facts from files and from tables in memory, and write them.

Every reader yields *chunks*: arrays of term ids (uint32) of shape (arity, rows), a column for each argument,
with at most about a million rows each. Writers take such chunks. `format.py` describes the formats that there
are.
"""

from __future__ import annotations


class DataWarning(UserWarning):
    """A warning about facts that look wrong, are left out, or will read back as something else."""
