"""Updates of a store: what an update in memory gives, written as changes, folded when they have grown, all or
nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modulog import Reasoner, read
from modulog.cli import app
from modulog.engines.local.body_relation import body_of
from modulog.engines.local.relation import PlainRelation
from modulog.errors import DataError
from modulog.reasoner.persistence import kept_relations
from modulog.store import manifest
from modulog.store.draft import writing
from modulog.store.manifest import FactsFile, Manifest, StoredRelation, read_manifest
from support import oracle
from support.amounts import amount, base_seed
from support.module_programs import story
from support.relation_reads import scan
from support.stores import held
from support.strategies import Facts, Update, text
from support.values import rows_of_python, rows_to_python

HERE = Path(__file__).parents[2]
PATHS = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
    near(?x, ?y) :- side(?x, ?y) .
    near(?x, ?y) :- near(?y, ?x) .
    near(?x, ?z) :- near(?x, ?y), near(?y, ?z) .
    apart(?x, ?y) :- node(?x), node(?y), ~path(?x, ?y) .
    still(?x) :- quiet(?x) .
"""


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: many small stores are only looked at."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of 200 edges in ten chains, and a few facts that do not change with them."""
    r = Reasoner(PATHS)
    r.add("edge", [(f"n{i}.{j}", f"n{i}.{j + 1}") for i in range(10) for j in range(20)])
    r.add("side", [(f"n{i}.0", f"n{i}.1") for i in range(10)])
    r.add("node", [("n0.0",), ("n0.1",)])
    r.add("quiet", [("mouse",)])
    r.save(tmp_path / "store")
    r.close()
    return tmp_path / "store"


def as_python(facts: Facts) -> dict[str, Any]:
    return {p: rows_to_python(rows) for p, rows in facts.items() if rows}


def roles(r: Reasoner) -> list[tuple[str, str, set[tuple[int, ...]]]]:
    """Every relation that a store keeps: name, role, and facts as ids."""
    assert r._maintenance is not None
    found = []
    for predicate, role, relation in kept_relations(r._facts, [s.live for s in r._maintenance.strata]):
        body = body_of(relation)
        assert isinstance(body, PlainRelation)
        names = tuple(f"c{j}" for j in range(predicate.arity))
        rows = [
            tuple(map(int, row))
            for table in scan(body, names, "all")
            for row in (table.ids.T if predicate.arity else [()] * len(table))
        ]
        assert len(rows) == len(set(rows)) == body.size("all")
        found.append((str(predicate), role, set(rows)))
    return found


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def relation(manifest: Manifest, name: str, role: str) -> StoredRelation:
    return next(r for r in manifest.relations if (r.predicate.name, r.role) == (name, role))


def update(store: Path, **change: dict[str, list[Any]]) -> None:
    """One update of a store."""
    with Reasoner.open(store) as r:
        r.update(**change)
        r.save(store)


# ---- What is in the store


def changed(facts: Facts, step: Update) -> Facts:
    return {
        p: (facts.get(p, set()) - step.delete.get(p, set())) | step.add.get(p, set())
        for p in {*facts, *step.add}
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.more
@pytest.mark.parametrize("small", [True, False], ids=["as small relations are", "never whole"])
@pytest.mark.parametrize("chunk", range(4))
def test_random_updates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, chunk: int, small: bool
) -> None:
    """After each of a sequence of updates the reopened store holds, in every role, what memory and a
    computation from scratch do.
    """
    from modulog.maintenance import update

    if not small:  # small relations would be written as a whole at every change
        monkeypatch.setattr(update, "SHARE", 0)
        monkeypatch.setattr(manifest, "SHARE", 0)
    base = base_seed(request.config)
    for seed in range(base + chunk, base + amount(16, 40), 4):
        it = story(seed, updates=5)
        folder = tmp_path / str(seed)
        memory, facts = Reasoner(text(it.case.rules)), it.case.facts
        for p, rows in facts.items():
            if rows:
                memory.add(p, rows_to_python(rows))
        memory.save(folder)
        stays = (
            Reasoner.open(folder) if (seed - base) // 4 % 2 else None
        )  # one session for all updates, or one for each
        for step in it.updates:
            facts = changed(facts, step)
            given = {"add": as_python(step.add), "delete": as_python(step.delete)}
            expected = memory.update(**given)
            r = stays or Reasoner.open(folder)
            change = r.update(**given)
            assert (change.added, change.deleted, change.ignored) == (
                expected.added,
                expected.deleted,
                expected.ignored,
            ), str(it)
            r.save(folder)
            opened = Reasoner.open(folder)
            truth = {p: rows for p, rows in oracle.materialise(it.case.rules, facts).items() if rows}
            found = {p.name: set(rows_of_python(opened.rows(p.name))) for p in opened.predicates()}
            assert {p: rows for p, rows in found.items() if rows} == truth, str(it)
            assert roles(opened) == roles(r), str(it)
            assert opened.materialise().facts == memory.materialise().facts
            for one in {opened, r} - {stays}:
                one.close()


def test_several_updates_are_one_change(store: Path) -> None:
    with Reasoner.open(store) as r:
        r.update(add={"edge": [("n0.20", "x")]})
        r.update(delete={"edge": [("n0.20", "x"), ("n1.0", "n1.1")]})
        r.add("edge", [("n1.0", "n1.1"), ("n2.20", "y")])
        r.save(store)
        again = read_manifest(store)
        (*_, last) = relation(again, "edge", "explicit").files
        assert (last.rows, last.sign, manifest.state_of(last)) == (1, 1, 2)
        with Reasoner.open(store) as opened:
            assert held(opened) == held(r)
        r.save(store)
        assert read_manifest(store) == again, "nothing has changed since"


def test_only_what_changed_is_written(store: Path) -> None:
    before, old = files(store), read_manifest(store)
    update(store, add={"edge": [("n0.20", "new")]}, delete={"edge": [("n3.0", "n3.1")]})
    after, new = files(store), read_manifest(store)
    assert all(after[name] == content for name, content in before.items() if name.endswith(".parquet"))
    fresh = {name for name in after if name.endswith(".parquet")} - set(before)
    assert fresh == {f.path for f in new.files()} - {f.path for f in old.files()}
    for role, name in (("explicit", "edge"), ("derived", "path"), ("kept", "path°")):
        minus, plus = relation(new, name, role).files[-2:]
        assert (minus.sign, plus.sign) == (-1, 1), "what went, then what came"
        assert (minus.rows, plus.rows) == ((20, 21) if role == "derived" else (1, 1))
    for name in ("side", "near", "quiet", "still", "node", "apart"):
        assert [r for r in new.relations if r.predicate.name == name] == [
            r for r in old.relations if r.predicate.name == name
        ]
    assert new.terms[:-1] == old.terms and (new.terms[-1].first, new.terms[-1].rows) == (old.term_count, 1)
    assert new.statistics["facts"] == old.statistics["facts"] + 1


def test_terms_keep_their_ids(store: Path) -> None:
    names = [f"n{i}.{j}" for i in range(10) for j in range(21)]
    with Reasoner.open(store) as r:
        ids = r._backend.find([oracle_constant(n) for n in names])
    for number in range(12):
        update(store, add={"edge": [(f"new{number}.{i}", f"new{number}.{i + 1}") for i in range(number + 1)]})
    manifest = read_manifest(store)
    assert len(manifest.terms) <= 4, "small files of terms are folded"
    assert [f.first for f in manifest.terms] == [
        sum(g.rows for g in manifest.terms[:place]) for place in range(len(manifest.terms))
    ]
    with Reasoner.open(store) as r:
        assert r._backend.find([oracle_constant(n) for n in names]) == ids


def oracle_constant(name: str) -> Any:
    from modulog.terms.python_values import constant

    return constant(name)


def test_changes_are_folded_when_they_have_grown(store: Path) -> None:
    memory = Reasoner(PATHS)
    with Reasoner.open(store) as r:
        for p in ("edge", "side", "node", "quiet"):
            memory.add(p, r.rows(p))
    most, bases = 0, set()
    for number in range(60):
        change = {
            "add": {"edge": [(f"n{number % 10}.20", f"x{number}")]},
            "delete": {"edge": [(f"n{number % 10}.{number // 10}", f"n{number % 10}.{number // 10 + 1}")]},
        }
        update(store, **change)
        memory.update(**change)
        edges = relation(read_manifest(store), "edge", "explicit").files
        most = max(most, len(edges))
        bases.add(manifest.state_of(edges[0]))
        assert sum(f.rows * f.sign for f in edges) == memory.count("edge")
    with Reasoner.open(store) as r:
        assert held(r) == held(memory)
    assert 3 <= most <= 8, "several changes lie beside the base, but not many"
    assert bases != {1}, "the base was written anew"
    with writing(store):  # who writes next removes what the last one still had open
        pass
    assert {str(p.relative_to(store)) for p in store.rglob("*.parquet")} == {
        f.path for f in read_manifest(store).files()
    }


def test_the_rule_of_folding() -> None:
    """One row at a time: few files, and each row is written a logarithmic number of times."""
    held_rows, written, most = [(1, 1_000_000)], 0, 0
    for state in range(2, 5000):
        entries = [FactsFile(f"facts/1/p=0/{s:06d}-0.parquet", 0, "", rows, ()) for s, rows in held_rows]
        stay = manifest.staying(entries, 1)
        rows = 1 + sum(r for _, r in held_rows[stay:])
        held_rows = [*held_rows[:stay], (state, rows)]
        written, most = written + rows, max(most, len(held_rows))
    assert held_rows[0] == (1, 1_000_000) and most <= 6
    assert written < 5000 * 30


@pytest.mark.filterwarnings("ignore::modulog.errors.ProgramWarning")
def test_a_new_predicate_and_one_without_arguments(tmp_path: Path) -> None:
    Reasoner("yes() :- p(?x) . no() :- ~yes() . q(?x) :- p(?x) .").save(tmp_path)
    update(tmp_path, add={"p": [(1,)], "other": [(1, 2, 3)]})
    with Reasoner.open(tmp_path) as r:
        assert (r.count("yes"), r.count("no"), r.rows("other")) == (1, 0, [(1, 2, 3)])
    update(tmp_path, delete={"p": [(1,)]})
    with Reasoner.open(tmp_path) as r:
        assert (r.count("yes"), r.count("no"), r.rows("q")) == (0, 1, [])


# ---- One after the other


def test_a_newer_state_is_not_written_over(store: Path) -> None:
    with Reasoner.open(store) as late:
        update(store, add={"edge": [("a", "b")]})
        late.update(add={"edge": [("c", "d")]})
        before = files(store)
        with pytest.raises(DataError, match="has been written since this state was opened; open it again"):
            late.save(store)
        assert files(store) == before
        late.save(store.with_name("other"))
        with Reasoner.open(store.with_name("other")) as other:
            assert held(other) == held(late)


def test_readers_of_the_old_state_are_not_disturbed(store: Path) -> None:
    reader = Reasoner.open(store)
    with Reasoner.open(store) as r:
        expected = held(r)
    for number in range(12):
        update(store, delete={"edge": [(f"n{i}.{number}", f"n{i}.{number + 1}") for i in range(10)]})
    assert held(reader) == expected  # read only now
    reader.close()


# ---- What fails leaves the old state


@pytest.mark.more
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """One process updates a store, and is killed before this step or that; another looks which state is
    there.
    """
    command = [sys.executable, str(HERE / "support" / "killed_updater.py"), str(tmp_path), str(amount(30, 5))]
    paths = [str(HERE), str(HERE.parent / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=env)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["mixtures"] == 0
    assert seen["updates"] > amount(3, 30), "writers wrote something"
    assert seen["unfinished"] > amount(3, 30), "writers were killed in the midst of their work"


# ---- The command line

Result = tuple[int, str, str]


@pytest.fixture
def modulog(
    capsys: pytest.CaptureFixture[str], store: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Run the command line in this process, beside the store."""
    monkeypatch.chdir(store.parent)
    for name, content in {
        "add/edge.csv": "n0.20,new\n",
        "old/edge.csv": "n3.19,n3.20\nn3.0,n3.20\n",
        "bad/edge.csv": "a,b\nc\n",
        "triples.nt": "<urn:a> <urn:knows> <urn:b> .\n<urn:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:C> .\n",
    }.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content, encoding="utf-8")

    def run(*args: str) -> Result:
        with pytest.raises(SystemExit) as stop:
            app.app(list(args))
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return run


def test_the_command_tells_comparisons_that_cannot_be_decided(modulog: Callable[..., Result]) -> None:
    Path("late.rls").write_text("late(?p) :- lead(?p, ?d), ?d > 20 . lead(a, 30) .")
    Path("lead.csv").write_text('b,"n/a"\n')
    assert modulog("materialise", "late.rls", "--store", "leads")[0] == 0
    code, out, _ = modulog("update", "leads", "--add", "lead.csv")
    assert code == 0
    assert out.splitlines()[-1] == "1 comparison of values that cannot be compared counted as false"


def test_the_command(modulog: Callable[..., Result]) -> None:
    code, out, err = modulog("update", "store", "--add", "add", "--delete", "old")
    assert (code, err) == (0, "")
    cells = [[c.strip() for c in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]
    assert cells == [["edge", "1", "1"], ["path", "21", "20"]]
    assert out.splitlines()[-1] == "1 fact to delete was not there"
    assert read_manifest(Path("store")).generation == 2
    code, out, _ = modulog("query", "store", 'path("n0.0", new)', "--format", "json")
    assert (code, json.loads(out)) == (0, [{"holds": True}])
    code, out, _ = modulog("update", "store", "--delete", "old/edge.csv", "--format", "json")
    assert (code, json.loads(out)) == (0, {"added": {}, "deleted": {}, "ignored": 2, "still_derived": 0})
    assert modulog("update", "store", "--delete", "old/edge.csv")[1].startswith("nothing changed\n2 facts")
    assert read_manifest(Path("store")).generation == 2, "nothing changed, nothing was written"


def test_triples_and_names(modulog: Callable[..., Result]) -> None:
    code, out, _ = modulog("update", "store", "--add", "triples.nt", "edge=add/edge.csv", "--format", "json")
    added = json.loads(out)["added"]
    assert (code, added["<urn:knows>"], added["<urn:C>"], added["edge"]) == (0, 1, 1, 1)
    code, out, _ = modulog("update", "store", "--delete", "triples.nt", "--format", "json")
    assert (code, json.loads(out)) == (
        0,
        {"added": {}, "deleted": {"<urn:C>": 1, "<urn:knows>": 1}, "ignored": 0, "still_derived": 0},
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["update", "store"], "say what changes: --add PATH..., --delete PATH... or both"),
        (["update", "store", "--add", "bad"], "bad/edge.csv"),
        (["update", "store", "--add", "add", "--delete", "bad"], "bad/edge.csv"),
        (["update", "store", "--add", "absent.csv"], "absent.csv"),
        (["update", "store", "--add", "still=add/edge.csv"], "2 columns where 1 argument should be"),
        (["update", "absent", "--add", "add"], "absent: there is no such folder"),
        (["update", "add", "--add", "add"], "add: not a store"),
    ],
)
def test_mistakes(modulog: Callable[..., Result], store: Path, args: list[str], message: str) -> None:
    before = files(store.parent)
    code, out, err = modulog(*args)
    assert (code, out) == (2, "")
    assert message in err and "Traceback" not in err
    assert files(store.parent) == before


def test_a_batch_can_be_given_to_several_reasoners(store: Path) -> None:
    r, other = Reasoner("p(1) ."), Reasoner("p(2) .")
    Path(store.parent, "p.csv").write_text("2\n", encoding="utf-8")
    batch = read(store.parent / "p.csv")
    assert r.update(add=batch).added == {"p": 1}
    assert other.update(delete=batch).deleted == {"p": 1}
