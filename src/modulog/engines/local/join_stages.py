"""Nodes that extend, filter or rearrange each row by itself, and how rows go through several of them on
several threads.

The rows of what lies under them are cut into pieces; each piece goes through all of the stages in one thread,
and what comes out is handed on in the order of the pieces. Stages change nothing that another thread could
see, except that readers, orders and tables are made when they are first needed: by one thread, which is that
of the caller if a row of the first piece comes so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat

import numpy as np

from modulog.engines.local.batches import Ahead, Arrangement, Batch, Node
from modulog.engines.local.readers import Reader
from modulog.engines.local.relation import Bounds
from modulog.engines.local.runs import Building
from modulog.kernels.threads import Part, current, stream


class Opening:
    """A reader that is made when it is first asked for."""

    def __init__(self, make: Callable[[], Reader]) -> None:
        self._make = make
        self._reader: Reader | None = None

    def __call__(self) -> Reader:
        if self._reader is None:
            with Building.lock:
                if self._reader is None:
                    self._reader = self._make()
        return self._reader


class Stage:
    """A node that works on each row of another by itself."""

    left: Node
    variables: tuple[str, ...]

    @property
    def divisible(self) -> bool:
        """Whether several threads may do this: not where a reader has caches of its own."""
        return True

    def reader(self) -> Reader:
        """The facts to look up."""
        raise NotImplementedError

    def extend(self, batch: Batch, reader: Callable[[], Reader]) -> Iterator[Batch]:
        """What becomes of some rows."""
        raise NotImplementedError

    def bounds(self) -> Bounds:
        """For each column the least and the greatest id it can hold."""
        raise NotImplementedError

    def batches(self) -> Iterator[Batch]:
        """The rows, evaluated anew at each call."""
        opened: list[tuple[Stage, Opening]] = [(self, Opening(self.reader))]
        node = self.left
        while isinstance(node, Stage):
            opened.append((node, Opening(node.reader)))
            node = node.left
        opened.reverse()
        if isinstance(node, Ahead):
            return _divided(node.batches(), opened)
        return chain.from_iterable(_through(batch, opened) for batch in node.batches())


class Rearrange(Stage):
    """The rows of another node, rearranged."""

    def __init__(self, left: Node, args: tuple[str | int, ...], variables: tuple[str, ...]) -> None:
        self.left, self.variables = left, variables
        self.arrange = Arrangement(left.variables, args)

    def extend(self, batch: Batch, reader: Callable[[], Reader]) -> Iterator[Batch]:
        yield Batch(self.arrange(batch.ids), batch.weights)

    def bounds(self) -> Bounds:
        return self.arrange.bounds(self.left.bounds())


Opened = Sequence[tuple[Stage, Opening]]


def _through(batch: Batch, stages: Opened) -> Iterator[Batch]:
    """What becomes of some rows in all of the stages."""
    found: Iterator[Batch] = iter((batch,))
    for stage, reader in stages:
        found = chain.from_iterable(map(stage.extend, found, repeat(reader)))
    return found


def _divided(batches: Iterator[Batch], stages: Opened) -> Iterator[Batch]:
    """What becomes of the rows of batches: short ones, which are all that small updates have, are done without
    more ado, until one comes that is not short.
    """
    for batch in batches:
        if batch.rows < current().piece // 8:
            yield from _through(batch, stages)
            continue
        pieces = _pieces(chain([batch], batches), stages)
        if all(stage.divisible for stage, _ in stages):
            yield from stream(pieces)
        else:
            for _, piece in pieces:
                yield from piece()


def _pieces(batches: Iterable[Batch], stages: Opened) -> Iterator[Part[Batch]]:
    """The rows of batches in pieces, with what is to be done with each."""
    size = current().piece
    for batch in batches:
        for start in range(0, max(1, batch.rows), size):
            stop = min(batch.rows, start + size)
            yield stop - start, partial(_piece_through, batch, start, stop, stages)


def _piece_through(batch: Batch, start: int, stop: int, stages: Opened) -> Iterator[Batch]:
    """What becomes of the rows from start to stop."""
    if stop - start < batch.rows:
        weights = None if batch.weights is None else batch.weights[start:stop]
        batch = Batch(np.ascontiguousarray(batch.ids[:, start:stop]), weights)
    return _through(batch, stages)
