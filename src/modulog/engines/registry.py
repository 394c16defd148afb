"""Backends by name, imported when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from modulog.engines.backend import Backend
from modulog.engines.options import SparkOptions
from modulog.errors import EngineUnavailable, OptionError
from modulog.formats.fact_file import FactFile


def _local(spark: SparkOptions | None, workers: int | None) -> Backend:
    from modulog.engines.local.backend import LocalBackend

    return LocalBackend(workers)


def _spark(spark: SparkOptions | None, workers: int | None) -> Backend:
    need_pyspark()
    from modulog.engines.spark.backend import SparkBackend

    return SparkBackend(spark or SparkOptions())


BACKENDS: dict[str, Callable[[SparkOptions | None, int | None], Backend]] = {
    "local": _local,
    "spark": _spark,
}
"""What makes the backend of each engine, from options of Spark and a number of threads."""


def make_backend(
    engine: str = "auto", spark: SparkOptions | None = None, workers: int | None = None
) -> Backend:
    """A new backend; "auto" is Spark if its options were given, otherwise local.

    `workers` is the number of threads of the local engine; None takes every core that the process may use. On
    Spark it only says that executors evaluate rules.

    >>> make_backend("abacus")
    Traceback (most recent call last):
    modulog.errors.EngineUnavailable: there is no engine "abacus"; choose one of: auto, local, spark
    """
    if engine == "auto":
        engine = "local" if spark is None else "spark"
    if engine not in BACKENDS:
        raise EngineUnavailable(f'there is no engine "{engine}"; choose one of: auto, {", ".join(BACKENDS)}')
    check_workers(workers)
    if engine != "spark" and spark is not None:
        hint = 'leave it out, or take engine="spark"'
        raise OptionError(f"`spark` is an option of the Spark engine, and the engine is {engine}: {hint}")
    return BACKENDS[engine](spark, workers)


def check_workers(workers: object) -> None:
    """Refuse a number of workers that is none."""
    if workers is not None and (type(workers) is not int or workers < 1):
        raise OptionError(f"`workers` is a number from 1 on, not {workers!r}")


def start_spark(
    settings: Mapping[str, str], log: Path, starting: Callable[[], AbstractContextManager[None]]
) -> tuple[Any, Callable[[], None]]:
    """A Spark session with these settings, and what stops it; one that is active is taken as it is, and goes
    on.

    A new one is started within a context that `starting` makes, and what it prints goes into `log`.
    """
    need_pyspark()
    from modulog.spark.session import active_session, build_session, stop_session

    found = active_session()
    if found is not None:
        return found, _leave
    with starting():
        made = build_session(settings, log)
    return made, partial(stop_session, made)


def _leave() -> None:
    """Nothing is stopped."""


def need_pyspark() -> None:
    """Refuse to go on without PySpark."""
    if find_spec("pyspark") is None:
        raise EngineUnavailable("the Spark engine needs PySpark: pip install 'modulog[spark]'")


def is_one_task(engine: str, spark: Any, workers: int | None) -> bool:
    """Whether a reasoner begins as one task of Spark: with `workers=1`, and if nothing was said until sizes
    tell.

    >>> is_one_task("spark", None, 1), is_one_task("spark", None, 4), is_one_task("local", None, 1)
    (True, False, False)
    """
    is_spark = engine == "spark" or (engine == "auto" and spark is not None)
    return is_spark and (workers is None or workers == 1)


def files_on_spark(spark: Any, path: str, format: str | None) -> list[FactFile]:
    """The files that a path stands for on any file system that Spark knows."""
    from modulog.spark.file_systems import HadoopListing

    return HadoopListing(spark).files(path, format)


def folder_on_spark(spark: Any, uri: str) -> Any:
    """A folder on any file system that Spark knows, as `formats.folders.Folder` describes it."""
    from modulog.spark.file_systems import folder_of

    return folder_of(spark, uri)
