"""Prints the results of the command line as tables, JSON or CSV, and messages to stderr."""

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
    """Print the rows of `found`, sorted, with prefixes for IRIs, and the total number of rows."""
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
    # Output into a pipe or a file is not wrapped.
    Console(width=None if sys.stdout.isatty() else 100_000).print(table)
    print(f"{len(rows):,} of {plural(total, 'row')}" if len(rows) < total else plural(total, "row"))


def print_change(change: Change, is_json: bool, prefixes: Prefixes) -> None:
    """Print the net change of an update for each predicate, and which facts could not be deleted and why."""
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
    """Print the names of the files that were written, with their numbers of rows."""
    width = max(map(len, written), default=0)
    for name, rows in written.items():
        print(f"{out / name}{' ' * (width - len(name))}  {plural(rows, 'row'):>14}")


def shortened(text: str, prefixes: Prefixes) -> str:
    """The text of a term or predicate, with a prefix for its IRI, or that of its datatype, if one fits.

    >>> shortened("<http://e.org/a>", [("e", "http://e.org/")])
    'e:a'
    """
    from modulog.language.printer import print_predicate

    start, mark, iri = text.rpartition("^^") if text.startswith('"') else ("", "", text)
    return start + mark + print_predicate(iri, prefixes)


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def print_json(found: pa.Table) -> None:
    """Print a JSON list of objects, one per line."""
    import json

    lines = (json.dumps(row, ensure_ascii=False) for batch in found.to_batches() for row in _json_rows(batch))
    print("[", end="")
    for number, line in enumerate(lines):
        print(",\n " if number else "", line, sep="", end="")
    print("]")


def _json_rows(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """The rows of a batch; NaN and infinite numbers, which JSON lacks, become strings as in XML Schema."""
    for row in batch.to_pylist():
        yield {name: _json_number(v) if isinstance(v, float) else v for name, v in row.items()}


def _json_number(value: float) -> float | str:
    if value - value == 0:
        return value
    return "NaN" if value != value else "INF" if value > 0 else "-INF"


def print_csv(found: pa.Table) -> None:
    """Print the names of the columns, and then the rows in the format of fact files."""
    from pathlib import Path
    from shutil import copyfileobj
    from tempfile import TemporaryDirectory

    from modulog.formats.csv_output import write_csv
    from modulog.formats.tables import read_table
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
    """Print an error or a warning to stderr."""
    # Not by Rich, which would wrap the underlined text of positions and take its brackets for markup.
    print(text, file=sys.stderr)


@contextmanager
def renaming(temporary: str, meant: str) -> Iterator[None]:
    """Print the warnings given inside the block, with the name `meant` in place of a temporary file's."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        complain(f"warning: {str(warning.message).replace(temporary, meant)}")
