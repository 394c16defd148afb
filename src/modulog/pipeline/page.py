"""Pieces of a page of HTML that needs nothing else: sections, tables, text.

Everything that comes from outside, names, rules, messages, is escaped; there is no script, and nothing is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

Cell = str | int | float | None

STYLE = """
:root { --ink: #1c2733; --soft: #5d6b7a; --line: #dde3ea; --bar: #7aa6d8; --good: #2b7a4b; --bad: #b3372e; --odd: #96600c; --ground: #fff; --wash: #f5f7fa }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e8ee; --soft: #9aa7b5; --line: #33404d; --bar: #3f6ea3; --good: #69c08b; --bad: #ee8a80; --odd: #e0b060; --ground: #161c23; --wash: #1f2831 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 68rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.1rem; margin: 2.2rem 0 .4rem }
.error { color: var(--bad); border-left: 4px solid var(--bad); background: var(--wash); white-space: pre-wrap; overflow-wrap: anywhere; margin: .8rem 0; padding: .6rem .9rem }
p, .soft { color: var(--soft); margin: .2rem 0 } .done { color: var(--good) } .failed { color: var(--bad) } .odd { color: var(--odd) }
.numbers { display: flex; flex-wrap: wrap; gap: 1.8rem; margin: 1rem 0 } .numbers b { display: block; font-size: 1.35rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums } caption { text-align: left; color: var(--soft); padding-bottom: .3rem }
th { text-align: left; font-weight: 600; border-bottom: 2px solid var(--line) } td { border-bottom: 1px solid var(--line); vertical-align: top }
th, td { padding: .25rem .8rem .25rem 0 } td.n, th.n { text-align: right; white-space: nowrap }
td.bar { min-width: 9rem; width: 25% } td.bar i { display: block; height: .8em; margin-top: .35em; min-width: 1px; background: var(--bar); border-radius: 2px }
code, pre { font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere } pre { background: var(--wash); padding: .8rem; overflow-x: auto; white-space: pre-wrap }
"""


def page(title: str, body: Iterable[str]) -> str:
    """A whole page."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>\n<body>\n{''.join(body)}</body></html>\n"
    )


def section(title: str, content: str) -> str:
    """Something with a title; nothing if it is empty."""
    return f"<section><h2>{escape(title)}</h2>{content}</section>\n" if content else ""


def names(values: Sequence[str]) -> str:
    """The first of many names, and how many there are."""
    return ", ".join(map(str, values[:8])) + (f", … ({len(values):,} in all)" if len(values) > 8 else "")


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell]], caption: str = "") -> str:
    """A table; `#` before a head marks numbers, "`" code, and "=" is a bar for its value. Without rows there is nothing."""
    lines = list(rows)
    if not lines:
        return ""
    most = {j: max(float(row[j] or 0) for row in lines) or 1.0 for j, head in enumerate(heads) if head == "="}
    titles = "".join(
        f'<th class="n">{escape(h[1:])}</th>' if h[0] == "#" else f"<th>{escape(h.strip('`='))}</th>"
        for h in heads
    )
    body = "".join(
        f"<tr>{''.join(_cell(head, value, most.get(j, 1.0)) for j, (head, value) in enumerate(zip(heads, row, strict=True)))}</tr>"
        for row in lines
    )
    said = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{said}<tr>{titles}</tr>{body}</table>"


def _cell(head: str, value: Cell, most: float) -> str:
    if head == "=":
        return f'<td class="bar"><i style="width: {100 * float(value or 0) / most:.1f}%"></i></td>'
    if head[0] == "`":
        return f"<td><code>{escape(str(value))}</code></td>"
    return f'<td class="n">{text(value)}</td>' if head[0] == "#" else f"<td>{escape(str(value))}</td>"


def text(value: Any) -> str:
    """A number as people read it, or some text."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else escape(str(value))
