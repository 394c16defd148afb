"""The report of a run: one page of HTML that needs nothing else, made from the lines of the log.

Everything that comes from outside, names, rules, messages, is escaped; there is no script, and nothing is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

Event = Mapping[str, Any]
Cell = str | int | float | None

_STYLE = """
:root { --ink: #1c2733; --soft: #5d6b7a; --line: #dde3ea; --bar: #7aa6d8; --good: #2b7a4b; --bad: #b3372e; --ground: #fff; --wash: #f5f7fa }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e8ee; --soft: #9aa7b5; --line: #33404d; --bar: #3f6ea3; --good: #69c08b; --bad: #ee8a80; --ground: #161c23; --wash: #1f2831 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 68rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.1rem; margin: 2.2rem 0 .4rem }
p, .soft { color: var(--soft); margin: .2rem 0 } .done { color: var(--good) } .failed { color: var(--bad) }
.numbers { display: flex; flex-wrap: wrap; gap: 1.8rem; margin: 1rem 0 } .numbers b { display: block; font-size: 1.35rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums } caption { text-align: left; color: var(--soft) }
th { text-align: left; font-weight: 600; border-bottom: 2px solid var(--line) } td { border-bottom: 1px solid var(--line); vertical-align: top }
th, td { padding: .25rem .8rem .25rem 0 } td.n, th.n { text-align: right; white-space: nowrap }
td.bar { min-width: 9rem; width: 25% } td.bar i { display: block; height: .8em; margin-top: .35em; min-width: 1px; background: var(--bar); border-radius: 2px }
code, pre { font: 13px/1.45 ui-monospace, monospace; overflow-wrap: anywhere } pre { background: var(--wash); padding: .8rem; overflow-x: auto; white-space: pre-wrap }
"""


def report(events: Sequence[Event]) -> str:
    """The page for the lines of a log, whole or broken off.

    >>> page = report([{"at": "2026-03-01T04:00:00Z", "event": "begin", "pipeline": {"store": "<b>"}}])
    >>> "<b>" in page, "&lt;b&gt;" in page, "broken off" in page
    (False, True, True)
    """
    begin = _last(events, "begin")
    end = _last(events, "end")
    notes = [event for event in events if event["event"] == "note"]
    known = {name: value for note in notes for name, value in note.items()}
    pipeline = begin.get("pipeline", {})
    body = [
        _head(begin, end, known, pipeline),
        _section("Stages", _stages(events)),
        _section("Strata", _strata(known.get("strata", ()))),
        _section("Updates", _updates(events)),
        _section("Rules", _rules(notes)),
        _section("Net change", _change(end)),
        _section("Sinks", _table(("part", "#rows"), end.get("written", {}).items())),
        _section("Plan", f"<pre>{escape(known['plan'])}</pre>" if known.get("plan") else ""),
        _section("Configuration", _table(("key", "value"), _settings(pipeline))),
    ]
    title = f"Run of {pipeline.get('store', '')}"
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>\n<body>\n{''.join(body)}</body></html>\n"
    )


def _last(events: Sequence[Event], name: str) -> Event:
    return next((event for event in reversed(events) if event["event"] == name), {})


def _head(begin: Event, end: Event, known: Event, pipeline: Event) -> str:
    outcome = end.get("outcome", "broken off")
    state = "done" if outcome == "done" else "failed"
    numbers = {
        "facts": end.get("facts", known.get("facts")),
        "explicit": end.get("explicit", known.get("explicit")),
        "seconds": sum(end["seconds"].values()) if "seconds" in end else None,
        "state of the store": end.get("generation"),
    }
    shown = "".join(
        f"<div><b>{_text(number)}</b>{escape(name)}</div>"
        for name, number in numbers.items()
        if number is not None
    )
    lines = [
        f"{known.get('mode', '')} run: {known.get('reason', '')}" if known.get("mode") else "",
        f"taken up: {known['resumed']}" if known.get("resumed") else "",
        end.get("error", ""),
    ]
    said = "".join(f"<p>{escape(str(line))}</p>" for line in lines if line)
    return (
        f'<h1>{escape(str(pipeline.get("store", "")))} <span class="{state}">{escape(outcome)}</span></h1>'
        f'<p>{escape(str(begin.get("at", "")))}, {escape(str(begin.get("writer", "")))}</p>{said}<div class="numbers">{shown}</div>\n'
    )


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{content}</section>\n" if content else ""


def _stages(events: Sequence[Event]) -> str:
    """A line for each stage, in the order in which they were first entered."""
    seconds: dict[str, float] = {}
    times: dict[str, int] = {}
    for event in events:
        if event["event"] in ("done", "failed"):
            name = event["stage"] + (" (failed)" if event["event"] == "failed" else "")
            seconds[name] = seconds.get(name, 0.0) + event["seconds"]
            times[name] = times.get(name, 0) + 1
    return _table(
        ("stage", "#times", "#seconds", "="), ((name, times[name], s, s) for name, s in seconds.items())
    )


def _strata(strata: Sequence[Event]) -> str:
    rows = [
        (_names(s["predicates"]), s["rounds"], s["facts"], s.get("jobs", 0), s["seconds"], s["seconds"])
        for s in strata
    ]
    return _table(("predicates", "#rounds", "#facts", "#jobs", "#seconds", "="), rows)


def _updates(events: Sequence[Event]) -> str:
    """The strata that updates reached, in order."""
    reached = [stratum for event in events for stratum in event.get("updates", ())]
    rows = [
        (
            _names(s["predicates"]),
            s["how"],
            s["changes"],
            s["rounds"],
            s["overdeleted"],
            s["added"],
            s["seconds"],
        )
        for s in reached
    ]
    heads = ("predicates", "brought up to date", "#changes below", "#rounds", "#left", "#came", "#seconds")
    return _table((*heads, "="), [(*row, row[-1]) for row in rows])


def _rules(notes: Sequence[Event]) -> str:
    """What each rule did, in all updates together if there were several."""
    found: dict[str, dict[str, Any]] = {}
    for rule in (rule for note in notes for rule in note.get("rules", ())):
        total = found.setdefault(rule["rule"], {"rounds": 0, "rows": 0, "seconds": 0.0, "shared": False})
        for name in ("rounds", "rows", "seconds"):
            total[name] = None if None in (total[name], rule[name]) else total[name] + rule[name]
        total["shared"] |= rule.get("shared", False)
    rows = [
        (
            name,
            r["rounds"],
            r["rows"],
            f"{_text(r['seconds'])} shared" if r["shared"] else r["seconds"],
            r["seconds"],
        )
        for name, r in sorted(found.items(), key=lambda pair: -pair[1]["seconds"])
    ]
    told = (
        "Rows are what a rule gave before known facts and repetitions were left out. Rules that Spark evaluates together share the seconds of their "
        "round evenly, and so do rules that it puts off and evaluates late."
    )
    return _table(("`rule", "#times", "#rows", "#seconds", "="), rows, told)


def _change(end: Event) -> str:
    added, deleted = end.get("added", {}), end.get("deleted", {})
    names = sorted({*added, *deleted})
    return _table(("predicate", "#came", "#went"), ((n, added.get(n, 0), deleted.get(n, 0)) for n in names))


def _settings(pipeline: Event) -> Iterable[tuple[str, str]]:
    for name, value in pipeline.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for number, item in enumerate(value, 1):
                yield f"{name} {number}", "; ".join(f"{key} = {inner}" for key, inner in item.items())
        elif isinstance(value, dict):
            yield name, "; ".join(f"{key} = {inner}" for key, inner in value.items())
        else:
            yield name, _names(value) if isinstance(value, list) else str(value)


def _names(values: Sequence[str]) -> str:
    return ", ".join(map(str, values[:8])) + (f", … ({len(values):,} in all)" if len(values) > 8 else "")


def _table(heads: Sequence[str], rows: Iterable[Sequence[Cell]], caption: str = "") -> str:
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
    return f'<td class="n">{_text(value)}</td>' if head[0] == "#" else f"<td>{escape(str(value))}</td>"


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else escape(str(value))
