"""Reading and writing facts: files and tables as chunks of numbers, and back.

Every reader yields chunks, arrays of uint32 of shape (arity, rows), with at most about a million rows each.
"""

from __future__ import annotations


class DataWarning(UserWarning):
    """Facts that look odd, or that were written in a form that reads back as something else."""
