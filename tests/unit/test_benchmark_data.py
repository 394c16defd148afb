"""Generated data of the benchmarks: the same for the same seed, no row twice, the shape that was promised."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from benchmarks.data import relations, write_relations
from benchmarks.data.bytecode import BYTECODE_RULES, bytecode
from benchmarks.data.claros import REGIONS, claros
from benchmarks.data.relations import THINGS, TRANSITIVE, Vocabulary
from benchmarks.data.vlog import read_vlog, rules_file, without_equality
from modulog import Reasoner, parse_program
from support.realdata import data_folder

WORDS = Vocabulary(
    ("u:partOf", *(f"u:transitive{i}" for i in range(19))),
    tuple(f"u:other{i}" for i in range(100)),
    ("u:Cell", *(f"u:Class{i}" for i in range(9))),
)


def gathered(facts: int, seed: int = 1) -> dict[str, np.ndarray]:
    """The facts of a stream by name."""
    blocks = defaultdict(list)
    for name, rows in relations(WORDS, facts, seed):
        blocks[name].append(rows)
    return {name: np.concatenate(parts) for name, parts in blocks.items()}


def test_relations() -> None:
    facts, again, other = gathered(300_000), gathered(300_000), gathered(300_000, seed=2)
    assert all(np.array_equal(facts[name], again[name]) for name in facts)
    assert not np.array_equal(facts["u:partOf"], other["u:partOf"])
    total = sum(map(len, facts.values()))
    assert 0.9 * 300_000 < total <= 300_000
    for rows in facts.values():
        assert len(np.unique(rows, axis=0)) == len(rows)
    closed = sum(len(facts[name]) for name in WORDS.transitive)
    assert closed / total == pytest.approx(TRANSITIVE, abs=0.06)
    pairs = np.concatenate([facts[name] for name in (*WORDS.transitive, *WORDS.others)])
    assert (pairs[:, 0] > pairs[:, 1]).all()  # no circles
    assert (pairs[:, 0] // THINGS == pairs[:, 1] // THINGS).all()  # no way out of a world


def test_relations_as_triples(tmp_path: Path) -> None:
    written = write_relations(tmp_path / "r.nt", WORDS, 2_000)
    reasoner = Reasoner("all(?x, ?y) :- <u:partOf>(?x, ?y) . cell(?x) :- <u:Cell>(?x) .")
    reasoner.load(tmp_path / "r.nt")
    facts = gathered(2_000)
    assert reasoner.count("all") == len(facts["u:partOf"])
    assert reasoner.count("cell") == len(facts["u:Cell"])
    assert written == sum(map(len, facts.values()))


@pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning")
def test_relations_follow_the_ontology() -> None:
    """Under the rules of the Relation Ontology, facts in transitive properties multiply about as in the storage paper: 36 times."""
    if data_folder("ontologies") is None:
        pytest.skip("no ontologies")
    from benchmarks.data.ontologies import ontology_file, ontology_rules, vocabulary

    path = ontology_file("relations")
    assert path is not None
    words, (rules, names) = vocabulary(path), ontology_rules(path)
    assert len(words.transitive) == pytest.approx(33, abs=3)
    reasoner = Reasoner(parse_program(rules))
    given = 0
    for name, rows in relations(words, 3_000):
        reasoner.add(names[name], rows)
        given += len(rows) if name in words.transitive else 0
    reasoner.materialise()
    derived = sum(reasoner.count(names[name]) for name in words.transitive)
    assert 20 < derived / given < 80


@pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning")
def test_claros_has_large_cliques() -> None:
    """Places that documents relate by the rules fall into components as large as the regions."""
    path = rules_file("Claros_LE.vlog")
    if path is None:
        pytest.skip("no rules of VLog")
    needed = {"relatedPlaces", "P_E53_Place", "referredBySame", "referToSame"}
    rules = [r for r in without_equality(read_vlog(path.read_text())) if r.partition("(")[0] in needed]
    reasoner = Reasoner(parse_program("\n".join(rules)))
    for name, rows in claros(2_150).items():
        reasoner.add(name, rows)
    pairs = np.array(reasoner.rows("relatedPlaces"))
    sizes = np.unique(pairs[:, 0], return_counts=True)[1]
    assert sizes.max() == max(REGIONS)


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("LUBM_L", 170),
        ("LUBM_LE", 182),
        ("LUBM_U", 202),
        ("Claros_L", 2689),
        ("Claros_LE", 2749),
        ("DBpedia_L", 9396),
    ],
)
def test_the_rules_of_vlog(name: str, rules: int) -> None:
    """Every rule is read: with the rules that only read triples, as many as the file has."""
    path = rules_file(f"{name}.vlog")
    if path is None:
        pytest.skip("no rules of VLog")
    text = path.read_text()
    read = read_vlog(text)
    reading_triples = sum(":- TE(" in line for line in text.splitlines())
    assert len(read) + reading_triples == rules
    assert len(parse_program("\n".join(read[:500])).rules) == min(len(read), 500)


def test_bytecode_is_a_program_that_runs_in_part() -> None:
    """The same for the same seed; every kind of instruction is there, calls are dispatched to several methods, and much is never reached."""
    facts, again, other = bytecode(60), bytecode(60), bytecode(60, seed=2)
    assert all(np.array_equal(facts[name], again[name]) for name in facts)
    assert not np.array_equal(facts["newInsn"], other["newInsn"])
    reasoner = Reasoner(BYTECODE_RULES)
    assert {p.name for p in reasoner.program.predicates()} >= set(facts)
    for name, rows in facts.items():
        assert len(np.unique(rows, axis=0)) == len(rows) > 0
        reasoner.add(name, rows)
    counts = {
        name: reasoner.count(name) for name in ("reachable", "unreachable", "concreteMethod", "polymorphic")
    }
    assert counts["reachable"] + counts["unreachable"] == counts["concreteMethod"] + abstract_but_called(
        reasoner
    )
    assert min(counts.values()) > 0
    for name in ("fieldPointsTo", "staticPointsTo", "elementPointsTo", "escapes", "failingCast"):
        assert reasoner.count(name) > 0, name


def abstract_but_called(reasoner: Reasoner) -> int:
    """Methods without a body are never targets of a call, unless by mistake."""
    return reasoner.count("reachable(?m), abstractMethod(?m)")
