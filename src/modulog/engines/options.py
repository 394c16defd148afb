"""The options of a reasoner that concern Spark, and the errors for options that it does not have."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from inspect import signature
from typing import Any, Literal

from modulog.errors import OptionError
from modulog.planning.passes import Switches

EngineName = Literal["auto", "local", "spark"]
"""The engine of a reasoner; "auto" is Spark if `spark` is given, otherwise local."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparkOptions:
    """How a reasoner uses Spark: `Reasoner(…, spark=…)`, which also takes a session or its settings alone.

    Args:
        session: The session to use, which is never stopped; without one, the active session, or a new one
            that ends with the reasoner.
        settings: The settings of a new session, such as `{"spark.master": "local[4]"}`.
        folder: Where facts and terms are kept: a folder that all machines see. Without one it is a temporary
            folder of this machine, which is right for a local master.
        broadcast_limit: The most rows of a table that is sent to every executor instead of being shuffled.

    >>> SparkOptions(settings={"spark.master": "local[2]"}, folder="/mnt/reasoner").folder
    '/mnt/reasoner'
    """

    session: Any = None
    settings: Mapping[str, str] | None = field(default=None, repr=False)  # there may be passwords among them
    folder: str | os.PathLike[str] | None = None
    broadcast_limit: int | None = None

    def __post_init__(self) -> None:
        limit = self.broadcast_limit
        if limit is not None and (type(limit) is not int or limit < 0):
            raise OptionError(f"`broadcast_limit` is a number from 0 on, not {limit!r}")
        if isinstance(self.session, str):
            raise OptionError(f'for a master write `spark={{"spark.master": {self.session!r}}}`')
        if self.settings is not None and not isinstance(self.settings, Mapping):
            raise OptionError(f"`settings` are values by name, not a {type(self.settings).__name__}")
        if self.session is not None and self.settings is not None:
            raise OptionError("`settings` are for a new session: leave them out, or leave out `session`")

    @classmethod
    def of(cls, spark: SparkOptions | Mapping[str, str] | Any | None) -> SparkOptions | None:
        """The options that a session, settings or options mean; None if nothing was given."""
        if spark is None or isinstance(spark, SparkOptions):
            return spark
        return SparkOptions(settings=spark) if isinstance(spark, Mapping) else SparkOptions(session=spark)


OF_SPARK = {option.name: f"spark=SparkOptions({option.name}={{}})" for option in fields(SparkOptions)}
OF_SWITCHES = {option.name: f"switches=Switches({option.name}={{}})" for option in fields(Switches)}
"""How options are spelt that earlier versions took as keywords of their own."""

_WORKERS = "`workers=1` lets one task do all the work, `workers=2` or more all executors"
GONE = {
    "local_limit": _WORKERS,
    "update_limit": _WORKERS,
    "notes": "a `Pipeline` keeps notes beside its store",
    "checkpoints": "a `Pipeline` keeps what a run has computed so far",
    "switches": "a store keeps the switches that it was saved with",
}
"""Options of earlier versions, and what there is instead."""


def refuse(
    options: Mapping[str, object], function: Callable[..., Any], moved: Mapping[str, str] | None = None
) -> None:
    """Raise an error if there are options; it names the nearest of those that a function takes by keyword.

    `moved` has the new spelling of options that earlier versions took.

    >>> def start(*, engine: str = "auto") -> None: ...
    >>> refuse({"stroage": "plain"}, start, OF_SWITCHES)
    Traceback (most recent call last):
    modulog.errors.OptionError: unknown option `stroage`; did you mean `switches=Switches(storage='plain')`?
    >>> refuse({"storage": "plain"}, start, OF_SWITCHES)
    Traceback (most recent call last):
    modulog.errors.OptionError: `storage` is spelt `switches=Switches(storage='plain')` now
    """
    if not options:
        return
    taken = [name for name, p in signature(function).parameters.items() if p.kind is p.KEYWORD_ONLY]
    for name, value in options.items():
        if name in GONE:
            raise OptionError(f"`{name}` is no option any more: {GONE[name]}")
        spelt = {**(moved or {}), **{option: option for option in taken}}
        if name in spelt:
            raise OptionError(f"`{name}` is spelt `{spelt[name].format(repr(value))}` now")
        near = get_close_matches(name, spelt, 1)
        hint = (
            f"did you mean `{spelt[near[0]].format(repr(value))}`?"
            if near
            else f"options are {', '.join(taken)}"
            if taken
            else f"`{function.__name__}` has none"
        )
        raise OptionError(f"unknown option `{name}`; {hint}")
