"""Checkpoints where there is no Spark: they are refused, and a folder that holds no state is no checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest

from modulog import Reasoner
from modulog.errors import NotSupported
from modulog.pipeline.checkpoints import Checkpoints


def test_only_spark_has_checkpoints(tmp_path: Path) -> None:
    with pytest.raises(NotSupported, match="only the Spark engine"):
        Reasoner("p(?x) :- q(?x) .", engine="local", checkpoints=Checkpoints(tmp_path, {}))


@pytest.mark.parametrize("content", [b"", b"{", b'{"checksum": "0", "content": "{}"}', b"[]", b"\xff"])
def test_what_is_no_state_is_removed(tmp_path: Path, content: bytes) -> None:
    area = tmp_path / "checkpoint"
    area.mkdir()
    (area / "state.json").write_bytes(content)
    (area / "rest.parquet").touch()
    made = Checkpoints(tmp_path, {"rules": "p(?x) :- q(?x) ."})
    assert not made.loaded and not made.resumed and not area.exists()
