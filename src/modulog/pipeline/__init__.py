"""Data pipelines on Spark: sources, rules and sinks, run again and again over one store.

configuration   what a pipeline consists of
positions       on which line of a file everything stands
reading         a configuration from a TOML file
peeking         the columns of files
checking        all that can be wrong, found before Spark starts
files           the files of sources, and their checksums
state           what a store remembers of the last run
changes         what the sources hold now, beside what the last run knew
incremental     what has changed, as facts to delete and to add
streams         batches of Structured Streaming
sinks           results written aside and moved
account         what a run has done so far
counted         statistics as the log has them
log             the log of a run, a line for everything that becomes known
report          the page that is made from the log
run             `Run`, what a run did, and `Watch`, who is told while it does
stages          a run, stage by stage
describing      what a run would do
pipeline        `Pipeline`, the facade
"""

from modulog.pipeline.configuration import Configuration, Sink, Source
from modulog.pipeline.pipeline import Pipeline
from modulog.pipeline.run import Run, Watch

__all__ = ["Configuration", "Pipeline", "Run", "Sink", "Source", "Watch"]
