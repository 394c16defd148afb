"""Checkpoints: what is no state is none, and only Spark has those of updates."""

from __future__ import annotations

from pathlib import Path

import pytest

from modulog import Reasoner
from modulog.errors import NotSupported
from modulog.pipeline.checkpoints import Checkpoints
from modulog.pipeline.update_checkpoints import UpdateCheckpoints
from modulog.reasoner.for_pipelines import open_store


def test_only_spark_has_checkpoints_of_updates(tmp_path: Path) -> None:
    Reasoner("p(?x) :- q(?x) . q(a) .").save(tmp_path / "store")
    with pytest.raises(NotSupported, match="only the Spark engine"):
        open_store(tmp_path / "store", checkpoints=UpdateCheckpoints(tmp_path, {}))


@pytest.mark.parametrize("content", [b"", b"{", b'{"checksum": "0", "content": "{}"}', b"[]", b"\xff"])
def test_what_is_no_state_is_removed(tmp_path: Path, content: bytes) -> None:
    area = tmp_path / "checkpoint"
    area.mkdir()
    (area / "state.json").write_bytes(content)
    (area / "rest.parquet").touch()
    made = Checkpoints(tmp_path, {"rules": "p(?x) :- q(?x) ."})
    assert not made.loaded and not made.resumed and not area.exists()
