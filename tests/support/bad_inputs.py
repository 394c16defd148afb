"""Bad input, as a table: what is given to the command line, and what it must say of it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.parquet as pq

GOOD = "path(?x, ?y) :- edge(?x, ?y) .\npath(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .\n"
PREFIX = "PREFIX : <http://e.org/>\n"


@dataclass(frozen=True)
class Bad:
    """Files, the arguments of `materialise` that name them, and stretches of what must be said."""

    name: str
    said: tuple[str, ...]
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    rules: str = "good.rls"
    facts: tuple[str, ...] = ()


def parquet(columns: Mapping[str, list[object]]) -> bytes:
    """The bytes of a Parquet file."""
    target = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), target)
    return target.getvalue()


def in_rules(name: str, rls: str, dlog: str, place: str, dlog_place: str, message: str) -> list[Bad]:
    """A mistake in rules, in both syntaxes; places are line and column."""
    return [
        Bad(f"{name} (.rls)", (f"bad.rls:{place}: ", message, "^"), {"bad.rls": rls}, "bad.rls"),
        Bad(
            f"{name} (.dlog)",
            (f"bad.dlog:{dlog_place}: ", message, "^"),
            {"bad.dlog": PREFIX + dlog},
            "bad.dlog",
        ),
    ]


def in_facts(name: str, file: str, content: str | bytes, *said: str) -> Bad:
    """A mistake in a file of facts."""
    return Bad(name, said, {f"bad/{file}": content}, facts=("bad",))


RULES = [
    *in_rules("an unclosed quote", 'p("a") .\np("b) .', ':p["a"] .\n:p["b] .', "2:3", "3:4", "this string is never closed"),
    *in_rules("a missing full stop", "p(a)\nq(b) .", ":p[1]\n:q[2] .", "1:5", "2:6", "a full stop is missing"),
    *in_rules("an unsafe variable in a head", "p(?x, ?y) :- q(?x) .", ":p[?x, ?y] :- :q[?x] .", "1:7", "2:8", "`?y` of the head is bound by no positive atom"),
    *in_rules("an unsafe variable in a negated atom", "p(?x) :- q(?x), ~r(?x, ?z) .", ":p[?x] :- :q[?x], NOT :r[?x, ?z] .", "1:24", "2:30", "`?z` of a negated atom is bound by no positive atom"),
    *in_rules("an unsafe variable in a comparison", "p(?x) :- q(?x), ?y < ?x .", ":p[?x] :- :q[?x], FILTER(?y < ?x) .", "1:17", "2:26", "`?y` is compared, but nothing gives it a value"),
    *in_rules("an unsafe variable in an expression", "p(?z) :- q(?x), ?z = ?x + ?y .", ":p[?z] :- :q[?x], BIND(?x + ?y AS ?z) .", "1:27", "2:29", "`?y` is computed with, but nothing gives it a value"),
    *in_rules("a fact with a variable", "p(a, ?x) .", ":p[1, ?x] .", "1:6", "2:7", "a fact has no variables"),
    *in_rules("two arities in rules", "p(?x) :- q(?x, ?y, ?z) .\nr(?x) :- q(?x) .", ":p[?x] :- :q(?x, ?y, ?z) .\n:r[?x] :- :q[?x] .", "2:10", "3:11", "1 argument here, but 3"),
    *in_rules("two arities in rules and facts of the program", "p(?x) :- q(?x, ?y, ?z) .\nq(1) .", ":p[?x] :- :q(?x, ?y, ?z) .\n:q[1] .", "2:1", "3:1", "1 argument here, but 3"),
    *in_rules("negation in a cycle", "win(?x) :- move(?x, ?y), ~win(?y) .", ":win[?x] :- :move[?x, ?y], NOT :win[?y] .", "1:26", "2:28", "depends on its own negation"),
    *in_rules("an unknown prefix", "p(ex:a) .", ":p[ex:a] .", "1:3", "2:4", "unknown prefix `ex:`"),
    *in_rules("an unknown function", "p(?y) :- q(?x), ?y = SQUARE(?x) .", ":p[?y] :- :q[?x], BIND(SQUARE(?x) AS ?y) .", "1:22", "2:24", "there is no function `SQUARE`"),
    Bad("rules that are not UTF-8", ("bad.rls:2:3: not UTF-8: byte 0xFF",), {"bad.rls": b"p(a) .\nq(\xff) ."}, "bad.rls"),
    Bad("rules that are not UTF-8 (.dlog)", ("bad.dlog:1:4: not UTF-8: byte 0xFF",), {"bad.dlog": b":p[\xff] ."}, "bad.dlog"),
    Bad("missing rules", ("cannot read absent.rls: No such file",), rules="absent.rls"),
    Bad("an import of a missing file", ("bad.rls:1:1: ", "absent.csv: there is no such file"), {"bad.rls": '@import edge :- csv{resource="absent.csv"} .'}, "bad.rls"),
]  # fmt: skip

TRUNCATED = parquet({"a": list(range(1000)), "b": list(range(1000))})[:-100]

FACTS = [
    in_facts("rules and facts with two arities", "edge.csv", "a,b,c\n", "bad/edge.csv:1", "3 columns where 2 arguments should be"),
    in_facts("a row with too few fields", "edge.csv", "a,b\nc\n", "bad/edge.csv:2", "1 field"),
    in_facts("a row with too many fields", "edge.csv", "a,b\nc,d\ne,f,g\n", "bad/edge.csv:3", "3 fields"),
    in_facts("an unclosed quote in CSV", "edge.csv", 'a,b\nc,"d\n', "bad/edge.csv:2", "quote"),
    in_facts("CSV that is not UTF-8", "edge.csv", b"a,b\nc,\xff\n", "bad/edge.csv:2", "UTF-8"),
    in_facts("TSV with too few fields", "edge.tsv", "a\tb\nc\n", "bad/edge.tsv:2", "1 field"),
    in_facts("gzip that is none", "edge.csv.gz", "a,b\n", "bad/edge.csv.gz: not compressed by gzip"),
    in_facts("a null in Parquet", "edge.parquet", parquet({"a": [1, 2], "b": [1, None]}), "bad/edge.parquet", "row 2"),
    in_facts("Parquet with too many columns", "edge.parquet", parquet({"a": [1], "b": [1], "c": [1]}), "bad/edge.parquet", "3 columns"),
    in_facts("Parquet with too few columns", "edge.parquet", parquet({"a": [1]}), "bad/edge.parquet", "1 column"),
    in_facts("a damaged Parquet file", "edge.parquet", TRUNCATED, "bad/edge.parquet: not a readable Parquet file"),
    in_facts("a Parquet file that is none", "edge.parquet", b"no parquet", "bad/edge.parquet: not a readable Parquet file"),
    in_facts("broken N-Triples", "f.nt", "<u:a> <u:p> <u:b> .\n<u:a> <u:p> .\n", "bad/f.nt:2:13", "object", "^"),
    in_facts("broken N-Quads", "f.nq", "<u:a> <u:p> <u:b> <u:g> .\n<u:a> <u:p> <u:b> <u:g>\n", "bad/f.nq:2:24", "dot", "^"),
    in_facts("broken Turtle", "f.ttl", "@prefix : <u:> .\n:a :p [ :q .\n", "bad/f.ttl:2:12", "^"),
    in_facts("Turtle with an unknown prefix", "f.ttl", "@prefix : <u:> .\n\n:a ex:p :b .\n", "bad/f.ttl:3:4", "ex:", "^"),
    in_facts("broken TriG", "f.trig", "@prefix : <u:> .\n:g { :a :p :b .\n", "bad/f.trig:3:1", "end"),
    in_facts("broken RDF/XML", "f.rdf", "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\n<rdf:Description>\n", "bad/f.rdf:3:1", "before all its elements are closed"),
    in_facts("RDF/XML that is none", "f.rdf", "no XML", "bad/f.rdf:1:1"),
    Bad("a missing file of facts", ("absent.csv: there is no such file",), facts=("absent.csv",)),
    Bad("a file of facts of an unknown kind", ("facts.xlsx",), {"facts.xlsx": "?"}, facts=("facts.xlsx",)),
]  # fmt: skip
