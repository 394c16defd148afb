"""The example of the hypertree paper's section 3: possible collaborators, two paths of two atoms between the same ends."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

COLLABORATOR_RULE: Final = "pc(?x, ?y) :- cw(?x, ?a), ca(?x, ?b), pc(?a, ?y), pc(?b, ?y) ."


def collaborators(n: int, k: int) -> dict[str, NDArray[np.int64]]:
    """Return 4·n·k + 2 facts from which (n + 1)·k follow, in two rounds.

    >>> {name: len(rows) for name, rows in collaborators(4, 3).items()}
    {'cw': 13, 'ca': 13, 'pc': 24}
    """
    people = np.repeat(np.arange(n, dtype=np.int64), k)
    index = np.tile(np.arange(k, dtype=np.int64), n)
    coworkers = n + 1 + people * k + index
    coauthors = coworkers + n * k
    topics = n + 1 + 2 * n * k + index
    return {
        "cw": np.vstack([np.column_stack([people, coworkers]), [[n, 2]]]),
        "ca": np.vstack([np.column_stack([people, coauthors]), [[n, 3]]]),
        "pc": np.vstack([np.column_stack([coworkers, topics]), np.column_stack([coauthors, topics])]),
    }
