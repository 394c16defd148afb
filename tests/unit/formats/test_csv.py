"""Facts from CSV files."""

from __future__ import annotations

import csv
import gzip
import io
import random
import warnings
from pathlib import Path

import pytest

from modulog.errors import DataError
from modulog.formats import DataWarning
from modulog.formats.csv import read_csv
from modulog.terms.constant import XSD, Constant, Kind, literal, term_text
from modulog.terms.dictionary import Dictionary
from modulog.terms.python_values import IRI, constant


def read(path: Path, content: bytes | str, **options: object) -> list[tuple[str, ...]]:
    """The rows of a file with this content, terms in Turtle form."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return rows(path, **options)


def rows(path: Path, **options: object) -> list[tuple[str, ...]]:
    dictionary = Dictionary()
    found: list[tuple[str, ...]] = []
    for chunk in read_csv(path, dictionary, **options):  # type: ignore[arg-type]
        assert chunk.flags.c_contiguous and chunk.dtype == "uint32"
        columns = [[term_text(c) for c in dictionary.decode(column)] for column in chunk]
        found += zip(*columns, strict=True)
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "p.csv"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a,b\nb,c\n", [('"a"', '"b"'), ('"b"', '"c"')]),
        ("a,b\nb,c", [('"a"', '"b"'), ('"b"', '"c"')]),
        ("a,b\r\nb,c\r\n", [('"a"', '"b"'), ('"b"', '"c"')]),
        ("a,b\rb,c\r", [('"a"', '"b"'), ('"b"', '"c"')]),
        ("\ufeffa,b\n", [('"a"', '"b"')]),
        ('\ufeff"a",b\n', [('"a"', '"b"')]),
        ("1,-2\n007,1.50\n", [("1", "-2"), ('"007"', "1.5")]),
        ('"1","<http://a>"\n1,<http://a>\n', [('"1"', '"<http://a>"'), ("1", "<http://a>")]),
        ('"a ""b""","c,d"\n', [('"a \\"b\\""', '"c,d"')]),
        ('"line\none",2\n"line\r\ntwo",3\n', [('"line\\none"', "2"), ('"line\\r\\ntwo"', "3")]),
        ('a"b,1\n', [('"a\\"b"', "1")]),
        ('"a"b,"1"2\n', [('"ab"', '"12"')]),
        (",\n,x\n", [('""', '""'), ('""', '"x"')]),
        ('"",""\n', [('""', '""')]),
        ("\n\na,b\n\n", [('"a"', '"b"')]),
        ('a\n""\nb\n', [('"a"',), ('""',), ('"b"',)]),
        ("\x01a,1\n\x011,\x01\x01\n", [('"\\u0001a"', "1"), ('"\\u00011"', '"\\u0001\\u0001"')]),
        ('"\x01a",1\n', [('"\\u0001a"', "1")]),
        ("é漢😀,true\n", [('"é漢😀"', '"true"')]),
        (" a , 1\n", [('" a "', '" 1"')]),
        ("NULL,NaN\nnull,NA\n", [('"NULL"', '"NaN"'), ('"null"', '"NA"')]),
        ("", []),
        ("\n", []),
        ("\ufeff", []),
    ],
)
def test_content(file: Path, content: str, expected: list[tuple[str, ...]]) -> None:
    assert read(file, content) == expected


def test_long_numbers(file: Path) -> None:
    number = "9" * 30
    assert read(file, f"{number},1\n")[0][0] == term_text(literal(number, f"{XSD}integer"))


def test_tabs_and_compression(tmp_path: Path) -> None:
    path = tmp_path / "p.tsv.gz"
    path.write_bytes(gzip.compress(b'a,b\t1\n"c\td"\t2\n'))
    assert rows(path, delimiter="\t") == [('"a,b"', "1"), ('"c\\td"', "2")]


def test_options(file: Path) -> None:
    assert read(file, "1,2\n", strings=True) == [('"1"', '"2"')]
    assert read(file, "x,y\n1,2\n", header=True) == [("1", "2")]
    assert read(file, '\n"x",y\n1,2\n', header=True, columns=["y", "x"]) == [("2", "1")]
    assert read(file, "x,y\n", header=True) == []
    assert read(file, "1,2,3\n4,5,6\n", columns=[2, 0, 2], arity=3) == [("3", "1", "3"), ("6", "4", "6")]


def test_predicates_without_arguments(file: Path) -> None:
    file.write_text("\n")
    assert [c.shape for c in read_csv(file, Dictionary(), arity=0)] == [(0, 1)]
    file.write_text("")
    assert list(read_csv(file, Dictionary(), arity=0)) == []
    file.write_text("\na\n")
    with pytest.raises(DataError, match=r"p\.csv:2: a value where no argument"):
        list(read_csv(file, Dictionary(), arity=0))


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a,b\nc\n", {}, r"p\.csv:2: 1 field, but the rows before have 2"),
        ("a,b\n\nc,d\nd,e,f\n", {}, r"p\.csv:4: 3 fields, but the rows before have 2"),
        ('"a\nb",b\n\r\nc,d\n"e"\n', {}, r"p\.csv:5: 1 field"),
        ("a,b\n", {"arity": 3}, r"p\.csv:1: 2 columns where 3 arguments should be"),
        ("\n\na\n", {"arity": 2}, r"p\.csv:3: 1 column where 2 arguments should be"),
        (b"a,b\nc,\xff\n", {}, r"p\.csv:2: not UTF-8"),
        ("a,b\n".encode("utf-16"), {}, "not UTF-8|field"),
        ('a,b\nc,"d\ne,f\n', {}, r"p\.csv:2: a quote opens a field"),
        ("a,b\n", {"columns": [2]}, "there is no column 2, but 2 columns"),
        ("x,y\n1,2\n", {"header": True, "columns": ["z"]}, "no column 'z', but columns 'x', 'y'"),
        ("a,b\n", {"columns": [0], "arity": 2}, "1 column named for 2 arguments"),
        ("a,b\n", {"delimiter": ";;"}, "cannot separate"),
        ("a,b\n", {"delimiter": '"'}, "cannot separate"),
    ],
)
def test_mistakes_are_told_with_file_and_line(
    file: Path, content: bytes | str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read(file, content, **options)


def test_lines_of_later_blocks(file: Path) -> None:
    content = 'a,b\n"c\nd",e\r\n' * 20
    with pytest.raises(DataError, match=r"p\.csv:61: 3 fields"):
        read(file, content + "1,2,3\n", block=16)
    with pytest.raises(DataError, match=r"p\.csv:62: not UTF-8"):
        read(file, content.encode() + b"a,b\n\xff,a\n", block=16)
    with pytest.raises(DataError, match=r"p\.csv:62: a quote opens"):
        read(file, content + 'a,b\n"' + "c\n" * 50, block=16)


def test_rows_that_do_not_end(file: Path) -> None:
    with pytest.raises(DataError, match=r"p\.csv:2: a quote opens"):
        read(file, 'a,b\nc,"' + "d,e\n" * 200, block=16, longest=100)
    with pytest.raises(DataError, match=r"p\.csv:2: a row of more than"):
        read(file, "a,b\n" + "c" * 500, block=16, longest=100)


def test_missing_and_damaged_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"q\.csv: there is no such file"):
        rows(tmp_path / "q.csv")
    path = tmp_path / "p.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" * 100_000)[:200])
    with pytest.raises(DataError, match=r"p\.csv\.gz: cannot be read"):
        rows(path)
    path.write_bytes(b"a,b\n")
    with pytest.raises(DataError, match=r"p\.csv\.gz: not compressed by gzip"):
        rows(path)


@pytest.mark.parametrize(
    "content",
    ["from,weight\na,1\nb,2\n", '"x value","y value"\n1,2\n3,4\n', "source,target\na,b\nb,c\n"],
)
def test_headers_give_a_warning(file: Path, content: str) -> None:
    with pytest.warns(DataWarning, match="looks like a header"):
        assert len(read(file, content)) == content.count("\n")


@pytest.mark.parametrize(
    "content",
    [
        "a,b\nb,c\n",
        "from,to\n",
        "1,2\n3,4\n",
        "x,y\nx,z\na,b\n",
        "b,a\n1,2\n",
        "n,n\n1,2\n3,4\n",
        "ann,1\nbob,young\n",
    ],
)
def test_facts_give_no_warning(file: Path, content: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read(file, content)) == content.count("\n")


@pytest.mark.parametrize("block", [7, 64, 1 << 20])
def test_random_files_as_the_standard_library_reads_them(file: Path, block: int) -> None:
    """Content by Python's own writer, which quotes every string: blocks may end anywhere."""
    source = random.Random(block)
    alphabet = ['"', ",", "\n", "\r", "\r\n", "a", "1", "<", ">", "é", "\x01", "-", ".", ""]
    for end in ("\n", "\r\n"):
        table = [
            ["".join(source.choices(alphabet, k=source.randint(0, 4))), source.randint(-3, 3)]
            for _ in range(60)
        ]
        buffer = io.StringIO(newline="")
        csv.writer(buffer, quoting=csv.QUOTE_NONNUMERIC, lineterminator=end).writerows(table)
        expected = [(term_text(constant(a)), term_text(constant(b))) for a, b in table]
        assert read(file, buffer.getvalue(), block=block) == expected


def test_chunks_are_bounded(file: Path) -> None:
    file.write_text("".join(f"{i}\n" for i in range(25)))
    assert [c.shape for c in read_csv(file, Dictionary(), chunk=10)] == [(1, 10), (1, 10), (1, 5)]


def test_reading_may_stop_early(file: Path) -> None:
    file.write_text("a,b\n" * 1000)
    chunks = read_csv(file, Dictionary(), block=16)
    next(chunks)
    chunks.close()  # type: ignore[attr-defined]


def test_strings_are_those_of_python(file: Path) -> None:
    dictionary = Dictionary()
    file.write_text("a,1,<http://a>\n")
    (chunk,) = read_csv(file, dictionary)
    expected = [constant("a"), constant(1), constant(IRI("http://a"))]
    assert dictionary.decode(chunk[:, 0]) == expected
    assert dictionary.find([Constant(Kind.STRING, "a")]).tolist() == [0]
