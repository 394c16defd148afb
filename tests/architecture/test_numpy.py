"""NumPy's functions for sets hash whole numbers one by one, which takes 20 to 40 times as long as sorting them."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "modulog"
HASHING = {"setdiff1d", "union1d", "in1d", "isin", "setxor1d", "intersect1d"}
SORTING = {"return_index", "return_inverse", "return_counts", "assume_unique"}
"""With one of these arguments they sort."""


def hashing(path: Path) -> list[str]:
    """The calls in a file that hash."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, arguments = node.func.attr, {keyword.arg for keyword in node.keywords}
            if isinstance(node.func.value, ast.Name) and node.func.value.id == "np":
                if name in HASHING | {"unique"} and not arguments & SORTING:
                    found.append(f"{path.relative_to(SOURCE)}:{node.lineno}: np.{name}")
    return found


def test_sets_of_facts_are_not_hashed() -> None:
    """Kinds of terms, which are a handful of bytes, may be: that is below `terms` and `formats`."""
    found = [
        call for folder in ("storage", "engines", "modules", "maintenance", "materialisation")
        for path in sorted((SOURCE / folder).rglob("*.py")) for call in hashing(path)
    ]  # fmt: skip
    assert not found
