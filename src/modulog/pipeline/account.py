"""What a run has done so far: it goes into the log as soon as it is known, and at the end all of it into the `Run`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds

from modulog.engines.protocol import Failures
from modulog.pipeline.counted import counts, described, described_update
from modulog.pipeline.modes import Way
from modulog.pipeline.run import Run, Watch

if TYPE_CHECKING:
    from modulog.maintenance.change import Change
    from modulog.session import Reasoner

SHOWN = 20
"""Bad records that the log has; the file that it names has all of them."""

_TEXT = 200  # characters of a bad record


class Account:
    """Everything by the names that `Run` has for it."""

    def __init__(self, watch: Watch, way: Way) -> None:
        self._watch, self._way = watch, way
        self._reason, self._resumed = way.reason, ""
        self._change: str | None = None
        self._bad_records: Path | None = None
        self._set_aside = self._still_derived = 0
        self._failures = Failures()
        self._read: dict[str, int] = {}
        self._added: dict[str, int] = {}
        self._deleted: dict[str, int] = {}
        self._written: dict[str, int] = {}
        watch.note(mode=way.mode, reason=way.reason)

    def resume(self, left: str) -> None:
        """Say what a run that was killed has left, if it has left anything."""
        if left:
            on = f"a run that was killed goes on, with {left}"
            self._reason = on if self._way.known is None else f"{self._way.reason}; {on}"
            self._resumed = left
            self._watch.note(resumed=left, reason=self._reason)

    # ---- What comes in

    def save(self, reasoner: Reasoner, place: Path) -> None:
        """What was read for the state that is saved now; its bad records are moved to a place."""
        found = reasoner.take_readings()
        for reading in found:
            _add(self._read, {reading.path: reading.rows})
        if found:
            told = [{"source": r.path, "rows": r.rows, "set_aside": r.set_aside} for r in found]
            self._watch.note(sources=told)
        if moved := reasoner.move_bad_records(f"file://{place.absolute()}"):
            self._bad_records = place if self._bad_records is None else place.parent
            self._set_aside += moved
            self._watch.note(set_aside=moved, place=str(place), bad_records=_first(place))

    # ---- What follows

    def materialised(self, reasoner: Reasoner) -> None:
        """All consequences were computed."""
        statistics = reasoner.materialise()
        self._watch.note(facts=statistics.facts, explicit=statistics.explicit, plan=str(reasoner.plan()))
        self._watch.note(**described(statistics))
        self._failures += statistics.failures

    def updated(self, reasoner: Reasoner, change: Change) -> None:
        """An update was made."""
        self._watch.note(added=change.added, deleted=change.deleted, ignored=change.ignored)
        self._watch.note(still_derived=change.still_derived)
        self._still_derived += change.still_derived
        self._watch.note(**described_update(change.statistics))
        self._failures += change.statistics.failures
        if self._way.mode == "incremental":  # a full run has shown how everything is joined
            self._watch.note(plan=str(reasoner.plan()))

    def changed(self, change: Change, place: Path) -> None:
        """The net change of an update is in a table."""
        self._change = str(place)
        _add(self._added, change.added)
        _add(self._deleted, change.deleted)

    # ---- What goes out

    def wrote(self, sink: str, parts: Mapping[str, int]) -> None:
        """The parts of a sink were written, with so many rows."""
        self._written |= parts
        self._watch.note(sink=sink, written=parts)

    def run(self, generation: int, explicit: int, facts: int) -> Run:
        """The whole run."""
        return Run(
            self._way.mode,
            self._reason,
            generation,
            explicit,
            facts,
            added=self._added,
            deleted=self._deleted,
            written=self._written,
            change=self._change,
            set_aside=self._set_aside,
            still_derived=self._still_derived,
            bad_records=None if self._bad_records is None else str(self._bad_records),
            read=self._read,
            failures=counts(self._failures),
            resumed=self._resumed,
        )


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for name, count in more.items():
        total[name] = total.get(name, 0) + count


def _first(place: Path) -> list[dict[str, Any]]:
    """Some of the bad records that lie at a place, with the beginning of their text."""
    rows = ds.dataset(place).head(SHOWN).to_pylist()
    for row in rows:
        row["text"] = row["text"][:_TEXT] + ("…" if len(row["text"]) > _TEXT else "")
    return sorted(rows, key=lambda row: (row["file"], row["line"] or 0))
