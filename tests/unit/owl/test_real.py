"""Real ontologies: LUBM's, the Relation Ontology, SKOS, OWL2Bench; and LUBM's facts under our rules and under a peer's."""

from __future__ import annotations

import gzip
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from modulog import Reasoner, parse_program, rules_of
from modulog.planning.passes import Switches, make_plan
from support.realdata import data_folder

UNIVERSITY = "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def real(*parts: str) -> Path:
    """A file of real data; the test is skipped where it is missing."""
    folder = data_folder(*parts[:-1])
    if folder is None or not (folder / parts[-1]).exists():
        pytest.skip("no real data")
    return folder / parts[-1]


@pytest.mark.parametrize(
    ("path", "axioms", "skipped", "component"),
    [
        (("lubm", "univ-bench.owl"), 94, 8, 9),
        (("ontologies", "ro.owl.gz"), 1_700, 80, 57),
        (("ontologies", "skos.ttl"), 55, 5, 1),
        (("ontologies", "UNIV-BENCH-OWL2RL.owl"), 473, 31, 14),
    ],
    ids=["LUBM", "RO", "SKOS", "OWL2Bench"],
)
def test_ontology(path: tuple[str, ...], axioms: int, skipped: int, component: int) -> None:
    """The rule file reads back, and the largest component after collapsing is known."""
    made = rules_of(real(*path))
    assert parse_program(str(made)) == made.program
    assert (made.axioms, len(made.skipped)) == (axioms, skipped)
    strata = make_plan(made.program, Switches(storage="plain")).strata
    assert max(len(stratum.predicates) for stratum in strata) == component


def test_lubm_as_a_peer(tmp_path: Path) -> None:
    """Under LUBM's ontology our rules and those of `reasonable` derive the same about classes and properties."""
    reasonable = pytest.importorskip("reasonable")
    rdflib = pytest.importorskip("rdflib")
    path = real("lubm", "univ-bench.owl")
    with gzip.open(real("lubm", "lubm-1.nt.gz"), "rt") as file:
        (tmp_path / "data.nt").write_text("".join(islice(file, 20_000)))
    reasoner = Reasoner(rules_of(path).program)
    reasoner.load(tmp_path / "data.nt")
    reasoner.materialise()
    ours = {
        (predicate.name[1:-1], predicate.arity): reasoner.count(predicate.name)
        for predicate in reasoner.predicates()
    }
    peer = reasonable.PyReasoner()
    peer.from_graph(rdflib.Graph().parse(path, format="xml"))
    peer.from_graph(rdflib.Graph().parse(tmp_path / "data.nt", format="nt"))
    theirs: Counter[tuple[str, int]] = Counter()
    for subject, predicate, object_ in set(peer.reason()):
        if str(predicate) == TYPE and str(object_).startswith(UNIVERSITY):
            theirs[str(object_), 1] += not str(subject).startswith(UNIVERSITY)
        elif str(predicate).startswith(UNIVERSITY):
            theirs[str(predicate), 2] += 1
    assert {name: count for name, count in ours.items() if count} == +theirs
