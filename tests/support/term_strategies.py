"""Hypothesis strategies for terms of every kind."""

from __future__ import annotations

from hypothesis import strategies as st

from modulog.terms.constant import XSD, Constant, Kind, format_double, language, literal

TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=12),
    st.text(st.sampled_from('",\n\r\t\x01 <>ab0-1.é漢😀'), max_size=8),
    st.sampled_from(
        ["", "1", "-0", "007", "1.50", "<http://a>", "<>", "\ufeffx", "true", "NaN", "_:b", '"', '""']
    ),
)
IRI_TEXTS = st.text(st.sampled_from("abc:/#?.,;=é漢%20"), min_size=1, max_size=12)
INTEGERS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-20, 20))
DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9)

STRINGS = st.builds(lambda t: Constant(Kind.STRING, t), TEXTS)
CSV_TERMS = st.one_of(
    STRINGS,
    st.builds(lambda n: Constant(Kind.INTEGER, str(n)), INTEGERS),
    st.builds(lambda d: literal(f"{d:f}", f"{XSD}decimal"), DECIMALS),
    st.builds(lambda t: Constant(Kind.IRI, t.replace(",", "")), IRI_TEXTS).filter(lambda c: c.text != ""),
    st.builds(lambda n: literal(str(n), f"{XSD}integer"), st.integers(2**63, 2**70)),
)
CONSTANTS = st.one_of(
    CSV_TERMS,
    st.builds(lambda t: Constant(Kind.IRI, t), IRI_TEXTS),
    st.builds(lambda f: Constant(Kind.DOUBLE, format_double(f)), st.floats()),
    st.builds(lambda b: Constant(Kind.BOOLEAN, b), st.sampled_from(["true", "false"])),
    st.builds(lambda t: Constant(Kind.BLANK, f"b{t}"), st.integers(0, 50)),
    st.builds(language, TEXTS, st.sampled_from(["en", "de-AT", "FR"])),
    st.builds(
        literal, TEXTS, st.sampled_from([f"{XSD}byte", f"{XSD}dateTime", "http://a/type", f"{XSD}integer"])
    ),
)
