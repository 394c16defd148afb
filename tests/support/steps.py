"""How much work a call is, counted in lines of the package that run: the same number on a busy machine as on a quiet one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import modulog

PACKAGE = str(Path(modulog.__file__).parent)


def lines_run(work: Callable[[], object]) -> int:
    """How many lines of the package run until `work` returns; a line counts each time that a loop comes back to it."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        if event == "call":
            return trace if frame.f_code.co_filename.startswith(PACKAGE) else None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
