"""Engines by name, imported when they are first asked for."""

from __future__ import annotations

from modulog.engines.protocol import Engine, Values
from modulog.errors import EngineUnavailable

ENGINES = ("local",)


def make_engine(name: str, values: Values) -> Engine:
    """A new engine; "auto" is the local one.

    >>> make_engine("abacus", ())
    Traceback (most recent call last):
    modulog.errors.EngineUnavailable: there is no engine "abacus"; choose one of: auto, local
    """
    if name in ("local", "auto"):
        from modulog.engines.local.engine import LocalEngine

        return LocalEngine(values)
    raise EngineUnavailable(f'there is no engine "{name}"; choose one of: auto, {", ".join(ENGINES)}')
