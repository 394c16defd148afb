"""The guides do what they show: files, Python and commands of a page are run in their order, in an empty folder."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from modulog import Reasoner, Switches
from modulog.cli import app
from modulog.formats import DataWarning
from modulog.modules.make_module import MAKERS
from modulog.planning import assign_modules
from support.documents import blocks, check_python, commands

GUIDES = {"load-tables": 7, "keep-up-to-date": 6, "find-out-why-slow": 3}
"""How many values each guide shows, at least."""


def run(guide: str, folder: Path, capture: pytest.CaptureFixture[str]) -> int:
    """Go through a guide from its beginning to its end."""
    names: dict[str, Any] = {}
    values, printed = 0, ""
    for block in blocks(f"docs/{guide}.md", None):
        if block.file:
            path = folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            values += check_python(block.text, names)
            printed += capture.readouterr().out
        elif block.text.startswith("$ "):
            check_commands(block.text, capture)
        else:  # part of what was printed
            assert block.text in printed
    return values


def check_commands(text: str, capture: pytest.CaptureFixture[str]) -> None:
    """Run the commands of a block; each must print what is shown below it."""
    for call in text.removeprefix("$ ").split("\n$ "):
        line, _, expected = call.partition("\n")
        [arguments] = commands(line)
        capture.readouterr()
        with pytest.raises(SystemExit) as stop:
            app.app(arguments)
        printed = capture.readouterr()
        assert (stop.value.code or 0, printed.out.strip()) == (0, expected.strip())


@pytest.mark.parametrize("guide", GUIDES)
def test_guides(
    guide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    warnings.simplefilter("ignore", DataWarning)  # of bad records, which one of them has
    assert run(guide, tmp_path, capsys) >= GUIDES[guide]


def test_the_module_of_the_guide() -> None:
    """Recognised and made as the guide says, it takes its rules from the seminaive module; facts stay the same."""
    names: dict[str, Any] = {}
    for block in blocks("docs/write-a-module.md", "python"):
        exec(block.text, names)
    made: list[Any] = []

    def mirror(*arguments: Any) -> Any:
        made.append(names["make_mirror"](*arguments))
        return made[-1]

    text = "near(?x, ?y) :- near(?y, ?x) . near(?x, ?y) :- road(?x, ?y) ."
    changes = [({"road": [("a", "b"), ("b", "c")], "near": [("d", "a")]}, {}), ({}, {"road": [("a", "b")]})]
    changes += [({"near": [("a", "b"), ("b", "a")]}, {"near": [("d", "a")]}), ({}, {"near": [("a", "b")]})]
    recognisers = [*assign_modules.RECOGNISERS, names["mirrored"]]
    known = patch.object(assign_modules, "RECOGNISERS", recognisers), patch.dict(MAKERS, mirror=mirror)
    with known[0], known[1], Reasoner(text) as r:
        steps = [follow(r, changes)]
    with Reasoner(text, switches=Switches(modules="off")) as r:
        steps.append(follow(r, changes))
    assert made and steps[0] == steps[1] and all(steps[0])


def follow(r: Reasoner, changes: list[Any]) -> list[set[Any]]:
    """What holds after each of some updates."""
    found = []
    for add, delete in changes:
        r.update(add=add, delete=delete)
        found.append(set(r.rows("near")))
    return found
