"""Instances of a clause that changes below its stratum take away or bring: Π[I : D \\ A, A \\ D].

An instance is lost when it held before and a positive atom has gone or a negated one has come; it is won when
it holds after and a positive atom has come or a negated one has gone. Each is found once, at the first of its
atoms that changed: the atoms before that one read what did not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modulog.algebra.expressions import Read
from modulog.engines.relation import ModuleId, Version
from modulog.modules.clause import Evaluation, Prepared


def due(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """The evaluations that may give something now, because all that they read has facts.

    That is asked first of the changes that they read: of most relations there are none.
    """
    return [
        evaluation
        for evaluation in evaluations
        if ((change := evaluation.change) is None or change.relation.has(change.version))
        and not evaluation.empty()
    ]


def lost(clause: Prepared, source: ModuleId, counting: bool = False) -> list[Evaluation]:
    """Instances over `before` that changes below take away."""
    return list(_evaluations(clause, source, "before", "before", "gone", "come", counting))


def won(clause: Prepared, source: ModuleId, counting: bool = False) -> list[Evaluation]:
    """Instances over `after` that changes below bring; facts of the stratum itself are those that stayed."""
    return list(_evaluations(clause, source, "after", "old", "come", "gone", counting))


def _evaluations(
    clause: Prepared,
    source: ModuleId,
    state: Version,
    own: Version,
    changed: Version,
    opposite: Version,
    counting: bool,
) -> Iterator[Evaluation]:
    for i, atom in enumerate(clause.atoms):
        if not atom.own:
            versions: list[Version] = [
                own if a.own else changed if j == i else "kept" if j < i else state
                for j, a in enumerate(clause.atoms)
            ]
            negated = [state] * len(clause.negations)
            yield clause.evaluation(versions, source, negated, counting=counting)
    for k, atom in enumerate(clause.negations):
        versions = [own if a.own else "kept" for a in clause.atoms]
        # Where an argument is anonymous, a fact that went may not be the last one that matched; so the
        # negated atom itself is read as well.
        negated = ["either" if j < k else state for j in range(len(clause.negations))]
        also = [Read(atom.relation, atom.args, opposite)]
        yield clause.evaluation(versions, source, negated, also, counting=counting)


def rederivation(clause: Prepared, source: ModuleId) -> Evaluation:
    """The clause for heads that were over-deleted; atoms of its own stratum read what stayed."""
    versions: list[Version] = ["old" if atom.own else "after" for atom in clause.atoms]
    doomed = [clause.heads("gone")]
    return clause.evaluation(versions, source, ["after"] * len(clause.negations), doomed)
