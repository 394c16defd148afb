"""What a run has computed so far, in the store's folder, so that a run that was killed is taken up where it was.

    checkpoint/state.json            the key of the run, how far it has come, and in which files everything lies
    checkpoint/facts-…/, terms/      the files: of executors those that they have written anyway

A state is committed by one rename: until then the one before it counts, and its files stay. Nobody who reads the store looks here. A run whose key, which is everything that decides what it
computes, is not that of the state begins anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import Any

from modulog.engines.backend import Backend, Freezing, Frozen, can_freeze
from modulog.errors import NotSupported
from modulog.kernels.compile_time import working_time
from modulog.store.draft import CHECKPOINT
from modulog.store.file_names import checksum, synchronise, write_whole

ROUNDS = 10
"""Rounds after which a state is committed, unless told otherwise."""

SHARE = 10
"""Committing takes at most one part in so many of the time: what is due waits, if it must, for a later round."""

STATE = "state.json"
"""The file that says what was committed, and in which files it lies."""
_VERSION = 4
_SYNCHRONISED = 16  # files at a time

Files = dict[str, dict[str, int]]
"""The files of each folder, with their bytes."""


class Committed:
    """The last state that was committed, and the next one.

    `key` can be said in JSON. `commits` counts those of this process.
    """

    kind: str
    """What is computed: one kind of work does not go on with what another has left."""

    def __init__(self, store: Path, key: Mapping[str, Any], rounds: int = ROUNDS) -> None:
        self.area = store.absolute() / CHECKPOINT
        self._expect(key)
        self._every = rounds
        self._state = self._found()
        self._files: Files = self._state["files"] if self._state is not None else {}
        self.commits = 0
        self._committed, self._cost = 0.0, 0.0  # when the last commit was over, and how long it took
        if self._state is None:
            self.clear()
        else:
            self._sweep()

    def _expect(self, key: Mapping[str, Any]) -> None:
        self._key = json.loads(json.dumps({"kind": self.kind, **key}))

    @property
    def folder(self) -> str:
        """Where the reasoner is to keep facts and terms."""
        return f"file://{self.area}"

    @property
    def loaded(self) -> bool:
        """Whether an earlier run has left something."""
        return self._state is not None

    def begin(self, backend: Backend) -> None:
        """Take terms up before there are others than those of the store."""
        if not can_freeze(backend):
            raise NotSupported("this engine has no checkpoints")
        self._backend: Freezing = backend
        self._begun = working_time()
        backend.freeze_into(self.area)
        if self._state is not None:
            backend.thaw(self._state["engine"])

    def clear(self) -> None:
        """Remove everything, once no reasoner needs its files any more."""
        self.forget()
        rmtree(self.area, ignore_errors=True)

    def forget(self) -> None:
        """Let nobody take up what was committed: it is where it belongs."""
        with suppress(OSError):
            (self.area / STATE).unlink()

    # ---- Committing

    def _is_paid(self, cost: float = 0.0) -> bool:
        """Whether so much time has passed that a commit, which is thought to take so many seconds, costs little of it."""
        since = max(self._committed, self._begun if cost else 0.0)
        return working_time() - since >= SHARE * max(cost, self._cost)

    def _commit(self, began: float, frozen: Frozen, content: Mapping[str, Any]) -> None:
        """Make a state that was frozen, since some moment, the one that counts."""
        self._files = self._written(frozen)
        whole = {
            "version": _VERSION,
            "key": self._key,
            "files": self._files,
            **content,
            "engine": frozen.state,
        }
        text = json.dumps(whole, ensure_ascii=False)
        sealed = json.dumps({"checksum": checksum(text.encode()), "content": text}, ensure_ascii=False)
        write_whole(self.area / STATE, sealed.encode())
        self.commits += 1
        self._committed = working_time()
        self._cost = self._committed - began

    def _written(self, frozen: Frozen) -> Files:
        """The files of a state, all of them on disk."""
        new = frozen.folders - self._files.keys()
        found = {folder: _listed(self.area / folder) for folder in new}
        paths = [self.area / folder / name for folder, names in found.items() for name in names]
        folders = [self.area / folder for folder in new]
        above = {parent for folder in folders for parent in folder.parents if self.area in parent.parents}
        self.area.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(_SYNCHRONISED) as threads:
            list(threads.map(synchronise, [*paths, *folders, *above]))
        return {folder: found[folder] if folder in new else self._files[folder] for folder in frozen.folders}

    # ---- What an earlier run has left

    def _found(self) -> dict[str, Any] | None:
        """The state that an earlier run has left, if it is whole and this run's own."""
        try:
            sealed = json.loads((self.area / STATE).read_bytes())
            text = sealed["content"]
            if sealed["checksum"] != checksum(text.encode()):
                return None
            content: dict[str, Any] = json.loads(text)
            if content["version"] != _VERSION or content["key"] != self._key:
                return None
            whole = all(_listed(self.area / folder) == names for folder, names in content["files"].items())
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return content if whole else None

    def _sweep(self) -> None:
        """Remove what the state does not need: the work of the last moments of the run that was killed."""
        needed = {"/".join(folder.split("/")[:2]) for folder in self._files}
        for path in self.area.glob("*/*"):
            if path.relative_to(self.area).as_posix() not in needed:
                rmtree(path) if path.is_dir() else path.unlink()


def _listed(folder: Path) -> dict[str, int]:
    """The files of a folder with their bytes, without those that Hadoop puts beside them."""
    return {p.name: p.stat().st_size for p in sorted(folder.iterdir()) if p.name[0] not in "._"}
