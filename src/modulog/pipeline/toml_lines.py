"""On which line of a TOML file each table and each key stands: the library that reads TOML does not tell.

The text is known to be TOML already. A key inside an inline table has the line of the key that the inline table belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_PART = r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'"""
_KEY = re.compile(rf"[ \t]*({_PART})[ \t]*(\.?)")
_HEADER = re.compile(r"[ \t]*(\[\[?)")
_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'
    + r"|'''.*?'{3,5}"
    + r'|"(?:\\.|[^"\\\n])*"'
    + r"|'[^'\n]*'|#[^\n]*|[\[\]{}\n]",
    re.DOTALL,
)


def lines_of(text: str) -> dict[tuple[str | int, ...], int]:
    """The line of every table, as ("source", 0), and of every key in it, as ("source", 0, "path"), from 1.

    >>> lines_of('store = "s" # [x]\\n[[source]]\\npath = "a"\\n\\n[[source]]\\n')
    {('store',): 1, ('source', 0): 2, ('source', 0, 'path'): 3, ('source', 1): 5}
    """
    found: dict[tuple[str | int, ...], int] = {}
    counts: dict[tuple[str | int, ...], int] = {}
    table: tuple[str | int, ...] = ()
    for line, at in _statements(text):
        if header := _HEADER.match(text, at):
            names = _key(text, header.end())
            table = _table(names, counts, is_array=header[1] == "[[")
            found.setdefault(table, line)
        else:
            names = _key(text, at)
            for end in range(1, len(names) + 1):
                found.setdefault((*table, *names[:end]), line)
    return found


def _table(
    names: list[str], counts: dict[tuple[str | int, ...], int], is_array: bool
) -> tuple[str | int, ...]:
    """The path of a table; a header [[x]] opens the next element of x, and [x.y] belongs to the last one."""
    path: tuple[str | int, ...] = ()
    for place, name in enumerate(names):
        path = (*path, name)
        if is_array and place == len(names) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _key(text: str, at: int) -> list[str]:
    """The parts of a key."""
    parts = []
    while match := _KEY.match(text, at):
        part, at = match[1], match.end()
        parts.append(part[1:-1] if part[0] in "\"'" else part)
        if not match[2]:
            break
    return parts


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """The line and the place of every header and every key with its value."""
    at = 0
    while at < len(text):
        end = _end(text, at)
        if text[at:end].strip() and not text[at:end].lstrip().startswith("#"):
            yield text.count("\n", 0, at) + 1, at
        at = end + 1


def _end(text: str, at: int) -> int:
    """The end of the line on which what stands here ends: brackets and strings may go over several lines."""
    depth = 0
    for token in _TOKEN.finditer(text, at):
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
        elif token[0] == "\n" and depth == 0:
            return token.start()
    return len(text)
