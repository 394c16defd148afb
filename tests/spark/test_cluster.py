"""Two worker processes on loopback: what executors need reaches them, and the answers are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASE = Path(__file__).parents[1] / "cases" / "family"
PROGRAM = """
from pathlib import Path
from modulog import Reasoner
settings = {
    "spark.master": "local-cluster[2,1,1024]", "spark.executor.memory": "1g", "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN", "spark.sql.adaptive.enabled": "false",
}
with Reasoner(Path(CASE) / "program.rls", engine="spark", workers=2, settings=settings) as r:
    r.load(Path(CASE) / "facts")
    print(r.count("ancestor"), r.rows("aunt"), r._backend.spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size())
"""


@pytest.mark.long
def test_two_workers() -> None:
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PYTHONPATH": source, "PYSPARK_PYTHON": sys.executable}
    program = f"CASE = {str(CASE)!r}\n{PROGRAM}"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=1200
    )
    assert done.returncode == 0, done.stderr[-2000:]
    # Two executors and the driver.
    assert done.stdout.split("\n")[-2] == "11 [('bea', 'fritz')] 3"
