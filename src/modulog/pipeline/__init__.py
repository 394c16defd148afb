"""Data pipelines, on Spark or on one machine: sources, rules and sinks, run again and again over one store.

configuration   what a pipeline consists of
positions       on which line of a file everything stands
reading         a configuration from a TOML file
peeking         the columns of files
checking        all that can be wrong, found before Spark starts
files           the files of sources, and their checksums
state           what a store remembers of the last run
changes         what the sources hold now, beside what the last run knew
survey          what a run has to do, found before any source is read
incremental     what has changed, as facts to delete and to add
streams         batches of Structured Streaming
sinks           results, each predicate where it is wanted
moving          parts of a folder, written aside and moved
account         what a run has done so far
counted         statistics as the log has them
log             the log of a run, a line for everything that becomes known
report          the page that is made from the log
run             `Run`, what a run did, and `Watch`, who is told while it does
stages          a run, stage by stage
host            where a run takes place: this machine
spark_host      the same on Spark
by_task         a run as one task of Spark, from the driver
in_task         the same inside the task
replay          what a task tells, in the log of the run
leftovers       checkpoints of tasks, attempt after attempt
describing      what a run would do
pipeline        `Pipeline`, the facade
"""

from modulog.pipeline.config import Configuration, Sink, Source
from modulog.pipeline.pipeline import Pipeline
from modulog.pipeline.run import Run, Watch

__all__ = ["Configuration", "Pipeline", "Run", "Sink", "Source", "Watch"]
