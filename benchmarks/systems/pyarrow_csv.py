"""PyArrow's CSV reader followed by ``dictionary_encode`` of both columns."""

from importlib import import_module
from time import perf_counter

from benchmarks.outcome import Outcome, peak_memory, versions


def load(path: str, threads: int) -> Outcome:
    """Read a CSV file with two string columns and encode each column."""
    arrow, csv = import_module("pyarrow"), import_module("pyarrow.csv")
    arrow.set_cpu_count(threads)
    arrow.set_io_thread_count(threads)
    names = ["c0", "c1"]
    read = csv.ReadOptions(column_names=names, use_threads=threads > 1)
    convert = csv.ConvertOptions(column_types={name: arrow.string() for name in names})
    start = perf_counter()
    table = csv.read_csv(path, read_options=read, convert_options=convert)
    encoded = [table[name].dictionary_encode() for name in names]
    done = perf_counter()
    peak = peak_memory()
    return Outcome(done - start, 0.0, {"rows": len(encoded[0])}, peak, versions("pyarrow"))
