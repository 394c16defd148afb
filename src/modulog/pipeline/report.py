"""The report of a run, made from the lines of its log: what went wrong first, then what was read, computed
and written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import PurePath
from typing import Any

from modulog.engines.values import Failures

Event = Mapping[str, Any]


def report(events: Sequence[Event]) -> str:
    """The page for the lines of a log, whole or broken off.

    >>> page = report([{"at": "2026-03-01T04:00:00Z", "event": "begin", "name": "<b>", "pipeline": {}}])
    >>> "<b>" in page, "&lt;b&gt;" in page, "broken off" in page
    (False, True, True)
    """
    begin = _last(events, "begin")
    end = _last(events, "end")
    notes = [event for event in events if event["event"] == "note"]
    known = {name: value for note in notes for name, value in note.items()} | {"outcome": end.get("outcome")}
    pipeline = begin.get("pipeline", {})
    title = _short(str(begin.get("name", "")))
    body = [
        _head(title, events, known),
        section("Sources", _sources(pipeline, notes, known)),
        section("Bad records", _bad_records(notes)),
        section("Rows left out", _left_out(notes)),
        section("Stages", _stages(events)),
        section("Strata", _strata(known.get("strata", ()))),
        section("Updates", _updates(events)),
        section("Rules", _rules(notes)),
        section("Net change", _change(end)),
        section("What was written", _written(pipeline, end)),
        section("Plan", f"<pre>{escape(known['plan'])}</pre>" if known.get("plan") else ""),
        section("Configuration", table(("key", "value"), _settings(pipeline))),
    ]
    return page(f"Run of {title}", body)


def _last(events: Sequence[Event], name: str) -> Event:
    return next((event for event in reversed(events) if event["event"] == name), {})


def _short(path: str) -> str:
    """The last two parts of a path, which tell pipelines apart."""
    return "/".join(PurePath(path).parts[-2:])


# ---- What the run came to


def _head(title: str, events: Sequence[Event], known: Event) -> str:
    begin, end = _last(events, "begin"), _last(events, "end")
    outcome = end.get("outcome", "broken off")
    state = "done" if outcome == "done" else "failed"
    lines = [
        f"{known['mode']} run: {known.get('reason', '')}" if known.get("mode") else "",
        str(known.get("where", "")),
        f"{str(begin.get('at', ''))[:19].replace('T', ' ')} UTC, {begin.get('name', '')}, {begin.get('writer', '')}",
    ]
    said = "".join(f"<p>{escape(line)}</p>" for line in lines if line)
    heading = f'<h1>{escape(title)} <span class="{state}">{escape(outcome)}</span></h1>'
    return heading + _error(events, end) + said + _numbers(events, known, end)


def _error(events: Sequence[Event], end: Event) -> str:
    """What went wrong, and where; a log without an end says where it ends."""
    if end.get("outcome") == "done":
        return ""
    stage = next((event["stage"] for event in reversed(events) if event.get("stage")), None)
    round_ = next((event for event in reversed(events) if event["event"] == "round"), None)
    where = f"\nin the stage: {stage}" if stage else ""
    if round_ and round_.get("stage") == stage:
        where += f", stratum {round_['stratum']} of {round_['strata']} ({round_['predicates']}), round {round_['round']}"
    what = end.get("error") or "The log ends here: the run was killed, or is still at work."
    return f'<div class="error">{escape(str(what) + where)}</div>'


def _numbers(events: Sequence[Event], known: Event, end: Event) -> str:
    notes = [event for event in events if event["event"] == "note"]
    over = [event for event in events if event["event"] in ("done", "failed")]
    numbers = {
        ("fact", "facts"): end.get("facts", known.get("facts")),
        ("explicit fact", "explicit facts"): end.get("explicit", known.get("explicit")),
        ("second", "seconds"): sum(event["seconds"] for event in over) if over else None,
    }
    odd = {
        ("bad record", "bad records"): sum(note.get("set_aside", 0) for note in notes) or None,
        ("row left out", "rows left out"): sum(sum(note.get("failures", {}).values()) for note in notes)
        or None,
    }
    shown = [("", *item) for item in numbers.items()] + [(' class="odd"', *item) for item in odd.items()]
    cells = (
        f"<div{kind}><b>{text(n)}</b>{one if n == 1 else many}</div>"
        for kind, (one, many), n in shown
        if n is not None
    )
    return f'<div class="numbers">{"".join(cells)}</div>\n'


# ---- What was read


def _sources(pipeline: Event, notes: Sequence[Event], known: Event) -> str:
    """Every source of the configuration, and files of batches by themselves."""
    found: dict[str, list[Event]] = {}
    for read in (read for note in notes for read in note.get("sources", ())):
        found.setdefault(read["source"], []).append(read)
    rows = []
    for source in pipeline.get("sources", ()):
        place = source["path"] if source.get("path") else f"table:{source.get('table')}"
        reads = found.pop(place, [])
        rows.append((place, _fills(source), *_read(reads, _unread(source, known))))
    rows += [(place, "", *_read(reads, "")) for place, reads in found.items()]
    told = "Rows are those without bad records, as they stand in the source: repetitions are counted."
    return table(("source", "fills", "what was done", "#rows", "#bad records"), rows, told)


def _read(reads: Sequence[Event], otherwise: str) -> tuple[str, int | None, int | None]:
    if not reads:
        return otherwise, None, None
    return "read", sum(read["rows"] for read in reads), sum(read["set_aside"] for read in reads)


def _unread(source: Event, known: Event) -> str:
    """Why a source was not read."""
    if known.get("outcome") == "failed":
        return "not read, or not to its end"
    if source.get("role") or source.get("stream"):
        return "nothing new"
    if known.get("mode") == "incremental":
        return "unchanged, not read"
    return "read by the run that was killed" if known.get("resumed") else "not known: nothing was saved"


def _fills(source: Event) -> str:
    """The predicates that a source fills, with the columns that they get."""
    if source.get("map"):
        return ", ".join(f"{name}({_columns(columns)})" for name, columns in source["map"].items())
    columns = f"({_columns(source['columns'])})" if source.get("columns") else ""
    return f"{source.get('predicate', '')}{columns}"


def _columns(columns: Iterable[Any]) -> str:
    return ", ".join(map(str, columns))


def _bad_records(notes: Sequence[Event]) -> str:
    """The first bad records of every saved state, with the folder that has all of them."""
    parts = []
    for note in (note for note in notes if note.get("bad_records")):
        count, shown = note["set_aside"], note["bad_records"]
        first = "" if count == len(shown) else f"; {len(shown)} of them here"
        told = f"{count:,} set aside, in {note['place']} (Parquet: file, line, text, reason){first}"
        rows = [(r["file"], r["line"], r["reason"], r["text"]) for r in shown]
        parts.append(table(("file", "#line", "reason", "`text"), rows, told))
    return "".join(parts)


# ---- What was computed


def _left_out(notes: Sequence[Event]) -> str:
    """Comparisons that could not be decided, and functions without a result; by rule where that is known."""
    whole = Failures()
    by_rule: dict[str, Failures] = {}
    for note in notes:
        whole += Failures(**note.get("failures", {}))
        for rule in note.get("rules", ()):
            by_rule[rule["rule"]] = by_rule.get(rule["rule"], Failures()) + Failures(
                **rule.get("failures", {})
            )
    if not whole.told():
        return ""
    rows = [(rule, "; ".join(failures.told())) for rule, failures in by_rule.items() if failures.told()]
    said = "".join(f'<p class="odd">{escape(line)}</p>' for line in whole.told())
    return said + table(("`rule", "counted where one machine evaluated it"), rows)


def _stages(events: Sequence[Event]) -> str:
    """A line for each stage, in the order in which they ended first."""
    seconds: dict[str, float] = {}
    times: dict[str, int] = {}
    for event in events:
        if event["event"] in ("done", "failed"):
            name = event["stage"] + (" (failed)" if event["event"] == "failed" else "")
            seconds[name] = seconds.get(name, 0.0) + event["seconds"]
            times[name] = times.get(name, 0) + 1
    told = (
        "A run enters some stages several times: it saves the store before sinks are written and again when they are. Seconds are of all times together; "
        "those of compiling are not in the stages that waited for it."
    )
    lines = ((name, times[name], s, s) for name, s in seconds.items())
    return table(("stage", "#entered", "#seconds", "="), lines, told)


def _strata(strata: Sequence[Event]) -> str:
    rows = [
        (names(s["predicates"]), s["rounds"], s["facts"], s.get("jobs", 0), s["seconds"], s["seconds"])
        for s in strata
    ]
    return table(("predicates", "#rounds", "#facts", "#jobs", "#seconds", "="), rows)


def _updates(events: Sequence[Event]) -> str:
    """The strata that updates reached, in order."""
    reached = [stratum for event in events for stratum in event.get("updates", ())]
    rows = [
        (
            names(s["predicates"]),
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
    return table((*heads, "="), [(*row, row[-1]) for row in rows])


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
            f"{text(r['seconds'])} shared" if r["shared"] else r["seconds"],
            r["seconds"],
        )
        for name, r in sorted(found.items(), key=lambda pair: -pair[1]["seconds"])
    ]
    told = (
        "Rows are what a rule gave before known facts and repetitions were left out. Rules that Spark evaluates together share the seconds of their "
        "round evenly, and so do rules that it puts off and evaluates late."
    )
    return table(("`rule", "#times", "#rows", "#seconds", "="), rows, told)


# ---- What was written


def _change(end: Event) -> str:
    added, deleted = end.get("added", {}), end.get("deleted", {})
    changed = sorted({*added, *deleted})
    return table(("predicate", "#came", "#went"), ((n, added.get(n, 0), deleted.get(n, 0)) for n in changed))


def _written(pipeline: Event, end: Event) -> str:
    """The store, the table of the net change and the parts of sinks; nothing of a run that has failed, which
    may have saved some of it.
    """
    if end.get("outcome") != "done":
        return ""
    store = [("the store", f"{pipeline.get('store', '')}, as its state {end.get('generation')}", None)]
    change = [("the net change", end["change"], None)] if end.get("change") else []
    sinks = [("a part of a sink", part, rows) for part, rows in end.get("written", {}).items()]
    told = "Every save makes a new state of the store, with the next number; the next run begins with the last one."
    return table(("what", "where", "#rows"), [*store, *change, *sinks], told)


def _settings(pipeline: Event) -> Iterator[tuple[str, str]]:
    for name, value in pipeline.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for number, item in enumerate(value, 1):
                yield f"{name.removesuffix('s')}\N{NO-BREAK SPACE}{number}", _pairs(item)
        elif isinstance(value, dict):
            yield name, _pairs(value)
        else:
            yield name, names(value) if isinstance(value, list) else str(value)


def _pairs(item: Event) -> str:
    """The keys of a part of the configuration, as the file of a pipeline has them."""
    return "; ".join(
        f"{key} = {_fills(item) if key == 'map' else _value(value)}" for key, value in item.items()
    )


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return _columns(value) if isinstance(value, list) else str(value)


# Pieces of a page of HTML that needs nothing else: sections, tables, text.
#
# Everything that comes from outside, names, rules, messages, is escaped; there is no script, and nothing is loaded.
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
    """A table; `#` before a head marks numbers, "`" code, and "=" is a bar for its value. Without rows there
    is nothing.
    """
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
