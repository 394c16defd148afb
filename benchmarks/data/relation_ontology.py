"""The rules of the Relation Ontology, as `modulog rules` makes them of its OWL file, and facts for them.

The ontology comes without data, so facts are generated, as they were for the papers: individuals in families of a hundred, and for every property that no rule derives, and every transitive one,
edges from later members of a family to earlier ones. Closures stay within families, but chains and inverses multiply them: of all rules of the papers, those
over which a compact relation must most often be read to be of use to another.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

FAMILY = 100
"""Individuals that are related to each other."""

_PREFIXED = re.compile(r"\b\w+:(\w+)\(")
_ATOM = re.compile(r"(\w+)\(([^)]*)\)")


def relation_rules() -> str | None:
    """Return the rules, predicates without prefixes; None where the ontology or the command that reads it is not there."""
    root = Path(os.environ.get("MODULOG_DATA") or Path(__file__).parents[3] / "shared" / "data")
    ontology = root / "ontologies" / "ro.owl.gz"
    if not ontology.exists():
        return None
    with TemporaryDirectory() as folder:
        made = Path(folder) / "ro.rls"
        command = [sys.executable, "-m", "modulog", "rules", str(ontology), "--out", str(made)]
        done = subprocess.run(command, capture_output=True, check=False)
        return without_prefixes(made.read_text(encoding="utf-8")) if done.returncode == 0 else None


def without_prefixes(text: str) -> str:
    """Return the rules of a rule file whose predicates are prefixed names, without facts and comments.

    >>> without_prefixes("@prefix o: <urn:o:> .\\n% said\\no:p(?x, ?y) :- o:q(?y, ?x) .\\no:q(o:a, o:b) .")
    'p(?x, ?y) :- q(?y, ?x) .'
    """
    lines = [line for line in text.splitlines() if ":-" in line and not line.startswith("%")]
    rules = [_PREFIXED.sub(r"\1(", line) for line in lines]
    return "\n".join(rule for rule in rules if ":" not in rule.replace(":-", "") and "<" not in rule)


def relation_facts(rules: str, individuals: int, seed: int = 1) -> dict[str, NDArray[np.int64]]:
    """Return facts about so many individuals: for each property that is given, an edge for one member in ten of each family.

    >>> facts = relation_facts("p(?x, ?z) :- p(?x, ?y), p(?y, ?z) .\\nq(?x, ?y) :- r(?x, ?y) .", 1_000)
    >>> sorted(facts), bool((facts["p"][:, 0] > facts["p"][:, 1]).all())
    (['p', 'r'], True)
    """
    result = {}
    for number, name in enumerate(_given(rules)):
        rng = np.random.default_rng([seed, number])
        later = np.flatnonzero(rng.random(individuals) < 0.1)
        later = later[later % FAMILY > 0]
        result[name] = np.column_stack([later, later - 1 - rng.integers(0, later % FAMILY)]).astype(np.int64)
    return result


def _given(rules: str) -> list[str]:
    """The properties that have facts: those that no rule derives, and transitive ones."""
    heads, bodies, transitive = set(), set(), set()
    for rule in rules.splitlines():
        head, _, body = rule.partition(":-")
        derived = _ATOM.findall(head)[0]
        read = _ATOM.findall(body)
        heads.add(derived[0])
        bodies |= {name for name, terms in read if "," in terms}
        if len(read) == 2 and {name for name, _ in read} == {derived[0]}:
            transitive.add(derived[0])
    return sorted((bodies - heads) | transitive)
