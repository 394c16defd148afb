"""Random programs whose bodies are cycles, cliques, petals, flowers and chains with chords, from a seed alone, and updates for them.

Predicates e, f and g are explicit; p, q and r are derived, on levels of their own, and may have explicit facts too. A program is plain data in the
oracle's form.
"""

from __future__ import annotations

import random
from typing import Any

from support.bodies import chain, clique, cycle, flower, petals
from support.module_programs import Story, grouped
from support.strategies import Case, Update

ARITY = {"e": 2, "f": 2, "g": 1, "h": 3, "p": 2, "q": 2, "r": 1, "v": 2}
CONSTANTS = [("integer", n) for n in range(1, 6)]


def shape(chance: random.Random) -> list[tuple[str, ...]]:
    """The edges of a body of two to nine atoms."""
    chords = [tuple(chance.sample(range(6), 2)) for _ in range(chance.randint(0, 3))]
    makers = [
        lambda: cycle(chance.randint(3, 6)),
        lambda: cycle(chance.randint(3, 9)),
        lambda: clique(chance.choice([3, 4])),
        lambda: petals(chance.randint(2, 3)),
        lambda: flower(chance.randint(1, 3)),
        lambda: chain(5, chords),
        lambda: chain(chance.randint(2, 4)),
        lambda: [("x0", "x1"), ("x2", "x3")],
        lambda: [("x0", "x0"), ("x0", "x1"), ("x1", "x2"), ("x2", "x0")],
    ]
    return chance.choice(makers)()


def rule(chance: random.Random, head: str, level: dict[str, int]) -> tuple[Any, Any]:
    """One rule: a body of some shape over predicates up to the head's level, with everything that a body can hold."""
    lower = [p for p in "efghpqr" if level.get(p, 0) < level[head]]
    same = [p for p in level if level[p] == level[head] and p != "v"]
    binary = [p for p in [*lower, *lower, *same] if ARITY[p] == 2]
    body: list[Any] = []
    for edge in shape(chance):
        terms = [f"?{v}" for v in edge]
        if chance.random() < 0.08:
            terms[chance.randrange(2)] = chance.choice([*CONSTANTS[:3], "_"])
        body.append(("+", chance.choice(binary), tuple(chance.sample(terms, 2))))
    body = list(dict.fromkeys(body))
    names = sorted({t for b in body for t in b[2] if isinstance(t, str) and t != "_"}) or [CONSTANTS[0]]
    for _ in range(chance.choice([0, 0, 1])):
        p = chance.choice([*lower, *same])
        body.append(("+", p, tuple(chance.choice(names) for _ in range(ARITY[p]))))
    for _ in range(chance.choice([0, 0, 0, 1, 2])):
        p = chance.choice(lower)
        body.append(("-", p, tuple(chance.choice([*names, *names, "_"]) for _ in range(ARITY[p]))))
    if chance.random() < 0.25 and len(names) > 1:
        body.append((chance.choice(["!=", "<"]), *chance.sample(names, 2)))
    heads = [(head, tuple(chance.choice(names) for _ in range(ARITY[head])))]
    if head == "v":
        body.append(("=", "?new", ("()", "+", (chance.choice(names), chance.choice(names)))))
        heads = [(head, (chance.choice(names), "?new"))]
    elif chance.random() < 0.1:
        heads.append((head, tuple(chance.choice([*names, CONSTANTS[0]]) for _ in range(ARITY[head]))))
    return heads, body


def cyclic_story(seed: int, updates: int = 4) -> Story:
    """The program of a seed."""
    chance = random.Random(seed)
    level = {"p": 1, "q": chance.choice([1, 1, 2]), "r": chance.choice([1, 2, 3]), "v": 4}
    heads = chance.choices("ppqqrv", k=chance.randint(1, 4))
    rules = [rule(chance, head, level) for head in heads]
    constants = CONSTANTS[: chance.randint(2, 4)]

    def fact() -> tuple[str, Any]:
        p = chance.choice("eeeefffghpqr")
        return p, tuple(chance.choice(constants) for _ in range(ARITY[p]))

    present = {fact() for _ in range(chance.randint(3, 20))}
    case = Case(rules, grouped(present), ARITY, tuple(constants))
    steps = []
    for _ in range(updates):
        share = chance.choice([0.0, 0.1, 0.3, 0.6])
        minus = {f for f in sorted(present) if chance.random() < share} | {fact()}
        plus = {fact() for _ in range(chance.choice([0, 1, 2, 5]))}
        present = (present - minus) | plus
        steps.append(Update(grouped(plus), grouped(minus)))
    return Story(seed, case, steps)
