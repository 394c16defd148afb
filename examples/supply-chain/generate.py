"""Make the facts of this example anew: a made-up company, its services and the packages they are built from.

    python examples/supply-chain/generate.py

The same numbers come out every time. Packages lie in layers, from small libraries at the bottom to frameworks at the top; most depend on what lies
below them, and a few dependencies go back up, so that there are cycles.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

HERE = Path(__file__).parent
SUBJECTS = (
    "json yaml http grpc auth token crypto cache queue mail pdf image video geo date money tax invoice search index graph "
    "table chart form router socket stream parser schema config log metric trace alert job lock shard vector feature".split()
)
ROLES = (
    "core kit client server utils types tools bridge adapter codec engine store reader writer proxy runner "
    "sync cli mock lite plus next fast safe".split()
)
TEAMS = "billing checkout catalogue identity insights logistics messaging platform search support".split()
PEOPLE = [
    f"{first}-{last}"
    for last in "aoki brandt costa dubois evans fischer".split()
    for first in "ada ben chloe dev elif finn grace hugo iris jonas kira leo mina noor otto pia quinn rosa sami tess".split()
]
LICENCES = ["MIT"] * 46 + ["Apache-2.0"] * 30 + ["BSD-3-Clause"] * 16 + ["MPL-2.0"] * 7 + ["GPL-3.0"]
LAYERS, PACKAGES, SERVICES, ADVISORIES = 8, 960, 48, 40

random = Random(7).random
Item = TypeVar("Item")
Row = tuple[object, ...]


def pick(items: Sequence[Item]) -> Item:
    """One of the items; only `random()` itself gives the same numbers in every version of Python."""
    return items[int(random() * len(items))]


def write(path: str, rows: Iterable[Row]) -> None:
    """Write rows to a CSV file without a header."""
    with (HERE / path).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def dependencies(layers: Sequence[Sequence[str]]) -> dict[Row, None]:
    """One to three dependencies for each package, mostly one layer down and mostly on a few favourites."""
    found: dict[Row, None] = {}
    for number, layer in enumerate(layers[1:], 1):
        for package in layer:
            for _ in range(1 + int(random() * 3)):
                below = layers[number - 1] if random() < 0.8 else pick(layers[:number])
                found[package, below[int(random() ** 2 * len(below))]] = None
    for _ in range(6):
        upper, lower = pick(list(found))
        found[lower, upper] = None
    return found


def maintainers() -> int:
    """How many people look after a package: one to three, seldom none."""
    return 0 if random() < 0.02 else 1 + int(random() * 3)


def main() -> None:
    """Write all files."""
    names = [f"{subject}-{role}" for role in ROLES for subject in SUBJECTS]
    packages = sorted(names, key=lambda _: random())[:PACKAGES]
    size = PACKAGES // LAYERS
    layers = [packages[i * size : (i + 1) * size] for i in range(LAYERS)]
    (HERE / "facts").mkdir(exist_ok=True)
    write("facts/package.csv", [(p, pick(LICENCES)) for p in packages])
    write("facts/depends.csv", dependencies(layers))
    write("facts/maintains.csv", {(pick(PEOPLE), p): None for p in packages for _ in range(maintainers())})
    services = [f"{pick(TEAMS)}-{n:02}" for n in range(1, SERVICES + 1)]
    top = layers[-1] + layers[-2] + layers[3]
    write(
        "facts/uses.csv",
        {(s, top[int(random() ** 1.5 * len(top))]): None for s in services for _ in range(3)},
    )
    rows = [
        (s, s[:-3], "public" if random() < 0.5 else "internal", "shipped" if random() < 0.25 else "hosted")
        for s in services
    ]
    write("services.csv", rows)
    advisories = [
        f"ADV-2024-{n:04}" for n in sorted({int(random() * 9000) + 1000 for _ in range(ADVISORIES)})
    ]
    write("facts/advisory.csv", [(a, pick(packages), round(3 + random() * 7, 1)) for a in advisories])
    write("facts/fixed.csv", [(a,) for a in advisories if random() < 0.6])


if __name__ == "__main__":
    main()
