"""What ``make bench-papers`` measures: for each benchmark of a paper its data at growing sizes, and each technique on it.

A technique is a set of switches of the reasoner. One that has no case has no measurement, and the report says so.
"""

from collections.abc import Iterator

from benchmarks.papers import hypertree, modular, peers, storage
from benchmarks.papers.case import Case, Settings


def cases(settings: Settings) -> Iterator[Case]:
    """Yield all cases that are wanted, the small sizes first; each writes its data when it is reached."""
    for size in settings.sizes:
        for paper in (modular, hypertree, storage, peers):
            yield from paper.cases(settings, size)
