"""Kill a process that updates a store, again and again, and see what it leaves: `killed_updater.py FOLDER TIMES`.

A state is what a chain of edges with one number at its end implies; an update replaces the number by the next, and now and then lengthens the chain, so that
changes are folded. Prints how many updates there were, how often there were unfinished files, and how often a state was not there as a whole.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from itertools import pairwise
from pathlib import Path
from random import Random

from modulog import Reasoner
from modulog.store.manifest import read_manifest

PROGRAM = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), path(?y, ?z) .
    now(?n) :- state(?n), path(?x, ?n) .
"""
LENGTH = 30


def step(r: Reasoner, folder: Path) -> None:
    """From the state n to n + 1."""
    ((n,),) = r.rows("state")
    r.update(
        delete={"state": [(n,)], "edge": [(f"n{LENGTH}", n)]},
        add={"state": [(n + 1,)], "edge": [(f"n{LENGTH}", n + 1), (f"m{n}", f"m{n + 1}")]},
    )
    r.save(folder)


def update_for_ever(folder: Path) -> None:
    r = Reasoner.open(folder)
    while True:
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


def main(folder: Path, times: int) -> None:
    store = folder / "store"
    r = Reasoner(PROGRAM)
    r.add("edge", [*((f"n{i}", f"n{i + 1}") for i in range(LENGTH)), (f"n{LENGTH}", 0)])
    r.add("state", [(0,)])
    r.save(store)
    for _ in range(3):
        began = time.monotonic()
        with Reasoner.open(store) as opened:
            step(opened, store)
    longest = 3 * (time.monotonic() - began)  # a writer opens the store first
    seen = {"turns": 0, "updates": 0, "unfinished": 0, "mixtures": 0}
    random, last = Random(2024), state_of(store)
    for _ in range(times):
        writer = os.fork()
        if writer == 0:
            update_for_ever(store)
        time.sleep(random.uniform(0, longest))
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        named = {file.path for file in read_manifest(store).files()}
        seen["unfinished"] += {str(p.relative_to(store)) for p in store.rglob("*.parquet")} != named
        seen["turns"] += 1
        found = state_of(store)
        if found is None or last is None or found < last:
            seen["mixtures"] += 1
        else:
            seen["updates"] += found > last
            last = found
    print(json.dumps(seen))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
