"""Lines of N-Triples and N-Quads against pyoxigraph: the same lines are good, and they mean the same."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyoxigraph
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from modulog.engines.spark.sources.parsing import TripleLines
from modulog.terms.python_values import constant

PIECES = st.sampled_from(
    [
        *[
            "<a:b>",
            "<http://a/é>",
            "<a:\\u0041>",
            "<a:\\u0020>",
            "<a>",
            "<>",
            "<a:b c>",
            "_:b",
            "_:b.c",
            "_:1-",
            "_:",
        ],
        *[
            '"x"',
            '""',
            '"a\\"b"',
            '"\\u00e9\\U0001F600"',
            '"\\x"',
            '"x"@en',
            '"x"@EN-gb',
            '"x"@',
            '"x"@1',
            '"a',
        ],
        *[
            '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
            '"x"^^<t>',
            '"x"^^',
            '"x"^^<a:t>',
            '"1e0"^^<a:t>',
        ],
        *["'x'", "1", "true", "a", ".", "#", "# more", "é", "<<", "@", "\\"],
    ]
)
TERMS = st.sampled_from(["<a:s>", "_:b", "<a:p>", '"x"', '"x"@en', "<a:g>", '"\\t"', '"é"'])
LINES = st.one_of(
    st.builds(
        lambda s, p, o, g, e, space: space.join([s, p, o, *g, e]),
        st.one_of(TERMS, PIECES),
        st.one_of(st.just("<a:p>"), PIECES),
        st.one_of(TERMS, PIECES),
        st.lists(PIECES, max_size=1),
        st.sampled_from([".", ".", " . # c", "", ". x"]),
        st.sampled_from([" ", "\t", "", "  "]),
    ),
    st.lists(PIECES, max_size=5).map(" ".join),
)


def expected(line: str, quads: bool) -> list[tuple[str, ...]] | None:
    """What pyoxigraph reads, None if it cannot."""
    kind = pyoxigraph.RdfFormat.N_QUADS if quads else pyoxigraph.RdfFormat.N_TRIPLES
    try:
        found = list(pyoxigraph.parse(line, format=kind))
    except SyntaxError:
        return None
    rows = []
    for quad in found:
        terms = [constant(t).key.decode() for t in (quad.subject, quad.predicate, quad.object)]
        if quads:
            default = isinstance(quad.graph_name, pyoxigraph.DefaultGraph)
            terms.append("" if default else constant(quad.graph_name).key.decode())
        rows.append(tuple(terms))
    return rows


@given(LINES, st.booleans())
@example('<a:s> <a:p> "x"@en-.', False)
@example("<a:s> <a:p> _:a..", False)
@example("<a:s> <a:p> _::a .", False)
@example("_:abc:def <a:p> _:a‿b .", False)
@example('<a:s> <a:p> "x" ^^\t<a:\\u0041> .', False)
@example('<a:s> <a:p> "x\\n" @en .', False)
def test_a_line_means_what_pyoxigraph_says(line: str, quads: bool) -> None:
    columns, problems = TripleLines(quads).parse(pa.array([line]))
    wanted = expected(line, quads)
    assert bool(problems) == (wanted is None)
    assert list(zip(*[c.to_pylist() for c in columns], strict=True)) == (wanted or [])


def test_real_data(data: Path) -> None:
    path = data / "lubm" / "lubm-1.nt.gz"
    if not path.exists():
        pytest.skip("no LUBM data")
    with gzip.open(path, "rt") as file:
        lines = file.read().splitlines()[:5000]
    columns, problems = TripleLines(False).parse(pa.array(lines))
    assert not problems
    assert list(zip(*[c.to_pylist() for c in columns], strict=True)) == expected("\n".join(lines), False)
