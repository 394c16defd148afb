"""Triples as facts: `s p o` is p(s, o), and `s rdf:type C` is C(s)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from modulog.language.triples import TYPE
from modulog.terms.canonical import RDF
from modulog.terms.model import Kind

_TYPE = chr(Kind.IRI) + RDF + "type"


def facts_of_triples(frame: DataFrame) -> dict[int, DataFrame]:
    """The facts of triples (s, p, o) by arity: 1 has the columns name and k0, 2 has name, k0 and k1.

    A name is that of the predicate, an IRI in angle brackets. A class that is no IRI leaves the fact
    `rdf:type(s, o)`. Both frames read the triples: stage them before.
    """
    of_class = (F.col("p") == _TYPE) & (F.ascii("o") == int(Kind.IRI))
    return {
        1: frame.where(of_class).select(_name("o"), F.col("s").alias("k0")),
        2: frame.where(~of_class).select(_name("p"), F.col("s").alias("k0"), F.col("o").alias("k1")),
    }


def quads(frame: DataFrame) -> DataFrame:
    """The triples of named graphs (s, p, o, g); a source without graphs has none."""
    if "g" not in frame.columns:
        return frame.withColumn("g", F.lit("")).limit(0)
    return frame.where(F.col("g") != "")


def view(frame: DataFrame, name: str) -> DataFrame:
    """What a view sees of triples, its arguments being the first columns of s, p, o, g: for `rdf:type` the class is in p."""
    if name == TYPE.name:
        return frame.where(F.col("p") == _TYPE).select("s", F.col("o").alias("p"))
    return quads(frame) if name == "quad" else frame


def _name(column: str) -> Column:
    return F.concat(F.lit("<"), F.substring(column, 2, 2**31 - 1), F.lit(">")).alias("name")
