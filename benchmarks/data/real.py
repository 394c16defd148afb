"""Where real data lies: rules and ontologies that others wrote, in a folder outside the project."""

import os
from pathlib import Path


def data_file(*parts: str) -> Path | None:
    """Return a file in the folder that MODULOG_DATA names, else in one beside the repository; None if there is none."""
    root = Path(os.environ.get("MODULOG_DATA") or Path(__file__).parents[3] / "shared" / "data")
    path = root.joinpath(*parts)
    return path if path.exists() else None
