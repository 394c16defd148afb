"""The dictionary on Spark: a table of ids and keys in Parquet that grows without passing through the driver.

A key is the text of `Constant.key`: a character whose code is the kind, then the content. Ids are dense and
never change. The table consists of parts, each of which covers a range of ids. A part is written once, with
the *slot* of every key: either its partition and its row there, from which the id follows once the rows of
each partition are counted, or, as a negative number, the id itself. `assign_ids.assign` gives slots, to the
keys of blocks.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from itertools import accumulate
from typing import Any
from uuid import uuid4

import pyarrow as pa
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from modulog.engines.spark.assign_ids import ASSIGNED, PLACES, ROW_BITS, SIZE, TERM, assign, fixed
from modulog.engines.spark.key_blocks import (
    KNOWN,
    PENDING,
    SCHEMA,
    Chunks,
    TermBlocks,
    key_blocks,
    keys_of_blocks,
)
from modulog.errors import InternalError
from modulog.language.printer import print_term
from modulog.spark.file_systems import folder_of
from modulog.terms.constant import Constant

BROADCAST_TERMS = 100_000
"""Up to so many terms the table is sent to every executor instead of being shuffled."""

MOST_RECENT = 10_000
"""So many terms the driver remembers with their ids: those that rules and queries name come again and again.
"""

_MOST_PARTS = 8
_MOST_PENDING = 20_000  # keys that only the driver knows
_MERGED = 5  # at least so many parts become one
_TEXT = 1 << 23  # bytes of keys that one task gives ids to, about
_LENGTH = 40  # bytes of a key, about
_SCHEMA = "slot long, key string"
_PLACES = "chunk long, numbers binary, slots binary"


@dataclass(frozen=True, slots=True)
class Part:
    """A folder of the table: its number of ids, and the first of each partition after earlier parts'."""

    name: str
    count: int
    offsets: tuple[int, ...]


class Recent:
    """The keys and ids that the driver has asked for or given out lately, `MOST_RECENT` of them at most."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}  # in the order in which they were last asked for
        self.keys: dict[int, str] = {}

    def note(self, ids: Mapping[str, int]) -> None:
        """Remember keys with their ids, and forget those that were not asked for since long."""
        for key, number in ids.items():
            self.ids.pop(key, None)
            self.ids[key], self.keys[number] = number, key
        while len(self.ids) > MOST_RECENT:
            del self.keys[self.ids.pop(next(iter(self.ids)))]

    def ids_of(self, keys: Iterable[str]) -> dict[str, int]:
        """The ids of those of the keys that are remembered."""
        found = {key: self.ids[key] for key in keys if key in self.ids}
        self.note(found)
        return found


class SparkTerms:
    """Terms and their ids, in a folder of their own in one that executors can read and write.

    Frames that are handed out are lazy and read the parts that were there when they were made: `release` may
    only be called when none of them is needed any more.
    """

    def __init__(self, spark: SparkSession, folder: str, *, broadcast_terms: int = BROADCAST_TERMS) -> None:
        self.spark, self.broadcast_terms = spark, broadcast_terms
        self._where, self._name = folder_of(spark, folder), f"terms-{uuid4().hex[:12]}"
        self._folder = self._where.inside(self._name)
        self._recent = Recent()
        self._pending: dict[str, int] = {}
        self._superseded: list[str] = []
        self._holders: dict[str, weakref.ref[object]] = {}  # of what was staged
        self.pinned: set[str] = set()  # folders that another process may take up
        self._frame: DataFrame | None = None
        self._stored: Callable[[], DataFrame] | None = None
        self._first = 0  # how many terms lie in a store
        self._parts: list[Part] = []
        self._written = 0
        self.actions = 0  # jobs so far

    def __len__(self) -> int:
        return self._written + len(self._pending)

    def restore(self, stored: Callable[[], DataFrame], count: int) -> None:
        """Begin with so many terms of a store (id, key), which are opened when they are first read."""
        if len(self):
            raise InternalError("terms can only be restored before there are others")
        self._stored, self._written, self._first = stored, count, count

    # Single constants.

    def identify(self, constant: Constant) -> int:
        """The id of a constant, new if need be."""
        key = constant.key.decode()
        known = self._ids([key])
        return known[key] if known else self.adopt([key])[key]

    def adopt(self, keys: Sequence[str]) -> dict[str, int]:
        """Give the next ids to keys that are all new."""
        made = dict(zip(keys, range(len(self), len(self) + len(keys)), strict=True))
        self._pending |= made
        self._recent.note(made)
        self._frame = None if keys else self._frame
        if len(self._pending) > _MOST_PENDING:
            self.write_pending()
        return made

    def find(self, constants: Sequence[Constant]) -> list[int]:
        """The ids of constants, -1 for one that is unknown, with at most one job."""
        keys = [constant.key.decode() for constant in constants]
        known = self._ids(keys)
        return [known.get(key, -1) for key in keys]

    def _ids(self, keys: Sequence[str]) -> dict[str, int]:
        """The ids of those of the keys that have one, with one job for all that the driver does not know."""
        known = {key: self._pending[key] for key in keys if key in self._pending}
        known |= self._recent.ids_of(key for key in keys if key not in known)
        unknown = sorted({key for key in keys if key not in known})
        if unknown and self._written:
            self.actions += 1
            wanted = self._small("place", range(len(unknown)), unknown)
            found = self.frame().join(F.broadcast(wanted), "key").select("key", "id").toArrow()
            looked_up = dict(zip(*(column.to_pylist() for column in found.columns), strict=True))
            self._recent.note(looked_up)
            known |= looked_up
        return known

    def name(self, number: int) -> str:
        """The constant of an id, as rules write it."""
        return print_term(Constant.from_key(self.key(number).encode()))

    def key(self, number: int) -> str:
        """The key of an id; no job is needed for one that was asked for lately."""
        known = self._recent.keys.get(number)
        if known is None:
            self.actions += 1
            found = self.frame().where(F.col("id") == number).select("key").head(1)
            if not found:
                raise InternalError(f"the dictionary has no term {number}")
            known = str(found[0]["key"])
            self._recent.note({known: number})
        return known

    # The table.

    def frame(self) -> DataFrame:
        """All terms: id (long), key (string)."""
        if self._frame is None:
            written = self._written_frames()
            if self._pending or not written:
                written.append(self._small("id", self._pending.values(), self._pending))
            self._frame = reduce(DataFrame.unionByName, written)
        return self._frame

    def _written_frames(self) -> list[DataFrame]:
        frames = [self._stored()] if self._stored is not None else []
        return frames + [self._read(part) for part in self._parts]

    def grow(self, keys: DataFrame) -> int:
        """Give an id to every key of a frame with one column, `key`, of strings; answers how many are new.

        The frame is evaluated once. Nothing is written if nothing is new.
        """
        before = len(self)
        name, _ = self._assign(keys.select("key").mapInArrow(Chunks(key_blocks), SCHEMA))
        self._folder.delete(name if len(self) == before else f"{name}/kind={PLACES}")
        return len(self) - before

    def number(self, blocks: DataFrame, text: int) -> tuple[DataFrame, tuple[int, ...]]:
        """Give an id to every key of blocks of keys, which have so many bytes together, with one job.

        Answers the slots of the numbers of each chunk (chunk, numbers, slots), and the first id of each
        partition of slots.
        """
        before, few = len(self), text <= _TEXT
        tasks = 1 if few else 1 + (text + before * _LENGTH) // _TEXT
        name, offsets = self._assign(blocks, tasks, few)
        places = f"{name}/kind={PLACES}"
        self._superseded.append(name if len(self) == before else places)
        if offsets is None:
            return self.spark.createDataFrame([], _PLACES), ()
        slots = self.spark.read.schema(_PLACES).parquet(self._folder / places)
        return slots.where("slots is not null"), offsets

    def _assign(
        self, blocks: DataFrame, tasks: int | None = None, few: bool = False
    ) -> tuple[str, tuple[int, ...] | None]:
        """Write the terms of blocks of keys that are new and the slots of all; answers the folder, and
        offsets if there is a key.

        If the keys are `few`, they go to where the table is, and of that only what they ask for is shuffled.
        """
        frames = []
        if written := self._written_frames():
            known = reduce(DataFrame.unionByName, written)
            if few:
                asked = blocks.select("data", "ends").mapInArrow(keys_of_blocks, "key string")
                known = known.join(F.broadcast(asked), "key", "left_semi").select("id", "key")
            frames.append(known.mapInArrow(TermBlocks(KNOWN), SCHEMA))
        if self._pending:
            pending = self._small("id", self._pending.values(), self._pending)
            frames.append(pending.mapInArrow(TermBlocks(PENDING), SCHEMA))
        together = reduce(DataFrame.union, frames, blocks).select(
            "chunk", "bucket", "numbers", "data", "ends"
        )
        spread = together.repartition("bucket") if tasks is None else together.repartition(tasks, "bucket")
        name, found = self._folder.fresh("part"), Observation()
        sizes = F.collect_list(F.when(F.col("chunk") == SIZE, F.col("slot"))).alias("sizes")
        numbered = spread.mapInArrow(assign, ASSIGNED).observe(found, sizes)
        self.actions += 1
        numbered.write.partitionBy("kind").parquet(self._folder / name)
        counts = {size >> ROW_BITS: size & ((1 << ROW_BITS) - 1) for size in found.get["sizes"]}
        return name, self._append(f"{name}/kind={TERM}", counts) if counts else None

    def release(self) -> None:
        """Delete what newer files have replaced and what nobody holds: frames made before are void."""
        self._holders = {name: holder for name, holder in self._holders.items() if holder() is not None}
        needed = self.pinned | self._holders.keys()
        for name in self._superseded:
            if name not in needed:
                self._folder.delete(name)
        self._superseded = [name for name in self._superseded if name in needed]

    def state(self) -> dict[str, Any]:
        """What the table consists of, as JSON can say it."""
        parts = [asdict(part) for part in self._parts]
        return {"folder": self._name, "parts": parts, "pending": list(self._pending)}

    def take_up(self, state: Mapping[str, Any]) -> None:
        """Be what a table in the same folder was when it gave its state."""
        self._name = state["folder"]
        self._folder = self._where.inside(self._name)
        self._parts = [Part(p["name"], p["count"], tuple(p["offsets"])) for p in state["parts"]]
        self._written = self._first + sum(part.count for part in self._parts)
        self._recent, self._pending, self._frame = Recent(), {}, None
        self.adopt(state["pending"])

    def close(self) -> None:
        """Delete the folder."""
        self._folder.delete()

    # Frames of keys and frames of ids.

    def encode(self, frame: DataFrame, columns: Mapping[str, str]) -> DataFrame:
        """Columns of keys as columns of ids: `columns` maps old names to new ones, all others stay.

        Lazy. Every key must have an id already: rows with others are lost.
        """
        return self._replace(frame, columns, "key", "id")

    def decode(self, frame: DataFrame, columns: Mapping[str, str], few: bool = False) -> DataFrame:
        """Columns of ids as columns of keys; `few` rows go to where the table is, which is not shuffled."""
        if not few or not columns:
            return self._replace(frame, columns, "id", "key")
        asked = reduce(DataFrame.union, [frame.select(F.col(c).alias("id")) for c in columns])
        near = self.frame().join(F.broadcast(asked), "id", "left_semi")
        return self._replace(frame, columns, "id", "key", F.broadcast(near))

    def stage(self, frames: Sequence[DataFrame]) -> list[DataFrame]:
        """Evaluate frames once: written to Parquet and read back; `release` deletes the files."""
        staged = []
        for frame in frames:
            if not frame.columns:
                staged.append(frame)
                continue
            name = self._folder.fresh("staged")
            self._superseded.append(name)
            self.actions += 1
            frame.write.parquet(self._folder / name)
            staged.append(self.spark.read.schema(frame.schema).parquet(self._folder / name))
        return staged

    def hold(self, holder: object) -> None:
        """Keep what was staged last as long as somebody has the holder."""
        self._holders[self._superseded[-1]] = weakref.ref(holder)

    # How it is kept.

    def _read(self, part: Part) -> DataFrame:
        stored = self.spark.read.schema(_SCHEMA).parquet(self._folder / part.name)
        slot = F.col("slot")
        number = fixed(slot)
        if part.offsets:
            first = F.array(*[F.lit(offset) for offset in part.offsets])
            place = slot.bitwiseAND(F.lit((1 << ROW_BITS) - 1))
            partition = F.shiftright(slot, ROW_BITS).cast("int")
            number = F.when(slot < 0, number).otherwise(F.get(first, partition) + place)
        return stored.select(number.cast("long").alias("id"), "key")

    def _append(self, name: str, sizes: Mapping[int, int]) -> tuple[int, ...]:
        """Take over a part, unless none of its terms is new; answers the first id of each partition."""
        counts = [sizes.get(partition, 0) for partition in range(max(sizes) + 1)]
        if not any(counts):
            self._folder.delete(name)
            return ()
        offsets = tuple(accumulate(counts[:-1], initial=len(self)))
        self._parts.append(Part(name, len(self._pending) + sum(counts), offsets))
        self._settle()
        return offsets

    def write_pending(self) -> None:
        """Write the ids that only the driver knows."""
        name = self._folder.fresh("part")
        self.actions += 1
        slots = self._small("slot", map(fixed, self._pending.values()), self._pending)
        slots.coalesce(1).write.parquet(self._folder / name)
        self._parts.append(Part(name, len(self._pending), ()))
        self._settle()

    def _small(self, name: str, numbers: Iterable[int], keys: Iterable[str]) -> DataFrame:
        """Numbers and keys of the driver as a frame; from Arrow it is a part of the plan and needs no job."""
        table = {name: pa.array(list(numbers), pa.int64()), "key": pa.array(list(keys), pa.string())}
        return self.spark.createDataFrame(pa.table(table))

    def _settle(self) -> None:
        """Take note of a new last part, which holds all that was pending."""
        self._written += self._parts[-1].count
        self._pending, self._frame = {}, None
        if len(self._parts) > _MOST_PARTS:
            self._merge()

    def _merge(self) -> None:
        """Make one part of the last ones: one is rewritten only with as many terms again."""
        first = len(self._parts) - _MERGED
        while first and self._parts[first - 1].count <= sum(part.count for part in self._parts[first:]):
            first -= 1
        old = self._parts[first:]
        frame = reduce(DataFrame.unionByName, map(self._read, old))
        name = self._folder.fresh("part")
        files = max(1, max(len(part.offsets) for part in old))
        self.actions += 1
        frame.select(fixed(F.col("id")).alias("slot"), "key").coalesce(files).write.parquet(
            self._folder / name
        )
        self._parts[first:] = [Part(name, sum(part.count for part in old), ())]
        self._superseded += [part.name.partition("/")[0] for part in old]

    def _table(self) -> DataFrame:
        """The table as one side of a join: sent to all executors if small, else hashed, not sorted."""
        table = self.frame()
        return F.broadcast(table) if len(self) <= self.broadcast_terms else table.hint("shuffle_hash")

    def _replace(
        self, frame: DataFrame, columns: Mapping[str, str], old: str, new: str, table: DataFrame | None = None
    ) -> DataFrame:
        renamed = {c: columns.get(c, c) for c in frame.columns}
        for column in columns:
            found = (self._table() if table is None else table).select(
                F.col(old).alias(f"_old_{column}"), F.col(new).alias(f"_new_{column}")
            )
            frame = frame.join(found, F.col(column) == F.col(f"_old_{column}"))
        return frame.select(
            *[F.col(f"_new_{c}" if c in columns else c).alias(name) for c, name in renamed.items()]
        )
