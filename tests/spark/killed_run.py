"""Run a pipeline that is killed at a moment that is counted: `killed_run.py PIPELINE STAGE NUMBER`.

Where the stage is `round`, the process kills itself when so many rounds are over; otherwise before so many steps on files of the pipeline's folder
after the stage has begun. A run that never gets there ends as it would.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import AbstractContextManager
from pathlib import Path

from modulog import Pipeline
from modulog.pipeline import checkpoints
from modulog.pipeline.run import Unwatched
from support.killed import die_before


class Mortal(Unwatched):
    """Kills its process at the moment that was asked for."""

    def __init__(self, folder: Path, stage: str, number: int) -> None:
        self.folder, self.last, self.left = folder, stage, number

    def stage(self, name: str) -> AbstractContextManager[None]:
        if name == self.last:
            die_before(self.left, self.folder)
        return super().stage(name)

    def __call__(self, stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
        if self.last == "round":
            self.left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    file = Path(sys.argv[1])
    checkpoints.SHARE = 0  # commit when it is due, whatever it costs
    Pipeline.from_file(file).run(watch=Mortal(file.parent, sys.argv[2], int(sys.argv[3])))
