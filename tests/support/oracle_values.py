"""What expressions and filters mean, for the oracle: Python's integers, decimals and floats, and none of the package's code.

An expression is a constant `(kind, value)`, a variable, or `("()", function, arguments)`. A double's value is its `repr`, so that 0.0 and
-0.0 differ and NaN equals itself. A filter is a comparison, `("!", f)`, `("&&", f, g)` or `("||", f, g)`.
"""

import hashlib
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from math import copysign, inf, isnan, nan
from operator import eq, ge, gt, le, lt, ne
from typing import Any

COMPARE: Any = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
NUMBERS = ("integer", "decimal", "double")
EXACT = Context(prec=200, rounding=ROUND_HALF_EVEN)


def compare(sign: str, left: Any, right: Any) -> bool | None:
    """Numbers compare with numbers and strings with strings, by value; nodes only for being the same; None where nothing is known."""
    kinds = {left[0], right[0]}
    if kinds <= set(NUMBERS):
        values = [float(v) if "double" in kinds else v for _, v in (left, right)]
        if any(isinstance(v, float) and isnan(v) for v in values) and sign not in ("=", "!="):
            return None
        return bool(COMPARE[sign](*values))
    if kinds == {"string"} or ("blanknode" in kinds and sign in ("=", "!=")):
        return bool(
            COMPARE[sign](
                left[1] if kinds == {"string"} else left, right[1] if kinds == {"string"} else right
            )
        )
    return sign == "=" if left == right and sign in ("=", "!=") else None


def holds(test: Any, way: dict[str, Any]) -> bool | None:
    """Whether a filter holds, in the logic of SPARQL."""
    if test[0] == "!":
        inner = holds(test[1], way)
        return None if inner is None else not inner
    if test[0] in ("&&", "||"):
        decisive = test[0] == "||"
        parts = [holds(part, way) for part in test[1:]]
        return decisive if decisive in parts else None if None in parts else not decisive
    left, right = (evaluate(t, way) for t in test[1:])
    return None if left is None or right is None else compare(test[0], left, right)


def evaluate(term: Any, way: dict[str, Any]) -> Any:
    """The constant that an expression gives; None if it gives none. A variable without a value stays as it is."""
    if isinstance(term, str):
        return way.get(term, term)
    if term[0] != "()":
        return term
    arguments = [evaluate(a, way) for a in term[2]]
    if None in arguments:
        return None
    try:
        with localcontext(EXACT):
            return apply(term[1], arguments)
    except (ArithmeticError, TypeError):
        return None


def apply(function: str, arguments: list[Any]) -> Any:
    """A function of constants; ArithmeticError or TypeError if it has no value."""
    if function == "SKOLEM":
        keys = [key(a) for a in arguments]
        data = b"".join(len(k).to_bytes(4, "little") + k for k in keys)
        return ("blanknode", "_:sk" + hashlib.blake2b(data, digest_size=16).hexdigest())
    if function in ("CONCAT", "STRLEN", "UCASE"):
        if any(a[0] != "string" for a in arguments):
            raise TypeError
        text = "".join(a[1] for a in arguments)
        return (
            ("integer", len(text))
            if function == "STRLEN"
            else ("string", text.upper() if function == "UCASE" else text)
        )
    if function == "STR":
        if arguments[0][0] == "blanknode":
            raise TypeError
        return ("string", key(arguments[0])[1:].decode())
    if any(a[0] not in NUMBERS for a in arguments):
        raise TypeError
    if function == "ABS":
        kind, value = arguments[0]
        return ("double", repr(abs(float(value)))) if kind == "double" else number(kind, abs(value))
    if len(arguments) == 1:
        kind, value = arguments[0]
        return ("double", repr(-float(value))) if kind == "double" else number(kind, -value)
    return operate(function, *arguments)


def operate(sign: str, left: Any, right: Any) -> Any:
    """One of + - * / on two numbers."""
    kinds = {left[0], right[0]}
    if "double" in kinds:
        x, y = float(left[1]), float(right[1])
        if sign == "/" and y == 0:
            result = nan if x == 0 or isnan(x) else copysign(inf, x) * copysign(1, y)
        else:
            result = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y}[sign]()
        return ("double", repr(result))
    if kinds == {"integer"} and sign != "/":
        return number(
            "integer", {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}[sign](left[1], right[1])
        )
    x, y = Decimal(left[1]), Decimal(right[1])
    result = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y}[sign]()
    return number("decimal", result)


def number(kind: str, value: Any) -> Any:
    """An integer of 64 bits, or a decimal of 38 digits: what stands before the point leaves less room behind it."""
    if kind == "integer":
        if not -(2**63) <= value < 2**63:
            raise OverflowError
        return (kind, value)
    whole = int(abs(value))
    room = 38 - (len(str(whole)) if whole else 0)
    if room < 0:
        raise OverflowError
    value = value.quantize(Decimal(1).scaleb(-room))
    if abs(value) >= 10**38:
        raise OverflowError
    return (kind, value.normalize() + 0)


def key(constant: Any) -> bytes:
    """Kind and canonical text of a constant, as names of nodes are made from them."""
    kind, value = constant
    if kind == "decimal":
        whole, _, fraction = f"{value:f}".partition(".")
        sign = "" if value else whole.removeprefix("-")
        return b"\3" + (f"{sign or whole}.{fraction.rstrip('0') or '0'}").encode()
    if kind == "double":
        return b"\4" + double_text(float(value)).encode()
    if kind == "blanknode":
        return b"\7" + value.removeprefix("_:").encode()
    return {"string": b"\1", "integer": b"\2"}[kind] + str(value).encode()


def double_text(value: float) -> str:
    """A double with one digit before the point."""
    if isnan(value):
        return "NaN"
    if value in (inf, -inf):
        return "INF" if value > 0 else "-INF"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).lstrip("0") or "0"
    power = int(exponent) + len(text) - 1 if value else 0
    return f"{'-' if sign else ''}{text[0]}.{text[1:].rstrip('0') or '0'}E{power}"
