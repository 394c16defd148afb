"""The formats of facts: one description for each, from which everything else about formats is derived.

Readers, writers, both engines, `@import`, pipelines and error messages ask this module which formats there
are, which extension means which format, and what separates fields. To add a format, describe it here, then
write its reader or writer. This module imports nothing of Modulog, because the language and the engines use
it, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, cast

ReadFormat = Literal["csv", "tsv", "parquet", "nt", "nq", "ttl", "trig", "rdf", "jsonl"]
"""The names of formats that files of facts can have."""

WriteFormat = Literal["csv", "tsv", "parquet", "nt", "ttl"]
"""The names of formats in which facts can be exported: those that are `written`."""


@dataclass(frozen=True, slots=True)
class Format:
    """What there is to know about one format."""

    name: str
    """How `Reasoner.load`, `Reasoner.export` and the messages call it."""

    extensions: tuple[str, ...] = ()
    """The extensions of its files. Without any, no file can be recognised as having this format."""

    delimiter: str | None = None
    """What separates the fields of a row of text, unless the user says otherwise."""

    triples: bool = False
    """Whether its files hold RDF, so that one file has facts of many predicates."""

    graphs: bool = False
    """Whether triples may stand in named graphs, which makes quads of them."""

    written: bool = False
    """Whether facts can be exported in it."""

    directive: str | None = None
    """How `@import` and `@export` call it; None if they cannot name it."""

    sink: str | None = None
    """How the sinks of a pipeline call it; None if no sink can have it."""


FORMATS = {
    format.name: format
    for format in (
        Format("csv", (".csv",), ",", written=True, directive="csv", sink="csv"),
        Format("tsv", (".tsv",), "\t", written=True, directive="tsv", sink="tsv"),
        Format("dsv", (), ";", directive="dsv"),
        Format("parquet", (".parquet",), written=True, directive="parquet", sink="parquet"),
        Format("nt", (".nt",), triples=True, written=True, directive="ntriples", sink="ntriples"),
        Format("nq", (".nq",), triples=True, graphs=True, directive="nquads"),
        Format("ttl", (".ttl",), triples=True, written=True, directive="turtle", sink="turtle"),
        Format("trig", (".trig",), triples=True, graphs=True, directive="trig"),
        Format("rdf", (".rdf", ".owl"), triples=True, directive="rdfxml"),
        Format("jsonl", (".jsonl", ".ndjson")),
        Format("table", sink="table"),
    )
}
"""All formats by name. `dsv` is text with any delimiter; `table` is a table of Spark's catalogue, no file."""

EXTENSIONS = {extension: format.name for format in FORMATS.values() for extension in format.extensions}
"""The format that each extension of a file means."""

RDF_EXTENSIONS = {extension: name for extension, name in EXTENSIONS.items() if FORMATS[name].triples}
"""The format that each extension of a file of RDF means."""

TRIPLES = tuple(name for name, format in FORMATS.items() if format.triples)
"""The formats whose files hold triples."""

WRITTEN = tuple(name for name, format in FORMATS.items() if format.written)
"""The formats in which facts can be exported."""

WRITTEN_TRIPLES = tuple(name for name in WRITTEN if FORMATS[name].triples)
"""The formats of RDF in which facts can be exported: only facts that are triples fit into them."""

ANY_RDF = "rdf"
"""What `@import` calls RDF in the format that the extension tells; RDF/XML is called `rdfxml` there."""

DIRECTIVES = {format.directive: name for name, format in FORMATS.items() if format.directive} | {
    ANY_RDF: None
}
"""What `@import` can name, and the format that it means; None if the extension of the file tells it."""

SINKS = {format.sink: cast(WriteFormat, name) for name, format in FORMATS.items() if format.sink}
"""What the sinks of a pipeline can name, and the format that it means; only "table" is no format of files."""


def unknown_format(name: str, known: Iterable[str]) -> str:
    """The message about a format that does not exist; `known` has those that do, perhaps several times.

    >>> unknown_format("xls", EXTENSIONS.values())
    'there is no format "xls"; choose one of: csv, tsv, parquet, nt, nq, ttl, trig, rdf, jsonl'
    """
    return f'there is no format "{name}"; choose one of: {", ".join(dict.fromkeys(known))}'


def enumerated(extensions: Iterable[str]) -> str:
    """Extensions as a sentence lists them.

    >>> enumerated(RDF_EXTENSIONS)
    '.nt, .nq, .ttl, .trig, .rdf and .owl'
    """
    *others, last = extensions
    return f"{', '.join(others)} and {last}" if others else last
