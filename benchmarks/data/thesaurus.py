"""A thesaurus in the SKOS vocabulary: its rules, and concepts with broader, related and matching ones, labels and schemes."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.graphs import digraph
from benchmarks.data.skos import categories

_SUBPROPERTIES = {
    "broaderTransitive": "broader",
    "narrowerTransitive": "narrower",
    "semanticRelation": "broaderTransitive narrowerTransitive related mappingRelation",
    "broader": "broadMatch",
    "narrower": "narrowMatch",
    "related": "relatedMatch",
    "mappingRelation": "broadMatch narrowMatch relatedMatch closeMatch",
    "closeMatch": "exactMatch",
    "inScheme": "topConceptOf",
    "label": "prefLabel altLabel hiddenLabel",
    "note": "definition scopeNote changeNote editorialNote example historyNote",
}
_INVERSES = (
    ("broader", "narrower"),
    ("broaderTransitive", "narrowerTransitive"),
    ("broadMatch", "narrowMatch"),
    ("topConceptOf", "hasTopConcept"),
)
_SYMMETRIC = ("related", "relatedMatch", "closeMatch", "exactMatch")
_TRANSITIVE = ("broaderTransitive", "narrowerTransitive", "exactMatch")
_ENDS = (
    "Concept(?x) :- semanticRelation(?x, ?y) .",
    "Concept(?y) :- semanticRelation(?x, ?y) .",
    "Concept(?x) :- topConceptOf(?x, ?y) .",
    "ConceptScheme(?y) :- inScheme(?x, ?y) .",
    "ConceptScheme(?x) :- hasTopConcept(?x, ?y) .",
)


def thesaurus_rules() -> str:
    """Return the datalog part of the SKOS vocabulary: subproperties, inverses, symmetry, transitivity, domains and ranges.

    >>> "exactMatch(?x, ?z) :- exactMatch(?x, ?y), exactMatch(?y, ?z) ." in thesaurus_rules()
    True
    """
    rules = [
        f"{upper}(?x, ?y) :- {lower}(?x, ?y) ."
        for upper, lowers in _SUBPROPERTIES.items()
        for lower in lowers.split()
    ]
    for one, other in _INVERSES:
        rules += [f"{one}(?y, ?x) :- {other}(?x, ?y) .", f"{other}(?y, ?x) :- {one}(?x, ?y) ."]
    rules += [f"{name}(?y, ?x) :- {name}(?x, ?y) ." for name in _SYMMETRIC]
    rules += [f"{name}(?x, ?z) :- {name}(?x, ?y), {name}(?y, ?z) ." for name in _TRANSITIVE]
    return "\n".join([*rules, *_ENDS])


def thesaurus(concepts: int, seed: int = 1) -> dict[str, NDArray[np.int64]]:
    """Return facts about so many concepts at most: as many pairs of broader concepts, half as many related, labels, schemes, matches.

    >>> facts = thesaurus(1000)
    >>> len(facts["broader"]), len(facts["related"]), len(facts["prefLabel"]) > 100
    (1000, 500, True)
    """
    broader = np.concatenate(list(categories(concepts, seed)))
    nodes = int(broader.max()) + 1
    rng = np.random.default_rng(seed)
    named = np.arange(nodes, dtype=np.int64)
    # Groups of concepts of several thesauri that mean the same: chains of four.
    same = named[::5]
    chained = np.arange(len(same) - 1) % 4 < 3
    return {
        "broader": broader,
        "related": digraph(nodes, concepts // 2, seed + 1),
        "exactMatch": np.column_stack([same[:-1], same[1:]])[chained],
        "closeMatch": digraph(nodes, concepts // 20, seed + 2),
        "broadMatch": _upwards(rng, nodes, concepts // 200),
        "prefLabel": np.column_stack([named, nodes + named]),
        "altLabel": np.column_stack([named, 2 * nodes + named])[rng.random(nodes) < 0.5],
        "definition": np.column_stack([named, 3 * nodes + named])[rng.random(nodes) < 0.3],
        "topConceptOf": np.column_stack([named, 4 * nodes + named % 7])[:100],
        "inScheme": np.column_stack([named, 4 * nodes + named % 7])[100:],
    }


def _upwards(rng: np.random.Generator, nodes: int, count: int) -> NDArray[np.int64]:
    """Pairs of a concept and an earlier one."""
    later = rng.integers(1, nodes, count)
    pairs = np.column_stack([later, rng.integers(0, later)])
    return np.unique(pairs, axis=0)


def quarters(facts: dict[str, NDArray[np.int64]]) -> Iterator[dict[str, NDArray[np.int64]]]:
    """Yield a random quarter of the facts, a half that holds it, three quarters, and all.

    >>> [len(part["broader"]) for part in quarters(thesaurus(1_000))]
    [257, 502, 747, 1000]
    """
    for number in (1, 2, 3, 4):
        yield {
            name: rows[np.random.default_rng([7, place]).random(len(rows)) * 4 < number]
            for place, (name, rows) in enumerate(facts.items())
        }


SUBJECTS = {"reproducibility": 280, "uncertainty": 370, "microscopy": 1, "micrograph": 1}
"""Things that some concepts are the subject of: two with hundreds of random ones, as in the paper's queries, and two with one."""


def subjects(facts: dict[str, NDArray[np.int64]], seed: int = 1) -> dict[str, NDArray[np.int64]]:
    """Return facts (concept, thing) for the things of SUBJECTS, which are the numbers -1, -2, ….

    >>> [len(rows) for rows in subjects(thesaurus(10_000)).values()]
    [652]
    """
    concepts = int(facts["broader"].max()) + 1
    rng = np.random.default_rng([seed, 11])
    parts = [
        np.column_stack([rng.choice(concepts, min(count, concepts // 4), replace=False), np.full(count, -1 - number)[: concepts // 4]])
        for number, count in enumerate(SUBJECTS.values())
    ]  # fmt: skip
    return {"subject": np.concatenate(parts)}


def _queries() -> dict[str, str]:
    result = {}
    for kind, predicate in (("TC", "narrowerTransitive"), ("U", "semanticRelation")):
        pairs = f"{predicate}(?x, ?y)"
        result[f"{kind} Q0"] = pairs
        for first, variable in ((1, "?x"), (6, "?y")):
            result[f"{kind} Q{first}"] = f"Concept({variable}), {pairs}"
            for number in range(len(SUBJECTS)):
                result[f"{kind} Q{first + 1 + number}"] = f"subject({variable}, {-1 - number}), {pairs}"
    return result


QUERIES = _queries()
"""The counterparts of the paper's queries: all pairs, those from or to a concept, those from or to the concepts of one subject."""
