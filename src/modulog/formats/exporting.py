"""A folder with one file for each predicate."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from modulog.errors import DataError
from modulog.formats import DataWarning, rdf_writing
from modulog.formats.files import file_name
from modulog.formats.writing import write_csv, write_parquet
from modulog.language.model import Predicate
from modulog.terms.dictionary import Dictionary, Ids

FORMATS = ("csv", "tsv", "parquet", *rdf_writing.FORMATS)


def export(
    folder: Path,
    format: str,
    predicates: Sequence[Predicate],
    chunks: Callable[[Predicate], Iterable[Ids]],
    dictionary: Dictionary,
) -> dict[str, int]:
    """Write the facts of the predicates into the folder, which is made if need be; returns the rows of each file.

    A name with two arities gets one file for each, the arity behind the name. In RDF only what triples can say is written; a warning
    names the rest.
    """
    if format not in FORMATS:
        raise DataError(f'facts are not written as "{format}"; choose one of: {", ".join(FORMATS)}')
    if format in rdf_writing.FORMATS:
        predicates = sayable(predicates)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot make the folder {folder}: {error.strerror}") from error
    return {
        name: write_facts(folder / name, format, predicate, partial(chunks, predicate), dictionary)
        for predicate, name in part_names(predicates, format).items()
    }


def write_facts(
    path: Path,
    format: str,
    predicate: Predicate,
    chunks: Callable[[], Iterable[Ids]],
    dictionary: Dictionary,
) -> int:
    """Write the facts of one predicate into a file; answers how many."""
    if format in rdf_writing.FORMATS:
        return rdf_writing.write_triples(path, chunks(), dictionary, predicate)
    if format == "parquet":
        return write_parquet(path, chunks, dictionary, names=[f"c{j}" for j in range(predicate.arity)])
    return write_csv(path, chunks(), dictionary, delimiter="," if format == "csv" else "\t")


def part_names(predicates: Sequence[Predicate], format: str) -> dict[Predicate, str]:
    """The names of the files of predicates that are written together.

    >>> list(part_names([Predicate("p", 2), Predicate("<http://e.org/q>", 1)], "csv").values())
    ['p.csv', 'http%3A%2F%2Fe%2Eorg%2Fq.csv']
    """
    count = Counter(predicate.name for predicate in predicates)
    return {p: f"{file_name(p.name, p.arity if count[p.name] > 1 else None)}.{format}" for p in predicates}


def sayable(predicates: Sequence[Predicate]) -> list[Predicate]:
    """The predicates whose facts are triples; a warning names the others, and it is an error if there is nothing else.

    >>> sayable([Predicate("<http://e.org/p>", 2)])
    [Predicate(name='<http://e.org/p>', arity=2)]
    """
    good = [predicate for predicate in predicates if rdf_writing.is_triples(predicate)]
    if len(good) < len(predicates):
        others = ", ".join(str(predicate) for predicate in predicates if predicate not in good)
        said = f"triples have predicates named by IRIs with one or two arguments; not written: {others}"
        if not good:
            raise DataError(said)
        warnings.warn(said, DataWarning, stacklevel=3)
    return good
