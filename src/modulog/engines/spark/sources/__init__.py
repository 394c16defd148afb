"""Facts for Spark from files, tables and frames, parsed in the executors into frames of keys."""

from modulog.engines.spark.sources.model import Bad, Source
from modulog.engines.spark.sources.rdf import quads
from modulog.engines.spark.sources.reading import read
from modulog.engines.spark.sources.tables import from_frame

__all__ = ["Bad", "Source", "from_frame", "quads", "read"]
