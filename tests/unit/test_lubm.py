"""The generator of LUBM data: different triples, the same for the same seed, in the proportions of the original."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks.data import lubm
from support.realdata import data_folder


def profile(lines: Iterable[str]) -> Counter[str]:
    """How many triples each property has, and each class."""
    found: Counter[str] = Counter()
    for line in lines:
        _, predicate, rest = line.split(" ", 2)
        name = predicate.rpartition("#")[2]
        found[name if name != "type>" else f"type {rest.split()[0].rpartition('#')[2]}"] += 1
    return found


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    path = tmp_path_factory.mktemp("lubm") / "lubm-1.nt"
    written = lubm(path, 1)
    lines = path.read_text().splitlines()
    assert len(lines) == len(set(lines)) == written
    return lines


def test_the_same_for_the_same_seed(generated: list[str], tmp_path: Path) -> None:
    lubm(tmp_path / "again.nt", 1)
    assert (tmp_path / "again.nt").read_text().splitlines() == generated


def test_the_profile_of_the_original(tmp_path: Path) -> None:
    """What a department has on average, by class and property: within a few percent of what the original generator gives it."""
    folder = data_folder("lubm")
    if folder is None:
        pytest.skip("no LUBM data")
    with gzip.open(folder / "lubm-10.nt.gz", "rt") as file:
        real = profile(file)
    lubm(tmp_path / "ten.nt", 10)
    with (tmp_path / "ten.nt").open() as file:
        ours = profile(file)
    assert ours.keys() == real.keys()
    departments = ours["type Department>"], real["type Department>"]
    assert departments[0] == pytest.approx(departments[1], rel=0.15)  # between 15 and 25, at random
    assert ours.total() / departments[0] == pytest.approx(real.total() / departments[1], rel=0.02)
    for name, count in real.items():
        if name != "type University>":  # a thousand of them, however many are described
            assert ours[name] / departments[0] == pytest.approx(count / departments[1], rel=0.05), name
