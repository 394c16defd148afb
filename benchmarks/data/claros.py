"""Facts for the Claros rules: finds, what made them, where and when, and documents that refer to places.

Places form regions, and documents refer to places of one region, so that by the rules all places of a region are related to each other: the large
symmetric-transitive cliques of the real data. Places, periods, terms and events also form hierarchies, for the transitive properties.
"""

import numpy as np
from numpy.typing import NDArray

Relations = dict[str, NDArray[np.int64]]

REGIONS = (30, 100, 300)
"""How many places a region has, in turn."""
DOCUMENTS = 2
"""How many documents there are for each place; each refers to two places of its region."""
TERMS, ACTORS, SPANS = 40, 15, 10
"""One term, one actor and one period for so many finds."""


def claros(finds: int, seed: int = 1) -> Relations:
    """Return about ten facts for each find; a fifth as many places as finds.

    >>> facts = claros(1000)
    >>> facts["E22_Man_Made_Object"].shape, facts["P67_refers_to"].shape[1]
    ((1000, 1), 2)
    """
    rng = np.random.default_rng(seed)
    counts = {
        "place": max(finds // 5, 2),
        "document": max(finds // 5, 2) * DOCUMENTS,
        "find": finds,
        "production": finds,
        "span": max(finds // SPANS, 2),
        "term": max(finds // TERMS, 2),
        "actor": max(finds // ACTORS, 2),
    }
    offsets = np.concatenate([[0], np.cumsum(list(counts.values()))])
    things = {
        name: np.arange(first, first + counts[name], dtype=np.int64)
        for name, first in zip(counts, offsets, strict=False)
    }
    return {**_objects(things, rng), **_places(things, rng), **_hierarchies(things, rng)}


def _objects(things: Relations, rng: np.random.Generator) -> Relations:
    """Finds, and the events that made them."""
    finds, productions = things["find"], things["production"]

    def some(kind: str) -> NDArray[np.int64]:
        return rng.choice(things[kind], len(finds))

    return {
        "E22_Man_Made_Object": finds[:, None],
        "E12_Production": productions[:, None],
        "E39_Actor": things["actor"][:, None],
        "P108i_was_produced_by": np.column_stack([finds, productions]),
        "P2_has_type": np.column_stack([finds, some("term")]),
        "P14_carried_out_by": np.column_stack([productions, some("actor")]),
        "P7_took_place_at": np.column_stack([productions, some("place")]),
        "P4_has_time_span": np.column_stack([productions, some("span")]),
    }


def _places(things: Relations, rng: np.random.Generator) -> Relations:
    """Regions, and documents that refer to two neighbours or to any two places of a region."""
    places, documents = things["place"], things["document"]
    ends = np.cumsum(np.resize(REGIONS, len(places) // min(REGIONS) + 1))
    region = np.searchsorted(ends, np.arange(len(places)), side="right")
    first = np.concatenate([[0], ends])[region]
    last = np.minimum(ends[region], len(places)) - 1
    here = np.arange(len(documents)) % len(places)
    neighbour = np.minimum(here + 1, last[here])
    any_place = rng.integers(first[here], last[here] + 1)
    other = np.where(np.arange(len(documents)) < len(places), neighbour, any_place)
    refers = np.column_stack([np.tile(documents, 2), places[np.concatenate([here, other])]])
    return {
        "E53_Place": places[:, None],
        "E31_Document": documents[:, None],
        "P67_refers_to": np.unique(refers, axis=0),
    }


def _hierarchies(things: Relations, rng: np.random.Generator) -> Relations:
    """Trees of places, periods and terms; short chains of events; events of the same time, five by five."""
    events = things["production"]
    place = np.arange(len(events))
    return {
        "P89_falls_within": _tree(things["place"], rng),
        "P86_falls_within": _tree(things["span"], rng),
        "P127_has_broader_term": _tree(things["term"], rng),
        "P120_occurs_before": np.column_stack([events[:-1], events[1:]])[place[1:] % 20 > 0],
        "P114_is_equal_in_time_to": np.column_stack([events - place % 5, events])[place % 5 > 0],
    }


def _tree(nodes: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Each node under an earlier one."""
    above = rng.integers(0, np.arange(1, len(nodes)))
    return np.column_stack([nodes[1:], nodes[above]])
