"""A term as a value: `Constant`, with a kind, a canonical text and, for tagged literals, a qualifier.

Two constants are equal if all three are: the integer 1, the decimal 1.0 and the string "1" are three
constants. `docs/terms.md` says which terms there are.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Kind(enum.IntEnum):
    """What sort of term a constant is. The number is the first byte of its key."""

    STRING = 1
    INTEGER = 2
    DECIMAL = 3
    DOUBLE = 4
    BOOLEAN = 5
    IRI = 6
    BLANK = 7
    LANGUAGE = 8  # qualifier: the language tag, in lower case
    TYPED = 9  # qualifier: the IRI of the datatype


@dataclass(frozen=True, slots=True)
class Constant:
    """A term of a fact or a rule, in canonical form (`canonical.py`).

    >>> Constant(Kind.STRING, "a").key
    b'\\x01a'
    >>> Constant(Kind.LANGUAGE, "chat", "fr").key
    b'\\x08fr\\x00chat'
    """

    kind: Kind
    text: str
    qualifier: str = ""

    @property
    def key(self) -> bytes:
        """The bytes that identify the constant in every dictionary and store: kind, qualifier and text.

        A zero byte ends the qualifier, which only the kinds LANGUAGE and TYPED have.
        """
        if self.kind >= Kind.LANGUAGE:
            return bytes([self.kind]) + self.qualifier.encode() + b"\0" + self.text.encode()
        return bytes([self.kind]) + self.text.encode()

    @staticmethod
    def from_key(key: bytes) -> Constant:
        """The constant with this key: the inverse of `key`.

        >>> Constant.from_key(b"\\x0212")
        Constant(kind=<Kind.INTEGER: 2>, text='12', qualifier='')
        """
        kind = Kind(key[0])
        if kind >= Kind.LANGUAGE:
            qualifier, _, text = key[1:].partition(b"\0")
            return Constant(kind, text.decode(), qualifier.decode())
        return Constant(kind, key[1:].decode())
