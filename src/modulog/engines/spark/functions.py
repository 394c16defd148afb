"""Spark's functions of columns, which need a session: one that waits to be needed starts with the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modulog.engines.spark.session import start_late

if TYPE_CHECKING:
    from pyspark.sql import functions as F
else:

    class _Functions:
        """`pyspark.sql.functions`."""

        def __getattr__(self, name: str) -> Any:
            from pyspark.sql import functions

            start_late()
            return getattr(functions, name)

    F = _Functions()

__all__ = ["F"]
