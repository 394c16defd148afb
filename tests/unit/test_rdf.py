"""RDF through the public face: what triples become, views over them, mistakes, exports."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from modulog import IRI, BlankNode, Reasoner, TaggedLiteral, read
from modulog.cli import app
from modulog.errors import DataError
from modulog.formats import DataWarning
from modulog.terms.constant import RDF

TURTLE = """
@prefix e: <http://e/> .
e:a a e:C , _:k ; e:p e:b , "x"@EN , 01 , 1.50 .
e:C e:C e:a .
_:k e:p [ e:q true ] .
"""
TYPE = f"<{RDF}type>"


def e(name: str) -> IRI:
    return IRI(f"http://e/{name}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.ttl"
    path.write_text(TURTLE)
    return path


def facts(reasoner: Reasoner) -> dict[str, list[tuple[Any, ...]]]:
    """Every predicate with its facts; a name with two arities is asked for by a query."""
    found = {}
    names = [p.name for p in reasoner.predicates()]
    for p in reasoner.predicates():
        if names.count(p.name) == 1:
            rows = reasoner.rows(IRI(p.name[1:-1]) if p.name.startswith("<") else p.name)
        else:
            answers = reasoner.query(f"{p.name}({', '.join(f'?x{j}' for j in range(p.arity))})")
            rows = [tuple(row.values()) for row in answers.to_pylist()]
        found[str(p)] = sorted(rows, key=str)
    return found


def test_triples_are_facts(file: Path) -> None:
    """An IRI may be class and property at once, and a class that is a blank node leaves the triple as it is."""
    with Reasoner("", engine="local") as r:
        r.load(file)
        assert [str(p) for p in r.predicates()] == [
            "<http://e/C>/1",
            "<http://e/C>/2",
            "<http://e/p>/2",
            "<http://e/q>/2",
            f"{TYPE}/2",
        ]
        assert r.query("<http://e/C>(?x)").to_pylist() == [{"x": "<http://e/a>"}]
        assert sorted(r.rows(IRI(f"{RDF}type")), key=str) == [(e("a"), BlankNode("k")), (e("a"), e("C"))]
        rows = r.rows(e("p"))
        node = next(o for s, o in rows if s == BlankNode("k"))
        assert len(rows) == 5 and r.rows(e("q")) == [(node, True)]
        assert r.contains(e("p"), (e("a"), 1)) and r.contains(
            e("p"), (e("a"), TaggedLiteral("x", language="en"))
        )


def test_views(tmp_path: Path) -> None:
    """`triple` has every triple, `quad` those of named graphs."""
    (tmp_path / "a.trig").write_text("@prefix e: <http://e/> .\ne:g { e:a e:p e:b } e:a e:p e:c .")
    (tmp_path / "b.nq").write_text(
        f"<http://e/a> {TYPE} <http://e/C> _:h .\n<http://e/a> <http://e/p> <http://e/b> .\n"
    )
    (tmp_path / "c.nt").write_text("<http://e/x> <http://e/q> <http://e/y> .\n")
    with Reasoner(
        "all(?s, ?p, ?o) :- triple(?s, ?p, ?o) . in(?o, ?g) :- quad(?s, ?p, ?o, ?g) .", engine="local"
    ) as r:
        r.load(tmp_path)
        assert sorted(r.rows("all")) == sorted(
            [
                (e("a"), e("p"), e("b")),
                (e("a"), e("p"), e("c")),
                (e("a"), IRI(f"{RDF}type"), e("C")),
                (e("x"), e("q"), e("y")),
            ]
        )
        assert sorted(r.rows("in"), key=str) == [(e("C"), BlankNode("h")), (e("b"), e("g"))]
        assert sorted(r.rows(e("p"))) == [(e("a"), e("b")), (e("a"), e("c"))]


def test_all_classes(file: Path) -> None:
    """`rdf:type` with a variable as class sees classes that were loaded and those that were derived."""
    rules = f"kind(?c) :- {TYPE}(?x, ?c) . <http://e/D>(?x) :- <http://e/p>(?x, ?y) ."
    with Reasoner(rules, engine="local") as r:
        r.load(file)
        assert sorted(r.rows("kind"), key=str) == [(BlankNode("k"),), (e("C"),), (e("D"),)]


def test_rows_of_triples(file: Path, tmp_path: Path) -> None:
    """A file of triples can fill one predicate, by name or by `@import`."""
    path = tmp_path / "data.nq"
    path.write_text(
        "<http://e/a> <http://e/p> <http://e/b> <http://e/g> .\n<http://e/a> <http://e/p> 'c' .\n".replace(
            "'", '"'
        )
    )
    rules = tmp_path / "rules.rls"
    rules.write_text(
        '@import t :- nquads{resource = "data.nq"} . @import u :- rdf{resource = "data.ttl"} .\n'
        '@import g :- rdf{resource = "data.nq"} . s(?s) :- g(?s, ?p, ?o, ?g) . n(?o) :- t(?s, ?p, ?o) . n(?o) :- u(?s, ?p, ?o) .\n'
    )
    with Reasoner(rules, engine="local") as r:
        assert r.rows("t") and r.count("t") == 2 and r.count("u") == 9
        assert r.rows("g") == [(e("a"), e("p"), e("b"), e("g"))]
        r.load(path, predicate="v")
        assert sorted(r.rows("v"), key=str) == sorted(r.rows("t"), key=str)


def test_a_mistake_changes_nothing(file: Path, tmp_path: Path) -> None:
    (tmp_path / "later.nt").write_text(
        "<http://e/a> <http://e/p> <http://e/b> .\n<http://e/a> <p> <http://e/b> .\n"
    )
    with Reasoner("", engine="local") as r:
        with pytest.raises(DataError, match=r"later\.nt:2"):
            r.load(tmp_path)
        assert r.predicates() == []
        (tmp_path / "later.nt").unlink()
        r.load(file)
        assert r.count(e("p")) == 5


def test_arities_clash(file: Path) -> None:
    with Reasoner("q(?x) :- <http://e/p>(?x, ?y, ?z) .", engine="local") as r:
        with pytest.raises(DataError, match="<http://e/p> has 3 arguments, but the rows have 2"):
            r.load(file)
        assert [str(p) for p in r.predicates()] == ["<http://e/p>/3", "q/1"]


def test_blank_nodes_keep_their_labels(file: Path) -> None:
    """Loading a file again adds nothing, so its facts can also be taken away by loading it."""
    with Reasoner("", engine="local") as r:
        r.load(file)
        first = facts(r)
        r.load(file)
        assert facts(r) == first
        change = r.update(delete=read(file))
        assert change.ignored == 0 and not any(facts(r).values())


LABELS = ["a‿b", "a·", "à", "À", "1a", "_", "⁰", "a⁀.b", "\U00010000-"]


@pytest.mark.parametrize("format", ["nt", "ttl"])
def test_labels_of_turtle(tmp_path: Path, format: str) -> None:
    """Whatever label Turtle allows is a blank node in Python, too."""
    path = tmp_path / f"data.{format}"
    path.write_text("".join(f"<u:s> <u:p> _:{label} .\n" for label in LABELS), encoding="utf-8")
    with Reasoner("", engine="local") as r:
        r.load(path)
        nodes = {o for _, o in r.rows(IRI("u:p"))}
        assert nodes == {BlankNode(label) for label in LABELS}
        assert all(r.contains(IRI("u:p"), (IRI("u:s"), node)) for node in nodes)
        r.export(tmp_path / "out", format=format)
    with Reasoner("", engine="local") as again:
        again.load(tmp_path / "out")
        assert {o for _, o in again.rows(IRI("u:p"))} == nodes


@pytest.mark.parametrize(("label", "column"), [("_::a", 13), ("_:abc:def", 18)])
@pytest.mark.parametrize("format", ["nt", "nq"])
def test_labels_have_no_colons(tmp_path: Path, label: str, column: int, format: str) -> None:
    path = tmp_path / f"data.{format}"
    path.write_text(f"<u:s> <u:p> <u:o> .\n<u:s> <u:p> {label} .\n")
    with Reasoner("", engine="local") as r, pytest.raises(DataError) as caught:
        r.load(path)
    assert str(caught.value).startswith(f"{path}:2:{column}: "), str(caught.value)


@pytest.mark.parametrize("format", ["nt", "ttl"])
def test_out_and_in_again(file: Path, tmp_path: Path, format: str) -> None:
    rules = "<http://e/r>(?x) :- <http://e/p>(?x, ?y) . plain(?x) :- <http://e/r>(?x) ."
    with Reasoner(rules, engine="local") as r:
        r.load(file)
        r.add(e("p"), [("a string", 1), (e("z"), 2)])
        with pytest.warns(DataWarning) as said:
            written = r.export(tmp_path / "out", format=format)
        assert any("not written: plain/1" in str(w.message) for w in said)
        assert sum("left out, with a literal as subject" in str(w.message) for w in said) == 3
        r_file, p_file = f"http%3A%2F%2Fe%2Fr.{format}", f"http%3A%2F%2Fe%2Fp.{format}"
        assert (written[r_file], written[p_file]) == (3, 6)
        before = facts(r)
    with Reasoner("", engine="local") as again:
        for path in sorted((tmp_path / "out").iterdir()):
            copy = tmp_path / f"{path.name}.gz"
            copy.write_bytes(gzip.compress(path.read_bytes()))
            again.load(copy)
        after = facts(again)
    del before["plain/1"]
    assert after == {p: [row for row in rows if row[0] != "a string"] for p, rows in before.items()}


def test_command_line(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules, out = tmp_path / "rules.rls", tmp_path / "out"
    rules.write_text("@prefix e: <http://e/> .\ne:D(?x) :- e:p(?x, ?y), ~e:q(?x, ?y), triple(?x, ?p, ?y) .\n")

    def run(*args: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as stop:
            app.app([str(a) for a in args])
        return int(stop.value.code or 0), capsys.readouterr().err

    assert run("check", rules, "--facts", file) == (0, "")
    code, said = run("materialise", rules, "--facts", file, "--out", out, "--format", "ttl")
    assert code == 0 and said == ""
    assert "<http://e/a> a <http://e/D> ." in (out / "http%3A%2F%2Fe%2FD.ttl").read_text()
    (tmp_path / "bad.nt").write_text('<http://e/a> <http://e/p> "x" .\n<http://e/a> <http://e/p> "y\n')
    code, said = run("materialise", rules, "--facts", tmp_path / "bad.nt", "--out", tmp_path / "none")
    assert code == 2 and "bad.nt:2:27: " in said and not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", ["e:q", "<http://e/q>", IRI("http://e/q")])
def test_changes_know_the_prefixes_of_the_program(name: str | IRI) -> None:
    r = Reasoner("@prefix e: <http://e/> . e:q(?x) :- e:p(?x, ?y) .")
    change = r.update(add={"e:p": [(1, 2)]})
    assert change.rows(name) == r.rows(name) == [(1,)]
    assert change.rows("rdf:type") == r.rows("rdf:type") == [(1, IRI("http://e/q"))]
