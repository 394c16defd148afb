"""Spark as the place of a task: its session, the folder that driver and workers share, memory, and the
sources that only Spark can read.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from modulog.engines.options import SparkOptions
from modulog.engines.room import Room
from modulog.engines.spark.sources.reading import from_frame
from modulog.errors import DataError
from modulog.formats.fact_file import FactFile
from modulog.formats.files import is_uri
from modulog.formats.keyed_facts import Keyed, KeyedFiles, KeyedRows
from modulog.spark.errors import translated
from modulog.spark.file_systems import HadoopListing
from modulog.spark.session import is_here, session_of, stop_session
from modulog.task.job import is_local, room_of, run_task

TABLE = "table:"
UNKNOWN = 1 << 60
"""Bytes that Spark says, multiplied perhaps, of a plan of which it knows nothing."""
VALUE = 16
"""Bytes of a value where nobody knows better."""


class TaskPlace:
    """A session, the caller's or our own, and a folder for states and for what travels; without one, a
    temporary folder of this machine, which is right for local masters.
    """

    def __init__(self, options: SparkOptions) -> None:
        self.spark, self._own = session_of(options.session, options.settings)
        folder = None if options.folder is None else os.fspath(options.folder)
        self._listing = HadoopListing(self.spark)
        self._temporary = folder is None
        self.folder = Path(_local(folder) if folder is not None else tempfile.mkdtemp(prefix="modulog-"))
        self.folder = self.folder.absolute() / f"task-{uuid4().hex[:12]}"
        self.folder.mkdir(parents=True)

    # ---- The task

    def run(self, function: str, request: bytes, description: str, observe: Callable[[], None]) -> bytes:
        """Let one worker call a function."""
        return run_task(self.spark, function, request, description, observe)

    @property
    def room(self) -> Room:
        """The memory of a Python worker."""
        return room_of(self.spark)

    @property
    def cores(self) -> int:
        """How many tasks run at a time."""
        return int(self.spark.sparkContext.defaultParallelism)

    @property
    def threads(self) -> int | None:
        """The threads that a task may have: in local mode all cores, as nothing else runs; elsewhere those
        that Spark gives a task.
        """
        if is_local(self.spark):
            return None
        return int(self.spark.sparkContext.getConf().get("spark.task.cpus", "1") or 1)

    # ---- What is there

    def sizes(self, path: str, format: str | None) -> dict[str, int]:
        """The bytes of what a path stands for, by format; an error if there is nothing."""
        if path.startswith(TABLE):
            return {"table": self.frame_size(self.table(path))}
        return self.file_sizes(self.files(path, format))

    def file_sizes(self, files: Iterable[FactFile]) -> dict[str, int]:
        """The bytes of files by format; those of other file systems have been listed before."""
        found: dict[str, int] = {}
        for file in files:
            text = str(file.path)
            if not os.path.isfile(text) and text not in self._listing.sizes:
                self._listing.files(text, file.format)
            size = os.path.getsize(text) if os.path.isfile(text) else self._listing.sizes.get(text, 0)
            name = file.format + (".gz" if file.gzip else "")
            found[name] = found.get(name, 0) + size
        return found

    def files(self, path: str, format: str | None) -> list[FactFile]:
        """The files that a path stands for; a table of the catalogue is one."""
        if self.is_table(path):
            return [FactFile(path, path.split(".")[-1].removeprefix(TABLE).strip("`"), "table")]
        return self._listing.files(path, format)

    def is_table(self, path: str) -> bool:
        """Whether a path names a table of the catalogue."""
        return path.startswith(TABLE)

    def path(self, place: str) -> Path:
        """A folder or file of this machine, which may be named by a URI."""
        return Path(_local(place))

    def table(self, path: str) -> DataFrame:
        """A table of the catalogue."""
        with translated():
            return self.spark.table(path.removeprefix(TABLE))

    def frame_size(self, frame: DataFrame) -> int:
        """The bytes of a frame, by Spark's own statistics; where it has none, its rows are counted."""
        with translated():
            plan: Any = (
                frame._jdf.queryExecution().optimizedPlan()
            )  # statistics have no public name in PySpark
            size = int(plan.stats().sizeInBytes())
            return size if size < UNKNOWN else frame.count() * len(frame.columns) * VALUE

    def is_frame(self, data: object) -> bool:
        """Whether facts are a data frame of Spark."""
        return isinstance(data, DataFrame)

    # ---- What only Spark can read

    def frame(
        self, frame: DataFrame, columns: Any, arity: int | None, bad: str = "fail"
    ) -> tuple[Keyed, str | None]:
        """The facts of a frame as keys in a folder, and the folder of its bad records if they are set
        aside.
        """
        with translated():
            source = from_frame(frame, columns, arity=arity, bad=bad)  # type: ignore[arg-type]
            if not source.names:
                rows = source.raw.count()
                return KeyedRows((np.empty((0, rows), np.uint32),), pa.array([], pa.large_string())), None
            folder = self._fresh("frames")
            source.frame.write.parquet(f"file://{folder}")
            if source.bad is None:
                return KeyedFiles(str(folder)), None
            aside = self._fresh("bad")
            source.bad.write.parquet(f"file://{aside}")
            return KeyedFiles(str(folder)), str(aside)

    def fetched(self, path: str, format: str | None) -> tuple[str, dict[str, str]]:
        """Where a task finds the files that a path stands for, and by copy what they are called; files that
        are here stay where they are.
        """
        if self.is_read_by_task(path):
            return path if path.startswith("file:") else os.path.abspath(path), {}
        folder, called = self._fresh("copies"), {}
        for number, file in enumerate(self.files(path, format)):
            name = str(file.path).rsplit("/", 1)[-1]
            kind = f"{quote(file.predicate, safe='<>')}.{file.format}"
            copy = folder / kind / f"{number:06d}-{name}"
            copy.parent.mkdir(parents=True, exist_ok=True)
            self._copy(str(file.path), copy)
            called[str(copy)] = str(file.path)
        return str(folder), called

    def is_read_by_task(self, path: str) -> bool:
        """Whether files are of this machine, or mounted here, so that a task reads them where they are."""
        if self.is_table(path):
            return False
        return path.startswith("file:") or (not is_uri(path) and is_here(self.spark))

    def _copy(self, uri: str, copy: Path) -> None:
        jvm: Any = self.spark._jvm
        source = jvm.org.apache.hadoop.fs.Path(uri)
        with translated():
            system = source.getFileSystem(self.spark._jsc.hadoopConfiguration())
            system.copyToLocalFile(False, source, jvm.org.apache.hadoop.fs.Path(f"file://{copy}"), True)

    # ---- What only Spark can give

    def parquet(self, path: Path) -> DataFrame:
        """A Parquet file that a task has written, as a frame; columns of terms in Turtle form say so."""
        with translated():
            frame = self.spark.read.parquet(f"file://{path}")
            files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
            turtle = {f.name: dict(f.metadata or {}) for f in pq.read_schema(files[0])}
            columns = []
            for name in frame.columns:
                metadata = {
                    k.decode(): v.decode() for k, v in turtle.get(name, {}).items() if b"modulog" in k
                }
                columns.append(F.col(name).alias(name, metadata=metadata) if metadata else F.col(name))
            return frame.select(*columns)

    def put(self, source: Path, folder: str) -> None:
        """Copy what lies in a folder of this machine into one of any file system."""
        jvm: Any = self.spark._jvm
        target = jvm.org.apache.hadoop.fs.Path(folder)
        with translated():
            system = target.getFileSystem(self.spark._jsc.hadoopConfiguration())
            system.mkdirs(target)
            for path in sorted(source.iterdir()):
                place = jvm.org.apache.hadoop.fs.Path(target, path.name)
                system.delete(place, True)
                system.copyFromLocalFile(False, True, jvm.org.apache.hadoop.fs.Path(f"file://{path}"), place)

    def is_seen(self, folder: str) -> bool:
        """Whether a folder to write to is one of this machine, so that a task may write there."""
        return self.is_read_by_task(folder)

    def _fresh(self, stem: str) -> Path:
        folder = self.folder / stem / uuid4().hex
        folder.parent.mkdir(parents=True, exist_ok=True)
        return folder

    def close(self) -> None:
        """Remove the folder, and stop a session of our own."""
        shutil.rmtree(self.folder.parent if self._temporary else self.folder, ignore_errors=True)
        if self._own:
            stop_session(self.spark)


def _local(folder: str) -> str:
    """A folder that driver and executors see as one of their own: locks and links need one."""
    if folder.startswith("file:"):
        return "/" + folder.removeprefix("file:").lstrip("/")
    if is_uri(folder):
        raise DataError(
            f"{folder}: one task of Spark needs a folder that is mounted on all machines as `folder`"
        )
    return folder
