"""Kernels over bytes equal what Python's own strings, numbers and dictionaries give."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from modulog.kernels import csv_fields, ntriples, numbers, strings

KINDS = {"string": 1, "integer": 2, "decimal": 3, "double": 4, "iri": 6}
TEXTS = st.lists(
    st.tuples(st.sampled_from([1, 2, 6]), st.text("aé0-", max_size=12)),
    max_size=12,
)
Typed = list[tuple[int, str]]


def joined(texts: list[bytes]) -> tuple[Any, Any]:
    """The bytes of texts, and their offsets."""
    return np.frombuffer(b"".join(texts), np.uint8), np.array([0, *accumulate(map(len, texts))], np.int64)


def columns(texts: Typed) -> tuple[Any, Any, Any, Any, Any]:
    """Bytes, starts, ends, kinds and hashes."""
    data, offsets = joined([text.encode() for _, text in texts])
    kinds, hashes = np.array([kind for kind, _ in texts], np.uint8), np.empty(len(texts), np.int64)
    strings.hash_texts(data, offsets[:-1], offsets[1:], kinds, hashes)
    return data, offsets[:-1], offsets[1:], kinds, hashes


def keys(texts: Typed) -> list[bytes]:
    return [bytes([kind]) + text.encode() for kind, text in texts]


def table(bits: int) -> tuple[Any, int]:
    """The slots of an empty hash table, and its shift."""
    return np.zeros(1 << bits, np.int64), 34 - bits


@given(TEXTS)
def test_equal_texts_have_equal_hashes_of_31_bits(texts: Typed) -> None:
    apart = columns([(1, "before"), *texts])[4][1:]
    assert apart.tolist() == columns(texts)[4].tolist()
    assert all(0 <= code < 2**31 for code in apart.tolist())


@given(TEXTS, TEXTS)
def test_lookups(texts: Typed, others: Typed) -> None:
    data, starts, ends, kinds, hashes = columns(texts)
    slots, shift = table(5)
    terms, offsets, term_kinds = np.empty(500, np.uint8), np.zeros(17, np.int64), np.empty(16, np.uint8)
    counter, ids = np.zeros(1, np.int64), np.empty(len(texts), np.uint32)
    there = (slots, shift, terms, offsets)
    arguments = (data, starts, ends, kinds, hashes)
    assert strings.insert_texts(*arguments, 0, *there, term_kinds, counter, ids) == len(texts)
    known: dict[bytes, int] = {}
    assert ids.tolist() == [known.setdefault(key, len(known)) for key in keys(texts)]
    assert counter[0] == len(known) and terms[: offsets[len(known)]].tobytes() == b"".join(known)
    assert term_kinds[: len(known)].tolist() == [key[0] for key in known]
    wanted, found = columns(others), np.empty(len(others), np.int64)
    expected = [known.get(key, -1) for key in keys(others)]
    strings.find_texts(*wanted, *there, found)
    assert found.tolist() == expected
    strings.scan_texts(*wanted[:4], terms, offsets, len(known), found)
    assert found.tolist() == expected
    larger, larger_shift = table(7)
    strings.move_slots(slots, larger, larger_shift)
    strings.find_texts(*wanted, larger, larger_shift, terms, offsets, found)
    assert found.tolist() == expected


@given(TEXTS.filter(bool))
def test_inserting_stops_when_something_is_full(texts: Typed) -> None:
    arguments = columns(texts)
    slots, shift = table(2)  # two terms fit
    terms, offsets, term_kinds = np.empty(500, np.uint8), np.zeros(17, np.int64), np.empty(16, np.uint8)
    counter, ids = np.zeros(1, np.int64), np.empty(len(texts), np.uint32)
    done = strings.insert_texts(*arguments, 0, slots, shift, terms, offsets, term_kinds, counter, ids)
    fit = next((i for i in range(len(texts)) if len(set(keys(texts)[: i + 1])) > 2), len(texts))
    assert done == fit and counter[0] == len(set(keys(texts)[:fit]))


@given(TEXTS.filter(bool), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=8))
def test_copies_and_order(texts: Typed, pairs: list[tuple[int, int]]) -> None:
    terms, offsets = joined(keys(texts))
    left, right = (np.array([p[j] % len(texts) for p in pairs], np.uint32) for j in (0, 1))
    ends = np.empty(len(pairs) + 1, np.int64)
    total = strings.measure_texts(offsets, left, 1, ends)
    content = np.empty(total, np.uint8)
    strings.copy_texts(terms, offsets, left, 1, content)
    chosen = [texts[i][1].encode() for i in left.tolist()]
    assert content.tobytes() == b"".join(chosen) and ends.tolist() == [0, *accumulate(map(len, chosen))]
    signs = np.empty(len(pairs), np.int8)
    strings.order_texts(terms, offsets, left, right, signs)
    compared = [(texts[a][1], texts[b][1]) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
    assert signs.tolist() == [(a > b) - (a < b) for a, b in compared]


INTEGERS = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-20, 20), max_size=8)


@given(INTEGERS)
@example([-(2**63), 2**63 - 1, 0])
def test_integers_to_text_and_back(values: list[int]) -> None:
    texts = [b"\x02" + str(value).encode() for value in values]
    out, offsets = np.empty(20 * len(values), np.uint8), np.empty(len(values) + 1, np.int64)
    size = numbers.format_integers(np.array(values, np.int64), out, offsets)
    assert out[:size].tobytes() == b"".join(text[1:] for text in texts) and offsets[-1] == size
    terms, places = joined(texts)
    back = np.empty(len(values), np.int64)
    numbers.parse_integers(terms, places, np.arange(len(values), dtype=np.uint32), back)
    assert back.tolist() == values


DECIMALS = st.from_regex(r"-?(0|[1-9][0-9]{0,20})\.[0-9]{1,20}", fullmatch=True)
DOUBLES = st.from_regex(r"-?[1-9]\.[0-9]{1,17}E-?[0-9]{1,2}", fullmatch=True)


@given(st.lists(st.tuples(st.just(3), DECIMALS) | st.tuples(st.just(4), DOUBLES), max_size=8))
@example([(3, "0.1"), (3, "0.5"), (4, "1.5E3"), (4, "1.0E22"), (3, "123456789012345678.9"), (4, "1.0E-30")])
def test_numbers_of_terms(texts: Typed) -> None:
    terms, offsets = joined(keys(texts))
    kinds, count = np.array([kind for kind, _ in texts], np.uint8), len(texts)
    integers, doubles = np.zeros(count, np.int64), np.zeros(count)
    exact, known = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    numbers.parse_numbers(terms, offsets, kinds, 0, integers, doubles, exact, known)
    for i in np.flatnonzero(known).tolist():
        kind, text = texts[i]
        assert doubles[i] == float(text)
        assert exact[i] == (kind == 4 or Fraction(float(text)) == Fraction(text))
    short = [
        len(text.partition("E")[0].strip("-0").replace(".", "")) <= 15 and "E" not in text
        for _, text in texts
    ]
    assert all(known[i] for i in range(count) if short[i])


FIELDS = st.lists(st.text('ab01.-<> "é', max_size=7) | DECIMALS | st.integers().map(str), max_size=8)
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?")


def meaning(field: str) -> tuple[int, str]:
    """The kind and the canonical text of a field by the rule of `docs/terms.md`."""
    if re.fullmatch(r'<[^\x00-\x20<>"{}|^`\\]+>', field):
        return KINDS["iri"], field[1:-1]
    if not NUMBER.fullmatch(field):
        return KINDS["string"], field
    if "." not in field:
        fits = -(2**63) <= int(field) < 2**63
        return (KINDS["integer"], str(int(field))) if fits else (csv_fields.AWKWARD, field)
    whole, _, fraction = field.rstrip("0").partition(".")
    digits = len(whole.strip("-").lstrip("0")) + len(fraction)
    text = f"{whole}.{fraction or '0'}"
    return (
        (KINDS["decimal"], text.replace("-0.0", "0.0") if text == "-0.0" else text)
        if digits <= 38
        else (0, field)
    )


@given(FIELDS, st.booleans())
@example([f"{whole}.{'1' * digits}" for whole in (0, 1, 12) for digits in (36, 37, 38, 39)], True)
@example(["-0", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-0.00"], True)
def test_fields(fields: list[str], typed: bool) -> None:
    data, offsets = joined([field.encode() for field in fields])
    starts, ends, kinds = offsets[:-1].copy(), offsets[1:].copy(), np.empty(len(fields), np.uint8)
    awkward = csv_fields.read_fields(data, starts, ends, kinds, typed, False)
    expected = [meaning(field) if typed else (KINDS["string"], field) for field in fields]
    found = [data[a:b].tobytes().decode() for a, b in zip(starts, ends, strict=True)]
    assert list(zip(kinds.tolist(), found, strict=True)) == expected
    assert awkward == sum(kind == csv_fields.AWKWARD for kind, _ in expected)


@given(st.lists(st.lists(st.text('a,"\n', max_size=4), min_size=1, max_size=3), max_size=4))
def test_marks_and_widths(rows: list[list[str]]) -> None:
    def quoted(field: str, mark: str) -> str:
        return f'"{mark}' + field.replace('"', '""') + '"' if set(field) & set('",\n') else field

    lines = [",".join(quoted(field, "") for field in row) + "\n" for row in rows]
    text = "".join(lines).encode()
    out = np.empty(2 * len(text) + 2, np.uint8)
    read, written, opened = csv_fields.mark_fields(np.frombuffer(text, np.uint8), ord(","), True, out)
    marked = "".join(",".join(quoted(field, "\x01") for field in row) + "\n" for row in rows)
    assert (read, opened, out[:written].tobytes()) == (len(text), -1, marked.encode())
    data, offsets = joined([line[:-1].encode() for line in lines])
    widths = np.empty(len(rows), np.int64)
    ntriples.check_fields(data, offsets, ord(","), widths)
    assert widths.tolist() == [len(row) if line != "\n" else 0 for row, line in zip(rows, lines, strict=True)]


@given(TEXTS, st.integers(1, 3))
@example([(1, ""), (6, ""), (1, "0"), (2, "0")], 1)
@example([(1, ""), (6, ""), (1, "0"), (2, "0")], 2)
def test_rows(texts: Typed, arity: int) -> None:
    other = 9  # a kind that has fields of its own
    texts = [(kind if kind != KINDS["integer"] else other, text) for kind, text in texts]
    texts = texts[: len(texts) // arity * arity]
    terms, offsets = joined(keys(texts))
    ready, ready_offsets = joined([f"[{text}]".encode() for _, text in texts])
    ids = np.arange(len(texts), dtype=np.uint32).reshape(-1, arity).T.copy()
    kinds = np.array([kind for kind, _ in texts], np.uint8)
    fields = csv_fields.Fields(ids.astype(np.int64), ready, ready_offsets)
    out = np.empty(8 * sum(len(text.encode()) + 4 for _, text in texts), np.uint8)
    written, lost = csv_fields.write_rows(csv_fields.Keys(terms, offsets, kinds), fields, ids, ord(","), out)

    def shown(kind: int, text: str) -> str:
        if kind == other:
            return f"[{text}]"
        if kind == KINDS["iri"]:
            return f"<{text}>" if text else '"<>"'
        plain = meaning(text)[0] == KINDS["string"] and (text or arity > 1)
        return text if plain else f'"{text}"'

    lines = [",".join(shown(*term) for term in texts[i : i + arity]) for i in range(0, len(texts), arity)]
    assert out[:written].tobytes().decode() == "".join(f"{line}\n" for line in lines)
    assert lost == sum(kind == KINDS["iri"] and not text for kind, text in texts)


@given(st.text("a\r\n", max_size=12))
def test_lines(text: str) -> None:
    data, offsets = np.frombuffer(text.encode(), np.uint8), np.empty(len(text) + 2, np.int64)
    count = ntriples.find_lines(data, offsets)
    assert [text[a:b] for a, b in pairwise(offsets[: count + 1])] == text.splitlines(True)


@given(TEXTS)
def test_keys(texts: Typed) -> None:
    data, starts, ends, kinds, _ = columns(texts)
    offsets = np.empty(len(texts) + 1, np.int64)
    out = np.empty(ntriples.measure_keys(starts, ends, offsets), np.uint8)
    ntriples.write_keys(data, starts, ends, kinds, out)
    assert out.tobytes() == b"".join(keys(texts))
    assert offsets.tolist() == [0, *accumulate(map(len, keys(texts)))]
