"""Kernels as plain Python are a thousand times slower: fewer examples then."""

from __future__ import annotations

import os

from hypothesis import settings

COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

if not COMPILED:
    settings.register_profile("plain", settings.get_profile("quick"), max_examples=8)
    settings.load_profile("plain")
