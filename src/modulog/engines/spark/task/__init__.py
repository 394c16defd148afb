"""What one task of Spark needs from Spark: a job of one Python worker, its memory, and data that only Spark can read."""
