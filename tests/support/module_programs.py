"""Random programs with every kind of module, from a seed alone, and sequences of updates for them.

Where `strategies` draws small programs of all sorts, these are built for maintenance: transitive and symmetric-transitive predicates beside each
other and beside other recursive rules in one stratum, closures alone in theirs, negation above and below, explicit facts for
derived predicates. A program is plain data in the oracle's form; a seed names it.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from typing import Any

from support.strategies import Case, Facts, Update, text

CONSTANTS = "abcde"
ARITY = {"e": 2, "f": 2, "u": 1, "p": 2, "q": 2, "r": 2, "n": 2, "m": 1, "t": 3, "k": 0}
RECURSIVE = "pqr"

# P is the head, Q and S are predicates of its level or below, L is below it. Variables are x, y, z and w.
CLOSURES = [
    "P(x,z) <- P(x,y), P(y,z)",
    "P(x,z) <- P(x,y), P(y,z)",
    "P(x,z) <- P(x,y), P(y,z); P(x,y) <- P(y,x)",
    "P(x,z) <- P(x,y), P(y,z); P(x,y) <- P(y,x)",
    "P(x,y) <- L(x,y); P(x,z) <- P(x,y), L(y,z)",
    "P(x,y) <- Q(x,y); P(x,z) <- L(x,y), P(y,z)",
    "P(x,y) <- Q(x,y); P(x,z) <- P(x,y), L(z,y)",
    "P(x,y) <- L(x,y); P(x,z) <- P(x,y), P(y,z); P(x,x) <- P(x,y)",
    "P(x,y) <- L(x,y); P(x,z) <- P(x,y), P(y,z); P(y,y) <- P(x,y); P(x,x) <- P(x,y)",
    "P(x,y) <- L(x,y); P(x,z) <- P(x,y), P(y,z); P(x,y) <- P(y,x); P(x,x) <- P(x,y)",
]
OTHERS = [
    "P(x,y) <- P(y,x)",
    "P(x,y) <- Q(y,x)",
    "P(x,y) <- Q(x,y)",
    "P(x,y) <- L(x,y)",
    "P(x,y) <- Q(x,y), u(y)",
    "P(x,y) <- Q(x,y), u(x)",
    "P(x,y) <- Q(x,y), not L(x,y)",
    "P(x,z) <- Q(x,y), S(y,z)",
    "P(x,x) <- Q(x,y)",
    "P(x,z) <- Q(x,y), L(y,z)",
    "P(z,w) <- Q(x,y), L(x,z), L(y,w)",
    "P(x,y) <- L(x,y), not u(x)",
    "P(x,z) <- L(x,y), L(y,z)",
    "P(x,y) <- L(x,y), not L(y,_)",
    "P(x,a) <- Q(x,y)",
    "P(x,y) <- Q(y,x), not L(y,_)",
    "P(x,y) <- Q(x,y), Q(y,x), not u(x)",
]
ABOVE = [
    "n(x,y) <- Q(x,y)",
    "n(x,z) <- Q(x,y), S(y,z)",
    "n(x,y) <- L(x,y), not Q(x,y)",
    "n(x,y) <- Q(x,y), not S(y,x)",
    "m(x) <- u(x), not Q(x,_)",
    "m(x) <- Q(x,y), S(y,x)",
    "t(x,y,z) <- Q(x,y), S(y,z), not n(x,z)",
    "k() <- Q(x,x), not u(x)",
    "m(x), n(x,x) <- Q(x,b)",
]


def parsed(rule: str) -> tuple[list[Any], list[Any]]:
    """A rule in the oracle's form."""

    def terms(args: str) -> tuple[Any, ...]:
        return tuple(
            "_" if t == "_" else f"?{t}" if t in "xyzw" else ("string", t) for t in args.split(",") if t
        )

    heads, body = rule.split("<-")
    atom = re.compile(r"(not )?(\w+)\(([\w,]*)\)")
    return (
        [(p, terms(args)) for _, p, args in atom.findall(heads)],
        [("-" if negated else "+", p, terms(args)) for negated, p, args in atom.findall(body)],
    )


def line(facts: Facts) -> str:
    """Facts on one line."""
    return " ".join(text([], facts).split("\n")).replace(" .", "")


@dataclass(frozen=True)
class Story:
    """A program with its facts, and the updates that follow."""

    seed: int
    case: Case
    updates: list[Update]

    def __str__(self) -> str:
        steps = [f"delete: {line(u.delete)}\nadd: {line(u.add)}" for u in self.updates]
        return "\n".join([f"seed {self.seed}", text(self.case.rules, self.case.facts), *steps])

    def shuffled(self, order: int) -> str:
        """The rules as text, rules and bodies in another order."""
        chance = random.Random(order)
        rules = [(heads, chance.sample(body, len(body))) for heads, body in self.case.rules]
        return text(chance.sample(rules, len(rules)))


def story(seed: int, updates: int = 6) -> Story:
    """The program of a seed."""
    chance = random.Random(seed)
    rules = []
    while not rules:
        rules = _rules(chance)
    constants = [("string", c) for c in CONSTANTS[: chance.randint(2, 5)]]

    def fact(p: str) -> tuple[str, Any]:
        return p, tuple(chance.choice(constants) for _ in range(ARITY[p]))

    used = {p for heads, _ in rules for p, _ in heads} | {b[1] for _, body in rules for b in body}
    names = [p for p in [*"eeeffuu", *RECURSIVE * 2, *"nmtk"] if p in used]
    present = {fact(chance.choice(names)) for _ in range(chance.randint(3, 14))}
    case = Case(rules, grouped(present), ARITY, tuple(constants))
    steps = []
    for _ in range(updates):
        share = chance.choice([0.1, 0.3, 0.3, 0.7])
        minus = {f for f in sorted(present) if chance.random() < share}
        minus |= {fact(chance.choice(names)) for _ in range(chance.randint(0, 2))}
        plus = {fact(chance.choice(names)) for _ in range(chance.choice([0, 1, 2, 3, 6]))}
        present = (present - minus) | plus
        steps.append(Update(grouped(plus), grouped(minus)))
    return Story(seed, case, steps)


def grouped(facts: set[tuple[str, Any]]) -> Facts:
    """Facts by predicate."""
    found: Facts = {}
    for p, row in sorted(facts):
        found.setdefault(p, set()).add(row)
    return found


def _rules(chance: random.Random) -> list[Any]:
    level = {p: chance.choice([1, 1, 1, 2]) for p in RECURSIVE[: chance.choice([1, 2, 2, 3])]}
    found: list[str] = []

    def fill(template: str, own: str, height: int) -> None:
        upto = [p for p in level if level[p] <= height] or ["e"]
        lower = [p for p in level if level[p] < height]
        names = {
            "P": own,
            "Q": chance.choice(upto),
            "S": chance.choice(upto),
            "L": chance.choice(["e", "f", *lower]),
        }
        found.extend(re.sub(r"[PQSL](?=\()", lambda m: names[m[0]], rule) for rule in template.split(";"))

    for p, height in level.items():
        if chance.random() < 0.7:
            fill(chance.choice(CLOSURES), p, height)
        for template in chance.choices(OTHERS, k=chance.randint(0, 3)):
            fill(template, p, height)
    for template in chance.choices(ABOVE, k=chance.randint(0, 3)):
        fill(template, "n", 3)
    return [parsed(rule) for rule in dict.fromkeys(r.strip() for r in found)]
