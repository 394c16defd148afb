"""Generated inputs of the benchmarks: the same arguments always give the same facts, at any size.

>>> from benchmarks.data import chain
>>> chain(4).tolist()
[[0, 1], [1, 2], [2, 3]]
"""

from benchmarks.data.graphs import chain, cliques, dag, digraph, tree
from benchmarks.data.joins import JOIN_RULES, joins
from benchmarks.data.lubm import lubm
from benchmarks.data.relations import FACTS as RELATIONS
from benchmarks.data.relations import relations, write_relations
from benchmarks.data.rule_chains import rule_chain
from benchmarks.data.rule_shapes import rule_shapes
from benchmarks.data.students import triples
from benchmarks.data.words import words

__all__ = [
    "JOIN_RULES",
    "RELATIONS",
    "chain",
    "cliques",
    "dag",
    "digraph",
    "joins",
    "lubm",
    "relations",
    "rule_chain",
    "rule_shapes",
    "tree",
    "triples",
    "words",
    "write_relations",
]
