"""What a condensation becomes when edges go or come: components split or merge, and only what touches them is
condensed again.

Beside the new condensation each function tells which components are *due*: those whose sons, members or
reaching themselves may have changed. Every other component has the same members and the same sons as before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from modulog.closures.bfs_levels import Levels
from modulog.closures.condensation import Condensation, marked_from, sons_of, strong_components
from modulog.closures.edges import Edges, packed, turned, unpacked
from modulog.closures.shared_lists import Lists, distinct
from modulog.kernels import intervals
from modulog.kernels.types import Columns, Integers, Mask

NONE = np.empty(0, np.int32)


class Revised(NamedTuple):
    """A condensation after a change, the levels that are still known, and the components that are due."""

    graph: Condensation
    levels: Levels
    due: Columns


class Regrouped(NamedTuple):
    """New components of nodes: where they are now, and who the members of the components named by keys
    are.
    """

    component: Columns
    position: Columns
    nodes: Columns
    size: int
    keys: Columns
    starts: Columns
    members: Columns
    renamed: Columns  # nodes whose component has another number than before
    ordered: bool


def without(old: Condensation, edges: Edges, gone: Integers, levels: Levels, reflexive: bool) -> Revised:
    """The condensation after the edges `gone` have left, whose rest is `edges`."""
    sources, targets = unpacked(gone)
    inside = old.component[sources] == old.component[targets]
    levels, broken = levels.broken(edges, old, sources[inside], targets[inside])
    groups = _split(old, edges, broken) if len(broken) else _same(old)
    crossing = ~inside | (sources == targets)
    touched = [groups.component[sources[crossing]], groups.component[_fathers(edges, groups.renamed)]]
    if reflexive:
        touched += [groups.component[sources], groups.component[targets]]
    graph, due = _revised(old, edges, groups, touched, reflexive)
    return Revised(graph, levels, due)


def with_more(old: Condensation, edges: Edges, come: Integers, levels: Levels, reflexive: bool) -> Revised:
    """The condensation after the edges `come` have joined `edges`; nodes may be new."""
    sources, targets = unpacked(come)
    groups = _extended(old, edges.n)
    component = groups.component
    crossing = (component[sources] != component[targets]) | (sources == targets)
    touched = [component[sources[crossing]]]
    if reflexive:
        touched += [component[sources], component[targets]]
    new, due = _revised(old, edges, groups, touched, reflexive)
    fathers, sons = component[sources], component[targets]
    new.ordered = bool(groups.ordered and (fathers >= sons).all())
    groups = _merged(new, _on_circles(new, fathers, sons))
    if len(groups.keys):
        fathers_of_renamed = groups.component[_fathers(edges, groups.renamed)]
        new, more = _revised(new, edges, groups, [fathers_of_renamed], reflexive)
        levels, due = levels.without(groups.members), distinct(np.concatenate([due, more]))
    return Revised(new, levels, due)


def _same(old: Condensation) -> Regrouped:
    starts = np.zeros(1, np.int32)
    return Regrouped(old.component, old.position, old.nodes, old.size, NONE, starts, NONE, NONE, old.ordered)


def _extended(old: Condensation, n: int) -> Regrouped:
    """Every node that is new is a component."""
    known = len(old.component)
    if n == known:
        return _same(old)
    fresh = np.arange(known, n, dtype=np.int32)
    keys = np.arange(old.size, old.size + len(fresh), dtype=np.int32)
    return Regrouped(
        component=np.concatenate([old.component, keys]),
        position=np.concatenate([old.position, fresh]),
        nodes=np.concatenate([old.nodes, fresh]),
        size=old.size + len(fresh),
        keys=keys,
        starts=np.arange(len(fresh) + 1, dtype=np.int32),
        members=fresh,
        renamed=NONE,
        ordered=False,
    )


def _split(old: Condensation, edges: Edges, broken: Columns) -> Regrouped:
    """The parts of components that may be broken; the largest of each keeps the number."""
    _, nodes = old.members.gathered(broken)
    component = old.component.copy()
    found = strong_components(edges.out, old.component, nodes, component, old.size)
    parts = component[nodes] - old.size
    whose = np.empty(found - old.size, np.int32)
    whose[parts] = old.component[nodes]
    by_size = np.lexsort((-np.bincount(parts, minlength=len(whose)), whose))
    largest = by_size[np.concatenate([[True], whose[by_size][1:] != whose[by_size][:-1]])]
    names = np.zeros(len(whose), np.int32)
    names[largest] = -1
    names[names == 0] = np.arange(old.size, found - len(largest), dtype=np.int32)
    names[largest] = whose[largest]
    component[nodes] = names[parts]
    position, at = old.position.copy(), old.nodes.copy()
    ordered = nodes[np.lexsort((component[nodes], old.component[nodes]))]
    position[ordered] = np.sort(packed(old.component[nodes], position[nodes])).astype(np.int32)
    at[position[ordered]] = ordered
    keys, starts, members = _by_component(component, nodes)
    renamed = nodes[component[nodes] >= old.size]
    return Regrouped(
        component, position, at, found - len(largest), keys, starts, members, renamed, old.ordered and not len(renamed)
    )  # fmt: skip


def _by_component(component: Columns, nodes: Columns) -> tuple[Columns, Columns, Columns]:
    """Nodes by component: the components, where the members of each start, the members."""
    nodes = nodes[np.argsort(component[nodes], kind="stable")]
    keys = component[nodes]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[first], np.append(first, len(nodes)).astype(np.int32), nodes


def _merged(graph: Condensation, circles: Columns) -> Regrouped:
    """Components on circles of the graph become one; the largest of each keeps its number, the others lose
    their members.
    """
    if not len(circles):
        return _same(graph)
    group, place = np.zeros(graph.size, np.int32), np.zeros(graph.size, np.int32)
    group[circles] = 1
    parts = strong_components(graph.down, group, circles, place, 0)
    several = np.bincount(place[circles], minlength=parts) > 1
    merging = circles[several[place[circles]]]
    if not len(merging):
        return _same(graph)
    sizes = graph.members.last[merging] - graph.members.first[merging]
    by_size = merging[np.lexsort((-sizes, place[merging]))]
    first = np.concatenate([[True], place[by_size][1:] != place[by_size][:-1]])
    names, left = np.empty(parts, np.int32), by_size[~first]
    names[place[by_size[first]]] = by_size[first]
    _, nodes = graph.members.gathered(merging)
    _, renamed = graph.members.gathered(left)
    component = graph.component.copy()
    component[renamed] = names[place[component[renamed]]]
    keys, starts, members = _by_component(component, nodes)
    nothing = np.full(len(left), len(members), np.int32)
    return Regrouped(
        component,
        graph.position,
        graph.nodes,
        graph.size,
        np.concatenate([keys, left]),
        np.concatenate([starts, nothing]),
        members,
        renamed,
        False,
    )


def _fathers(edges: Edges, nodes: Columns) -> Columns:
    """The nodes with edges to some nodes, perhaps several times."""
    fathers: Columns = edges.into.gathered(nodes)[1]
    return fathers


def _revised(
    old: Condensation, edges: Edges, groups: Regrouped, touched: list[Columns], reflexive: bool
) -> tuple[Condensation, Columns]:
    """The condensation with other groups of nodes, for which all but the touched components have the sons
    they had; what is due.
    """
    size, keys = groups.size, groups.keys
    due = distinct(np.concatenate([keys, *touched]))
    members = old.members.replaced(size, keys, groups.starts, groups.members)
    starts, words = intervals.blocks_of(groups.starts, groups.members, groups.position)
    blocks = old.blocks.replaced(size, keys, starts, words)
    starts, sons, own_loops = sons_of(due, edges, groups.component, members, reflexive)
    loops = np.zeros(size, np.bool_)
    loops[: old.size] = old.loops
    loops[due] = own_loops
    down = old.down.replaced(size, due, starts, sons)
    unused = int(np.count_nonzero(members.first[keys] == members.last[keys]))
    graph = Condensation(
        groups.component, members, groups.position, groups.nodes, blocks, down, loops, groups.ordered,
        old.unused + unused, _turned(old, size, due, starts, sons),
    )  # fmt: skip
    return graph, due


def _turned(old: Condensation, size: int, due: Columns, starts: Columns, sons: Columns) -> Lists | None:
    """The inverse of the condensed graph after the lists of what is due were replaced, if it was known."""
    up = old.known_up
    if up is None:
        return None
    known = due[due < old.size]
    before, old_sons = old.down.gathered(known)
    was = np.sort(turned(packed(np.repeat(known, np.diff(before)), old_sons)))
    now = np.sort(turned(packed(np.repeat(due, np.diff(starts)), sons)))
    return up.with_fewer(was[_missing(was, now)]).with_more(now[_missing(now, was)], size)


def _missing(words: Integers, others: Integers) -> Mask:
    """Which of some sorted words are not among others."""
    if not len(others):
        return np.ones(len(words), np.bool_)
    found: Mask = others[np.minimum(np.searchsorted(others, words), len(others) - 1)] != words
    return found


def _on_circles(graph: Condensation, fathers: Columns, sons: Columns) -> Columns:
    """The components on a way from a son back to a father: no other can be on a new circle."""
    crossing = fathers != sons
    if graph.ordered or not crossing.any():
        return NONE
    ahead = np.zeros(graph.size, np.bool_)
    ahead[sons[crossing]] = True
    ahead = marked_from(graph.down, ahead)
    back: Columns = fathers[crossing]
    back = back[ahead[back]]
    if not len(back):
        return back
    start = np.zeros(graph.size, np.bool_)
    start[back] = True
    return np.flatnonzero(ahead & marked_from(graph.up, ~ahead, start)).astype(np.int32)
