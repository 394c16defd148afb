"""Backends by name, imported when they are first asked for."""

from __future__ import annotations

from modulog.engines.backend import Backend
from modulog.errors import EngineUnavailable

ENGINES = ("local",)


def make_backend(name: str) -> Backend:
    """A new backend; "auto" is the local one.

    >>> make_backend("abacus")
    Traceback (most recent call last):
    modulog.errors.EngineUnavailable: there is no engine "abacus"; choose one of: auto, local
    """
    if name in ("local", "auto"):
        from modulog.engines.local.backend import LocalBackend

        return LocalBackend()
    raise EngineUnavailable(f'there is no engine "{name}"; choose one of: auto, {", ".join(ENGINES)}')
