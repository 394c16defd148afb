"""Facts for Spark from files, tables and frames, parsed in the executors into frames of keys."""

from modulog.engines.spark.sources.model import Bad, Source
from modulog.engines.spark.sources.rdf import facts_of_triples, quads, view
from modulog.engines.spark.sources.reading import FORMATS, read
from modulog.engines.spark.sources.tables import from_frame

__all__ = ["FORMATS", "Bad", "Source", "facts_of_triples", "from_frame", "quads", "read", "view"]
