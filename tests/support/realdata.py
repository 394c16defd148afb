"""Where real data lies: the folder that the environment variable MODULOG_DATA names, else one beside the repository."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder(*parts: str) -> Path | None:
    """A folder of real data, None where there is none: tests that need it are then skipped."""
    root = Path(os.environ.get("MODULOG_DATA") or Path(__file__).parents[3] / "shared" / "data")
    folder = root.joinpath(*parts)
    return folder if folder.is_dir() else None
