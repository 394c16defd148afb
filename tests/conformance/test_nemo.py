"""Nemo's own test programs: those within our language must give the results that Nemo's authors wrote down.

A program `x.rls` has its results in the folder `x/` beside it. Every other program is listed with the reason; a listed
program that begins to pass fails here, so that the list shrinks with the language.

Differences of form, not of meaning, are levelled by comparing what terms say and not how they are written. Nemo takes a
bare name for an IRI, and a field of a CSV file for a name, a number or, if it is neither, a string; here a bare name is a
plain string, and so is a field that is not a number or an IRI. Nemo's results therefore print `A` for a name, `"a b"` for
a string and `Some%20Iri` for `<Some%20Iri>`: quotes and angle brackets are taken off on both sides. This would hide a
program that holds both the name `a` and the string `"a"`; none of those that run does.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from modulog import Reasoner
from modulog.errors import ModulogError
from modulog.language.parser import parse_file
from support.realdata import data_folder
from support.values import of_python, turtle

AGGREGATES = "aggregates are not part of the language"
EXISTENTIAL = "existential rules invent values; ours are Datalog"
QUADS = "in Nemo the graph comes first, and the default graph has a name; here it comes last, and has none"
PARAMETERS = "@parameter and format strings are not part of the language"

UNSUPPORTED = {
    "aggregate/anyCount": AGGREGATES,
    "aggregate/arithmetic": AGGREGATES,
    "aggregate/distinct": AGGREGATES,
    "aggregate/filtered": AGGREGATES,
    "aggregate/firstVariable": AGGREGATES,
    "aggregate/groupBy": AGGREGATES,
    "aggregate/groupByIdempotent": AGGREGATES,
    "aggregate/lastVariable": AGGREGATES,
    "aggregate/stratification": AGGREGATES,
    "arithmetic/builtins": "an existential rule, and some sixty functions on values, of which many are Nemo's own",
    "arithmetic/filter": "OR, NUMGREATER and EQUALITY as functions; here one writes `FILTER(… || …)`",
    "basic/encodings": "numbers in binary, octal and hexadecimal form; integers have 64 bits",
    "basic/negation": "variables that occur only in a negated atom: unsafe here, where one writes `_`",
    "basic/parameter_declaration": PARAMETERS,
    "data-formats/dsv/computed-names": PARAMETERS,
    "data-formats/dsv/missing-column": "Nemo leaves out rows with too few columns; here they are errors",
    "data-formats/dsv/quoting": "quoting=false, and text that goes on after a closing quote",
    "data-formats/json/authors": "JSON files are not read",
    "data-formats/rdf/nquads-example2": QUADS,
    "data-formats/rdf/ntriples-example3": "the double 1.663E-4 is written as 0.0001663 by Nemo",
    "data-formats/rdf/trig-example2": QUADS,
    "lcs-diff-computation/run-lcs-10": EXISTENTIAL,
    "regression/builtin/float-nan-inf/run": "Nemo has no infinite doubles; here dividing by the double 0 gives INF, as in SPARQL",
    "regression/datatypes/normalization/run": "Nemo reads Turtle literals inside CSV fields; here quotes make strings",
    "regression/fact/arithmetic/run": "80 / 4 is the decimal 20.0 here, as in SPARQL; in Nemo the integer 20",
    "regression/load/global-variable-in-import/run": PARAMETERS,
    "regression/load/rdf-invalid-prefixes/run": "Turtle without the point behind a prefix is an error here",
    "regression/restricted_chase/block": EXISTENTIAL,
    "regression/restricted_chase/block2": EXISTENTIAL,
    "regression/restricted_chase/block3": EXISTENTIAL,
    "regression/restricted_chase/complex_head": EXISTENTIAL,
    "regression/restricted_chase/datalog_head": EXISTENTIAL,
    "regression/restricted_chase/doctors": EXISTENTIAL,
    "regression/restricted_chase/head_constant": EXISTENTIAL,
    "regression/restricted_chase/multihead": EXISTENTIAL,
    "regression/restricted_chase/multinulls": EXISTENTIAL,
    "regression/restricted_chase/multipieces": EXISTENTIAL,
    "regression/restricted_chase/only_nulls": EXISTENTIAL,
    "regression/restricted_chase/optimization": EXISTENTIAL,
    "regression/restricted_chase/recursive/run": EXISTENTIAL,
    "regression/restricted_chase/simple": EXISTENTIAL,
}

ROOT = data_folder("testcases", "nemo")
PROGRAMS = (
    {p.relative_to(ROOT).with_suffix("").as_posix(): p for p in sorted(ROOT.rglob("*.rls"))} if ROOT else {}
)
SUPPORTED = sorted(PROGRAMS.keys() - UNSUPPORTED)
DELIMITERS = {".csv": ",", ".tsv": "\t", ".dsv": ";"}

pytestmark = [
    pytest.mark.skipif(ROOT is None, reason="no folder of real data: set MODULOG_DATA"),
    pytest.mark.filterwarnings("ignore"),
]


def says(field: str) -> str:
    """What a term of Nemo's results says, without the quotes and brackets that tell its kind."""
    return re.sub(
        r'\A"(.*)"\Z|\A<(.*)>\Z', lambda m: m[1] if m[1] is not None else m[2], field, flags=re.DOTALL
    )


def expected(path: Path) -> list[tuple[str, ...]]:
    """The rows of a file of results."""
    with path.open(encoding="utf-8", newline="") as lines:
        return sorted({tuple(map(says, row)) for row in csv.reader(lines, delimiter=DELIMITERS[path.suffix])})


def derived(reasoner: Reasoner, predicate: str) -> list[tuple[str, ...]]:
    """The rows of a predicate as texts."""
    return sorted({tuple(says(turtle(of_python(v))) for v in row) for row in reasoner.rows(predicate)})


def exported(program: Path) -> dict[str, str]:
    """The exported predicates by the name of the file that Nemo writes for each; there, `@base` goes before names."""
    parsed = parse_file(program)
    names = [(d.predicate, dict(d.options).get("resource")) for d in parsed.exports]
    full = {p: Path(str(file)).stem if file else parsed.base.strip("<>") + p.strip("<>") for p, file in names}
    return {re.sub(r"[^\w.-]", "_", file): p for p, file in full.items()}


def check(program: Path, engine: str) -> None:
    """Every file beside the program holds the rows that we derive."""
    reasoner = Reasoner(program, engine=engine)
    by_file = exported(program)
    results = sorted(program.with_suffix("").iterdir())
    assert {path.stem for path in results} == set(by_file)
    for path in results:
        assert derived(reasoner, by_file[path.stem]) == expected(path), path.name


@pytest.mark.parametrize("name", SUPPORTED)
def test_results(name: str, engine: str) -> None:
    check(PROGRAMS[name], engine)


@pytest.mark.parametrize("name", sorted(UNSUPPORTED))
def test_unsupported_programs_fail(name: str, engine: str) -> None:
    """Each listed program is refused or gives other results: one that passes belongs off the list."""
    with pytest.raises((ModulogError, AssertionError)):
        check(PROGRAMS[name], engine)


def test_list_names_real_programs() -> None:
    assert not UNSUPPORTED.keys() - PROGRAMS.keys()
    assert len(SUPPORTED) >= 30
