"""Results to where they are wanted: each predicate written aside, and moved to its place when it is whole.

A folder has a part for each predicate, as `Reasoner.export` names it; tables are one for each predicate. Only parts of predicates that have changed are written. Whoever
is killed between two moves leaves the rest to the next run, which knows what sinks do not have yet.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from modulog.formats import rdf_writing
from modulog.formats.exporting import part_names
from modulog.formats.format import SINKS, WRITTEN_TRIPLES
from modulog.language.model import Predicate
from modulog.language.triples import VIEWS
from modulog.pipeline.config import PREDICATE, Sink
from modulog.reasoner.predicate_names import view_names

if TYPE_CHECKING:
    from modulog.pipeline.host import LocalHost
    from modulog.reasoner.reasoner import Reasoner


def write_sink(
    reasoner: Reasoner, host: LocalHost, sink: Sink, known: Sequence[str] | None, changed: Collection[str]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Write the predicates of a sink that changed, all if nothing of it is known; answers the rows of what was written, and all its parts."""
    parts = _parts(sink, predicates_of(sink, reasoner))
    wanted = {
        p: name for p, name in parts.items() if known is None or p.name in changed or (changed and p in VIEWS)
    }
    stale = [name for name in known or () if name not in parts.values()]
    written = host.write_sink(reasoner, sink, wanted, stale) if wanted or stale else {}
    return written, tuple(parts.values())


def predicates_of(sink: Sink, reasoner: Reasoner) -> list[Predicate]:
    """The predicates that a sink takes: those it names, those that the program gives out, or all."""
    program = reasoner.program
    named = sink.predicates or (*program.outputs, *(directive.predicate for directive in program.exports))
    return reasoner.named(named) if named else reasoner.predicates()


def _parts(sink: Sink, predicates: Sequence[Predicate]) -> dict[Predicate, str]:
    """The name of the part of each predicate, as far as the format can say it."""
    if sink.table is not None:
        names = (sink.table.replace(PREDICATE, name) for name in view_names(predicates))
        return dict(zip(predicates, names, strict=True))
    format = SINKS[sink.format]
    if format in WRITTEN_TRIPLES:
        predicates = [p for p in predicates if rdf_writing.is_triples(p)]
    return part_names(predicates, format)
