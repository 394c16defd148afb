"""Read facts from CSV and TSV files.

A file is cut into blocks of whole rows. In a thread of its own, PyArrow splits each block into columns of
text, and kernels find the types of the fields and hash them; this thread meanwhile encodes the blocks before
it as ids. `docs/terms.md` says how the text of a field determines the term.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.csv

from modulog.errors import DataError
from modulog.formats.bad_records import BadRecord
from modulog.formats.csv_rows import Record, check_delimiter, check_first_rows, records, split_rows
from modulog.formats.format import FORMATS
from modulog.formats.tables import CHUNK, choose_columns
from modulog.formats.text_files import BOM, count_lines_before, open_stream
from modulog.kernels.csv_fields import mark_fields
from modulog.terms.arrow import column_texts
from modulog.terms.dictionary import Bytes, Dictionary, Ids, Texts, frozen
from modulog.wording import plural

BLOCK = 1 << 22
"""Bytes that are read at once."""
LONGEST_ROW = 1 << 26
"""The most bytes of a row, which must fit into memory as a whole; a longer one is an error."""
_AHEAD = 3
"""The most blocks that are being parsed or wait to be encoded."""


def read_csv(
    path: str | os.PathLike[str],
    dictionary: Dictionary,
    *,
    arity: int | None = None,
    delimiter: str = ",",
    header: bool = False,
    strings: bool = False,
    columns: Sequence[int | str] | None = None,
    block: int = BLOCK,
    longest: int = LONGEST_ROW,
    chunk: int = CHUNK,
) -> Iterator[Ids]:
    """Read a file and yield its facts in chunks of ids.

    `columns` names the columns to read, by position from 0 or, with a header, by name. With `strings` every
    field is a string, whatever it looks like. A row with another number of fields is a DataError with the
    file and the line. So many bytes are read at once (`block`), a row of more than `longest` bytes is an
    error, and a chunk has at most `chunk` rows.
    """
    check_delimiter(delimiter)
    if arity == 0:
        return _read_nullary(path)
    source = _Source(str(path), delimiter.encode(), header, strings, block, longest)
    return _read(source, dictionary, arity, columns, chunk)


@dataclass(frozen=True, slots=True)
class _Source:
    """A file and how it is to be read."""

    path: str
    delimiter: bytes
    header: bool
    strings: bool
    block: int
    longest: int


@dataclass(frozen=True, slots=True)
class _Block:
    """Whole rows of a file: the bytes, their offset in the file, and a marked copy if there are quotes."""

    data: bytes
    offset: int
    marked: Bytes | None


@dataclass(frozen=True, slots=True)
class Layout:
    """How many fields each row has, and which of them are read, in this order."""

    width: int
    chosen: tuple[int, ...]


def _read(
    source: _Source,
    dictionary: Dictionary,
    arity: int | None,
    columns: Sequence[int | str] | None,
    chunk: int,
) -> Iterator[Ids]:
    """Yield the chunks of a file: parse blocks in a thread, and encode them here in their order."""
    blocks = _blocks(source)
    first, layout = _begin(source, blocks, arity, columns)
    if first is None or layout is None:
        return
    with ThreadPoolExecutor(1, thread_name_prefix="modulog-csv") as pool:
        waiting: deque[Future[list[Texts]]] = deque([pool.submit(_parse, source, layout, first)])
        try:
            while waiting:
                while len(waiting) < _AHEAD and (block := next(blocks, None)) is not None:
                    waiting.append(pool.submit(_parse, source, layout, block))
                texts = waiting.popleft().result()
                ids = np.stack([dictionary.encode_texts(column) for column in texts])
                for start in range(0, ids.shape[1], chunk):
                    yield np.ascontiguousarray(ids[:, start : start + chunk])
        finally:
            for future in waiting:
                future.cancel()


def _blocks(source: _Source) -> Iterator[_Block]:
    """Cut a file into blocks of whole rows.

    A quote that nothing closes is an error at the row where it opens.
    """
    with open_stream(source.path) as stream:
        rest, offset, final = b"", 0, False
        while not final:
            try:
                data = stream.read(source.block)
            except OSError as error:
                raise DataError(f"{source.path}: cannot be read: {error}") from error
            final = not data
            if offset == 0 and not rest and data.startswith(BOM):
                data, offset = data[3:], 3
            rest += data
            if final and rest and not rest.endswith((b"\n", b"\r")):
                rest += b"\n"
            if not rest:
                continue
            end, marked = _last_row_end(source, rest, offset, final)
            if end:
                yield _Block(rest[:end], offset, marked)
                rest, offset = rest[end:], offset + end


def _last_row_end(source: _Source, data: bytes, offset: int, final: bool) -> tuple[int, Bytes | None]:
    """Where the last whole row of `data` ends, and the rows up to there with marks if they need any."""
    if not needs_marks(data) and (end := data.rfind(b"\n") + 1):
        return end, None
    end, marked, opened = mark_rows(data, source.delimiter, final)
    if opened >= 0 and (final or len(data) - opened > source.longest):
        line = count_lines_before(source.path, offset + opened) + 1
        raise DataError(f"{source.path}:{line}: a quote opens a field and nothing closes it")
    if not end and len(data) > source.longest:
        line = count_lines_before(source.path, offset) + 1
        raise DataError(f"{source.path}:{line}: a row of more than {source.longest:,} bytes")
    return end, marked


def needs_marks(data: bytes) -> bool:
    """Whether the rows must be copied with marks (see `kernels/csv_fields.py`).

    They must if a field may stand in quotes, or may start with the byte that is the mark.
    """
    return b'"' in data or b"\x01" in data


def mark_rows(data: bytes, delimiter: bytes, final: bool) -> tuple[int, Bytes, int]:
    """Copy whole rows and mark the fields that are strings.

    Returns where the last row ends, the copy, and where a quote opens that nothing closes, or -1.
    """
    marked = np.empty(len(data) + len(data) // 2 + 2, np.uint8)
    block = frozen(np.frombuffer(data, np.uint8))
    read, written, opened = mark_fields(block, delimiter[0], final, marked)
    return read, marked[:written], opened


def _begin(
    source: _Source, blocks: Iterator[_Block], arity: int | None, columns: Sequence[int | str] | None
) -> tuple[_Block | None, Layout | None]:
    """Read up to the first row that is not blank, after the header if there is one, to find the layout.

    Returns the block that starts with this row, and the layout; None for both if the file has no such row.
    """
    names: tuple[bytes, ...] | None = None
    for block in blocks:
        rows = (r for r in records(block.data, source.delimiter) if not r.blank)
        first = next(rows, None)
        if first is not None and source.header and names is None:
            names = first.fields
            rest = block.data[first.end :]
            marked = mark_rows(rest, source.delimiter, True)[1] if needs_marks(rest) else None
            block = _Block(rest, block.offset + first.end, marked)
            rows = (r for r in records(block.data, source.delimiter) if not r.blank)
            first = next(rows, None)
        if first is None:
            continue
        layout = _layout(source, first, names, arity, columns, _line(source, block, first))
        if not source.header and columns is None:
            check_first_rows(source.path, first, rows)
        return block, layout
    return None, None


def _layout(
    source: _Source,
    first: Record,
    names: tuple[bytes, ...] | None,
    arity: int | None,
    columns: Sequence[int | str] | None,
    line: int,
) -> Layout:
    """The layout that the first row, the names in the header and the columns asked for determine."""
    known = [unquoted(n) for n in names] if names else None
    width = len(names or first.fields)
    try:
        chosen = choose_columns(known, width, arity, columns, f"{source.path}:{line}")
    except DataError as error:
        raise DataError(f"{error}{_other_delimiter(source, first)}") from error
    return Layout(width, tuple(chosen))


def _other_delimiter(source: _Source, row: Record) -> str:
    """What to say of a row in one piece that has a character in it which usually separates fields."""
    found = next((c for c in ";\t|," if c.encode() in row.fields[0]), None) if len(row.fields) == 1 else None
    if found is None:
        return ""
    name = next((f.name for f in FORMATS.values() if f.delimiter == found and f.extensions), None)
    how = (
        f"let its name end in .{name}"
        if name
        else f"load it with `delimiter={json.dumps(found)}`, or import it as dsv"
    )
    return f"; if {'tabs separate' if found == chr(9) else f'`{found}` separates'} its fields, {how}"


def _parse(source: _Source, layout: Layout, block: _Block) -> list[Texts]:
    """The columns of a block, each typed and hashed. This runs in the other thread."""
    quotes = block.marked is not None
    data = pa.py_buffer(block.marked if quotes else block.data)
    try:
        return split_columns(data, layout, source.delimiter, strings=source.strings, marked=quotes)
    except pa.ArrowInvalid as error:
        _explain(source, layout, block, error)


def split_columns(
    data: pa.Buffer, layout: Layout, delimiter: bytes, *, strings: bool, marked: bool
) -> list[Texts]:
    """The columns of whole rows, each typed and hashed; `marked` says that `mark_rows` has copied them.

    A row that is not as the layout says, or not UTF-8, is pyarrow.ArrowInvalid.
    """
    names = [str(i) for i in range(layout.width)]
    table = pa.csv.read_csv(
        pa.BufferReader(data),
        read_options=pa.csv.ReadOptions(use_threads=False, block_size=data.size + 1, column_names=names),
        parse_options=pa.csv.ParseOptions(
            delimiter=delimiter.decode(), newlines_in_values=marked, ignore_empty_lines=True
        ),
        convert_options=pa.csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            include_columns=[names[i] for i in dict.fromkeys(layout.chosen)],
            strings_can_be_null=False,
        ),
    )
    columns = {
        i: column_texts(table[names[i]].combine_chunks(), typed=not strings, marked=marked)
        for i in set(layout.chosen)
    }
    return [columns[i] for i in layout.chosen]


def _explain(source: _Source, layout: Layout, block: _Block, error: Exception) -> NoReturn:
    """Raise the error for a block that PyArrow refused: find the first bad row and what is wrong with it."""
    for record in records(block.data, source.delimiter):
        width = len(record.fields)
        if not record.blank and width != layout.width:
            raise DataError(
                f"{source.path}:{_line(source, block, record)}: {plural(width, 'field')}, "
                f"but the rows before have {layout.width}"
            ) from error
        try:
            block.data[record.start : record.end].decode()
        except UnicodeDecodeError as problem:
            line = _line(source, block, record)
            raise DataError(f"{source.path}:{line}: not UTF-8: {problem.reason}") from error
    raise DataError(f"{source.path}: cannot be read: {error}") from error


def _read_nullary(path: str | os.PathLike[str]) -> Iterator[Ids]:
    """Yield one empty row if the file has a line: then a predicate without arguments holds."""
    with open_stream(path) as stream:
        data = stream.read(LONGEST_ROW).removeprefix(BOM)
    for number, line in enumerate(data.splitlines(), 1):
        if line:
            raise DataError(f"{path}:{number}: a value where no argument should be")
    if data:
        yield np.empty((0, 1), np.uint32)


def _line(source: _Source, block: _Block, record: Record) -> int:
    """The number of the line in the file, from 1, at which a record of a block starts."""
    return count_lines_before(source.path, block.offset) + record.line + 1


def unquoted(field: bytes) -> str:
    """The text of a field without its quotes."""
    text = field.decode(errors="replace")
    return text[1:-1].replace('""', '"') if len(text) > 1 and text[0] == text[-1] == '"' else text


# ---- Files with bad rows


def read_csv_leniently(
    path: str | os.PathLike[str],
    dictionary: Dictionary,
    aside: list[BadRecord],
    *,
    arity: int | None,
    delimiter: str,
    header: bool,
    strings: bool,
    columns: Sequence[int | str] | None,
) -> list[Ids]:
    """The facts of a CSV file in chunks of ids, as `read_csv` yields them; bad rows are appended to `aside`.

    A file without bad rows is read once, by the fast reader. If that fails, the rows are split into good and
    bad ones in Python, and the fast reader reads the good ones from a temporary file.
    """

    def read(file: str | os.PathLike[str]) -> list[Ids]:
        return list(
            read_csv(
                file,
                dictionary,
                arity=arity,
                delimiter=delimiter,
                header=header,
                strings=strings,
                columns=columns,
            )
        )

    try:
        return read(path)
    except DataError:
        with open_stream(path) as stream:
            try:
                content = stream.read().removeprefix(BOM)
            except OSError as error:  # it is damaged as a whole
                raise DataError(f"{path}: cannot be read: {error}") from error
        rows = records(content, delimiter.encode())
        first = next((row for row in rows if not row.blank), None)
        if arity == 0 or first is None:
            raise
        width = arity if arity is not None and columns is None and not header else len(first.fields)
        good, bad = split_rows(content, delimiter.encode(), width, int(header), str(path))
        if not bad:
            raise
    with TemporaryDirectory() as folder:
        clean = Path(folder, "clean.csv")
        clean.write_bytes(content[first.start : first.end] * header + good)
        try:
            found = read(clean)
        except DataError as error:
            raise DataError(str(error).replace(str(clean), str(path))) from error
    aside += bad
    return found
