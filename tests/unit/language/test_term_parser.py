"""IRIs against a base, after the examples of RFC 3986, section 5.4."""

from __future__ import annotations

import pytest

from modulog.language.term_parser import resolve

BASE = "http://a/b/c/d;p?q"


@pytest.mark.parametrize(
    ("relative", "expected"),
    [
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        (";x", "http://a/b/c/;x"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."),
        ("..g", "http://a/b/c/..g"),
        ("./g/.", "http://a/b/c/g/"),
        ("g/../h", "http://a/b/c/h"),
    ],
)
def test_resolve(relative: str, expected: str) -> None:
    assert resolve(relative, BASE) == expected


def test_bases_without_a_path_or_none_at_all() -> None:
    assert resolve("g", "http://a") == "http://a/g"
    assert resolve("g", "") == "g"
