"""What the command line prints: answers as a table, JSON or CSV, and complaints."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from modulog.wording import plural, still_derived

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from modulog.language.printer import Prefixes
    from modulog.maintenance.change import Change


def print_table(found: pa.Table, total: int, prefixes: Prefixes) -> None:
    """Some rows in order, IRIs with prefixes, and how many rows there are in all."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for field in found.schema:
        number = str(field.type) in ("int64", "double")
        table.add_column(Text(field.name), justify="right" if number else "left", overflow="fold")
    rows = found.sort_by([(name, "ascending") for name in found.column_names]).to_pylist()
    for row in rows:
        table.add_row(*(Text(shortened(_shown(value), prefixes)) for value in row.values()))
    # A pipe has no width: nothing is folded there.
    Console(width=None if sys.stdout.isatty() else 100_000).print(table)
    print(f"{len(rows):,} of {plural(total, 'row')}" if len(rows) < total else plural(total, "row"))


def print_change(change: Change, is_json: bool, prefixes: Prefixes) -> None:
    """The net change of an update by predicate, whose IRIs have prefixes, and what became of the other facts to delete."""
    if is_json:
        import json

        shown: dict[str, Any] = {"added": change.added, "deleted": change.deleted, "ignored": change.ignored}
        shown["still_derived"] = change.still_derived
        print(json.dumps(shown, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("predicate")
    for name in ("added", "deleted"):
        table.add_column(name, justify="right")
    for name in sorted({*change.added, *change.deleted}):
        table.add_row(
            Text(shortened(name, prefixes)),
            *(f"{of.get(name, 0):,}" for of in (change.added, change.deleted)),
        )
    if change:
        Console(width=None if sys.stdout.isatty() else 100_000).print(table)
    else:
        print("nothing changed")
    for line in change.statistics.failures.told():
        print(line)
    if change.ignored:
        print(f"{plural(change.ignored, 'fact to delete was', 'facts to delete were')} not there")
    if change.still_derived:
        print(still_derived(change.still_derived))


def print_written(out: Path, written: dict[str, int]) -> None:
    """Say which files were written."""
    width = max(map(len, written), default=0)
    for name, rows in written.items():
        print(f"{out / name}{' ' * (width - len(name))}  {plural(rows, 'row'):>14}")


def shortened(text: str, prefixes: Prefixes) -> str:
    """A term or a predicate as it is shown: its IRI, or that of its datatype, with a prefix if there is one for it.

    >>> shortened("<http://e.org/a>", [("e", "http://e.org/")])
    'e:a'
    """
    from modulog.language.printer import print_predicate

    start, mark, iri = text.rpartition("^^") if text.startswith('"') else ("", "", text)
    return start + mark + print_predicate(iri, prefixes)


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def print_json(found: pa.Table) -> None:
    """A list of objects, one on each line."""
    import json

    lines = (json.dumps(row, ensure_ascii=False) for batch in found.to_batches() for row in _json_rows(batch))
    print("[", end="")
    for number, line in enumerate(lines):
        print(",\n " if number else "", line, sep="", end="")
    print("]")


def _json_rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of a batch; infinite numbers, which JSON does not know, as XML Schema writes them."""
    for row in batch.to_pylist():
        yield {name: _finite(v) if isinstance(v, float) else v for name, v in row.items()}


def _finite(value: float) -> float | str:
    if value - value == 0:
        return value
    return "NaN" if value != value else "INF" if value > 0 else "-INF"


def print_csv(found: pa.Table) -> None:
    """The names of the columns, then rows by the rules of fact files."""
    from pathlib import Path
    from shutil import copyfileobj
    from tempfile import TemporaryDirectory

    from modulog.formats.tables import read_table
    from modulog.formats.writing import write_csv
    from modulog.terms.dictionary import Dictionary

    print(",".join(found.column_names))
    if found.column_names == ["holds"]:
        print(_shown(found.column(0)[0].as_py()))
        return
    sys.stdout.flush()
    with TemporaryDirectory() as folder:
        dictionary, path = Dictionary(), Path(folder, "answers.csv")
        with renaming(str(path), "the answers"):
            write_csv(path, read_table(found, dictionary), dictionary)
        with path.open("rb") as file:
            copyfileobj(file, sys.stdout.buffer)


def complain(text: str) -> None:
    """Say on stderr what is wrong or odd."""
    # Positions are underlined in plain text: nothing may wrap it or take its brackets for markup.
    print(text, file=sys.stderr)


@contextmanager
def renaming(temporary: str, meant: str) -> Iterator[None]:
    """Warnings inside speak of the file that is meant, not of the temporary one."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        complain(f"warning: {str(warning.message).replace(temporary, meant)}")
