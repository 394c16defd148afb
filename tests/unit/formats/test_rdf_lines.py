"""Lines of N-Triples and N-Quads: the kernels and pyoxigraph take the same lines, and read the same terms in
them.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable

import numpy as np
import pyoxigraph
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from modulog.formats.rdf_lines import Stretches, split_lines, term_key
from modulog.formats.text_files import line_offsets
from modulog.kernels import literals, ntriples
from modulog.terms.constant import RDF, XSD
from modulog.terms.dictionary import frozen
from support.realdata import data_folder

IRIS = st.one_of(
    st.builds(
        "<{}:{}>".format, st.text("a1+-.", max_size=3), st.text("ab/?#[]@:%4zé\ue000\u0085~'{ \\", max_size=8)
    ),
    st.builds("<http://{}/{}>".format, st.text("a.:@[]1é%4", max_size=6), st.text("a#?%41/", max_size=5)),
    st.sampled_from(
        ["<a:b>", "<a:\\u0041>", "<a:\\u0020>", "<a\\u003Ab>", "<\\U00000061:b>", "<a:\\uD800>", "<a:\\n>"]
    ),
)
LABELS = st.builds("_:{}".format, st.text("ab1-._é·\u00aa漢", max_size=5))
ESCAPES = r"""a é 😀 \t \b \n \r \f \" \' \\ \x \u00e9 \u0000 \U0001F600 \U00110000 \uDFFF \u12 \ """.split()
CONTENT = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), max_size=6),
    st.lists(
        st.sampled_from([*ESCAPES, "\x00", "\x7f"]),
        max_size=4,
    ).map("".join),
)
NUMBERS = st.one_of(
    st.text("+-0123.eE", max_size=6),
    st.integers(-(10**20), 10**20).map(str),
    st.decimals(places=3, min_value=-(10**40), max_value=10**40).map(lambda d: f"{d:f}"),
    st.floats().map(str),
    st.sampled_from(["true", "false", "1", "0", "-0", "-0.0", "0.0", "INF", "NaN", "2020-01-01"]),
)
DATATYPES = st.one_of(
    st.sampled_from(
        ["integer", "decimal", "double", "float", "boolean", "string", "byte", "date", "dateTime"]
    ).map(lambda name: f"<{XSD}{name}>"),
    st.sampled_from(
        ["<a:t>", "<t>", f"<{XSD}>", f"<{RDF}langString>", f"<{RDF}XMLLiteral>", "<a:%4>", "<a:\\u0041>"]
    ),
)
TAGS = st.one_of(
    st.sampled_from(
        [
            "en",
            "EN-gb",
            "de-AT-1901",
            "ar--rtl",
            "ar--RTL",
            "x-a",
            "i-klingon",
            "zh-Hans",
            "a",
            "en-",
            "1",
            "",
            "e1",
        ]
    ),
    st.text("abcdeX1-", max_size=9),
)
LITERALS = st.one_of(
    CONTENT.map('"{}"'.format),
    st.builds('"{}"{}@{}'.format, CONTENT, st.sampled_from(["", "", " "]), TAGS),
    st.builds(
        '"{}"{}^^{}{}'.format, st.one_of(CONTENT, NUMBERS), *[st.sampled_from(["", "", " "])] * 2, DATATYPES
    ),
)
ODD = st.sampled_from(
    ["'x'", "1", "true", "a", ".", "#", "<<( <a:s> <a:p> <a:o> )>>", "@", "\\", '"a', "_:", ""]
)
TERMS = st.one_of(IRIS, LABELS, LITERALS, ODD)
LINES = st.builds(
    lambda s, p, o, g, end, space: space.join([s, p, o, *g, end]),
    st.one_of(st.just("<a:s>"), st.just("<a:s>"), TERMS),
    st.one_of(st.just("<a:p>"), st.just("<a:p>"), TERMS),
    TERMS,
    st.one_of(st.just([]), st.just([]), st.lists(TERMS, max_size=1)),
    st.sampled_from([".", ".", ".", " . # c", "", ". x", " .\t"]),
    st.sampled_from([" ", " ", "\t", "", "  "]),
)


def expected(line: str, quads: bool) -> list[tuple[bytes, ...]] | None:
    """What pyoxigraph reads, None if it cannot, or if it reads what is no term of ours."""
    kind = pyoxigraph.RdfFormat.N_QUADS if quads else pyoxigraph.RdfFormat.N_TRIPLES
    try:
        found = list(pyoxigraph.parse(line, format=kind))
    except SyntaxError:
        return None
    if any(isinstance(quad.object, pyoxigraph.Triple) for quad in found):
        return None
    places = ("subject", "predicate", "object", "graph_name")[: 4 if quads else 3]
    return [tuple(term_key(getattr(quad, place)) for place in places) for quad in found]


def keys(columns: Iterable[Stretches]) -> list[tuple[bytes, ...]]:
    """The rows of columns as keys."""
    rows = []
    for column in columns:
        content = column.data.tobytes()
        kinds = np.where(column.kinds == ntriples.NOTHING, 6, column.kinds).tolist()
        bounds = zip(kinds, column.starts.tolist(), column.ends.tolist(), strict=True)
        rows.append([bytes([k]) + content[a:b] for k, a, b in bounds])
    return list(zip(*rows, strict=True))


def split(text: str, quads: bool) -> tuple[list[tuple[bytes, ...]], list[int]]:
    """The rows of good lines, and the numbers of the bad ones."""
    data = np.frombuffer(text.encode(), np.uint8)
    columns, problems = split_lines(data, line_offsets(data), quads)
    return keys(columns), [problem.row for problem in problems]


@given(LINES, st.booleans())
@example('<a:s> <a:p> "x"@en-.', False)
@example("<a:s> <a:p> _:a..", False)
@example("<a:s> <a:p> _::a .", False)
@example("_:abc:def <a:p> _:a‿b .", False)
@example('<a:s> <a:p> "x" ^^\t<a:\\u0041> .', False)
@example('<a:s> <a:p> "x\\n" @en .', False)
@example('<a:s> <a:p> "x"@ar--rtl .', True)
@example("<http://a:1:2/> <a:p> <http://[::1]/#a#b> .", False)
def test_a_line_means_what_pyoxigraph_says(line: str, quads: bool) -> None:
    wanted = expected(line, quads)
    assert split(line, quads) == (wanted or [], [] if wanted is not None else [0])


@given(st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
def test_bad_lines_leave_the_others_alone(lines: list[str], newline: str) -> None:
    wanted = [expected(line, False) for line in lines]
    rows, bad = split(newline.join(lines), False)
    assert rows == [row for found in wanted for row in found or ()]
    assert len(bad) == sum(found is None for found in wanted)


def test_labels_have_no_colons() -> None:
    assert split("_:a:b <a:p> <a:o> .\n<a:s> <a:p> _::c .\n_:a <a:p> <a:o> .", False)[1] == [0, 1]


@given(st.one_of(st.builds('"{}"@en'.format, CONTENT), CONTENT.map('"{}"'.format)))
def test_the_frequent_literals_need_no_parser(text: str) -> None:
    wanted = expected(f"<a:s> <a:p> {text} .", False)
    assume(wanted is not None)
    data = np.frombuffer(text.encode(), np.uint8)
    starts, ends, kinds = np.zeros(1, np.int64), np.array([len(data)]), np.zeros(1, np.uint8)
    room = np.empty(len(data), np.uint8)
    literals.read_literals(frozen(data), np.zeros(1, np.int64), starts, ends, kinds, room)
    found = np.concatenate([data, room])[starts[0] : ends[0]].tobytes()
    assert wanted and bytes([kinds[0]]) + found == wanted[0][2]


def test_real_data() -> None:
    folder = data_folder("hierarchies")
    if folder is None:
        pytest.skip("no data")
    for path in sorted(folder.glob("*.nt.gz"))[:4]:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            text = "".join(line for line, _ in zip(file, range(3000), strict=False))
        assert split(text, False) == (expected(text, False), [])
