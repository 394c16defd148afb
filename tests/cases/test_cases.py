"""Runs the folders beside this file: one program, its facts, and what must follow from them.

    <name>/program.rls              the rules, with a comment that says what the case is about; or program.dlog
    <name>/facts/                   loaded as a user would load the folder
    <name>/expected/*.csv           all facts of the predicate the file is named for; `()` is the fact without arguments
    <name>/updates/01/add/*.csv     explicit facts that come, `delete/` those that go, both at once,
    <name>/updates/01/expected/     and what holds afterwards
    <name>/error.txt                instead of expectations: lines that the error must contain, its class among them

Expectations are written by hand and read by `values`, which types fields by the manual's rule without the
package.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations as combinations_of
from pathlib import Path
from typing import Any

import pytest

from modulog.engines.registry import BACKENDS
from modulog.errors import ModulogError
from support.case_folders import ERRORS, FOLDERS, RESULTS, UPDATES, check, loaded, play
from support.switches import COMPUTING, PAIRS, UPDATING, Options, few
from support.toy_engine import make_toy
from support.values import program_of

TOY = {
    "arithmetic",
    "bill-of-materials",
    "errata-e1",
    "family",
    "linear-closure-seeds",
    "negation-three-strata",
    "set-difference",
}
"""Folders that an engine of Python sets runs, too."""

# Cases about empty predicates and products are warned about.
pytestmark = pytest.mark.filterwarnings("ignore")


def case(folder: Path, options: Options, quick: Iterable[Options]) -> Any:
    """A folder and switches as the parameters of a test, which takes long unless it is among the quick ones."""
    switches = "-".join(f"{key}-{value}" for key, value in options.items()) or "default"
    marks = () if options in quick else pytest.mark.long
    return pytest.param(folder, options, id=f"{folder.name}-{switches}", marks=marks)


@pytest.mark.parametrize(
    ("folder", "options"), [case(folder, options, PAIRS) for folder in RESULTS for options in COMPUTING]
)
def test_results(folder: Path, options: dict[str, str], engine: str) -> None:
    check(loaded(folder, options, engine), folder / "expected")


@pytest.mark.parametrize("folder", [f for f in RESULTS if f.name in TOY], ids=lambda f: f.name)
def test_an_engine_that_documents_describe(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What docs/architecture.md says under "To add an engine" is enough for a whole reasoner."""
    monkeypatch.setitem(BACKENDS, "toy", make_toy)
    check(loaded(folder, {}, "toy"), folder / "expected")
    if folder in UPDATES:
        play(folder, {}, "toy")


@pytest.mark.parametrize(
    ("folder", "options"),
    [case(f, options, [*few(n)]) for n, f in enumerate(UPDATES) for options in UPDATING],
)
def test_updates(folder: Path, options: dict[str, str], engine: str) -> None:
    play(folder, options, engine)


@pytest.mark.parametrize("folder", ERRORS, ids=lambda f: f.name)
def test_errors(folder: Path, engine: str) -> None:
    with pytest.raises(ModulogError) as caught:
        loaded(folder, {}, engine).materialise()
    message = f"{caught.type.__name__}: {caught.value}"
    for line in (folder / "error.txt").read_text(encoding="utf-8").splitlines():
        assert line in message


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_folder_is_complete(folder: Path) -> None:
    """A case expects something, says what it is about, and each of its updates does too."""
    if folder in ERRORS:
        return
    assert program_of(folder).read_text(encoding="utf-8").startswith(("%", "#"))
    assert list((folder / "expected").glob("*.csv"))
    for step in folder.glob("updates/*"):
        assert list(step.glob("expected/*.csv"))
        assert list(step.glob("add/*.csv")) or list(step.glob("delete/*.csv"))


# ---- Which switches are tried


def values_of_two(combinations: Iterable[Options]) -> set[tuple[str, str, str, str]]:
    """What any two switches of the combinations say together; nothing if they are left alone."""
    names = sorted({name for options in UPDATING for name in options})
    pairs = list(combinations_of(names, 2))
    return {(a, o.get(a, ""), b, o.get(b, "")) for o in combinations for a, b in pairs}


def test_any_two_values_of_switches_meet() -> None:
    assert values_of_two(PAIRS) == values_of_two(COMPUTING)
    for number in range(2):
        assert values_of_two([*few(number), *few(number + 1)]) == values_of_two(UPDATING)
        assert len({name for options in few(number) for name in options}) == 4
