"""What a reasoner must delete and add to have other explicit facts; other programs over a store; notes that are kept with it."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from modulog import FactBatch, Predicate, Reasoner, parse_program
from modulog.reasoner import for_pipelines
from modulog.store.manifest import read_manifest

RULES = "path(?x, ?y) :- edge(?x, ?y) . path(?x, ?z) :- path(?x, ?y), edge(?y, ?z) . edge(0, 1) . flag() :- path(?x, ?x), ~other(?x, ?x) ."
EDGES = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)))
FACTS = st.fixed_dictionaries({"edge": EDGES, "path": EDGES, "other": EDGES})
CONCERNED = st.sets(st.sampled_from(["edge", "path", "other"]))


@given(before=FACTS, wanted=FACTS, concerned=CONCERNED)
def test_difference_leads_to_the_wanted_facts(
    before: dict[str, set[tuple[int, int]]], wanted: dict[str, set[tuple[int, int]]], concerned: set[str]
) -> None:
    """Explicit facts of the predicates that are meant become the wanted ones and the program's; others stay."""
    r = Reasoner(RULES)
    for name, rows in before.items():
        r.add(name, rows)
    r.materialise()
    facts = for_pipelines.given(r, FactBatch.of(wanted))
    gone, come = for_pipelines.difference(r, [Predicate(name, 2) for name in concerned], facts)
    change = for_pipelines.update(r, delete=gone, add=come)
    assert change.ignored == 0
    expected = Reasoner(RULES)
    for name in before:
        expected.add(name, (wanted if name in concerned else before)[name])
    for name in (*before, "flag"):
        assert sorted(r.rows(name)) == sorted(expected.rows(name)), name


def test_facts_that_nobody_gives_any_more_go() -> None:
    r = Reasoner("p(1) .")
    r.add("p", [(2,)])
    r.add("q", [(3,)])
    gone, come = for_pipelines.difference(
        r, [Predicate("p", 1), Predicate("q", 1), Predicate("new", 1)], None
    )
    for_pipelines.update(r, delete=gone, add=come)
    assert r.rows("p") == [(1,)] and r.count("q") == 0


def test_another_program_over_a_store(tmp_path: Path) -> None:
    """Explicit facts stay, what follows is computed again; saved, the store has the other program."""
    r = Reasoner(RULES)
    r.add("edge", [(1, 2), (2, 0)])
    r.add("other", [])
    r.save(tmp_path)
    other = parse_program("back(?y, ?x) :- edge(?x, ?y) .")
    with Reasoner.open(tmp_path, program=other) as opened:
        assert sorted(opened.rows("back")) == [(0, 2), (1, 0), (2, 1)]
        opened.update(delete={"edge": [(2, 0)]})
        opened.save(tmp_path)
    with Reasoner.open(tmp_path) as opened:
        assert sorted(opened.rows("back")) == [(1, 0), (2, 1)]
        assert [str(p) for p in opened.predicates()] == ["back/2", "edge/2"]


def test_notes_stay_with_their_state(tmp_path: Path) -> None:
    for_pipelines.save(Reasoner("p(1) ."), tmp_path, {"a": [1, 2]})
    manifest = read_manifest(tmp_path)
    assert (manifest.notes, manifest.noted, manifest.generation) == ({"a": [1, 2]}, 1, 1)
    with Reasoner.open(tmp_path) as opened:
        opened.save(tmp_path)
        assert read_manifest(tmp_path) == manifest  # nothing is new
        opened.update(add={"p": [(2,)]})
        opened.save(tmp_path)
        assert (read_manifest(tmp_path).notes, read_manifest(tmp_path).noted) == ({"a": [1, 2]}, 1)
        for_pipelines.save(opened, tmp_path, {"a": (3,)})
        assert (read_manifest(tmp_path).notes, read_manifest(tmp_path).noted) == ({"a": [3]}, 3)
        for_pipelines.save(opened, tmp_path, {"a": [3]})
        opened.update(add={"p": [(4,)]})
        for_pipelines.save(opened, tmp_path, {"b": 1})
    assert read_manifest(tmp_path).generation == 4 and read_manifest(tmp_path).notes == {"b": 1}
    Reasoner("p(1) .").save(tmp_path)
    assert read_manifest(tmp_path).notes == {}
