"""What the functions of a module must return, by the letter of the modular paper's definitions, on Python sets.

A fact is a tuple `(predicate, argument, …)`. Nothing here is shared with the package, and nothing is fast.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

Fact = tuple[Any, ...]
Facts = set[Fact]


def instances(
    rules: Any, positive: Facts, negative: Facts, dp: Facts | None = None, dn: Facts | None = None
) -> Iterator[Fact]:
    """The heads of the instances in Π[I^p, I^n : Δ^p, Δ^n], each as often as there are instances; without Δ those in Π[I^p, I^n]."""
    for heads, body in rules:
        atoms = [(p, args) for sign, p, args in body if sign == "+"]
        negated = [(p, args) for sign, p, args in body if sign == "-"]
        for way, used in matches(atoms, positive):
            blocking = [f for p, args in negated for f in meant(p, args, way, negative)]
            touched = [f for p, args in negated for f in meant(p, args, way, dn or set())]
            changed = dp is None or bool(used & dp) or bool(touched)
            if changed and not blocking:
                yield from ((p, *(way.get(a, a) for a in args)) for p, args in heads)


def matches(atoms: Any, facts: Facts) -> Iterator[tuple[dict[str, Any], Facts]]:
    """Every substitution that turns the atoms into facts, with these facts."""
    if not atoms:
        yield {}, set()
        return
    *rest, (p, args) = atoms
    for way, used in matches(rest, facts):
        for fact in facts:
            new = dict(way)
            if fact[0] == p and all(new.setdefault(a, v) == v for a, v in zip(args, fact[1:], strict=True)):
                yield new, used | {fact}


def meant(p: str, args: Any, way: dict[str, Any], facts: Facts) -> Iterator[Fact]:
    """The facts that a negated atom speaks of; an anonymous variable stands for any value."""
    for fact in facts:
        if fact[0] == p and all(a == "_" or way[a] == v for a, v in zip(args, fact[1:], strict=True)):
            yield fact


def smallest(step: Callable[[Facts], Facts]) -> Facts:
    """The smallest J with step(J) ⊆ J, for a step that grows with J."""
    found: Facts = set()
    while new := step(found) - found:
        found |= new
    return found


def added(rules: Any, ip: Facts, neg: Facts, delta: Facts) -> Facts:
    """Definition 3: the smallest J with Π[I^p ∪ J, I^n : Δ ∪ J] ⊆ I^p ∪ J."""
    return smallest(lambda j: set(instances(rules, ip | j, neg, delta | j)) - ip)


def differing(rules: Any, ip: Facts, neg: Facts, dp: Facts, dn: Facts) -> Facts:
    """Definition 5: Π[I^p : Δ^p, Δ^n]."""
    return set(instances(rules, ip, neg, dp, dn))


def lower_bound(rules: Any, ip: Facts, neg: Facts, delta: Facts, counted: Facts) -> Facts:
    """Definition 6: the smallest J such that each F in Π[I^p, I^n : Δ ∪ J] is in Δ ∪ J or has C_nr(F) > 0; within I^p (E11)."""
    return smallest(lambda j: set(instances(rules, ip, neg, (delta | j) & ip)) - delta - counted) & ip


def upper_bound(rules: Any, ip: Facts, neg: Facts, delta: Facts, counted: Facts) -> Facts:
    """Definition 6: the smallest J with Π[I^p, I^n : Δ ∪ J] ⊆ Δ ∪ J; within I^p and without what C_nr supports (E11)."""
    return smallest(lambda j: set(instances(rules, ip, neg, (delta | j) & ip)) - delta) & ip - counted


def rederived(rules: Any, ip: Facts, neg: Facts, delta: Facts) -> Facts:
    """Definition 7: the smallest J with Π[(I^p \\ Δ) ∪ J, I^n] ∩ Δ ⊆ J."""
    return smallest(lambda j: set(instances(rules, (ip - delta) | j, neg)) & delta)


def closed(rules: Any, facts: Facts) -> Facts:
    """The smallest superset of the facts that the rules do not extend; they negate nothing that they derive."""
    return facts | smallest(lambda j: set(instances(rules, facts | j, facts)))


def counted(rules: Any, facts: Facts) -> Counter[Fact]:
    """How many instances derive each fact."""
    return Counter(instances(rules, facts, facts))
