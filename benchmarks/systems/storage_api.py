"""Modulog with compact storage or without: materialise, count, read rows, then change facts; time, and memory above the explicit facts."""

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.outcome import (
    Outcome,
    forget_peak,
    peak_memory,
    resident_memory,
    return_freed_memory,
    versions,
)
from benchmarks.systems.maintenance_api import Diary, Relations, TimeIsUp, drawn, ending_after, filled
from benchmarks.workload import Workload, read

CHANGES = 3
"""Deletions, and additions, of each size."""

BATCHES = 20
"""Rows are read in so many queries, each joined with a part of the sources."""

Act = Callable[[Diary, Any, list[Relations]], None]


def represent(
    folder: str,
    warm: str,
    switches: Mapping[str, str],
    rows_of: str,
    changed: str,
    sample: int,
    limit: float,
) -> Outcome:
    """Materialise, count, read the rows of one predicate that ``asked`` names; then delete and add again samples of the facts of another.

    Memory is what the process has above an interpreter with the same explicit facts and nothing derived.
    """

    def act(diary: Diary, reasoner: Any, samples: list[Relations]) -> None:
        diary.counts["in rows"] = diary.timed("rows", partial(_read_rows, reasoner, rows_of))
        diary.notes.update(_memory())
        for number, rows in enumerate(samples):
            for step, change in (("delete", {"delete": rows}), ("add", {"add": rows})):
                net = diary.timed(step, partial(_counted_update, reasoner, change))
                diary.counts[f"{step} {number}"] = net
                diary.notes.setdefault(f"{step} pairs", []).append(net)

    return _measured(folder, warm, switches, limit, act, changed, sample)


def answer(
    folder: str, warm: str, switches: Mapping[str, str], queries: Mapping[str, str], limit: float
) -> Outcome:
    """Materialise, then count the answers of each query."""

    def act(diary: Diary, reasoner: Any, samples: list[Relations]) -> None:
        for name, query in queries.items():
            diary.counts[name] = int(diary.timed(name, partial(reasoner.count, query)))
        diary.notes.update(_memory())

    return _measured(folder, warm, switches, limit, act, "", 0)


def materialise(folder: str, warm: str, switches: Mapping[str, str], limit: float) -> Outcome:
    """Materialise and count."""
    return _measured(folder, warm, switches, limit, lambda diary, reasoner, samples: _remember(diary), "", 0)


def insert(
    folder: str, warm: str, switches: Mapping[str, str], changed: str, sample: int, limit: float
) -> Outcome:
    """Materialise without three samples of the facts of one predicate, then add one after another."""

    def act(diary: Diary, reasoner: Any, samples: list[Relations]) -> None:
        _remember(diary)
        for rows in samples:
            step = f"insertion {len(diary.seconds) - 1}"
            diary.counts[step] = diary.timed(step, partial(_counted_update, reasoner, {"add": rows}))
            _remember(diary)

    return _measured(folder, warm, switches, limit, act, changed, sample, absent=True)


def _remember(diary: Diary) -> None:
    """Note the memory after a step; the next one has a peak of its own."""
    diary.notes.setdefault("memory", []).append(_memory())
    forget_peak()


def _memory() -> dict[str, int]:
    """The memory of the process at rest, without what was freed and only waits to be used again, and its peak."""
    peak = peak_memory()
    return_freed_memory()
    return {"resting": resident_memory(), "peak": peak}


def _read_rows(reasoner: Any, rows_of: str) -> int:
    """Read rows, as many at a time as were asked for together; the number of facts in them."""
    batches = (f"asked(?x, {number}), {rows_of}(?x, ?y)" for number in range(BATCHES))
    return sum(int(reasoner.query(batch).num_rows) for batch in batches)


def _counted_update(reasoner: Any, change: Mapping[str, Relations]) -> int:
    """Update, and count what has come and what has gone."""
    net = reasoner.update(**change)
    return int(sum(net.added.values()) + sum(net.deleted.values()))


def _measured(
    folder: str,
    warm: str,
    switches: Mapping[str, str],
    limit: float,
    act: Act,
    changed: str,
    sample: int,
    absent: bool = False,
) -> Outcome:
    """Act on a workload after a small one; its samples are facts that are there or, if `absent`, that are kept back."""
    with get_context("spawn").Pool(1) as pool:
        explicit = pool.apply(explicit_bytes, (folder, warm))
    reasoner_class = import_module("modulog").Reasoner
    small = read(Path(warm))
    chosen = _drawn(small, changed, sample)
    facts = _without(small.facts, chosen) if absent else small.facts
    reasoner = filled(reasoner_class, small.rules, facts, dict(switches))
    _go(Diary(), reasoner, small, act, chosen)
    del reasoner
    return_freed_memory()
    before = resident_memory()
    workload = read(Path(folder))
    chosen = _drawn(workload, changed, sample)
    facts = _without(workload.facts, chosen) if absent else workload.facts
    reasoner = filled(reasoner_class, workload.rules, facts, dict(switches))
    del facts
    workload = Workload(workload.rules, {}, workload.counted)
    return_freed_memory()
    forget_peak()
    diary, unfinished = Diary(), None
    try:
        with ending_after(limit):
            _go(diary, reasoner, workload, act, chosen)
    except TimeIsUp:
        unfinished = f"{diary.step}: not ended after {limit:g} s in all"
    except MemoryError:
        unfinished = f"{diary.step}: not enough memory"
    return _outcome(diary, before + explicit, explicit, unfinished)


def _go(
    diary: Diary,
    reasoner: Any,
    workload: Workload,
    act: Act,
    samples: list[Relations],
) -> None:
    diary.timed("materialise", reasoner.materialise)

    def count() -> dict[str, int]:
        return {name: int(reasoner.count(name)) for name in workload.counted}

    diary.counts.update(diary.timed("count", count))
    diary.columns = {"I": reasoner.materialise().facts}
    act(diary, reasoner, samples)


def _drawn(workload: Workload, changed: str, sample: int) -> list[Relations]:
    """Facts to delete and add again."""
    if not sample:
        return []
    facts = {changed: workload.facts[changed]}
    size = min(sample, len(facts[changed]) // 2)
    return [drawn(facts, size, seed) for seed in range(1, CHANGES + 1)]


def _without(facts: Mapping[str, Any], samples: list[Relations]) -> Relations:
    """Facts without those of samples."""
    kept = dict(facts)
    for name, rows in ((name, rows) for sample in samples for name, rows in sample.items()):
        codes = kept[name][:, 0] << 32 | kept[name][:, 1]
        kept[name] = kept[name][~np.isin(codes, rows[:, 0] << 32 | rows[:, 1])]
    return kept


def explicit_bytes(folder: str, warm: str) -> int:
    """Return what the explicit facts and the dictionary of a workload take in a process that derives nothing."""
    reasoner_class = import_module("modulog").Reasoner
    filled(reasoner_class, "", read(Path(warm)).facts, {}).materialise()
    return_freed_memory()
    before = resident_memory()
    reasoner = filled(reasoner_class, "", read(Path(folder)).facts, {})
    reasoner.materialise()
    return_freed_memory()
    return resident_memory() - before


def _outcome(diary: Diary, base: int, explicit: int, unfinished: str | None) -> Outcome:
    notes = dict(diary.notes)
    for memory in notes.get("memory", ()):  # with the explicit facts
        memory.update({kind: found - base + explicit for kind, found in memory.items()})
    peak = notes.pop("peak", peak_memory())
    resting = notes.pop("resting", None)
    details = {
        "seconds": diary.seconds,
        "columns": diary.columns,
        "explicit": explicit,
        "peak": peak - base,
        "resting": None if resting is None else resting - base,
        **notes,
    }
    built = sum(sum(diary.seconds.get(step, [])) for step in ("materialise", "count", "rows"))
    return Outcome(
        seconds=built,
        counts=diary.counts,
        peak=peak,
        versions=versions("modulog", "numpy", "numba"),
        unfinished=unfinished,
        details=details,
    )
