"""The blocks of documents, and what they show: for the tests that run them."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Block:
    """What stands between two fences of a document, and what is written behind the first: a language, a file."""

    language: str
    file: str
    text: str


def blocks(document: str, language: str | None = "") -> list[Block]:
    """The blocks of a document in a language, in their order; "" are those without one, None stands for any."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = [Block(*one) for one in re.findall(r"^```(\w*) ?(\S*)\n(.*?)^```", text, re.M | re.S)]
    return [one for one in found if language in (None, one.language)]


def block(document: str, beginning: str, language: str = "") -> str:
    """The text of the one block that begins so."""
    [found] = [b.text for b in blocks(document, language) if b.text.startswith(beginning)]
    return found


def shown_values(text: str) -> Iterator[tuple[str, Any]]:
    """The expressions of a block that stand alone on a line before a comment that is a value."""
    for line in text.splitlines():
        code, _, comment = line.partition("  # ")
        try:
            yield code.strip(), ast.literal_eval(comment.strip())
        except (SyntaxError, ValueError):
            continue


def commands(text: str) -> list[list[str]]:
    """The words of the lines of a block that call `modulog`, without what is said behind them."""
    lines = text.replace("\\\n", " ").splitlines()
    calls = [re.split(r" {3,}(?=[a-z.#(])", line.removeprefix("$ "))[0] for line in lines]
    return [shlex.split(line, comments=True)[1:] for line in calls if line.startswith("modulog ")]


def check_python(text: str, names: dict[str, Any]) -> int:
    """Run a block line by line as one program; values behind its expressions must be theirs. Answers how many there were."""
    shown = dict(shown_values(text))
    for node in ast.parse(text).body:
        code = ast.get_source_segment(text, node)
        assert code is not None
        if isinstance(node, ast.Expr) and code in shown:
            assert eval(code, names) == shown[code], code
        else:
            exec(compile(ast.Module([node], []), "a document", "exec"), names)
    return len(shown)
