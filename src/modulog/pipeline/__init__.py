"""Data pipelines, on Spark or on one machine: sources, rules and sinks, run again and again over one store.

config.py              what a pipeline consists of, and what may be said of each part
config_file.py         a configuration from a TOML file, and on which line everything stands
check.py               all that can be wrong, found before Spark starts
source_files.py        the files of sources: checksums and columns
run_state.py           what a store remembers of the last run, and how the next has to be done
survey.py              what a run has to do, found before any source is read
pending_updates.py     what has changed, as facts to delete and to add
sinks.py               results, each predicate where it is wanted
run.py                 `Run`, what a run did, and `Watch`, who is told while it does
run_account.py         what a run has done so far
log.py, report.py      the log of a run, and the page that is made from it
runner.py              a run, stage by stage
checkpoints.py         what a run has computed so far, for the next one if it is killed
update_checkpoints.py  the same of an update
host.py                where a run takes place: this machine
spark_host.py          the same on Spark, with streams
task_host.py           a run as one task of Spark, from the driver
in_task.py             the same inside the task
pipeline.py            `Pipeline`, the facade, and what a run would do
"""

from modulog.pipeline.config import Configuration, Sink, Source
from modulog.pipeline.pipeline import Pipeline
from modulog.pipeline.run import Run, Watch

__all__ = ["Configuration", "Pipeline", "Run", "Sink", "Source", "Watch"]
