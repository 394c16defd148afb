"""Kill a process that writes a store, before one step after another, and see what it leaves: `killed_writer.py FOLDER STRIDE`.

Two states are written in turn. STRIDE 1 takes every step, 10 every tenth. Prints how often either state was found, how often there were unfinished files,
and how often neither state was there as a whole.
"""

from __future__ import annotations

import json
import sys
from itertools import count
from pathlib import Path
from typing import Any

from modulog import Reasoner
from modulog.errors import DataError
from modulog.store.manifest import read_manifest
from support.killed import killed
from support.stores import PATHS, held


def reasoner(program: str, length: int) -> Reasoner:
    r = Reasoner(program)
    r.add("edge", [(f"n{i}", f"n{i + 1}") for i in range(length)])
    r.materialise()
    return r


def main(folder: Path, stride: int) -> None:
    states = [reasoner(PATHS, 5), reasoner(PATHS + " again(?x) :- end(?x) . ", 40)]
    expected = [held(state) for state in states]
    seen: dict[str, Any] = {"old": 0, "new": 0, "unfinished": 0, "mixtures": 0, "first": 0, "none": 0}
    store = folder / "store"
    for state in states * 2:
        state.save(store)
    for old in range(2):
        for step in count(0, stride):
            states[old].save(store)
            dead = killed(lambda: states[1 - old].save(store), step, store)  # noqa: B023
            named = {file.path for file in read_manifest(store).files()}
            seen["unfinished"] += {str(p.relative_to(store)) for p in store.rglob("*.parquet")} != named
            with Reasoner.open(store) as opened:
                found = held(opened)
            seen["old"] += found == expected[old]
            seen["new"] += found == expected[1 - old]
            seen["mixtures"] += found not in expected
            if not dead:
                assert found == expected[1 - old], "the writer came to its end"
                break
    for step in count(0, stride):
        dead, found = first_state(folder / f"new{step}", states[0], step)
        seen["first" if found else "none"] += 1
        if not dead:
            assert found, "the writer came to its end"
            break
    print(json.dumps(seen))


def first_state(folder: Path, state: Reasoner, step: int) -> tuple[bool, bool]:
    """Kill the writer of a new store: there is a state, or none, and a state can be written; answers whether it died, and whether there was one."""
    dead = killed(lambda: state.save(folder), step, folder)
    try:
        found = held(Reasoner.open(folder)) == held(state)
        assert found, "a state that is not the one that was written"
    except DataError as error:
        if "not a store" not in str(error) and "no such folder" not in str(error):
            raise
        found = False
    state.save(folder)
    assert held(Reasoner.open(folder)) == held(state)
    return dead, found


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
