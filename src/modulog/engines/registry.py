"""Backends by name, imported when they are first asked for."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from modulog.engines.backend import Backend
from modulog.errors import EngineUnavailable

ENGINES = ("local", "spark")


def make_backend(name: str, spark: Any = None, **options: Any) -> Backend:
    """A new backend; "auto" is Spark if a session was given, otherwise local. Options are for Spark.

    >>> make_backend("abacus")
    Traceback (most recent call last):
    modulog.errors.EngineUnavailable: there is no engine "abacus"; choose one of: auto, local, spark
    """
    if name == "auto":
        name = "local" if spark is None else "spark"
    if name not in ENGINES:
        raise EngineUnavailable(f'there is no engine "{name}"; choose one of: auto, {", ".join(ENGINES)}')
    if name == "local":
        from modulog.engines.local.backend import LocalBackend

        return LocalBackend()
    if find_spec("pyspark") is None:
        raise EngineUnavailable("the Spark engine needs PySpark: pip install 'modulog[spark]'")
    from modulog.engines.spark.backend import SparkBackend

    return SparkBackend(spark, **options)
