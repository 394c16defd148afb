"""What the documents show is what happens: their Python, their commands, and the files that they name."""

from __future__ import annotations

import gzip
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modulog import IRI, Reasoner
from modulog.cli import app
from support.documents import ROOT, block, blocks, commands, shown_values

DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "examples").glob("*/*.md")),
]
CLOSURE = "path(?x, ?y) :- edge(?x, ?y) .\npath(?x, ?z) :- path(?x, ?y), edge(?y, ?z) .\n"
TRIPLES = "<http://a/x> <http://a/p> <http://a/y> .\n"


@pytest.fixture
def modulog(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs the command line in this process; gives the exit code and all that was printed."""

    def run(arguments: list[str]) -> tuple[int, str]:
        with pytest.raises(SystemExit) as stop:
            app.app(arguments)
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.err + captured.out

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ---- README


def test_the_tour_in_python() -> None:
    """Each block is run, and then the values behind its expressions are compared; the plan is shown between the two blocks."""
    names: dict[str, Any] = {}
    first, second = (b.text for b in blocks("README.md", "python"))
    for text in (first, second):
        exec(text, names)
        values = [(code, eval(code, names), value) for code, value in shown_values(text)]
        assert [one for one in values if one[1] != one[2]] == []
        assert len(values) >= 3
        if text is first:
            assert str(names["r"].plan()).strip() == block("README.md", "facts    parent/2").strip()


def test_the_query_on_the_command_line(
    modulog: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = block("README.md", "$ modulog query rules.rls")
    [arguments] = commands(shown)
    monkeypatch.chdir(ROOT / "examples" / "supply-chain")
    assert modulog(arguments) == (0, shown[shown.index("┏") :])


def test_the_mistake_on_the_command_line(modulog: Callable[..., tuple[int, str]], folder: Path) -> None:
    shown = block("docs/command-line.md", "$ modulog check game.rls")
    called, _, printed = shown.partition("\n")
    (folder / "game.rls").write_text(re.findall(r"^  1 \| (.*)$", printed, re.M)[0], encoding="utf-8")
    assert modulog(commands(called)[0]) == (2, printed)


def test_every_verb_is_in_the_table(modulog: Callable[..., tuple[int, str]]) -> None:
    """And the options that the table shows are options of the verb."""
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    rows = [
        shlex.split(call)[1:] for call in re.findall(r"`(modulog [a-z]+ [^`]*)`", text.split("| verb |")[1])
    ]
    helped = modulog(["--help"])[1]
    verbs = {verb for verb, *_ in rows}
    assert verbs and all(re.search(rf"^\W*{verb}\b", helped, re.M) for verb in verbs)
    for verb, *words in rows:
        options = {word.strip("[]") for word in words if word.strip("[]").startswith("--")}
        assert options <= set(re.findall(r"--[a-z-]+", modulog([verb, "--help"])[1]))


# ---- docs


def test_a_store(modulog: Callable[..., tuple[int, str]], folder: Path) -> None:
    with Reasoner(CLOSURE) as r:
        r.add("edge", [("a", "b"), ("b", "c")])
        names: dict[str, Any] = {"Reasoner": Reasoner, "r": r}
        exec(block("docs/store.md", "r.save(", "python"), names)
        names["r"].close()
    with Reasoner.open("store/") as stored:
        assert set(stored.rows("path")) == {("b", "c"), ("b", "d"), ("c", "d")}


def test_a_store_on_the_command_line(modulog: Callable[..., tuple[int, str]], folder: Path) -> None:
    (folder / "rules.rls").write_text(CLOSURE, encoding="utf-8")
    (folder / "edge.csv").write_text("a,b\n", encoding="utf-8")
    (folder / "new").mkdir()
    (folder / "new" / "edge.csv").write_text("b,c\n", encoding="utf-8")
    text = block("docs/store.md", "modulog materialise").replace("--facts PATH...", "--facts edge.csv")
    text = text.replace("--add PATH... --delete PATH...", "--add new --delete edge.csv").replace(
        "RULES", "rules.rls"
    )
    outcomes = [modulog(arguments) for arguments in commands(text)]
    assert [code for code, _ in outcomes] == [0, 0, 0, 0]
    assert (folder / "FILES" / "path.parquet").exists()


def test_rdf(folder: Path) -> None:
    (folder / "rules.rls").write_text("<http://a/q>(?x, ?y) :- <http://a/p>(?x, ?y) .", encoding="utf-8")
    (folder / "data.ttl.gz").write_bytes(gzip.compress(TRIPLES.encode()))
    names: dict[str, Any] = {}
    exec(block("docs/rdf.md", "from pathlib", "python"), names)
    assert names["r"].rows(IRI("http://a/q")) == [(IRI("http://a/x"), IRI("http://a/y"))]
    assert (folder / "out").is_dir()


def test_ontologies(modulog: Callable[..., tuple[int, str]], folder: Path) -> None:
    ontology = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        xmlns:owl="http://www.w3.org/2002/07/owl#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
        <owl:ObjectProperty rdf:about="http://a/p"><rdfs:subPropertyOf rdf:resource="http://a/q"/></owl:ObjectProperty>
        <owl:ObjectProperty rdf:about="http://a/q"/></rdf:RDF>"""
    (folder / "ontology.owl").write_text(ontology, encoding="utf-8")
    (folder / "data.nt").write_text(TRIPLES, encoding="utf-8")
    names: dict[str, Any] = {}
    exec(block("docs/ontologies.md", "from modulog", "python"), names)
    assert names["r"].rows(IRI("http://a/q")) == [(IRI("http://a/x"), IRI("http://a/y"))]
    shown = block("docs/ontologies.md", "modulog rules").replace("ONTOLOGY.owl", "ontology.owl")
    assert [modulog(arguments)[0] for arguments in commands(shown)] == [0, 0]


def test_rules_that_compute() -> None:
    with Reasoner(block("docs/terms.md", "total(")) as r:
        r.add("price", [("pen", 2), ("cup", 5)])
        r.add("sold", [("pen", 4), ("cup", 3)])
        r.add("works", [("Ada", "Byte")])
        assert r.rows("total") == [("cup", 15)]
        assert r.count("job") == r.count("who") == 1


def test_a_pipeline_without_running_it(modulog: Callable[..., tuple[int, str]], folder: Path) -> None:
    """All that is on other machines is left out of the configuration; what comes before `run` is run in Python."""
    text = block("docs/pipeline.md", "# pipeline.toml", "toml")
    (folder / "pipeline.toml").write_text(text.replace("s3a://lake/", ""), encoding="utf-8")
    (folder / "rules.rls").write_text(CLOSURE + "old(?x) :- age(?x, ?n), ?n > 90 .", encoding="utf-8")
    (folder / "more.dlog").write_text("known[?x] :- name(?x, ?n) .", encoding="utf-8")
    for name, content in {
        "raw/people.csv": "id,name,age\n1,Ada,36\n",
        "links/a.nt.gz": "",
        "changes/add/edge.csv": "a,b\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "links" / "a.nt.gz").write_bytes(gzip.compress(TRIPLES.encode()))
    first, *_ = commands(block("docs/pipeline.md", "modulog run"))
    assert first == ["run", "pipeline.toml", "--dry-run"]
    code, printed = modulog(first)
    assert code == 0, printed
    before, run, _ = block("docs/pipeline.md", "from modulog import Pipeline", "python").partition(
        "run = pipeline.run()"
    )
    assert run
    exec(before, {})


# ---- what documents name


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.M | re.S)
    missing = []
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        place = document.parent / name if name else document
        if not place.exists():
            missing.append(target)
        elif anchor:
            heads = re.findall(r"^#+ (.*)$", place.read_text(encoding="utf-8"), re.M)
            if anchor not in [re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads]:
                missing.append(target)
    assert missing == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(ROOT)))
def test_files_that_are_named_exist(document: Path) -> None:
    """A path in a document is meant from the root, the package, the tests, or the folder of the document."""
    text = document.read_text(encoding="utf-8")
    named = re.findall(r"`((?:[\w.-]+/)+[\w-]+\.(?:py|sh|lark|md|rls|toml|html))(?:::?\w+)?`", text)
    roots = [ROOT, ROOT / "src" / "modulog", ROOT / "tests", document.parent]
    outputs = ("build/", "output/", "store/", "runs/", "out/")
    assert [p for p in named if not p.startswith(outputs) and not any((r / p).exists() for r in roots)] == []


DECISIONS = re.findall(
    r"^\|[^|]+\| `(\S+\.py)`: `(\w+)` \|$", (ROOT / "docs/architecture.md").read_text(), re.MULTILINE
)


@pytest.mark.parametrize(("file", "name"), DECISIONS)
def test_decisions_are_taken_where_the_document_says(file: str, name: str) -> None:
    text = (ROOT / "src/modulog" / file).read_text()
    assert re.search(rf"^ *(?:def|class) {name}\b|^{name}\b.* = ", text, re.MULTILINE)


def test_the_document_lists_decisions() -> None:
    assert len(DECISIONS) > 10
