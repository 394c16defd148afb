"""Doctests of the Spark engine are collected only where PySpark is installed."""

from importlib.util import find_spec

collect_ignore_glob = (
    []
    if find_spec("pyspark")
    else [
        "src/modulog/engines/spark/*",
        "src/modulog/spark/*",
        "src/modulog/task/place.py",
        "src/modulog/task/job.py",
    ]
)
