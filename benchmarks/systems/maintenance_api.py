"""Modulog's updates: samples of explicit facts deleted and added again, a quarter deleted, many single facts.

Every state is counted, so that two ways of maintaining it can be compared with each other and with a computation from scratch.
"""

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.outcome import Outcome, peak_memory, resting_memory, versions
from benchmarks.workload import Workload, read

Relations = dict[str, NDArray[np.int64]]

SEEDS = range(1, 11)
QUARTER = 11
"""The seed of the large deletion."""
LISTED = {"storage": "plain"}
"""Every pair of a closure is listed, as in the modular paper: compact storage has a benchmark of its own."""
CLOSURES = ("transitive", "left-linear", "right-linear")


class TimeIsUp(BaseException):
    """The time limit of one side has passed; not an error that the reasoner may handle."""


@dataclass(slots=True)
class Diary:
    """What one side did, as far as it came: seconds of each step, how strata were updated, counts of each state."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    how: dict[str, Counter[str]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    columns: dict[str, int] = field(default_factory=dict)
    step: str = ""
    seeds: range = SEEDS
    notes: dict[str, Any] = field(default_factory=dict)

    def timed(self, step: str, act: Callable[[], Any]) -> Any:
        """Do something and note how long it took, and how an update went about it."""
        self.step = step
        start = perf_counter()
        result = act()
        self.seconds.setdefault(step, []).append(perf_counter() - start)
        touched = getattr(getattr(result, "statistics", None), "strata", ())
        self.how.setdefault(step, Counter()).update(stratum.how for stratum in touched)
        return result

    def count(self, state: str, reasoner: Any) -> None:
        """Note how many facts there are, in all and by predicate."""
        # Reasoner.count looks a name up among all predicates: too slow for hundreds of them after every update.
        sizes = {predicate.name: int(reasoner._facts.size(predicate)) for predicate in reasoner.predicates()}
        self.counts[state] = sum(sizes.values())
        self.counts[f"{state}, by predicate"] = crc32(repr(sorted(sizes.items())).encode())

    def outcome(self, load_seconds: float, unfinished: str | None) -> Outcome:
        """Return everything noted; the seconds are those of all steps."""
        return Outcome(
            seconds=sum(sum(steps) for steps in self.seconds.values()),
            load_seconds=load_seconds,
            counts=self.counts,
            peak=peak_memory(),
            versions=versions("modulog", "numpy", "numba"),
            unfinished=unfinished,
            details={
                "seconds": self.seconds,
                "how": {step: dict(ways) for step, ways in self.how.items() if ways},
                "columns": self.columns,
            },
        )


def maintain(
    folder: str,
    warm: str,
    modules: str,
    maintenance: str,
    sample: int,
    quarter: bool,
    limit: float,
    decompose: str = "auto",
    by_name: bool = False,
) -> Outcome:
    """Materialise, delete and add again ten samples, then delete a quarter of the facts; as far as the limit allows.

    With ``by_name`` the workload's predicates are counted before any update, as other systems do.
    """

    def act(diary: Diary, reasoner: Any, workload: Workload) -> None:
        if by_name:
            _count_by_name(diary, reasoner, workload)
        _first_update(diary, reasoner, workload)
        _samples(diary, reasoner, workload, sample)
        if quarter:
            rows = drawn(workload.facts, len(workload) // 4, QUARTER)
            diary.timed("large deletion", partial(reasoner.update, delete=rows))
            diary.count("a quarter deleted", reasoner)

    switches = {"modules": modules, "maintenance": maintenance, "decompose": decompose, **LISTED}
    return _measured(act, folder, warm, switches, limit)


def left_deep(folder: str, warm: str, limit: float) -> Outcome:
    """Materialise with one join after another, no duplicates removed on the way and nothing decomposed."""
    ordering = import_module("modulog.joins.order")
    ordering.BUSHY_LIMIT = 0
    ordering.Ordering._deduplicate = lambda self, candidate, chosen, wanted: candidate
    ordering.cheapest_multiway = lambda *arguments: None
    switches = {"modules": "off", "decompose": "off"}
    return _measured(_count_by_name, folder, warm, switches, limit)


def _count_by_name(diary: Diary, reasoner: Any, workload: Workload) -> None:
    diary.counts |= {predicate: int(reasoner.count(predicate)) for predicate in workload.counted}


def update_often(folder: str, warm: str, sample: int, singles: int, limit: float) -> Outcome:
    """Materialise, then delete and add again ten samples, and single facts one after another."""

    def act(diary: Diary, reasoner: Any, workload: Workload) -> None:
        _first_update(diary, reasoner, workload)
        _samples(diary, reasoner, workload, sample)
        chosen = [
            drawn(workload.facts, 1, seed) for seed in range(1_000, 1_000 + len(diary.seeds) * singles // 20)
        ]
        for rows in chosen:
            diary.timed("one deleted", partial(reasoner.update, delete=rows))
            diary.timed("one added", partial(reasoner.update, add=rows))
        diary.count("single facts added again", reasoner)

    return _measured(act, folder, warm, {}, limit)


def from_scratch(folder: str, warm: str, sample: int, quarter: bool, singles: bool, limit: float) -> Outcome:
    """Materialise every state of ``maintain`` or ``update_often`` on its own, without any update."""
    reasoner_class = import_module("modulog").Reasoner
    warmed, workload, diary = read(Path(warm)), read(Path(folder)), Diary()
    filled(reasoner_class, warmed.rules, warmed.facts, {}).materialise()
    sizes = {f"sample {seed} deleted": (_size(workload, sample), seed) for seed in SEEDS}
    if quarter:
        sizes["a quarter deleted"] = (len(workload) // 4, QUARTER)
    try:
        with ending_after(limit):
            for state, (size, seed) in {"materialised": (0, 0), **sizes}.items():
                reasoner = filled(reasoner_class, workload.rules, _without(workload.facts, size, seed), {})
                diary.timed(state, reasoner.materialise)
                diary.count(state, reasoner)
    except TimeIsUp:
        return diary.outcome(0.0, _unfinished(diary, limit))
    for restored in [f"sample {seed} added again" for seed in SEEDS] + ["single facts added again"] * singles:
        for kind in ("", ", by predicate"):
            diary.counts[restored + kind] = diary.counts["materialised" + kind]
    return diary.outcome(0.0, None)


def materialise(folder: str, warm: str, modules: str, from_facts: bool) -> Outcome:
    """Materialise once; with ``from_facts``, the seconds begin with facts in NumPy arrays."""
    reasoner_class = import_module("modulog").Reasoner
    switches = {"modules": modules, **LISTED}
    warmed = read(Path(warm))
    filled(reasoner_class, warmed.rules, warmed.facts, switches).materialise()
    workload = read(Path(folder))
    start = perf_counter()
    reasoner = filled(reasoner_class, workload.rules, workload.facts, switches)
    loaded = perf_counter()
    reasoner.materialise()
    done = perf_counter()
    peak, resting = peak_memory(), resting_memory()
    counts = {predicate: int(reasoner.count(predicate)) for predicate in workload.counted}
    load_seconds = 0.0 if from_facts else loaded - start
    return Outcome(
        seconds=done - start - load_seconds,
        load_seconds=load_seconds,
        counts=counts,
        peak=peak,
        resting=resting,
        versions=versions("modulog", "numpy", "numba"),
        details={"columns": _columns(reasoner)},
    )


def drawn(facts: Any, size: int, seed: int) -> Relations:
    """Return ``size`` of the facts, every one equally likely, by predicate."""
    chosen = _chosen(facts, size, seed)
    return {name: rows[chosen[name]] for name, rows in facts.items() if chosen[name].any()}


def _without(facts: Any, size: int, seed: int) -> Relations:
    """The facts that ``drawn`` does not return."""
    chosen = _chosen(facts, size, seed)
    return {name: rows[~chosen[name]] for name, rows in facts.items()}


def _chosen(facts: Any, size: int, seed: int) -> dict[str, NDArray[np.bool_]]:
    ends = np.cumsum([len(rows) for rows in facts.values()])
    mask = np.zeros(int(ends[-1]), dtype=np.bool_)
    mask[np.random.default_rng(seed).choice(len(mask), size, replace=False, shuffle=False)] = True
    return dict(zip(facts, np.split(mask, ends[:-1]), strict=True))


def _first_update(diary: Diary, reasoner: Any, workload: Workload) -> None:
    """Delete one fact and add it again: what the first update prepares for the later ones is shown apart."""
    rows = drawn(workload.facts, 1, 0)
    diary.timed("first deletion", partial(reasoner.update, delete=rows))
    diary.timed("first insertion", partial(reasoner.update, add=rows))


def _samples(diary: Diary, reasoner: Any, workload: Workload, sample: int) -> None:
    for seed in diary.seeds:
        rows = drawn(workload.facts, _size(workload, sample), seed)
        diary.timed("small deletions", partial(reasoner.update, delete=rows))
        diary.count(f"sample {seed} deleted", reasoner)
        diary.timed("small insertions", partial(reasoner.update, add=rows))
        diary.count(f"sample {seed} added again", reasoner)


def _size(workload: Workload, sample: int) -> int:
    """A sample is never more than a tenth of all facts."""
    return max(min(sample, len(workload) // 10), 1)


def _measured(
    act: Callable[[Diary, Any, Workload], None],
    folder: str,
    warm: str,
    switches: dict[str, str],
    limit: float,
) -> Outcome:
    reasoner_class = import_module("modulog").Reasoner
    warmed = read(Path(warm))
    warm_reasoner = filled(reasoner_class, warmed.rules, warmed.facts, switches)
    warm_reasoner.materialise()
    act(Diary(seeds=SEEDS[:1]), warm_reasoner, warmed)
    workload = read(Path(folder))
    start = perf_counter()
    reasoner = filled(reasoner_class, workload.rules, workload.facts, switches)
    load_seconds = perf_counter() - start
    diary = Diary()
    try:
        with ending_after(limit):
            diary.timed("materialisation", reasoner.materialise)
            diary.count("materialised", reasoner)
            diary.columns = _columns(reasoner)
            act(diary, reasoner, workload)
    except TimeIsUp:
        return diary.outcome(load_seconds, _unfinished(diary, limit))
    return diary.outcome(load_seconds, None)


def filled(reasoner_class: Any, rules: str, facts: Any, switches: dict[str, str]) -> Any:
    """Return a reasoner with rules and facts."""
    reasoner = reasoner_class(rules, switches=import_module("modulog").Switches(**switches))
    for predicate, rows in facts.items():
        reasoner.add(predicate, rows)
    return reasoner


def _columns(reasoner: Any) -> dict[str, int]:
    """The columns of the paper's Table 1."""
    strata, statistics = reasoner.plan().strata, reasoner.statistics
    kinds = Counter(module.kind for stratum in strata for module in stratum.modules)
    return {
        "E": statistics.explicit,
        "I": statistics.facts,
        "S": len(strata),
        "nr": sum(len(stratum.entry) for stratum in strata),
        "r": sum(len(stratum.recursive) for stratum in strata),
        "TC": sum(kinds[kind] for kind in CLOSURES),
        "STC": kinds["symmetric"],
        "decomposed": statistics.decomposed_rules,
        "node bytes": statistics.node_bytes,
        "bytes": statistics.bytes,
    }


def _unfinished(diary: Diary, limit: float) -> str:
    return f"{diary.step}: not ended after {limit:g} s in all"


@contextmanager
def ending_after(limit: float) -> Iterator[None]:
    """Raise TimeIsUp in the block when the limit has passed, at the end of the kernel that runs then."""

    ended = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal ended
        ended = True
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        yield
    except SystemError as error:
        # A compiled kernel that was at work when the time ended says only that something was raised.
        if ended:
            raise TimeIsUp from error
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
