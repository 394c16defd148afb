"""The states of a store: one at a time, whole, and not disturbed by who writes the next."""

from __future__ import annotations

import errno
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from modulog import Reasoner
from modulog.errors import DataError
from modulog.store.locks import LOCK, READERS, lock_for_writing
from modulog.store.manifest import MANIFEST, read_manifest
from support.amounts import amount
from support.stores import PATHS, forge, held

HERE = Path(__file__).parents[2]


@cache
def chain(length: int) -> Reasoner:
    """A materialised reasoner over a chain of edges."""
    r = Reasoner(PATHS)
    r.add("edge", [(f"n{i}", f"n{i + 1}") for i in range(length)])
    r.materialise()
    return r


def short() -> Reasoner:
    return chain(3)


def long() -> Reasoner:
    return chain(30)


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@contextmanager
def no_space(bytes_: int) -> Iterator[None]:
    """Files may not grow beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# ---- Old and new


@pytest.mark.more
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """One process writes two states in turn, and is killed before this step or that; another looks what is
    there.
    """
    command = [sys.executable, str(HERE / "support" / "killed_writer.py"), str(tmp_path), str(amount(10, 2))]
    paths = [str(HERE), str(HERE.parent / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["mixtures"] == 0
    assert min(seen.pop(name) for name in ("old", "new", "first", "none")) > 0, "both states were found"
    assert seen["unfinished"] > amount(5, 20), "writers were killed in the midst of their work"


def test_readers_of_the_old_state_are_not_disturbed(tmp_path: Path) -> None:
    short().save(tmp_path)
    reader, other = Reasoner.open(tmp_path), Reasoner.open(tmp_path)
    for state in (long(), short(), long()):
        state.save(tmp_path)
    assert held(Reasoner.open(tmp_path)) == held(long())
    assert held(reader) == held(short())  # read only now
    reader.close()
    long().save(tmp_path)
    assert held(other) == held(short())
    other.close()
    long().save(tmp_path)
    states = {p.name[:6] for p in tmp_path.rglob("*.parquet")} | {
        p.name for p in (tmp_path / READERS).iterdir()
    }
    assert states == {f"{read_manifest(tmp_path).generation:06d}"}, "nobody needs the old files any more"


def test_a_reader_that_comes_too_late_takes_the_new_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading the manifest and holding its state, a new state may come."""
    from modulog.store import store

    short().save(tmp_path)
    hold = store.lock_for_reading

    def late(folder: Path, generation: int) -> object:
        if generation == 1:
            long().save(folder)
        return hold(folder, generation)

    monkeypatch.setattr(store, "lock_for_reading", late)
    opened = Reasoner.open(tmp_path)
    assert held(opened) == held(long())


def test_one_writes_at_a_time(tmp_path: Path) -> None:
    short().save(tmp_path)
    lock = lock_for_writing(tmp_path)
    before = files(tmp_path)
    with pytest.raises(DataError, match="another process is writing this store; try again"):
        long().save(tmp_path)
    assert files(tmp_path) == before
    assert held(Reasoner.open(tmp_path)) == held(short()), "reading goes on"
    lock.release()
    long().save(tmp_path)


def test_a_reasoner_saves_over_the_state_it_reads(tmp_path: Path) -> None:
    short().save(tmp_path)
    opened = Reasoner.open(tmp_path)
    opened.save(tmp_path)
    assert held(opened) == held(Reasoner.open(tmp_path)) == held(short())


# ---- What fails leaves the old state


@pytest.mark.parametrize("bytes_", [0, 100, 1000])
def test_a_full_disk(tmp_path: Path, bytes_: int) -> None:
    short().save(tmp_path / "store")
    before = files(tmp_path)
    for target in ("store", "new", "deep/new"):
        with no_space(bytes_), pytest.raises(DataError, match="the store cannot be written: File too large"):
            long().save(tmp_path / target)
    assert files(tmp_path) == before
    assert [p.name for p in tmp_path.iterdir()] == ["store"]
    long().save(tmp_path / "store")
    assert held(Reasoner.open(tmp_path / "store")) == held(long())


@pytest.mark.parametrize("place", ["replace", "fsync", "mkdir"])
def test_a_failing_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    short().save(tmp_path / "store")
    before = files(tmp_path / "store")

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, place, fail)
        if place == "mkdir":
            with pytest.raises(DataError, match=r"new: the store cannot be written: No space left on device"):
                long().save(tmp_path / "new")
        else:
            with pytest.raises(DataError, match=r"No space left on device; it is as it was"):
                long().save(tmp_path / "store")
    assert files(tmp_path / "store") == before
    assert not (tmp_path / "new").exists()


def test_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short().save(tmp_path)
    before = files(tmp_path)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            long().save(tmp_path)
    assert files(tmp_path) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder(tmp_path: Path) -> None:
    short().save(tmp_path / "store")
    for folder in (tmp_path / "store", tmp_path):
        folder.chmod(0o555)
    try:
        assert held(Reasoner.open(tmp_path / "store")) == held(short())
        for target in ("store", "new"):
            with pytest.raises(DataError, match="cannot be written: Permission denied"):
                long().save(tmp_path / target)
    finally:
        for folder in (tmp_path, tmp_path / "store"):
            folder.chmod(0o755)


# ---- What is not a store, or no longer one


def test_a_folder_that_is_not_a_store_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "mine.csv").write_text("a,b\n", encoding="utf-8")
    before = files(tmp_path)
    with pytest.raises(DataError, match="not a store, and not empty: nothing was written"):
        short().save(tmp_path)
    with pytest.raises(DataError, match=f"not a store: it has no {MANIFEST}"):
        Reasoner.open(tmp_path)
    assert files(tmp_path) == before
    assert [p.name for p in tmp_path.iterdir()] == ["facts"]


def test_other_files_in_a_store_stay(tmp_path: Path) -> None:
    short().save(tmp_path)
    for name in ("notes.txt", "terms/mine.parquet", "facts/2/p=0/mine.txt"):
        (tmp_path / name).write_text("mine", encoding="utf-8")
    long().save(tmp_path)
    assert all((tmp_path / n).exists() for n in ("notes.txt", "terms/mine.parquet", "facts/2/p=0/mine.txt"))


def test_paths_that_are_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(DataError, match="absent: there is no such folder"):
        Reasoner.open(tmp_path / "absent")
    with pytest.raises(DataError, match="file: not a store, which is a folder"):
        Reasoner.open(tmp_path / "file")
    with pytest.raises(DataError, match="file: not a store, which is a folder"):
        short().save(tmp_path / "file")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


def test_a_store_that_was_never_finished_can_be_written(tmp_path: Path) -> None:
    """A writer that is killed before its first manifest leaves its lock and files."""
    (tmp_path / "store" / "terms").mkdir(parents=True)
    (tmp_path / "store" / LOCK).touch()
    (tmp_path / "store" / "terms" / "000001-0.parquet").write_bytes(b"half")
    with pytest.raises(DataError, match="not a store"):
        Reasoner.open(tmp_path / "store")
    short().save(tmp_path / "store")
    assert held(Reasoner.open(tmp_path / "store")) == held(short())


def test_a_newer_version_is_refused(tmp_path: Path) -> None:
    short().save(tmp_path)
    forge(tmp_path, lambda content: content.update(version=3, writer="modulog 9.0", relations="unheard of"))
    before = files(tmp_path)
    for act in (Reasoner.open, long().save):
        with pytest.raises(
            DataError, match=r"written by modulog 9\.0 in version 3 .* reads up to version 2: install a newer"
        ):
            act(tmp_path)
    assert files(tmp_path) == before


# ---- Damage


@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_a_damaged_file_is_named(tmp_path: Path, damage: str) -> None:
    short().save(tmp_path)
    relations = json.loads((tmp_path / MANIFEST).read_text(encoding="utf-8"))["relations"]
    kept = {tmp_path / file["path"] for r in relations if r["role"] == "kept" for file in r["files"]}
    # What is kept for maintenance is read by updates only.
    paths = [*(p for p in tmp_path.rglob("*.parquet") if p not in kept), tmp_path / MANIFEST]
    assert len(paths) == 1 + 3 + 1
    for path in paths:
        whole = path.read_bytes()
        for place in {len(whole) // 7, len(whole) // 2, len(whole) - 6}:
            if damage == "remove":
                path.unlink(missing_ok=True)
            else:
                changed = bytearray(whole[: place if damage == "cut" else None])
                if damage == "flip":
                    changed[place] ^= 4
                path.write_bytes(bytes(changed))
            with pytest.raises(DataError, match=str(path.relative_to(tmp_path))):
                held(Reasoner.open(tmp_path))
        path.write_bytes(whole)
    assert held(Reasoner.open(tmp_path)) == held(short())


def test_a_manifest_points_nowhere_else(tmp_path: Path) -> None:
    short().save(tmp_path)
    forge(tmp_path, lambda content: content["terms"][0].update(path="../elsewhere.parquet"))
    with pytest.raises(DataError, match=f"{MANIFEST}: damaged"):
        Reasoner.open(tmp_path)
