"""Facts of a program in bytecode, as a points-to analysis reads them, and the rules of such an analysis: context-insensitive, with the call graph built on the way.

Classes lie in packages; of most of them only a part is ever reached. A class inherits, implements interfaces and overrides methods. Methods have few variables and
few instructions, and use what is near them or one of a few classes that are used everywhere. Values keep to their types, as a compiler would have it: a variable takes from
variables of its type or a subtype, and what was kept as the root class comes back by a cast. Every thing has a number of its own.

What a variable points to should not depend on the size of the program, as it hardly does in real ones. So classes that are used everywhere are the more the larger the program is, half of the
classes inherit from the root class alone, fields are private, and one object stands for all exceptions of a class. (With few classes that everybody used, some seeds gave programs in
which nearly everything pointed to everything, at ten times the cost of others.) Of eleven programs with 300 to 4,000 classes (seeds 1 to 3),
ten have 36 to 63 facts of pointsTo for each class, and 11 to 157 of fieldPointsTo; 300 classes with seed 3 still have 197 and 812.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

BYTECODE_RULES: Final = Path(__file__).with_suffix(".rls").read_text(encoding="utf-8").rstrip()
"""One relation for each kind of instruction, views of what they read and write, and the analysis over these: bodies of up to ten atoms."""
PACKAGE: Final = 20
"""Classes in a package."""
NAMES: Final = 2_000
"""Names of methods; the first are much more frequent."""
CONSTRUCTOR, INITIALISER = NAMES, NAMES + 1
ENTRIES: Final = 200
"""Of how many classes one has a method that the program starts with."""
COMMON: Final = 25
"""Of how many classes one is used everywhere."""
ROOTS: Final = 0.1
"""How many fields and parameters are of the root class."""
EXCEPTIONS: Final = 10
"""What is thrown and caught is of the first classes, or below them; of each there is one object, as analyses have it."""
INSTRUCTIONS: Final = {
    "new": 14,
    "text": 5,
    "newArray": 1,
    "move": 18,
    "cast": 5,
    "getField": 14,
    "putField": 12,
    "getStatic": 3,
    "putStatic": 1,
    "arrayLoad": 2,
    "arrayStore": 2,
    "call": 24,
    "staticCall": 5,
    "throw": 0.2,
}
"""The kinds of instructions, and how often each is among a hundred."""


@dataclass(slots=True, eq=False)
class Method:
    """What callers and the body need to know of a method."""

    number: int
    owner: Class
    name: int
    parameters: tuple[Class, ...]
    result: Class | None
    kind: str
    """How it is called: "virtual", "abstract", "static" or "special"."""


@dataclass(slots=True, eq=False)
class Class:
    """A class or an interface and what it declares; `above` are all its supertypes, `below` the classes whose objects its variables hold."""

    number: int
    place: int
    parent: Class | None = None
    interface: bool = False
    above: list[Class] = field(default_factory=list)
    below: list[Class] = field(default_factory=list)
    methods: list[Method] = field(default_factory=list)
    fields: list[tuple[int, Class]] = field(default_factory=list)
    globals: list[tuple[int, Class]] = field(default_factory=list)
    array: int = 0


class Bytecode:
    """One program while it is made; `facts` are lists of rows by predicate."""

    def __init__(self, classes: int, seed: int) -> None:
        self.chance, self.fresh = random.Random(seed), count()
        self.facts: defaultdict[str, list[tuple[int, ...]]] = defaultdict(list)
        self.words: defaultdict[tuple[int, ...], int] = defaultdict(self.fresh.__next__)
        self.classes: list[Class] = []
        for place in range(classes):
            self._declare(place)
        for made in self.classes:
            for above in (made, *made.above):
                above.below += [] if made.interface else [made]
        for made in self.classes:
            self._members(made)
        for made in self.classes:
            for method in made.methods:
                if method.kind != "abstract":
                    Body(self, method).write()
        for made in self.classes[PACKAGE // 2 :: ENTRIES]:
            self.facts["entryMethod"] += [(m.number,) for m in made.methods if m.kind == "virtual"][:1]

    def near(self, place: int, most: int = 0) -> Class:
        """A class that code at some place uses: of the same package, any other, or one that is used everywhere; `most` is how many there are so far."""
        kind, known = self.chance.random(), most or len(self.classes)
        if kind < 0.7:
            first = min(place // PACKAGE * PACKAGE, known - 1)
            return self.classes[self.chance.randrange(first, min(first + PACKAGE, known))]
        return self.classes[int((known if kind < 0.8 else known / COMMON) * self.chance.random())]

    def few(self, mean: float) -> int:
        """A number from zero, mostly small."""
        return int(self.chance.expovariate(1 / mean) + 0.5) if mean else 0

    def array_of(self, made: Class) -> int:
        """The type of arrays of a class."""
        if not made.array:
            made.array = next(self.fresh)
            self.facts["arrayType"].append((made.array,))
            self.facts["componentType"].append((made.array, made.number))
        return made.array

    # ---- Declarations

    def _declare(self, place: int) -> None:
        """A class or an interface below what there is already."""
        made = Class(next(self.fresh), place, interface=place > 1 and self.chance.random() < 0.12)
        self.facts["interfaceType" if made.interface else "classType"].append((made.number,))
        if place == 0:
            self.facts["rootClass"].append((made.number,))
        else:
            found = [self.near(place, place) for _ in range(3)]
            made.above = [self.classes[0]]
            if not made.interface:
                near = next((c for c in found[:2] if not c.interface), self.classes[0])
                made.parent = near if self.chance.random() < 0.5 else self.classes[0]
                self.facts["directSuperclass"].append((made.number, made.parent.number))
                made.above += [made.parent, *made.parent.above]
            for interface in {c.number: c for c in found if c.interface}.values():
                self.facts["directSuperinterface"].append((made.number, interface.number))
                made.above += [interface, *interface.above]
            made.above = list(dict.fromkeys(made.above))
        self.classes.append(made)

    def _members(self, made: Class) -> None:
        """Fields, methods of its own, and methods that it overrides or has to implement."""
        if not made.interface:
            for members, mean in ((made.fields, 2.5), (made.globals, 0.5)):
                for _ in range(self.few(mean) if made.place else 0):
                    kind = self.classes[0] if self.chance.random() < ROOTS else self.near(made.place)
                    members.append((next(self.fresh), kind))
                    self.facts["fieldDeclaration"].append((members[-1][0], made.number, kind.number))
            for method in [m for c in made.above for m in c.methods if m.kind in ("virtual", "abstract")]:
                if (method.kind == "abstract" or self.chance.random() < 0.15) and not self._has(made, method):
                    self._method(made, "virtual", method.name, method)
            for _ in range(self.few(1.5) if made.place else 0):
                self._method(made, "static", self.chance.randrange(NAMES))
            self._method(made, "special", CONSTRUCTOR)
            if made.globals:
                self._method(made, "static", INITIALISER)
                self.facts["classInitialiser"].append((made.number, made.methods[-1].number))
        for _ in range(1 + self.few(3)):
            kind = "abstract" if made.interface else "virtual"
            self._method(made, kind, int(NAMES * self.chance.random() ** 3))

    def _has(self, made: Class, method: Method) -> bool:
        return any((m.name, m.parameters) == (method.name, method.parameters) for m in made.methods)

    def _method(self, made: Class, kind: str, name: int, like: Method | None = None) -> None:
        parameters: tuple[Class, ...] = ()
        result = None
        if like is not None:
            parameters, result = like.parameters, like.result
        elif name != INITIALISER:
            root, few = self.classes[0], self.few(1.0)
            parameters = tuple(
                root if self.chance.random() < ROOTS else self.near(made.place) for _ in range(few)
            )
            result = self.near(made.place) if name != CONSTRUCTOR and self.chance.random() < 0.5 else None
        method = Method(next(self.fresh), made, name, parameters, result, kind)
        if like is None and self._has(made, method):
            return
        made.methods.append(method)
        words = self.words[0, name], self.words[1, *(c.number for c in parameters)]
        self.facts["methodDeclaration"].append((method.number, *words, made.number))
        if kind in ("abstract", "static"):
            self.facts[f"{kind}Method"].append((method.number,))


class Body:
    """The instructions of one method; `held` are its variables by type."""

    def __init__(self, program: Bytecode, method: Method) -> None:
        self.program, self.method, self.chance = program, method, program.chance
        self.held: dict[Class, list[int]] = {}
        self.arrays: list[tuple[int, Class]] = []

    def write(self) -> None:
        """Parameters, instructions, a handler now and then, and returns."""
        program, method, chance = self.program, self.method, self.chance
        if method.kind != "static":
            self._fact("thisVariable", method.number, self._variable(method.owner))
        for n, kind in enumerate(method.parameters):
            self._fact("formalParameter", n, method.number, self._variable(kind))
        most = 4 if method.name in (CONSTRUCTOR, INITIALISER) else 7
        for kind in chance.choices(list(INSTRUCTIONS), list(INSTRUCTIONS.values()), k=1 + program.few(most)):
            getattr(self, f"_{kind}")()
        for member, kind in method.owner.globals if method.name == INITIALISER else ():
            self._instruction("putStatic", self._some(kind), member)
        if chance.random() < 0.1:
            caught = chance.choice(program.classes[:EXCEPTIONS])
            self._fact("handler", method.number, caught.number, self._variable(caught))
        if method.result is not None:
            for _ in range(1 + program.few(0.3)):
                self._instruction("return", self._some(method.result))

    def _fact(self, predicate: str, *row: int) -> None:
        self.program.facts[predicate].append(row)

    def _instruction(self, kind: str, *row: int) -> int:
        number = next(self.program.fresh)
        self._fact(f"{kind}Insn", number, *row, self.method.number)
        return number

    # ---- Variables

    def _variable(self, kind: Class) -> int:
        made = next(self.program.fresh)
        self.held.setdefault(kind, []).append(made)
        self._fact("variableMethod", made, self.method.number)
        return made

    def _known(self) -> tuple[int, Class]:
        """Some variable of the method, and its type."""
        if not self.held:
            self._new()
        kind = self.chance.choice(list(self.held))
        return self.chance.choice(self.held[kind]), kind

    def _some(self, kind: Class) -> int:
        """A variable that can be given where the type is wanted; if there is none, of a new object."""
        found = [v for known, held in self.held.items() if known is kind or kind in known.above for v in held]
        return self.chance.choice(found) if found else self._object(kind)

    def _target(self, kind: Class) -> int:
        """A variable of the type to assign to, new or not."""
        return (
            self.chance.choice(self.held[kind])
            if kind in self.held and self.chance.random() < 0.6
            else self._variable(kind)
        )

    def _object(self, kind: Class) -> int:
        """A variable with a new object of a class whose objects the type may hold: its constructor is called."""
        if not kind.below:
            return self._variable(kind)
        made = self.chance.choice(kind.below[:10])
        variable, heap = self._variable(kind), next(self.program.fresh)
        self._fact("heapType", heap, made.number)
        self._instruction("new", heap, variable)
        for method in [m for m in made.methods if m.name == CONSTRUCTOR]:
            self._arguments(self._instruction("specialCall", variable, method.number), method)
        return variable

    # ---- Instructions, by kind

    def _new(self) -> None:
        self._object(self.program.near(self.method.owner.place))

    def _text(self) -> None:
        kind, heap = self.program.classes[1], next(self.program.fresh)
        self._fact("heapType", heap, kind.number)
        self._instruction("text", heap, self._variable(kind))

    def _newArray(self) -> None:
        kind, heap = self.program.near(self.method.owner.place), next(self.program.fresh)
        array = next(self.program.fresh)
        self._fact("variableMethod", array, self.method.number)
        self._fact("heapType", heap, self.program.array_of(kind))
        self._instruction("newArray", heap, array)
        self.arrays.append((array, kind))

    def _move(self) -> None:
        variable, kind = self._known()
        self._instruction("move", variable, self._target(kind))

    def _cast(self) -> None:
        variable, kind = self._known()
        lower = self.chance.choice(kind.below[:50]) if kind.below else kind
        self._instruction("cast", lower.number, variable, self._target(lower))

    def _getField(self) -> None:
        for base, member, kind in self._field():
            self._instruction("getField", base, member, self._target(kind))

    def _putField(self) -> None:
        for base, member, kind in self._field():
            self._instruction("putField", self._some(kind), base, member)

    def _field(self) -> list[tuple[int, int, Class]]:
        """A variable and a field of it, which is private to the class that the method belongs to, if there is one."""
        owner = self.method.owner
        bases = [v for kind, held in self.held.items() if kind is owner or owner in kind.above for v in held]
        return (
            [(self.chance.choice(bases), *self.chance.choice(owner.fields))] if bases and owner.fields else []
        )

    def _getStatic(self) -> None:
        if members := self.program.near(self.method.owner.place).globals:
            member, held = self.chance.choice(members)
            self._instruction("getStatic", member, self._target(held))

    def _putStatic(self) -> None:
        if members := self.method.owner.globals:
            member, held = self.chance.choice(members)
            self._instruction("putStatic", self._some(held), member)

    def _arrayLoad(self) -> None:
        array, kind = self._array()
        self._instruction("arrayLoad", array, self._target(kind))

    def _arrayStore(self) -> None:
        array, kind = self._array()
        self._instruction("arrayStore", self._some(kind), array)

    def _array(self) -> tuple[int, Class]:
        if not self.arrays:
            self._newArray()
        return self.chance.choice(self.arrays)

    def _call(self) -> None:
        base, kind = self._known()
        if methods := [
            m for c in (kind, *kind.above) for m in c.methods if m.kind in ("virtual", "abstract")
        ]:
            method = self.chance.choice(methods)
            dispatch = "interfaceCall" if method.kind == "abstract" else "virtualCall"
            self._arguments(self._instruction(dispatch, base, method.number), method)

    def _staticCall(self) -> None:
        owner = self.program.near(self.method.owner.place)
        if methods := [m for m in owner.methods if m.kind == "static" and m.name != INITIALISER]:
            method = self.chance.choice(methods)
            self._arguments(self._instruction("staticCall", method.number), method)

    def _throw(self) -> None:
        kind = self.chance.choice(self.program.classes[1:EXCEPTIONS])
        for made in kind.below[:1]:
            variable, heap = self._variable(kind), self.program.words[2, made.number]
            self._fact("heapType", heap, made.number)
            self._instruction("new", heap, variable)
            self._instruction("throw", variable)

    def _arguments(self, call: int, method: Method) -> None:
        for n, kind in enumerate(method.parameters):
            self._fact("actualParameter", n, call, self._given(kind))
        if method.result is not None and self.chance.random() < 0.8:
            self._fact("callResult", call, self._target(method.result))

    def _given(self, kind: Class) -> int:
        """An argument: a variable that is there, else a new object, else nothing that was ever assigned."""
        found = [v for known, held in self.held.items() if known is kind or kind in known.above for v in held]
        if found:
            return self.chance.choice(found)
        return self._object(kind) if self.chance.random() < 0.3 else self._variable(kind)


def bytecode(classes: int, seed: int = 1) -> dict[str, NDArray[np.int64]]:
    """The facts of a program of so many classes, about 320 for each."""
    made = Bytecode(classes, seed).facts
    return {name: np.unique(np.array(rows, np.int64), axis=0) for name, rows in sorted(made.items())}
