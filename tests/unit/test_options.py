"""Options and switches: what is misspelt, what belongs to another engine, and what cannot have its value."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from modulog import Pipeline, Reasoner
from modulog.engines.registry import SPARK_OPTIONS
from modulog.errors import ModulogError, OptionError


def pipeline(**options: Any) -> Pipeline:
    return Pipeline(rules=["rules.rls"], store="store", **options)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Reasoner("p(1) .", stroage="plain"), "unknown option `stroage`; did you mean `storage`?"),
        (
            lambda: Reasoner("p(1) .", broadcast_limt=0),
            "unknown option `broadcast_limt`; did you mean `broadcast_limit`?",
        ),
        (lambda: Reasoner("p(1) .", foo=1), "unknown option `foo`; options are broadcast_limit, checkpoints"),
        (lambda: pipeline(stroage="plain"), "unknown option `stroage`; did you mean `storage`?"),
        (lambda: pipeline(sink=[]), "unknown option `sink`; did you mean `sinks`?"),
        (lambda: pipeline(places=None), "unknown option `places`"),
        (
            lambda: Reasoner("p(1) .", storage="plane"),
            'storage is "auto" or "plain" or "compact", not \'plane\'',
        ),
        (lambda: Reasoner("p(1) .", modules=False), 'modules is "auto" or "off", not False'),
        (lambda: Reasoner("p(1) .", decompose=None), 'decompose is "auto" or "all" or "off", not None'),
        (lambda: Reasoner("p(1) .", value_rounds="10"), "value_rounds is a number above zero, not '10'"),
        (lambda: Reasoner("p(1) .", value_facts=0), "value_facts is a number above zero, not 0"),
        (
            lambda: Reasoner("p(1) .", broadcast_limit=5),
            "`broadcast_limit` is an option of the Spark engine, and the engine is local: leave it out",
        ),
        (lambda: Reasoner("p(1) .", engine="local", folder="f"), "`folder` is an option of the Spark engine"),
        (
            lambda: Reasoner("p(1) .", engine="local", spark=object()),
            "`spark` is an option of the Spark engine",
        ),
        (lambda: Reasoner("p(1) .", workers=0), "`workers` is a number from 1 on, not 0"),
        (lambda: Reasoner("p(1) .", workers="2"), "`workers` is a number from 1 on, not '2'"),
        (lambda: Reasoner("p(1) .", workers=True), "`workers` is a number from 1 on, not True"),
        (
            lambda: Reasoner("p(1) .", spark=object(), broadcast_limit=-1),
            "`broadcast_limit` is a number from 0 on, not -1",
        ),
        (
            lambda: Reasoner("p(1) .", spark=object(), local_limit=0),
            "`local_limit` is no option any more: `workers=1` lets one task do all the work, `workers=2`",
        ),
        (lambda: Reasoner("p(1) .", engine="local", local_limit=0), "`local_limit` is no option any more"),
    ],
)
def test_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(OptionError) as caught:
        make()
    assert str(caught.value).startswith(said)
    assert all(isinstance(caught.value, kind) for kind in (ModulogError, TypeError, ValueError))


def test_open_refuses_too(tmp_path: Path) -> None:
    Reasoner("p(1) .").save(tmp_path)
    with pytest.raises(OptionError, match="unknown option `checkpoint`; did you mean `checkpoints`"):
        Reasoner.open(tmp_path, checkpoint=None)
    with pytest.raises(OptionError, match="unknown option `storage`"):
        Reasoner.open(tmp_path, storage="plain")
    with pytest.raises(OptionError, match="`broadcast_limit` is an option of the Spark engine"):
        Reasoner.open(tmp_path, broadcast_limit=0)
    with pytest.raises(OptionError, match=r"`update_limit` is no option any more.*`workers=2`"):
        Reasoner.open(tmp_path, update_limit=0)


@pytest.mark.skipif(find_spec("pyspark") is None, reason="PySpark is not installed")
def test_the_options_of_spark_are_those_of_its_backend() -> None:
    from modulog.engines.spark.backend import SparkBackend

    assert {"self", "spark", *SPARK_OPTIONS} == set(inspect.signature(SparkBackend.__init__).parameters)
