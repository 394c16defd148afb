"""Kill a process that updates a store, before one step after another, and see what it leaves: `killed_updater.py FOLDER STRIDE`.

A state is what a chain of edges with one number at its end implies; an update replaces the number by the next, and now and then lengthens the chain, so that
changes are folded. STRIDE 1 takes every step, 10 every tenth. Prints how many turns and updates there were, how often there were unfinished files, and how often a state was not there as a whole.
"""

from __future__ import annotations

import json
import sys
from itertools import count, pairwise
from pathlib import Path

from modulog import Reasoner
from modulog.store.manifest import read_manifest
from support.killed import killed

PROGRAM = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
    now(?n) :- state(?n), path(?x, ?n) .
"""
LENGTH, UPDATES = 30, 3


def step(r: Reasoner, folder: Path) -> None:
    """From the state n to n + 1."""
    ((n,),) = r.rows("state")
    r.update(
        delete={"state": [(n,)], "edge": [(f"n{LENGTH}", n)]},
        add={"state": [(n + 1,)], "edge": [(f"n{LENGTH}", n + 1), (f"m{n}", f"m{n + 1}")]},
    )
    r.save(folder)


def update(folder: Path) -> None:
    """Some updates, one after the other."""
    with Reasoner.open(folder) as r:
        for _ in range(UPDATES):
            step(r, folder)


def state_of(folder: Path) -> int | None:
    """The number of the state; None if it is not one of those that were written."""
    with Reasoner.open(folder) as r:
        ((n,),) = r.rows("state")
        chain = [*(f"n{i}" for i in range(LENGTH + 1)), n]
        other = [f"m{i}" for i in range(n + 1)]
        edges = {*pairwise(chain), *pairwise(other)}
        paths = {(c[i], c[j]) for c in (chain, other) for i in range(len(c)) for j in range(i + 1, len(c))}
        whole = set(r.rows("edge")) == edges and set(r.rows("path")) == paths and r.rows("now") == [(n,)]
        return n if whole else None


def main(folder: Path, stride: int) -> None:
    store = folder / "store"
    r = Reasoner(PROGRAM)
    r.add("edge", [*((f"n{i}", f"n{i + 1}") for i in range(LENGTH)), (f"n{LENGTH}", 0)])
    r.add("state", [(0,)])
    r.save(store)
    update(store)  # everything is loaded and compiled then
    seen = {"turns": 0, "updates": 0, "unfinished": 0, "mixtures": 0}
    last = state_of(store)
    for step_ in count(0, stride):
        dead = killed(lambda: update(store), step_, store)
        named = {file.path for file in read_manifest(store).files()}
        seen["unfinished"] += {str(p.relative_to(store)) for p in store.rglob("*.parquet")} != named
        seen["turns"] += 1
        found = state_of(store)
        if found is None or last is None or not last <= found <= last + UPDATES:
            seen["mixtures"] += 1
        else:
            seen["updates"] += found - last
            last = found
        if not dead:
            break
    print(json.dumps(seen))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
