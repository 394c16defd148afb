"""Shows what was measured, as a table and as JSON lines; no time where counts differ."""

import json
import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table

from benchmarks.harness import Experiment, Results, Run, Target
from benchmarks.outcome import Outcome

COLUMNS = (
    "question",
    "size",
    "facts",
    "results",
    "system",
    "threads",
    "seconds",
    "loading",
    "peak MB",
    "ours/peer",
    "target, notes",
)

CAPTION = "~ the process waited for a core for over a tenth of its time: measure again on a quiet machine"


def machine() -> dict[str, Any]:
    """Return what the times depend on."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(memory, 1),
        "system": platform.system(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }


def new_table(title: str) -> Table:
    """Return an empty table of measurements."""
    table = Table(
        title=title, title_justify="left", header_style="bold", caption=CAPTION, caption_justify="left"
    )
    for name in COLUMNS:
        left = name in ("question", "size", "system", "target, notes")
        table.add_column(
            name, justify="left" if left else "right", no_wrap=name != "target, notes", overflow="fold"
        )
    return table


def add_rows(table: Table, experiment: Experiment, results: Results) -> None:
    """Add one row for each run of an experiment."""
    agreed = counts_agree(experiment, results)
    for place, (run, outcome) in enumerate(results):
        what = (experiment.question, experiment.size, f"{experiment.facts:,}") if place == 0 else ("", "", "")
        table.add_row(*what, *_measured(experiment, results, run, outcome, agreed))
    table.add_section()


def counts_agree(experiment: Experiment, results: Results) -> bool:
    """Whether all systems that finished counted the same, and what was expected.

    What a time limit cut off must agree as far as it came.
    """
    counts = [dict(o.counts) for _, o in results if o.problem is None and o.unfinished is None]
    partial = [dict(o.counts) for _, o in results if o.unfinished is not None]
    known = all(one[name] == count for one in counts for name, count in experiment.expected.items())
    return (
        known
        and all(other == counts[0] for other in counts)
        and all(
            one[key] == other[key]
            for one in [*counts[:1], *partial]
            for other in partial
            for key in one.keys() & other.keys()
        )
    )


def write_lines(file: TextIO, experiment: Experiment, results: Results) -> None:
    """Append one JSON line for each run of an experiment."""
    agreed, used = counts_agree(experiment, results), machine()
    for run, outcome in results:
        line = {
            "machine": used,
            "question": experiment.question,
            "size": experiment.size,
            "named": experiment.named,
            "facts": experiment.facts,
            "rounds": experiment.rounds,
            "system": run.system,
            "threads": run.threads,
            "counts_agree": agreed,
            **outcome.to_json(),
            "ratio": _ratio(results, run, outcome) if agreed else None,
            "targets": [text for _, text in _targets(experiment, results, run, outcome)] if agreed else [],
        }
        file.write(json.dumps(line) + "\n")
    file.flush()


def results_file(folder: Path) -> Path:
    """Return a new file name, with the time in it, in a folder that is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{datetime.now(UTC):%Y%m%d-%H%M%S}.jsonl"


def show_machine(console: Console) -> None:
    """Print the machine in one line."""
    console.print(", ".join(f"{key} {value}" for key, value in machine().items()))


def _measured(
    experiment: Experiment, results: Results, run: Run, outcome: Outcome, agreed: bool
) -> tuple[str, ...]:
    if outcome.problem is not None:
        return ("", run.system, str(run.threads), outcome.problem, "", "", "", "")
    counts = _total(outcome.counts)
    if not agreed:
        return (counts, run.system, str(run.threads), "[red]counts differ[/]", "", "", "", "")
    ratio = _ratio(results, run, outcome)
    targets = [
        f"[{'green' if met else 'red'}]{text}[/]" for met, text in _targets(experiment, results, run, outcome)
    ]
    return (
        counts,
        run.system,
        str(run.threads),
        ("~" if outcome.disturbed else "") + f"{outcome.seconds:.3f}",
        f"{outcome.load_seconds:.3f}" if outcome.load_seconds else "",
        f"{outcome.peak / 1e6:,.0f}" if outcome.peak else "",
        "" if ratio is None else f"{ratio:.3g}",
        "\n".join([*targets, *(f"{name}: {value}" for name, value in outcome.notes.items())]),
    )


def _ratio(results: Results, run: Run, outcome: Outcome) -> float | None:
    """Our seconds by the peer's, on the same number of threads."""
    ours = _ours(results, "Modulog", run.threads)
    if run.family == "Modulog" or outcome.problem is not None or ours is None or not outcome.seconds:
        return None
    return ours.seconds / outcome.seconds


def _targets(experiment: Experiment, results: Results, run: Run, outcome: Outcome) -> list[tuple[bool, str]]:
    """Return, for each target that this row decides, whether it is met, and both in words."""
    if not experiment.named or outcome.problem is not None:
        return []
    judged = []
    for target in experiment.targets:
        if target.against is None and run.system == target.system:
            judged.append(_judge_number(target, outcome, experiment.rounds))
        elif target.against in (run.family, run.system):
            ours = _ours(results, target.system, run.threads)
            if ours is not None:
                judged.append(_judge_ratio(target, ours, outcome))
    return judged


def _judge_number(target: Target, outcome: Outcome, rounds: int) -> tuple[bool, str]:
    value = outcome.seconds / max(rounds, 1) if target.measure == "round" else outcome.seconds
    unit = " s a round" if target.measure == "round" else " s"
    return _said(value, target, unit)


def _judge_ratio(target: Target, ours: Outcome, peer: Outcome) -> tuple[bool, str]:
    if target.measure == "peak":
        return _said(ours.peak / max(peer.peak, 1), target, " times its memory")
    return _said(ours.seconds / max(peer.seconds, 1e-9), target, " times its time")


def _said(value: float, target: Target, unit: str) -> tuple[bool, str]:
    met = value <= target.limit
    note = f" ({target.note})" if target.note else ""
    return met, f"{'met' if met else 'missed'}: {value:.3g}, at most {target.limit:.3g}{unit}{note}"


def _ours(results: Results, system: str, threads: int) -> Outcome | None:
    for run, outcome in results:
        if run.system == system and run.threads == threads and outcome.problem is None:
            return outcome
    return None


def _total(counts: Mapping[str, int]) -> str:
    return f"{sum(counts.values()):,}" if counts else ""


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
