"""Facts for Spark from files, tables and frames, parsed in the executors into frames of keys."""
