"""A workload: rules, facts and what to count, in a folder that every system reads in its own way.

The folder holds ``rules.rls``, ``facts.npz`` (one array for each predicate), ``facts/`` (one CSV for each
predicate) and ``workload.json`` (the predicates to count, and the same question in SQL).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.__main__ import write_csv


@dataclass(frozen=True, slots=True)
class Workload:
    """A program, its facts, and the predicates whose sizes are the answer."""

    rules: str
    facts: Mapping[str, NDArray[np.int64]]
    counted: tuple[str, ...]
    sql: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Ways to ask in SQL, each a sequence of statements that make the counted tables."""

    def __len__(self) -> int:
        return sum(len(rows) for rows in self.facts.values())

    def write(self, folder: Path, csv: bool = True) -> Path:
        """Write the workload into ``folder`` unless it is there already, and return the folder.

        Without ``csv``, only Modulog can read it.
        """
        if (folder / "workload.json").exists():
            return folder
        (folder / "facts").mkdir(parents=True, exist_ok=True)
        (folder / "rules.rls").write_text(self.rules + "\n", encoding="utf-8")
        np.savez(folder / "facts.npz", allow_pickle=False, **self.facts)
        for name, rows in self.facts.items() if csv else ():
            write_csv(folder / "facts" / f"{name}.csv", rows)
        (folder / "workload.json").write_text(
            json.dumps({"counted": self.counted, "sql": dict(self.sql)}), encoding="utf-8"
        )
        return folder


PREFIX = "p_"
"""What stands before the names of predicates, for systems to which some names mean more, or may not begin with a capital."""


def prefixed(rules: str) -> str:
    """Return rules without functions, with the prefix before all predicates.

    >>> prefixed("Class(?x) :- Datatype(?x) .")
    'p_Class(?x) :- p_Datatype(?x) .'
    """
    return re.sub(r"(\w+)\(", rf"{PREFIX}\1(", rules)


def read(folder: Path) -> Workload:
    """Return the workload that was written into a folder."""
    with np.load(folder / "facts.npz") as arrays:
        facts = {name: arrays[name] for name in arrays.files}
    rest = json.loads((folder / "workload.json").read_text(encoding="utf-8"))
    return Workload(
        rules=(folder / "rules.rls").read_text(encoding="utf-8"),
        facts=facts,
        counted=tuple(rest["counted"]),
        sql={name: tuple(statements) for name, statements in rest["sql"].items()},
    )
