"""The Spark session: the caller's, or one of our own that is stopped with us."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from modulog.errors import EngineUnavailable
from modulog.spark import java_log
from modulog.spark.errors import NO_JAVA, translated

SETTINGS = {
    "spark.master": "local[*]",
    "spark.app.name": "modulog",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.driver.memory": "2g",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
"""What a session of our own has unless told otherwise; the number of partitions follows the data, by adaptive
execution.

Debugging of data frames would note the line of Python behind every column: two of three calls into the JVM.
"""


def active_session() -> SparkSession | None:
    """The session that runs already, if there is one."""
    return SparkSession.getActiveSession()


def session_of(given: SparkSession | None, settings: Mapping[str, str] | None) -> tuple[SparkSession, bool]:
    """The session that was given, the active one, or a new one with settings; and whether it is ours
    to stop.
    """
    own = given is None and active_session() is None
    return given or build_session(settings), own


def build_session(settings: Mapping[str, str] | None = None, log: Path | None = None) -> SparkSession:
    """A new session, or the one that is active already, as it is: workers run the Python that runs us.

    If Java has to be started, what it and Spark print goes into the file `log`, or a temporary one.
    """
    if (found := active_session()) is not None:
        return found
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    chosen = {**SETTINGS, **(settings or {})}
    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ:
        _start_java(chosen, log)
    builder = SparkSession.builder
    for name, value in chosen.items():
        builder = builder.config(name, value)
    with translated():
        session = builder.getOrCreate()
    if not java_log.is_there():  # Java is somebody else's, and prints where they see it
        session.sparkContext.setLogLevel("ERROR")
    return session


def _start_java(settings: Mapping[str, str], log: Path | None) -> None:
    """Start Java, and in it a context with these settings, as `SparkSession.builder` would, but without a
    word on stderr.
    """
    if not _has_java():
        raise EngineUnavailable(NO_JAVA)  # the scripts of Spark would say it too, in lines of their own
    conf = SparkConf().setAll(list(settings.items()))
    with java_log.opened(log) as file, translated():
        gateway = launch_gateway(conf, {"stdout": file, "stderr": file})  # type: ignore[no-untyped-call]
        java_log.watch(gateway.proc)
        SparkContext(conf=conf, gateway=gateway)


def stop_session(session: SparkSession) -> None:
    """Stop a session of our own; if its Java process has died, which another error has told by then, there is
    nothing to stop.
    """
    with suppress(OSError, Py4JError):
        session.stop()


def is_here(spark: SparkSession) -> bool:
    """Whether a path without a scheme is a file of this machine."""
    # PySpark offers Hadoop's file systems by no public name.
    jvm: Any = spark._jvm
    uri = jvm.org.apache.hadoop.fs.FileSystem.getDefaultUri(spark._jsc.hadoopConfiguration())
    return bool(uri.getScheme() == "file")


def _has_java() -> bool:
    """Whether the scripts of Spark will find Java: JAVA_HOME counts before the path."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(os.path.join(home, "bin", "java") if home else "java") is not None
