"""RDF on Spark: the same facts as in the local engine, labels of blank nodes included, and the same files out."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from modulog import IRI, Reasoner
from modulog.errors import DataError
from modulog.formats import DataWarning
from modulog.terms.python_values import constant
from support.rdf_documents import GOOD, HEAD, RDF
from support.stores import EVERY_KIND

RULES = "all(?s, ?p, ?o) :- triple(?s, ?p, ?o) . in(?o, ?g) :- quad(?s, ?p, ?o, ?g) ."


def facts(reasoner: Reasoner) -> dict[str, list[str]]:
    """Every predicate with its facts."""
    found = {}
    for p in reasoner.predicates():
        name = IRI(p.name[1:-1]) if p.name.startswith("<") else p.name
        if [q.name for q in reasoner.predicates()].count(p.name) == 1:
            found[str(p)] = sorted(map(str, reasoner.rows(name)))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents of every format, some compressed."""
    made = tmp_path_factory.mktemp("some data")
    for format, cases in GOOD.items():
        lines = format in ("nt", "nq")
        content = "\n".join(text for text, _ in cases.values()) if lines else cases[sorted(cases)[0]][0]
        (made / f"a {format}.{format}").write_text(content, encoding="utf-8", newline="")
    (made / "packed.ttl.gz").write_bytes(gzip.compress((HEAD + "e:a e:p [ e:q (1 2) ], _:b .").encode()))
    return made


def test_both_engines_read_the_same(folder: Path, spark: Any) -> None:
    with Reasoner(RULES, spark=spark) as r, Reasoner(RULES, engine="local") as local:
        r.load(folder)
        local.load(folder)
        assert facts(r) == facts(local)
        assert r.count("quad") == 5 and r.count("all") == local.count("triple") > 20


def test_both_engines_write_the_same(tmp_path: Path, spark: Any) -> None:
    path = tmp_path / "facts.ttl"
    path.write_text(HEAD + 'e:a a e:C ; e:p 1, 1.5, "x\\n"@en, "2020-01-01"^^xsd:date, _:b .')
    with Reasoner("plain(?x) :- <http://e/p>(?x, ?y) .", spark=spark) as r:
        r.load(path)
        r.add(IRI("http://e/p"), [("a string", 1)])
        for format in ("nt", "ttl"):
            with pytest.warns(DataWarning) as said:
                written = r.export(tmp_path / format, format=format)
            assert [text for w in said if "not written: plain/1" in (text := str(w.message))]
            assert [text for w in said if "1 fact is left out, with a literal" in (text := str(w.message))]
            assert written[f"http%3A%2F%2Fe%2Fp.{format}"] == 5
            again = Reasoner("", engine="local")
            for part in (tmp_path / format).glob("*/part-*"):
                copy = tmp_path / f"{part.parent.stem}-{part.stem}.{format}"
                copy.write_bytes(part.read_bytes())
                again.load(copy)
            assert again.count(IRI("http://e/p")) == 5 and again.count(IRI("http://e/C")) == 1


def test_a_mistake_changes_nothing(tmp_path: Path, spark: Any) -> None:
    (tmp_path / "a.nt").write_text(f"<http://e/a> <{RDF}type> <http://e/C> .\n")
    (tmp_path / "b.trig").write_text(HEAD + "e:a e:p\n x:b .")
    with Reasoner("", spark=spark) as r:
        with pytest.raises(DataError, match=r"b\.trig:4.*prefix"):
            r.load(tmp_path)
        assert r.predicates() == []


@pytest.mark.filterwarnings("ignore:.*more facts of:modulog.formats.DataWarning")
@pytest.mark.parametrize(
    "format", ["parquet", *(pytest.param(f, marks=pytest.mark.long) for f in ("nt", "ttl"))]
)
def test_every_kind_of_term_comes_back_to_both_engines(tmp_path: Path, spark: Any, format: str) -> None:
    name, subject = IRI("http://e/p"), IRI("http://e/s")
    given = [(subject, value) for _, *values in EVERY_KIND for value in values]
    with Reasoner("", spark=spark) as r:
        r.add(name, given)
        r.export(tmp_path, format=format)
    for options in ({"engine": "local"}, {"spark": spark}):
        with Reasoner("", **options) as again:
            again.load(tmp_path)
            assert constants(again.rows(name)) == constants(given)


def constants(rows: Iterable[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
    """Rows of terms, which tell 1 from True."""
    return {tuple(map(constant, row)) for row in rows}


EQUAL = """
@prefix : <u:> .
triple(?a, ?p, ?o) :- owl:sameAs(?a, ?b), triple(?b, ?p, ?o) .
rdf:type(?x, ?d) :- rdf:type(?x, ?c), :below(?c, ?d) .
"""


@pytest.mark.long
def test_triples_and_predicates_agree(tmp_path: Path, spark: Any) -> None:
    """What rules derive as triples and types holds for properties and classes that no rule names, in every way of asking."""
    path = tmp_path / "facts.ttl"
    path.write_text(
        "@prefix : <u:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        ":bob owl:sameAs :rob . :rob :likes :fish ; a :Cat . :Cat :below :Animal ."
    )
    with Reasoner(EQUAL, spark=spark) as r, Reasoner(EQUAL, engine="local") as local:
        for one in (r, local):
            one.load(path)
            assert one.count("triple(:bob, :likes, ?o)") == one.count(":likes(:bob, ?o)") == 1
            assert one.contains(":Animal", (IRI("u:bob"),)) and one.count("rdf:type(?x, :Animal)") == 2
            change = one.update(add={":likes": [(IRI("u:rob"), "milk")]})
            assert change.added == {"triple": 2, "<u:likes>": 2}
        assert facts(r) == facts(local)
        assert r.count("triple") == len(local.rows("triple")) == 10
        for one, folder in ((r, tmp_path / "spark"), (local, tmp_path / "local")):
            assert one.export(folder, format="nt", predicates=[":likes", ":Animal"]) == {
                "u%3Alikes.nt": 4,
                "u%3AAnimal.nt": 2,
            }
