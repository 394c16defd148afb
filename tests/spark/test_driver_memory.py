"""A driver whose memory does not grow with the facts, shown in two ways, in a process of its own.

Spark refuses to hand the driver more than `spark.driver.maxResultSize`: under a limit far below the size of the facts nothing that grows with them
gets there. And what the driver holds in the end is compared between two sizes: the JVM after a collection, Python at its peak.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SMALL, LARGE = 3_000, 60_000
MB = 1 << 20


@pytest.mark.long
def test_the_driver_does_not_grow(tmp_path: Path) -> None:
    here = Path(__file__).parent
    environment = {
        **os.environ,
        "PYTHONPATH": str(here.parents[1] / "src"),
        "PYSPARK_PYTHON": sys.executable,
    }
    command = [sys.executable, here / "driver_at_two_sizes.py", tmp_path, *map(str, (SMALL, LARGE))]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=1200)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    small, large = found
    assert large["facts"] > 15 * small["facts"] > 15 * 8 * SMALL
    # More than half a million facts more are 15 MB or more, in whatever form somebody would hold them.
    assert large["heap"] < small["heap"] + 12 * MB, found
    assert large["python"] < small["python"] + 12 * MB, found
    assert large["refused"], "a relation that is collected must meet the limit, or the limit shows nothing"
