"""Write predicates to a folder, a file for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from modulog.errors import DataError
from modulog.formats import DataWarning, rdf_output, warn_user
from modulog.formats.csv_output import write_csv
from modulog.formats.files import file_name
from modulog.formats.format import FORMATS, WRITTEN, WRITTEN_TRIPLES
from modulog.formats.parquet import write_parquet
from modulog.language.model import Predicate
from modulog.terms.dictionary import Dictionary, Ids


def export(
    folder: Path,
    format: str,
    predicates: Sequence[Predicate],
    chunks: Callable[[Predicate], Iterable[Ids]],
    dictionary: Dictionary,
) -> dict[str, int]:
    """Write the facts of the predicates into a folder; returns the name of each file and its number of rows.

    The folder is made if need be. A file is named for its predicate; if predicates of several arities have
    one name, `@` and the arity stand behind it. RDF holds triples only: a warning names the predicates that
    are left out, and it is an error if none is left.
    """
    check_written(format)
    if format in WRITTEN_TRIPLES:
        predicates = only_triples(predicates)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot make the folder {folder}: {error.strerror}") from error
    return {
        name: write_facts(folder / name, format, predicate, partial(chunks, predicate), dictionary)
        for predicate, name in part_names(predicates, format).items()
    }


def check_written(format: str) -> None:
    """Raise a DataError that lists the formats of exports unless facts can be written in this one.

    >>> check_written("jsonl")
    Traceback (most recent call last):
    modulog.errors.DataError: facts are not written as "jsonl"; choose one of: csv, tsv, parquet, nt, ttl
    """
    if format not in WRITTEN:
        raise DataError(f'facts are not written as "{format}"; choose one of: {", ".join(WRITTEN)}')


def write_facts(
    path: Path,
    format: str,
    predicate: Predicate,
    chunks: Callable[[], Iterable[Ids]],
    dictionary: Dictionary,
) -> int:
    """Write the facts of one predicate to a file in a format of `WRITTEN`; returns how many facts it has."""
    if format in WRITTEN_TRIPLES:
        return rdf_output.write_triples(path, chunks(), dictionary, predicate)
    if format == "parquet":
        return write_parquet(path, chunks, dictionary, names=[f"c{j}" for j in range(predicate.arity)])
    return write_csv(path, chunks(), dictionary, delimiter=FORMATS[format].delimiter or ",")


def part_names(predicates: Sequence[Predicate], format: str) -> dict[Predicate, str]:
    """The name of the file of each predicate, for predicates that are written to one folder.

    >>> list(part_names([Predicate("p", 2), Predicate("<http://e.org/q>", 1)], "csv").values())
    ['p.csv', 'http%3A%2F%2Fe%2Eorg%2Fq.csv']
    """
    count = Counter(predicate.name for predicate in predicates)
    return {p: f"{file_name(p.name, p.arity if count[p.name] > 1 else None)}.{format}" for p in predicates}


def only_triples(predicates: Sequence[Predicate]) -> list[Predicate]:
    """Those of the predicates whose facts are triples; a warning names the others.

    It is a DataError if there are others only.

    >>> only_triples([Predicate("<http://e.org/p>", 2)])
    [Predicate(name='<http://e.org/p>', arity=2)]
    """
    good = [predicate for predicate in predicates if rdf_output.is_triples(predicate)]
    if len(good) < len(predicates):
        others = ", ".join(str(predicate) for predicate in predicates if predicate not in good)
        said = f"triples have predicates named by IRIs with one or two arguments; not written: {others}"
        if not good:
            raise DataError(said)
        warn_user(said, DataWarning)
    return good
