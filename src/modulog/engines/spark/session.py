"""The Spark session: the caller's, or one of our own that is stopped with us."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any, ClassVar

from pyspark import SparkContext
from pyspark.sql import SparkSession

from modulog.engines.spark.errors import NO_JAVA, translated
from modulog.errors import EngineUnavailable

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
"""What a session of our own has unless told otherwise; the number of partitions follows the data, by adaptive execution.

Debugging of data frames would note the line of Python behind every column: two of three calls into the JVM."""


def active_session() -> SparkSession | None:
    """The session that runs already, if there is one."""
    return SparkSession.getActiveSession()


def build_session(settings: Mapping[str, str] | None = None) -> SparkSession:
    """A new session, or the one that is active already: workers run the Python that runs us."""
    if SparkContext._gateway is None and not _has_java():
        raise EngineUnavailable(NO_JAVA)  # the scripts of Spark would say it too, in lines of their own
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder
    for name, value in {**SETTINGS, **(settings or {})}.items():
        builder = builder.config(name, value)
    with translated():
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


class LateSession:
    """A session of our own that starts when somebody first needs it: what the driver can do by itself goes without."""

    waiting: ClassVar[LateSession | None] = None

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.settings = settings
        self.session: SparkSession | None = None
        LateSession.waiting = self

    def start(self) -> SparkSession:
        """The session, which runs from now on."""
        if self.session is None:
            self.session, LateSession.waiting = build_session(self.settings), None
        return self.session

    def stop(self) -> None:
        """Stop it, if it was started; if not it never will be."""
        LateSession.waiting = None
        if self.session is not None:
            self.session.stop()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.start(), name)


def start_late() -> None:
    """Start the session that waits to be needed, if there is one."""
    if LateSession.waiting is not None:
        LateSession.waiting.start()


_CONFIGURED = ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR")
"""Variables that name folders whose files may say more than the settings of a session."""


def is_here(spark: SparkSession | LateSession) -> bool:
    """Whether a path without a scheme is a file of this machine; Spark is only asked where nobody else knows."""
    if isinstance(spark, LateSession) and spark.session is None and not any(map(os.environ.get, _CONFIGURED)):
        return spark.settings.get("spark.hadoop.fs.defaultFS", "file:").startswith("file:")
    # PySpark offers Hadoop's file systems by no public name.
    jvm: Any = spark._jvm
    uri = jvm.org.apache.hadoop.fs.FileSystem.getDefaultUri(spark._jsc.hadoopConfiguration())
    return bool(uri.getScheme() == "file")


def _has_java() -> bool:
    """Whether the scripts of Spark will find Java: JAVA_HOME counts before the path."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(os.path.join(home, "bin", "java") if home else "java") is not None
