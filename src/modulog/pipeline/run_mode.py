"""How a run has to be done: from the beginning, or from the last run."""

from __future__ import annotations

from dataclasses import dataclass

from modulog.language.printer import print_program
from modulog.pipeline.check import Checked
from modulog.pipeline.run import Mode
from modulog.pipeline.run_state import Known, read_known


@dataclass(frozen=True, slots=True)
class Way:
    """The mode of a run and why; the last run, None if all sources are read again; whether all consequences are computed from stored facts."""

    mode: Mode
    reason: str
    known: Known | None = None
    recomputes: bool = False


def way_of(checked: Checked, full: bool) -> Way:
    """How a run has to be done, from the configuration and what the store remembers."""
    configuration = checked.configuration
    if full:
        return Way("full", "all sources are read again, as was asked for")
    if configuration.mode == "full":
        return Way("full", 'mode = "full": all sources are read')
    known = read_known(configuration.store)
    if known is None:
        return Way("full", "there is no earlier run: all sources are read")
    other = known.manifest.program != print_program(checked.program)
    if other or known.state.switches != configuration.switches:
        return Way(
            "full", "the rules or the switches have changed: all consequences are computed again", known, True
        )
    if not known.current:
        return Way("incremental", "something else has written to the store: all sources are compared", known)
    return Way("incremental", "what has changed since the last run", known)
