"""Spark itself, for the SQL engine, the task and pipelines: sessions, what Java says, file systems and
errors.
"""
