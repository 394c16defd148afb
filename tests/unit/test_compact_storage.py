"""A session over facts that are represented: queries, counts, updates, plans, stores, all as with listed facts, and nothing expanded that need not be."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modulog import Reasoner, Switches
from modulog.closures import closure_state
from modulog.engines.local import closure_body
from modulog.engines.local.closure_relation import ClosureRelation
from modulog.engines.local.view_body import ViewRelation
from modulog.errors import DataError
from support.reasoners import reasoner

SKOS = """
    broaderTransitive(?x, ?y) :- broader(?x, ?y) .
    broaderTransitive(?x, ?z) :- broaderTransitive(?x, ?y), broaderTransitive(?y, ?z) .
    narrowerTransitive(?y, ?x) :- broaderTransitive(?x, ?y) .
    broaderTransitive(?y, ?x) :- narrowerTransitive(?x, ?y) .
    semanticRelation(?x, ?y) :- broaderTransitive(?x, ?y) .
    semanticRelation(?x, ?y) :- narrowerTransitive(?x, ?y) .
    semanticRelation(?x, ?y) :- related(?x, ?y) .
    related(?y, ?x) :- related(?x, ?y) .
    exactMatch(?y, ?x) :- exactMatch(?x, ?y) .
    exactMatch(?x, ?z) :- exactMatch(?x, ?y), exactMatch(?y, ?z) .
    semanticRelation(?x, ?y) :- exactMatch(?x, ?y) .
    Concept(?x) :- semanticRelation(?x, ?y) .
    Concept(?y) :- semanticRelation(?x, ?y) .
"""
TOPICS = ["topic0", "topic1", "topic2", "topic3"]
TABLE_4 = ["narrowerTransitive(?x, ?y)", "Concept(?x), narrowerTransitive(?x, ?y)"]
TABLE_4 += [f"subject(?x, {t}), narrowerTransitive(?x, ?y)" for t in TOPICS]
TABLE_4 += ["Concept(?y), narrowerTransitive(?x, ?y)"]
TABLE_4 += [f"subject(?y, {t}), narrowerTransitive(?x, ?y)" for t in TOPICS]
TABLE_5 = [query.replace("narrowerTransitive", "semanticRelation") for query in TABLE_4]


def skos_facts(chance: random.Random, concepts: int = 60) -> dict[str, list[tuple[Any, ...]]]:
    """Categories with circles, topics of some of them."""
    names = [f"c{i}" for i in range(concepts)]
    broader = [(names[i], names[chance.randrange(i)]) for i in range(1, concepts)]
    broader += [(chance.choice(names[:9]), chance.choice(names[:9])) for _ in range(6)]
    pairs = [(chance.choice(names), chance.choice(names)) for _ in range(12)]
    return {
        "broader": broader,
        "related": pairs[:6],
        "exactMatch": pairs[6:],
        "subject": [(name, chance.choice(TOPICS)) for name in names],
    }


def reasoners(program: str, facts: dict[str, Any]) -> tuple[Reasoner, Reasoner]:
    """One that lists and one that represents."""
    found = []
    for storage in ("plain", "compact"):
        r = Reasoner(program, engine="local", switches=Switches(storage=storage))
        for predicate, rows in facts.items():
            r.add(predicate, rows)
        found.append(r)
    return found[0], found[1]


def relation(r: Reasoner, name: str) -> Any:
    return next(rel for p, rel in r._facts.derived.items() if p.name == name)


def test_the_22_queries_of_tables_4_and_5() -> None:
    """Their counterparts, counted and answered, before and after updates."""
    chance = random.Random(7)
    facts = skos_facts(chance)
    plain, compact = reasoners(SKOS, facts)
    for _ in range(3):
        for query in (*TABLE_4, *TABLE_5):
            assert compact.count(query) == plain.count(query) > 0, query
            answers = [sorted(map(str, r.query(query).to_pylist())) for r in (plain, compact)]
            assert answers[0] == answers[1], query
        gone, come = chance.sample(facts["broader"], 4), [("c3", "c50"), ("c50", "c51"), ("new", "c2")]
        changes = [r.update(delete={"broader": gone}, add={"broader": come}) for r in (plain, compact)]
        assert changes[0].added == changes[1].added
        assert changes[0].deleted == changes[1].deleted
    assert isinstance(relation(compact, "semanticRelation"), ViewRelation)
    assert not relation(compact, "semanticRelation").listed
    assert not relation(compact, "exactMatch").listed


def test_answers_without_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Over 50 million pairs of a chain nothing that a question does not need is listed."""
    n = 10_000
    program = """
        path(?x, ?y) :- edge(?x, ?y) .
        path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
        linked(?x, ?y) :- path(?x, ?y) .
        linked(?y, ?x) :- path(?x, ?y) .
        node(?x) :- linked(?x, ?y) .
        far(?x, ?y) :- chosen(?x), linked(?x, ?y), ~edge(?x, ?y), ~edge(?y, ?x) .
    """
    r = Reasoner(program, engine="local")
    r.add("edge", np.stack([np.arange(n - 1), np.arange(1, n)], axis=1))
    r.add("chosen", [(5,), (9_000,)])
    expanded = [0]
    read = closure_state.State._expand

    def counting(*args: Any) -> Any:
        for piece in read(*args):
            expanded[0] += piece.shape[1]
            yield piece

    monkeypatch.setattr(closure_state.State, "_expand", counting)
    r.materialise()
    assert not relation(r, "linked").listed
    assert expanded[0] <= 2 * n  # for `far`
    assert (r.count("path"), r.count("linked"), r.count("node")) == (n * (n - 1) // 2, n * (n - 1), n)
    assert r.count("far") == 2 * (n - 3)
    assert r.contains("path", (3, 9_000)) and not r.contains("path", (9_000, 3))
    assert r.contains("linked", (9_000, 3))
    assert (r.count("path(7, ?y)"), r.count("path(?x, 7)"), r.count("path(7, 9)")) == (n - 8, 7, 1)
    assert (r.count("linked(7, ?y)"), r.count("linked(?x, ?x)"), r.count("path(?x, _)")) == (n - 1, 0, n - 1)
    assert r.count("chosen(?x), linked(?x, ?y)") == 2 * (n - 1)
    assert expanded[0] <= 6 * n
    assert sorted(r.query("path(?x, 3)").column("x").to_pylist()) == [0, 1, 2]
    assert len(r.rows("linked", limit=10)) == 10
    assert expanded[0] <= 6 * n + 2 * closure_state.CHUNK
    change = r.update(delete={"edge": [(n - 2, n - 1)]})
    assert change.deleted == {"edge": 1, "path": n - 1, "linked": 2 * (n - 1), "node": 1, "far": 2}
    assert sorted(change.rows("path", deleted=True))[-1] == (n - 2, n - 1)
    assert change.added == {}


def test_what_is_chosen_and_why() -> None:
    r = Reasoner("path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . up(?y, ?x) :- path(?x, ?y) .", engine="local")
    r.add("path", [(i, i + 1) for i in range(700)])
    statistics = r.materialise()
    assert "storage closure: 245,350 pairs in 0.1 MB, listed 2.0 MB" in str(r.plan())
    assert "storage view of path⁻¹ ∪ up°own: 245,350 pairs, listed 2.0 MB" in str(r.plan())
    assert "245,350 pairs" in r.plan()._repr_html_()
    memory = statistics.memory["path/2"]
    assert memory.plain == 8 * 245_350 and memory.bytes < memory.plain / 10
    assert statistics.memory["up/2"].bytes == 0
    assert "path/2: 0.1 MB, listed 2.0 MB" in str(statistics)
    small = Reasoner("path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . path(a, b) .", engine="local")
    small.materialise()
    assert "storage listed: 1 pair, which is little" in str(small.plan())
    for switches in ({"storage": "plain"}, {"modules": "off", "storage": "compact"}):
        r = reasoner("path(?x, ?z) :- path(?x, ?y), path(?y, ?z) . path(a, b) .", engine="local", **switches)
        r.materialise()
        assert isinstance(relation(r, "path"), ClosureRelation) == ("modules" not in switches)
        assert relation(r, "path").listed
        assert "storage" not in str(r.plan())
    with pytest.raises(ValueError, match='storage is "auto" or "plain" or "compact"'):
        Reasoner("", switches=Switches(storage="small"))


def test_a_list_that_grows_becomes_a_closure(monkeypatch: pytest.MonkeyPatch) -> None:
    """In an update; the net change and everything above are as they should be, also if the update fails."""
    monkeypatch.setattr(closure_body, "FEW_PAIRS", 100)
    program = """
        path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
        both(?x, ?y) :- path(?x, ?y) .
        both(?y, ?x) :- path(?x, ?y) .
        loop(?x) :- both(?x, ?x) .
    """
    plain, auto = (
        Reasoner(program, engine="local", switches=Switches(storage=storage)) for storage in ("plain", "auto")
    )
    start, more = [("a", "b"), ("z", "z")], [(i, i + 1) for i in range(1500)]
    for r in (plain, auto):
        r.add("path", start)
        r.materialise()
    assert relation(auto, "path").listed
    with monkeypatch.context() as patch:
        patch.setattr("modulog.maintenance.update.Maintenance._collect", _fail)
        with pytest.raises(RuntimeError, match="accident"):
            auto.update(add={"path": more}, delete={"path": [("z", "z")]})
    assert relation(auto, "path").listed and sorted(auto.rows("both")) == [("a", "b"), ("b", "a"), ("z", "z")]
    changes = [r.update(add={"path": more}, delete={"path": [("z", "z")]}) for r in (plain, auto)]
    assert not relation(auto, "path").listed and not relation(auto, "both").listed
    assert changes[0].added == changes[1].added
    assert changes[0].deleted == changes[1].deleted == {"both": 1, "loop": 1, "path": 1}
    again = [r.update(add={"path": [(1500, 0)]}, delete={"path": [(3, 4)]}) for r in (plain, auto)]
    assert again[0].added == again[1].added
    assert again[0].deleted == again[1].deleted
    assert {p: auto.count(p) for p in ("path", "both", "loop")} == {
        p: plain.count(p) for p in ("path", "both", "loop")
    }


def _fail(*_: Any) -> None:
    raise RuntimeError("an accident")


@pytest.mark.parametrize("kind", ["", "e(?x, ?y), ", "up"])
def test_a_view_does_not_keep_itself_alive(kind: str) -> None:
    """U ← A. U ← B. B(x,y) ← U(x,y), E(x,y): with A(f) gone, U(f) and B(f) go."""
    r = Reasoner(
        "u(?x, ?y) :- a(?x, ?y) . u(?x, ?y) :- b(?x, ?y) . b(?x, ?y) :- u(?x, ?y), e(?x, ?y) .",
        engine="local",
        switches=Switches(storage="compact"),
    )
    r.add("a", [(1, 2)])
    r.add("e", [(1, 2)])
    assert sorted(r.rows("u")) == sorted(r.rows("b")) == [(1, 2)]
    assert not relation(r, "u").listed
    change = r.update(delete={"a": [(1, 2)]})
    assert change.deleted == {"a": 1, "b": 1, "u": 1}
    assert r.count("u") == r.count("b") == 0


# ---- Stores


def stored(folder: Path) -> dict[str, Any]:
    manifest = json.loads((folder / "modulog-store.json").read_text(encoding="utf-8"))
    return {r["predicate"]["name"]: r for r in manifest["relations"] if r["role"] == "derived"}


def test_a_store_keeps_what_is_represented_small(tmp_path: Path) -> None:
    facts = skos_facts(random.Random(3))
    plain, compact = reasoners(SKOS, facts)
    compact.save(tmp_path / "store")
    kept = stored(tmp_path / "store")
    assert (kept["broaderTransitive"]["scheme"], kept["semanticRelation"]["scheme"]) == ("closure", "view")
    assert kept["broaderTransitive"]["files"] == kept["semanticRelation"]["files"] == []
    opened = Reasoner.open(tmp_path / "store", engine="local")
    assert opened.count("broaderTransitive") == plain.count("broaderTransitive")
    assert relation(opened, "broaderTransitive").closure.structure is None, "a count is in the manifest"
    for predicate in ("semanticRelation", "narrowerTransitive", "exactMatch", "Concept"):
        assert sorted(opened.rows(predicate)) == sorted(plain.rows(predicate)), predicate
    for step in range(3):
        opened = Reasoner.open(tmp_path / "store", engine="local")
        edges = facts["broader"][step * 5 : step * 5 + 5]
        changes = [
            r.update(delete={"broader": edges}, add={"exactMatch": [(step, "c1")]}) for r in (plain, opened)
        ]
        assert changes[0].added == changes[1].added
        assert changes[0].deleted == changes[1].deleted
        opened.save(tmp_path / "store")
        opened.close()
    opened = Reasoner.open(tmp_path / "store", engine="local")
    opened.export(tmp_path / "out", predicates=["semanticRelation"])
    lines = (tmp_path / "out" / "semanticRelation.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) == plain.count("semanticRelation")


def test_a_linear_closure_from_a_store(tmp_path: Path) -> None:
    program = "to(?x, ?y) :- start(?x), e(?x, ?y) . to(?x, ?z) :- to(?x, ?y), e(?y, ?z) ."
    plain, compact = reasoners(program, {"e": [(i, i + 1) for i in range(9)], "start": [(0,), (4,)]})
    compact.save(tmp_path / "store")
    assert stored(tmp_path / "store")["to"]["scheme"] == "right-linear"
    opened = Reasoner.open(tmp_path / "store", engine="local")
    for r in (plain, opened):
        r.update(delete={"e": [(6, 7)], "start": [(4,)]}, add={"e": [(9, 2)]})
    assert sorted(opened.rows("to")) == sorted(plain.rows("to"))
    opened.save(tmp_path / "store")
    assert sorted(Reasoner.open(tmp_path / "store", engine="local").rows("to")) == sorted(plain.rows("to"))


@pytest.mark.parametrize("storage", ["plain", "auto"])
@pytest.mark.parametrize(
    "rules",
    [
        "",
        "p(?x, ?x) :- p(?x, ?y) .",
        "p(?y, ?y) :- p(?x, ?y) .",
        "p(?x, ?x) :- p(?x, ?y) . p(?y, ?y) :- p(?x, ?y) .",
        "p(?y, ?x) :- p(?x, ?y) .",
    ],
    ids=["transitive", "reflexive at sources", "reflexive at targets", "reflexive", "symmetric"],
)
def test_a_listed_closure_follows_updates(rules: str, storage: str, tmp_path: Path) -> None:
    """The list follows the structure, also where a store had the list alone; it says what rules say that are computed anew."""
    program = f"p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . {rules} p(?x, ?y) :- e(?x, ?y) ."
    chance = random.Random(5)
    edges = {(chance.randrange(12), chance.randrange(12)) for _ in range(14)}
    r = Reasoner(program, engine="local", switches=Switches(storage=storage))
    r.add("e", edges)
    r.materialise()
    for step in range(8):
        gone = set(chance.sample(sorted(edges), 2))
        come = {(chance.randrange(12), chance.randrange(12)) for _ in range(step % 3)}
        edges = edges - gone | come
        before = set(r.rows("p"))
        change = r.update(delete={"e": gone}, add={"e": come})
        rows = r.rows("p")
        anew = Reasoner(program, engine="local", switches=Switches(modules="off"))
        anew.add("e", edges)
        assert relation(r, "p").listed and len(rows) == len(set(rows))
        assert set(rows) == set(anew.rows("p"))
        assert set(change.rows("p")) == set(rows) - before
        assert set(change.rows("p", deleted=True)) == before - set(rows)
        if step % 3 == 0:
            r.save(tmp_path / "store")
            assert stored(tmp_path / "store")["p"]["scheme"] == "plain"
            r = Reasoner.open(tmp_path / "store", engine="local")
            assert relation(r, "p").closure.structure is None, "it is not needed before an update"


def test_an_older_modulog_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    """A store with represented relations has a newer version of the format; one without has the first."""
    for storage, version in (("plain", 1), ("compact", 2)):
        r = Reasoner(
            "p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(a, b) .",
            engine="local",
            switches=Switches(storage=storage),
        )
        r.save(tmp_path / storage)
        assert json.loads((tmp_path / storage / "modulog-store.json").read_text())["version"] == version
    with pytest.raises(DataError):
        Reasoner.open(tmp_path)


def test_a_linear_closure_along_a_closure() -> None:
    """Paths along a represented closure are paths along its external facts, also when a change leaves the closure as it is."""
    program = """
        path(?x, ?y) :- e(?x, ?y) .
        path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
        to(?x, ?y) :- start(?x, ?y) .
        to(?x, ?z) :- to(?x, ?y), path(?y, ?z) .
    """
    edges = [(i, i + 1) for i in range(20)]
    plain, compact = reasoners(program, {"e": edges, "start": [("s", 3), ("t", 18)]})
    assert sorted(compact.rows("to"), key=str) == sorted(plain.rows("to"), key=str)
    for change in ({"add": {"e": [(5, 9)]}}, {"delete": {"e": [(6, 7)]}}, {"delete": {"e": [(5, 9)]}}):
        changes = [r.update(**change) for r in (plain, compact)]
        assert changes[0].added == changes[1].added
        assert changes[0].deleted == changes[1].deleted
        assert sorted(compact.rows("to"), key=str) == sorted(plain.rows("to"), key=str)


def test_a_closure_that_other_recursive_rules_feed(tmp_path: Path) -> None:
    """It closes whatever they derive, and is computed again with its stratum when something changes; a store keeps its edges."""
    program = """
        r(?x, ?z) :- r(?x, ?y), r(?y, ?z) .
        r(?x, ?y) :- e(?x, ?y) .
        r(?x, ?z) :- s(?x, ?y), r(?y, ?z) .
        s(?x, ?y) :- f(?x, ?y), r(?y, ?x) .
        big(?x) :- r(?x, ?x) .
    """
    facts = {"e": [(i, i + 1) for i in range(30)] + [(9, 4)], "f": [(2, 1), (40, 3), (8, 20), (7, 6)]}
    plain, compact = reasoners(program, facts)
    auto = Reasoner(program, engine="local")
    for predicate, rows in facts.items():
        auto.add(predicate, rows)
    compact.materialise()
    assert not relation(compact, "r").listed and relation(compact, "r").scheme.kind == "closure"
    compact.save(tmp_path / "store")
    compact = Reasoner.open(tmp_path / "store", engine="local")
    assert not relation(compact, "r").listed
    for change in (
        {"delete": {"e": [(9, 4)]}},
        {"add": {"e": [(30, 0)]}},
        {"delete": {"f": [(2, 1)], "e": [(3, 4)]}},
    ):
        changes = [r.update(**change) for r in (plain, compact, auto)]
        assert changes[0].added == changes[1].added == changes[2].added
        assert changes[0].deleted == changes[1].deleted == changes[2].deleted
        assert {p: sorted(compact.rows(p)) for p in "rs"} == {p: sorted(plain.rows(p)) for p in "rs"}
    large = Reasoner(program, engine="local")
    large.add("e", [(i, i + 1) for i in range(600)])
    large.add("f", [(5, 7), (700, 2)])
    large.materialise()
    assert large.count("r") == 600 * 601 // 2 and not relation(large, "r").listed


def test_the_switch_on_the_command_line(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from modulog.cli.app import app

    rules = tmp_path / "rules.rls"
    rules.write_text("p(?x, ?z) :- p(?x, ?y), p(?y, ?z) . p(a, b) . p(b, c) . q(?y, ?x) :- p(?x, ?y) .")
    store = tmp_path / "store"
    run = CliRunner().invoke
    made = run(app, ["materialise", str(rules), "--store", str(store), "--storage", "compact"])
    assert made.exit_code == 0, made.output
    assert stored(store)["p"]["scheme"] == "closure" and stored(store)["q"]["scheme"] == "view"
    (tmp_path / "p.csv").write_text("c,d\n")
    assert run(app, ["update", str(store), "--add", str(tmp_path / "p.csv")]).exit_code == 0
    answers = run(app, ["query", str(store), "q(?x, a)", "--format", "csv"])
    assert sorted(answers.output.split()) == ["b", "c", "d", "x"]
    assert run(app, ["export", str(store), "--out", str(tmp_path / "out")]).exit_code == 0
    assert len((tmp_path / "out" / "q.csv").read_text().splitlines()) == 6
    refused = run(app, ["query", str(store), "q(?x, a)", "--storage", "plain"])
    assert refused.exit_code == 2 and "leave --storage out" in refused.output
