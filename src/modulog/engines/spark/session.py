"""The Spark session: the caller's, or one of our own that is stopped with us."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pyspark.sql import SparkSession

from modulog.engines.spark.errors import translated

SETTINGS = {
    "spark.master": "local[*]",
    "spark.app.name": "modulog",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.driver.memory": "2g",
}
"""What a session of our own has unless told otherwise; the number of partitions follows the data, by adaptive execution."""


def build_session(settings: Mapping[str, str] | None = None) -> SparkSession:
    """A new session, or the one that is active already: workers run the Python that runs us."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder
    for name, value in {**SETTINGS, **(settings or {})}.items():
        builder = builder.config(name, value)
    with translated():
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
