"""Pairs of a closure, listed by a search from each component: the quickest way where rows are short."""

from __future__ import annotations

from typing import NamedTuple

from modulog.kernels.compiled import kernel
from modulog.kernels.types import Columns, Integers, ListArrays, Mask

FREE = 1 << 10
"""Edges that searches may pass, and pairs that they may write, whatever they find;"""

PER_PAIR = 4
"""besides, so many edges for each pair (a random graph has ten),"""

PER_GROUP = 32
"""and so many pairs for each group. Beyond that, rows that are counted and kept take half the time."""


@kernel
def pays(done: int, spent: int, written: int) -> bool:
    """Whether searches are worth going on with after so many groups, edges and pairs."""
    return spent <= FREE + PER_PAIR * written and written <= FREE + PER_GROUP * done


class Listing(NamedTuple):
    """What is listed: the component where group g begins and its nodes; a condensed graph; the id of each
    node.
    """

    components: Columns
    groups: ListArrays
    sons: ListArrays
    loops: Mask
    members: ListArrays
    ids: Columns


@kernel
def list_pairs(
    listing: Listing,
    at: int,
    stamps: Columns,
    mark: int,
    stack: Columns,
    spent: Integers,
    result: Columns,
) -> tuple[int, int]:
    """Write the pairs of each node in group g with each node that components[g] reaches, for g from `at` on.

    Pairs are written as ids. A search marks what it saw by mark + g. It ends before a group whose pairs do
    not fit into the result, and once more edges were passed than is allowed; `spent` has the edges passed and
    the pairs written so far. Returns where it stopped, and how many pairs there are.
    """
    components, groups, sons, loops, lists, ids = listing
    group_first, group_last, group = groups
    first, last, targets = sons
    member_first, member_last, members = lists
    written, g = 0, at
    while g < len(components) and pays(g, spent[0], spent[1] + written):
        c, size, began = components[g], 0, written
        if loops[c]:
            stack[0], size = c, 1
        for e in range(first[c], last[c]):
            d = targets[e]
            if stamps[d] != mark + g:
                stamps[d] = mark + g
                stack[size] = d
                size += 1
        spent[0] += 1 + last[c] - first[c]
        sources = group_last[g] - group_first[g]
        while size > 0:
            size -= 1
            d = stack[size]
            if written + sources * (member_last[d] - member_first[d]) > result.shape[1]:
                spent[1] += began
                return g, began
            for i in range(group_first[g], group_last[g]):
                for j in range(member_first[d], member_last[d]):
                    result[0, written] = ids[group[i]]
                    result[1, written] = ids[members[j]]
                    written += 1
            if d != c:
                for e in range(first[d], last[d]):
                    s = targets[e]
                    if stamps[s] != mark + g:
                        stamps[s] = mark + g
                        stack[size] = s
                        size += 1
                spent[0] += last[d] - first[d]
        g += 1
    spent[1] += written
    return g, written
