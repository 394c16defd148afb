"""pyoxigraph's parser, whose triples are counted and thrown away."""

from collections import deque
from importlib import import_module
from itertools import count
from time import perf_counter

from benchmarks.outcome import Outcome, peak_memory, versions


def parse(path: str) -> Outcome:
    """Parse a file of N-Triples."""
    pyoxigraph = import_module("pyoxigraph")
    start = perf_counter()
    numbers = count()
    # Nothing but the parser runs for each triple: the counter and the queue are loops in C.
    deque(
        zip(pyoxigraph.parse(path=path, format=pyoxigraph.RdfFormat.N_TRIPLES), numbers, strict=False),
        maxlen=0,
    )
    done = perf_counter()
    return Outcome(done - start, 0.0, {"triples": next(numbers)}, peak_memory(), versions("pyoxigraph"))
