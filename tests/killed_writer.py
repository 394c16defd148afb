"""Kill a process that writes a store, again and again, and see what it leaves: `killed_writer.py FOLDER TIMES`.

The writers are forked from a process that has everything loaded and compiled, so that they write from their first moment on. Prints how often either state was found, how
often there were unfinished files, and how often neither state was there as a whole.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

from modulog import Reasoner
from modulog.errors import DataError
from modulog.store.manifest import read_manifest
from stores import PATHS, held


def reasoner(program: str, length: int) -> Reasoner:
    r = Reasoner(program)
    r.add("edge", [(f"n{i}", f"n{i + 1}") for i in range(length)])
    r.materialise()
    return r


def write_for_ever(folder: Path, states: list[Reasoner]) -> None:
    while True:
        for state in states:
            state.save(folder)


def main(folder: Path, times: int) -> None:
    states = [reasoner(PATHS, 5), reasoner(PATHS + " again(?x) :- end(?x) . ", 40)]
    expected = [held(state) for state in states]
    seen: dict[str, Any] = {"states": {"0": 0, "1": 0}, "unfinished": 0, "mixtures": 0, "first": 0}
    random = Random(2024)
    store = folder / "store"
    began = time.monotonic()
    for state in states * 3:
        state.save(store)
    longest = (time.monotonic() - began) / 2  # a writer lives to write about three states at most
    for turn in range(times):
        writer = os.fork()
        if writer == 0:
            write_for_ever(store, states[:: 1 - 2 * (turn % 2)])
        time.sleep(random.uniform(0, longest))
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        current = read_manifest(store)
        named = {file.path for file in current.files()}
        there = {str(p.relative_to(store)) for p in store.rglob("*.parquet")}
        seen["unfinished"] += there != named
        with Reasoner.open(store) as opened:
            found = held(opened)
        if found in expected:
            seen["states"][str(expected.index(found))] += 1
        else:
            seen["mixtures"] += 1
    for turn in range(times // 5):
        seen["first"] += first_state(folder / f"new{turn}", states[0], random.uniform(0, longest / 3))
    print(json.dumps(seen))


def first_state(folder: Path, state: Reasoner, seconds: float) -> bool:
    """Kill the writer of a new store: there is a state, or none, and a state can be written; answers whether there was one."""
    writer = os.fork()
    if writer == 0:
        state.save(folder)
        os._exit(0)
    time.sleep(seconds)
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    try:
        found = held(Reasoner.open(folder)) == held(state)
        assert found, "a state that is not the one that was written"
    except DataError as error:
        if "not a store" not in str(error) and "no such folder" not in str(error):
            raise
        found = False
    state.save(folder)
    assert held(Reasoner.open(folder)) == held(state)
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
