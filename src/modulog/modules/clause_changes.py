"""Instances of a clause that changes below its stratum take away or bring: Π[I : D \\ A, A \\ D] and the reverse.

An instance is lost when it held before and a positive atom has gone or a negated one has come; it is won when it holds
after and a positive atom has come or a negated one has gone. Each is found once, at the first of its atoms that
changed: the atoms before that one read what did not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from modulog.algebra.expressions import Read
from modulog.engines.relation import ModuleId, Relation, Version
from modulog.modules.clause import Evaluation, Prepared


@dataclass(frozen=True, slots=True)
class Variant:
    """One atom where a change may enter a clause: evaluated if its relation has facts in that version."""

    relation: Relation
    version: Version
    evaluation: Evaluation


def due(variants: Sequence[Variant]) -> list[Evaluation]:
    """The evaluations that may give something now."""
    return [v.evaluation for v in variants if v.relation.has(v.version) and not v.evaluation.empty()]


def lost(clause: Prepared, source: ModuleId, counting: bool = False) -> list[Variant]:
    """Instances over `before` that changes below take away."""
    return list(_variants(clause, source, "before", "before", "gone", "come", counting))


def won(clause: Prepared, source: ModuleId, counting: bool = False) -> list[Variant]:
    """Instances over `after` that changes below bring; facts of the stratum itself are those that stayed."""
    return list(_variants(clause, source, "after", "old", "come", "gone", counting))


def _variants(
    clause: Prepared,
    source: ModuleId,
    state: Version,
    own: Version,
    changed: Version,
    opposite: Version,
    counting: bool,
) -> Iterator[Variant]:
    for i, atom in enumerate(clause.atoms):
        if not atom.own:
            versions: list[Version] = [
                own if a.own else changed if j == i else "kept" if j < i else state
                for j, a in enumerate(clause.atoms)
            ]
            negated = [state] * len(clause.negations)
            found = clause.evaluation(versions, source, negated, counting=counting)
            yield Variant(atom.relation, changed, found)
    for k, atom in enumerate(clause.negations):
        versions = [own if a.own else "kept" for a in clause.atoms]
        # Where an argument is anonymous, a fact that went may not be the last one that matched: the atom is asked too.
        negated = ["either" if j < k else state for j in range(len(clause.negations))]
        also = [Read(atom.relation, atom.args, opposite)]
        found = clause.evaluation(versions, source, negated, also, counting=counting)
        yield Variant(atom.relation, opposite, found)


def rederivation(clause: Prepared, source: ModuleId) -> Variant:
    """The clause for heads that were over-deleted; atoms of its own stratum read what stayed."""
    versions: list[Version] = ["old" if atom.own else "after" for atom in clause.atoms]
    doomed = [clause.heads("gone")]
    found = clause.evaluation(versions, source, ["after"] * len(clause.negations), doomed)
    return Variant(clause.relation, "gone", found)
