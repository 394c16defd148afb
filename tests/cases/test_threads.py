"""Every case folder on two and on three threads says what it says on one: facts, their order, statistics,
changes, errors.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from modulog.errors import ModulogError
from support.case_folders import ERRORS, FOLDERS, read
from support.divided import NUMBERS, changed, divided, told, untimed
from support.switches import COMPUTING, MAINTENANCE, Options
from support.values import program_of, rows_to_python

# Cases about empty predicates and products are warned about.
pytestmark = pytest.mark.filterwarnings("ignore")

QUICK: list[Options] = [{}, {"modules": "off"}]
"""Of which `make test` takes one for a folder, in turn."""
OTHERS = [options | {"maintenance": how} for how in MAINTENANCE for options in COMPUTING]


def story(folder: Path, workers: int, options: dict[str, Any]) -> list[Any]:
    """All that is said on the way through a folder, or the error at its end."""
    said: list[Any] = []
    try:
        reasoner = divided(program_of(folder), workers, **options)
        if (folder / "facts").is_dir():
            reasoner.load(folder / "facts")
        said += [untimed(reasoner.materialise()), told(reasoner)]
        for step in sorted(folder.glob("updates/*")):
            add, delete = (
                {p: rows_to_python(rows) for p, rows in read(step / kind).items()}
                for kind in ("add", "delete")
            )
            said += [changed(reasoner.update(add=add, delete=delete)), told(reasoner)]
        reasoner.close()
    except ModulogError as error:
        said.append(f"{type(error).__name__}: {error}")
    return said


def check(folder: Path, options: dict[str, Any]) -> None:
    one, *others = (story(folder, workers, options) for workers in NUMBERS)
    assert all(isinstance(said, str) for said in one[-1:]) == (folder in ERRORS)
    for said in others:
        assert said == one


@pytest.mark.parametrize(
    ("folder", "options"), [pytest.param(f, QUICK[n % 2], id=f.name) for n, f in enumerate(FOLDERS)]
)
def test_folder(folder: Path, options: dict[str, str]) -> None:
    check(folder, options)


def test_threads_have_worked() -> None:
    """What is compared here is not the same work done by one thread three times."""
    reasoner = divided("p(?x, ?z) :- e(?x, ?y), e(?y, ?z) . e(a, b) . e(b, c) . e(c, d) . e(d, a) .", 2)
    reasoner.materialise()
    assert any(thread.name.startswith("modulog") for thread in threading.enumerate())
    reasoner.close()


@pytest.mark.long
@pytest.mark.parametrize("options", OTHERS, ids=str)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_folder_with_other_switches(folder: Path, options: dict[str, str]) -> None:
    check(folder, options)
