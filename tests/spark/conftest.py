"""One Spark session for all tests of the Spark engine, which are skipped where PySpark or Java is missing."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from modulog.engines.registry import is_one_task

HERE = Path(__file__).parent
QUICK = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.default.parallelism": "1",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.driver.memory": "2g",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
"""One partition, and plans that Spark neither compiles nor changes: quick on tiny data."""

SEVERAL = {
    "spark.master": "local[2]",
    "spark.sql.shuffle.partitions": "4",
    "spark.default.parallelism": "4",
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "1b",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}
"""Beside the settings that users have: tiny data lies in several partitions, too."""

# Programs on tiny data never warm the JVM up: the quick compiler alone is faster, and so is a simple collector. Processes that tests start inherit this.
os.environ["JAVA_TOOL_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def missing() -> str | None:
    """What Spark lacks here, None if nothing."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "PySpark is not installed"
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and Path(home, "bin", "java").exists()):
        return "Java is not installed"
    return None


collect_ignore_glob = [] if missing() is None else ["test_*.py"]


def session_settings(config: pytest.Config) -> dict[str, str]:
    """What the session has, by the option of the run."""
    if config.getoption("--spark-settings") == "quick":
        return QUICK
    from modulog.spark.session import SETTINGS

    return {**SETTINGS, **SEVERAL}


@pytest.fixture(scope="session")
def spark(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A session on two cores of this machine."""
    from pyspark.sql import SparkSession

    source = str(Path(__file__).parents[2] / "src")  # workers find the package even where it is not installed
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("modulog tests")
    for name, value in session_settings(request.config).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(autouse=True, scope="session")
def over_executors() -> Iterator[None]:
    """Facts of tests fit one task: tests of the SQL engine would never see it. Those of the task take this back."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "modulog.reasoner.reasoner.is_one_task",
            lambda engine, spark, workers: workers == 1 and is_one_task(engine, spark, workers),
        )
        yield


QUICK_FAILURES = (
    "test_good_facts_stay_when_a_table_is_bad",
    "test_a_failed_update_changes_nothing_and_can_be_tried_again",
    "test_what_was_taken_back_fixes_no_arity",
)
"""Of the tests of failures, which all engines share, those that do not wait for `make test-long`."""

LONG_PIPELINES = (
    "test_incremental_runs_equal_computation_from_scratch",
    "test_the_table_of_changes_and_other_rules",
    "test_what_goes_wrong_leaves_everything_as_it_was",
    "test_streams[2]",
)
"""Of the tests of pipelines, which run as one task, too, those that wait for it over executors."""


AS_ONE_TASK = ("test_incremental_runs_equal_computation_from_scratch[1-5-options0]",)
"""Of the tests of pipelines, those that run as one task alone: over executors another one shows the same."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave tests that other places share to `make test-long`: jobs over a few facts cost as much as over many."""
    items[:] = [
        item for item in items if not (item.path == HERE / "test_pipeline.py" and item.name in AS_ONE_TASK)
    ]
    for item in items:
        name = getattr(item, "originalname", "")
        is_failure = item.path == HERE / "test_failures.py" and name not in QUICK_FAILURES
        is_pipeline = item.path == HERE / "test_pipeline.py" and {name, item.name} & set(LONG_PIPELINES)
        if is_failure or is_pipeline:
            item.add_marker(pytest.mark.long)
