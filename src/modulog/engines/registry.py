"""Backends by name, imported when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from modulog.engines.backend import Backend
from modulog.errors import EngineUnavailable, OptionError
from modulog.formats.fact_file import FactFile
from modulog.wording import did_you_mean

ENGINES = ("local", "spark")


LIMITS = ("broadcast_limit",)
SPARK_OPTIONS = ("settings", "folder", *LIMITS)
"""Options that only the Spark engine has."""

GONE = ("local_limit", "update_limit")
"""Options of earlier versions, which kept small relations on the driver."""


def make_backend(
    name: str,
    spark: Any = None,
    options: Mapping[str, Any] | None = None,
    known: Iterable[str] | None = None,
    workers: int | None = None,
) -> Backend:
    """A new backend; "auto" is Spark if a session was given, otherwise local. Options are for Spark; `known` are those that the caller has taken already.

    `workers` is the number of threads of the local engine; None takes every core that the process may use. On Spark it only says that executors evaluate rules.

    >>> make_backend("abacus")
    Traceback (most recent call last):
    modulog.errors.EngineUnavailable: there is no engine "abacus"; choose one of: auto, local, spark
    """
    if name == "auto":
        name = "local" if spark is None else "spark"
    if name not in ENGINES:
        raise EngineUnavailable(f'there is no engine "{name}"; choose one of: auto, {", ".join(ENGINES)}')
    check_options(name, spark, options or {}, known)
    check_workers(workers)
    if name == "local":
        from modulog.engines.local.backend import LocalBackend

        return LocalBackend(workers)
    need_pyspark()
    from modulog.engines.spark.backend import SparkBackend

    return SparkBackend(spark, **(options or {}))


def check_options(engine: str, spark: Any, options: Mapping[str, Any], known: Iterable[str] | None) -> None:
    """Refuse what is misspelt, what the engine would ignore, and limits that are no numbers."""
    refuse_unknown(options, SPARK_OPTIONS, known)
    if engine == "local":
        for name in (*options, *(() if spark is None else ("spark",))):
            hint = 'leave it out, or give a session as `spark`, or engine="spark"'
            raise OptionError(f"`{name}` is an option of the Spark engine, and the engine is local: {hint}")
    for name in LIMITS:
        if name in options and (type(options[name]) is not int or options[name] < 0):
            raise OptionError(f"`{name}` is a number from 0 on, not {options[name]!r}")


def check_workers(workers: object) -> None:
    """Refuse a number of workers that is none."""
    if workers is not None and (type(workers) is not int or workers < 1):
        raise OptionError(f"`workers` is a number from 1 on, not {workers!r}")


def refuse_unknown(options: Iterable[str], taken: Iterable[str], known: Iterable[str] | None = None) -> None:
    """Refuse options that are not taken; the error has the nearest name of those that are, or are known besides.

    >>> refuse_unknown({"stroage": "plain"}, ["folder"], ["storage", "modules"])
    Traceback (most recent call last):
    modulog.errors.OptionError: unknown option `stroage`; did you mean `storage`?
    """
    taken = set(taken)
    for name in options:
        if name in GONE:
            instead = "`workers=1` lets one task do all the work, `workers=2` or more all executors"
            raise OptionError(f"`{name}` is no option any more: {instead}")
        if name not in taken:
            names = sorted({*taken, *(known or ())})
            hint = did_you_mean(name, names) or f"; options are {', '.join(names)}"
            raise OptionError(f"unknown option `{name}`{hint}")


def start_spark(
    settings: Mapping[str, str], log: Path, starting: Callable[[], AbstractContextManager[None]]
) -> tuple[Any, Callable[[], None]]:
    """A Spark session with these settings, and what stops it; one that is active is taken as it is, and goes on.

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
    """Whether a reasoner begins as one task of Spark: with `workers=1`, and if nothing was said until sizes tell.

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
