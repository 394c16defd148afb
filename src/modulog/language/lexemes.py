"""Reads and writes the escapes of strings and IRIs, and resolves relative IRIs (RFC 3986, section 5.2)."""

from __future__ import annotations

import re

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")

_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([\s\S]))")
_LOCAL_ESCAPE = re.compile(r"\\(.)")
_CHARACTERS = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}
_ESCAPED = {"\t": "\\t", "\b": "\\b", "\n": "\\n", "\r": "\\r", "\f": "\\f", '"': '\\"', "\\": "\\\\"}
# Control characters, line ends as Python's `splitlines` knows them and surrogates are escaped in literals.
_SPECIAL = re.compile('[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff"\\\\]')
_NOT_IN_IRI = re.compile('[\\x00-\\x20<>"{}|^`\\\\\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff]')


def unescape(text: str) -> str:
    r"""Replace the escapes of Turtle by their characters; a wrong one raises ValueError, with it as argument.

    >>> unescape(r"a\tb\u0041")
    'a\tbA'
    """
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def unescape_local(text: str) -> str:
    r"""Replace the escapes of a prefixed name's local part: `a\,b` is `a,b`."""
    return _LOCAL_ESCAPE.sub(r"\1", text) if "\\" in text else text


def quote(text: str) -> str:
    r"""A string as a literal: in double quotes, on one line, with escapes where needed.

    >>> print(quote('say "hi"\n'))
    "say \"hi\"\n"
    """
    return '"' + _SPECIAL.sub(lambda m: _ESCAPED.get(m[0]) or _code(m), text) + '"'


def bracket(iri: str) -> str:
    """An IRI in angle brackets, with escapes for characters that may not stand there.

    >>> bracket("http://example.org/a b")
    '<http://example.org/a\\\\u0020b>'
    """
    return "<" + _NOT_IN_IRI.sub(_code, iri) + ">"


def resolve(iri: str, base: str) -> str:
    """The absolute IRI for one that is relative to a base; an absolute one stays as it is.

    >>> resolve("../c", "http://example.org/a/b")
    'http://example.org/c'
    """
    if not base or SCHEME.match(iri):
        return iri
    _, authority, path, query, fragment = _split(iri)
    scheme, base_authority, base_path, base_query, _ = _split(base)
    if authority is None:
        authority = base_authority
        if not path:
            path, query = base_path, base_query if query is None else query
        elif path.startswith("/"):
            path = _without_dots(path)
        else:
            folder = (
                "/" if base_authority is not None and not base_path else base_path[: base_path.rfind("/") + 1]
            )
            path = _without_dots(folder + path)
    else:
        path = _without_dots(path)
    return "".join(
        (
            f"{scheme}:" if scheme is not None else "",
            f"//{authority}" if authority is not None else "",
            path,
            f"?{query}" if query is not None else "",
            f"#{fragment}" if fragment is not None else "",
        )
    )


def _split(iri: str) -> tuple[str | None, str | None, str, str | None, str | None]:
    match = _PARTS.fullmatch(iri)
    assert match is not None  # the pattern matches every text
    return match[1], match[2], match[3], match[4], match[5]


def _without_dots(path: str) -> str:
    """A path without its segments `.` and `..` (RFC 3986, section 5.2.4)."""
    segments = path.split("/")
    kept: list[str] = []
    for i, segment in enumerate(segments):
        if segment == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
        elif segment != ".":
            kept.append(segment)
            continue
        if i == len(segments) - 1:
            kept.append("")
    return "/".join(kept)


def _character(match: re.Match[str]) -> str:
    if match[3]:
        if match[3] in _CHARACTERS:
            return _CHARACTERS[match[3]]
        raise ValueError(match[0])
    number = int(match[1] or match[2], 16)
    if number > 0x10FFFF:
        raise ValueError(match[0])
    return chr(number)


def _code(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04X}"
