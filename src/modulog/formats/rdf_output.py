"""Write facts as triples in N-Triples and Turtle.

The fact C(s) is `s rdf:type C`, p(s, o) is `s p o`, and triple(s, p, o) is itself. The text of a term is made
once for each chunk, and for most kinds of terms by Arrow for all terms of the kind together. Facts that no
triple can say (the subject is a literal, an IRI is not absolute) are left out and counted.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from modulog.formats import DataWarning, warn_user
from modulog.formats.folders import replacing
from modulog.formats.tables import pieces
from modulog.kernels import ntriples
from modulog.language.model import Predicate
from modulog.terms.arrow import column_field, distinct_ids, text_buffers, to_arrow, wrap
from modulog.terms.constant import RDF, XSD, Constant, Kind
from modulog.terms.dictionary import Bytes, Dictionary, Ids, frozen
from modulog.wording import plural

Places = npt.NDArray[np.int64]
TRIPLE = Predicate("triple", 3)
LITERAL_SUBJECT = "with a literal as subject"
NO_PREDICATE = "with something else than an IRI as predicate"
NO_TERM = "with a term that RDF does not have, such as a relative IRI"
"""Reasons for which a fact is no triple, as parts of a warning."""

_ROWS = 1 << 16
"""Facts that are written at once."""
_TYPE = f"<{RDF}type>"
_ALL_KINDS = frozenset(Kind)
_DATATYPES = {
    Kind.INTEGER: "integer",
    Kind.DECIMAL: "decimal",
    Kind.DOUBLE: "double",
    Kind.BOOLEAN: "boolean",
}
"""The datatypes of the terms that Turtle writes without quotes and N-Triples with them."""
_LABEL = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?")
"""The labels of blank nodes that need no closer look."""
_SHORTENABLE = r"^<(?P<space>[^<>]*[/#])(?P<name>[A-Za-z_][A-Za-z0-9_-]*)>$"
"""An IRI that Turtle can shorten by a prefix: a namespace up to the last `/` or `#`, and a simple name."""
_WELL_KNOWN = {
    RDF: "rdf",
    XSD: "xsd",
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs",
    "http://www.w3.org/2002/07/owl#": "owl",
    "http://www.w3.org/2004/02/skos/core#": "skos",
}
"""The usual prefixes of some namespaces."""
_FEWEST, _MOST = 3, 40
"""How many IRIs make a prefix worth its line, and how many prefixes are declared for a chunk."""


def is_triples(predicate: Predicate) -> bool:
    """Whether the facts of a predicate are triples: it is named by an IRI, and has one or two arguments.

    >>> is_triples(Predicate("<http://e.org/p>", 2)), is_triples(Predicate("edge", 2))
    (True, False)
    """
    return predicate == TRIPLE or (predicate.name.startswith("<") and predicate.arity in (1, 2))


def write_triples(
    path: str | os.PathLike[str], chunks: Iterable[Ids], dictionary: Dictionary, predicate: Predicate
) -> int:
    """Write the facts of a predicate to a file; returns how many were written.

    The name of the file ends in .nt or .ttl, perhaps with .gz. A warning counts the facts that are no
    triples.
    """
    rows = 0
    left: Counter[str] = Counter()
    names = Path(path).name.lower().split(".")
    with replacing(path) as partial:
        compression = "gzip" if names[-1] == "gz" else None
        with pa.output_stream(str(partial), compression=compression) as stream:
            for chunk in pieces(chunks, _ROWS):
                lines, lost = format_triples(dictionary, chunk, predicate, "ttl" in names[-2:])
                stream.write(_content(lines))
                rows += chunk.shape[1] - sum(lost.values())
                left += lost
    for reason, number in left.items():
        facts = plural(number, "fact is", "facts are")
        warn_user(f"{path}: {facts} left out, {reason}", DataWarning)
    return rows


def format_triples(
    dictionary: Dictionary, ids: Ids, predicate: Predicate, turtle: bool
) -> tuple[pa.StringArray, Counter[str]]:
    """The lines of the file for a chunk of facts, and how many facts are left out, by reason.

    A text is made for each different term of the chunk; then Arrow joins the texts of each fact. With
    `turtle`, the first lines declare prefixes for the namespaces that occur most.
    """
    distinct, places = distinct_ids(ids.reshape(-1), len(dictionary))
    columns: Places = places.astype(np.int64, copy=False).reshape(ids.shape)
    kinds = dictionary.kinds(distinct)
    texts = to_arrow(dictionary, distinct, column_field("", _ALL_KINDS))
    columns, left = _expressible(dictionary, distinct, kinds, texts, columns)
    known = len(texts)
    if turtle:
        fixed = ["a", predicate.name if predicate != TRIPLE else "a"]
        header, texts = _shortened(pa.concat_arrays([texts, pa.array(fixed)]))
    else:
        header, texts = [], pa.concat_arrays([_typed(texts, kinds), pa.array([_TYPE, predicate.name])])
    rows = columns.shape[1]
    verb = np.full(rows, known + (len(columns) == 2)) if len(columns) < 3 else columns[1]
    target = np.full(rows, known + 1) if len(columns) == 1 else columns[-1]
    order = [columns[0], verb, target]
    lines = _turtle_lines(texts, order) if turtle else _ntriples_lines(texts, order)
    return pa.concat_arrays([pa.array(header, pa.string()), lines]), left


def _ntriples_lines(texts: pa.StringArray, order: list[Places]) -> pa.StringArray:
    """One line for each triple; `order` has the places of subjects, predicates and objects in `texts`."""
    subjects, verbs, objects = (texts.take(wrap(np.ascontiguousarray(c))) for c in order)
    return pc.binary_join_element_wise(subjects, " ", verbs, " ", objects, " .\n", "")


def _turtle_lines(texts: pa.StringArray, order: list[Places]) -> pa.StringArray:
    """Lines of Turtle: triples in a row that share subject and predicate are written as one, with commas."""
    subjects, verbs, _ = order
    same = (subjects[1:] == subjects[:-1]) & (verbs[1:] == verbs[:-1])
    before, after = np.zeros(len(subjects), np.bool_), np.zeros(len(subjects), np.bool_)
    before[1:] = after[:-1] = same
    taken = [texts.take(wrap(np.ascontiguousarray(c))) for c in order]
    head = pc.binary_join_element_wise(taken[0], taken[1], "", " ")
    return pc.binary_join_element_wise(
        pc.if_else(wrap(before), "    ", head), taken[2], pc.if_else(wrap(after), " ,\n", " .\n"), ""
    )


def _typed(texts: pa.StringArray, kinds: Bytes) -> pa.StringArray:
    """Terms as N-Triples writes them, which has no numbers and booleans without quotes."""
    for kind, name in _DATATYPES.items():
        mask = kinds == kind
        if mask.any():
            bare = pc.and_(wrap(mask), pc.invert(pc.starts_with(texts, '"')))
            texts = pc.if_else(bare, pc.binary_join_element_wise('"', texts, f'"^^<{XSD}{name}>', ""), texts)
    return texts


def _shortened(texts: pa.StringArray) -> tuple[list[str], pa.StringArray]:
    """The lines that declare prefixes, and the texts with IRIs written by these prefixes."""
    parts = pc.extract_regex(texts, _SHORTENABLE)
    spaces, names = parts.field("space"), parts.field("name")
    counts = [(-c["counts"], c["values"]) for c in spaces.value_counts().to_pylist() if c["values"]]
    chosen = [space for count, space in sorted(counts)[:_MOST] if -count >= _FEWEST]
    if not chosen:
        return [], texts
    prefixes = [_WELL_KNOWN.get(space, f"n{number}") for number, space in enumerate(chosen, 1)]
    found = pc.index_in(spaces, pa.array(chosen))
    short = pc.binary_join_element_wise(pa.array(prefixes).take(found), names, ":")
    header = [f"@prefix {p}: <{space}> .\n" for p, space in zip(prefixes, chosen, strict=True)]
    return header, pc.coalesce(short, texts)


# ---- Which facts are triples


def _expressible(
    dictionary: Dictionary,
    distinct: Ids,
    kinds: Bytes,
    texts: pa.StringArray,
    columns: Places,
) -> tuple[Places, Counter[str]]:
    """The facts that are triples, and how many are not, by reason.

    `columns` has the places of the arguments among the `distinct` terms, whose kinds and texts are given.
    """
    node = (kinds == Kind.IRI) | (kinds == Kind.BLANK)
    left: Counter[str] = Counter()
    tests = [(LITERAL_SUBJECT, node[columns[0]])]
    if len(columns) == 3:
        tests.append((NO_PREDICATE, kinds[columns[1]] == Kind.IRI))
    good = _good(dictionary, distinct, kinds, texts)
    tests.append((NO_TERM, good[columns].all(axis=0)))
    keep = np.ones(columns.shape[1], np.bool_)
    for reason, passed in tests:
        if lost := int((keep & ~passed).sum()):
            left[reason] = lost
        keep &= passed
    return (columns if keep.all() else columns[:, keep]), left


def _good(
    dictionary: Dictionary, distinct: Ids, kinds: Bytes, texts: pa.StringArray
) -> npt.NDArray[np.bool_]:
    """Which terms are terms of RDF; others may come from programs and tables, which nobody checks."""
    good = np.ones(len(distinct), np.bool_)
    data, offsets = text_buffers(texts)
    states = np.zeros(len(distinct), np.uint8)
    ntriples.check_iris(frozen(data), offsets, kinds, states)
    good[states == ntriples.BAD] = False
    doubtful = (states == ntriples.DOUBTFUL) | np.isin(kinds, [Kind.BLANK, Kind.LANGUAGE, Kind.TYPED])
    known: dict[tuple[Kind, str], bool] = {}
    rows = np.flatnonzero(doubtful)
    for row, constant in zip(rows.tolist(), dictionary.decode(distinct[rows]), strict=True):
        part = constant.qualifier or constant.text
        if (constant.kind, part) not in known:
            known[constant.kind, part] = _is_good(constant, part)
        good[row] = known[constant.kind, part]
    return good


def _is_good(constant: Constant, part: str) -> bool:
    """Whether pyoxigraph accepts an IRI, a label, a language or a datatype, which is given as `part`."""
    if constant.kind == Kind.BLANK and _LABEL.fullmatch(part):
        return True
    from modulog.formats.rdf_lines import is_term

    shown = {Kind.BLANK: f"_:{part}", Kind.LANGUAGE: f'""@{part}', Kind.TYPED: f'""^^<{part}>'}
    return is_term(shown.get(constant.kind, f"<{part}>"))


def _content(texts: pa.StringArray) -> Bytes:
    """The bytes of all texts, one after the other."""
    if not len(texts):
        return np.empty(0, np.uint8)
    data, offsets = text_buffers(texts)
    return data[offsets[0] : offsets[-1]]
