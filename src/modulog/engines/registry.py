"""Backends by name, imported when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from modulog.engines.backend import Backend, FactFile
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
    _need_pyspark()
    from modulog.engines.spark.backend import SparkBackend

    return SparkBackend(spark, **options)


def start_spark(
    settings: Mapping[str, str], log: Path, starting: Callable[[], AbstractContextManager[None]], later: bool
) -> tuple[Any, Callable[[], None]]:
    """A Spark session with these settings, and what stops it; one that is active is taken as it is, and goes on.

    A new one that is wanted `later` starts when somebody first needs it. It is started within a context that `starting` makes, and what it prints goes into `log`.
    """
    _need_pyspark()
    from modulog.engines.spark.session import LateSession, active_session

    found = active_session()
    if found is not None:
        return found, _leave
    session = LateSession(settings, log, starting)
    return session if later else session.start(), session.stop


def _leave() -> None:
    """Nothing is stopped."""


def _need_pyspark() -> None:
    if find_spec("pyspark") is None:
        raise EngineUnavailable("the Spark engine needs PySpark: pip install 'modulog[spark]'")


def files_on_spark(spark: Any, path: str, format: str | None) -> list[FactFile]:
    """The files that a path stands for on any file system that Spark knows."""
    from modulog.engines.spark.hadoop import HadoopListing

    return HadoopListing(spark).files(path, format)


def folder_on_spark(spark: Any, uri: str) -> Any:
    """A folder on any file system that Spark knows, as `engines.spark.folders.Folder` describes it."""
    from modulog.engines.spark.folders import folder_of

    return folder_of(spark, uri)
