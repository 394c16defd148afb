"""Bad records that a backend sets aside instead of refusing a file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class Aside(Protocol):
    """Bad records that were left out: where they stood, their text, and what is wrong with them."""

    @property
    def place(self) -> str:
        """Where the table of bad records lies; empty if it is in memory."""

    def __len__(self) -> int:
        """How many there are."""

    def table(self, limit: int | None = None) -> pa.Table:
        """The records, or some of them: file, line, text and reason."""

    def write(self, path: str) -> None:
        """Write all of them as Parquet."""

    def write_into(self, folder: Path) -> None:
        """Write all of them as Parquet into a folder of this machine, which is made."""

    @property
    def pieces(self) -> Sequence[object]:
        """The records, one by one or several together, in the order in which they were set aside."""

    def forget(self, pieces: Collection[object]) -> None:
        """Drop some of the pieces, those of a source that failed or was taken back; who has gone already is
        no error.
        """

    def take(self, folder: str) -> None:
        """Have the bad records that lie in the Parquet files of a folder, too."""

    def call_files(self, called: Mapping[str, str]) -> None:
        """Name the files of the records as those of which they are copies."""
