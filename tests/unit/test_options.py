"""Options and switches: what is misspelt, what has moved, what belongs to another engine, and what cannot have its value."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from modulog import Pipeline, Reasoner, SparkOptions, Switches, facts, read
from modulog.cli import options as of_command_line
from modulog.engines.options import EngineName
from modulog.errors import DataError, ModulogError, OptionError, QueryError
from modulog.formats.format import EXTENSIONS, WRITTEN, ReadFormat, WriteFormat


def pipeline(**options: Any) -> Pipeline:
    return Pipeline(rules=["rules.rls"], store="store", **options)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda: Reasoner("p(1) .", stroage="plain"),
            "unknown option `stroage`; did you mean `switches=Switches(storage='plain')`?",
        ),
        (
            lambda: Reasoner("p(1) .", storage="plain"),
            "`storage` is spelt `switches=Switches(storage='plain')` now",
        ),
        (
            lambda: Reasoner("p(1) .", broadcast_limt=0),
            "unknown option `broadcast_limt`; did you mean `spark=SparkOptions(broadcast_limit=0)`?",
        ),
        (
            lambda: Reasoner("p(1) .", folder="f"),
            "`folder` is spelt `spark=SparkOptions(folder='f')` now",
        ),
        (
            lambda: Reasoner("p(1) .", foo=1),
            "unknown option `foo`; options are engine, workers, spark, progress, switches",
        ),
        (lambda: Reasoner("p(1) .", checkpoints=None), "`checkpoints` is no option any more: a `Pipeline`"),
        (
            lambda: pipeline(stroage="plain"),
            "unknown option `stroage`; did you mean `switches=Switches(storage='plain')`?",
        ),
        (lambda: pipeline(modules="off"), "`modules` is spelt `switches=Switches(modules='off')` now"),
        (lambda: pipeline(sink=[]), "unknown option `sink`; did you mean `sinks`?"),
        (lambda: pipeline(places=None), "unknown option `places`"),
        (lambda: read("p.csv", heder=True), "unknown option `heder`; did you mean `header`?"),
        (lambda: Reasoner("").load("p.csv", heder=True), "unknown option `heder`; did you mean `header`?"),
        (lambda: Switches(storage="plane"), 'storage is "auto" or "plain" or "compact", not \'plane\''),
        (lambda: Switches(modules=False), 'modules is "auto" or "off", not False'),
        (lambda: Switches(decompose=None), 'decompose is "auto" or "all" or "off", not None'),
        (lambda: Switches(value_rounds="10"), "value_rounds is a number above zero, not '10'"),
        (lambda: Switches(value_facts=0), "value_facts is a number above zero, not 0"),
        (
            lambda: Reasoner("p(1) .", engine="local", spark=object()),
            "`spark` is an option of the Spark engine",
        ),
        (lambda: Reasoner("p(1) .", workers=0), "`workers` is a number from 1 on, not 0"),
        (lambda: Reasoner("p(1) .", workers="2"), "`workers` is a number from 1 on, not '2'"),
        (lambda: Reasoner("p(1) .", workers=True), "`workers` is a number from 1 on, not True"),
        (lambda: SparkOptions(broadcast_limit=-1), "`broadcast_limit` is a number from 0 on, not -1"),
        (lambda: SparkOptions(session=object(), settings={}), "`settings` are for a new session"),
        (lambda: SparkOptions(settings=3), "`settings` are values by name, not a int"),  # type: ignore[arg-type]
        (
            lambda: Reasoner("p(1) .", spark="local[2]"),
            "for a master write `spark={\"spark.master\": 'local[2]'}`",
        ),
        (
            lambda: Reasoner("p(1) .", spark=object(), local_limit=0),
            "`local_limit` is no option any more: `workers=1` lets one task do all the work, `workers=2`",
        ),
        (lambda: Reasoner("p(1) .", engine="local", local_limit=0), "`local_limit` is no option any more"),
        (lambda: Reasoner("p(1) .", switches={"storage": "plain"}), "`switches` are `Switches(…)`, not {"),
        (lambda: Reasoner.open("s", switches=Switches()), "`switches` is no option any more: a store keeps"),
        (
            lambda: Reasoner("").add({"p": [(1,)]}, columns=[0]),
            "facts and columns are those of one predicate",
        ),
        (
            lambda: Reasoner("").add(facts("p", [(1,)]), [(2,)]),
            "facts and columns are those of one predicate",
        ),
        (lambda: Reasoner("").save("s", notes={}), "`notes` is no option any more: a `Pipeline`"),
        (lambda: Reasoner("").save("s", foo=1), "unknown option `foo`; `save` has none"),
        (
            lambda: Reasoner("p(1) .", progress=3),
            "`progress` is a function that is called once a round, not 3",
        ),
        (lambda: Reasoner.open("s", progress=3), "`progress` is a function"),
        (lambda: Reasoner("").load(b"p.csv"), "a path is a `str` or a `Path`, not b'p.csv'"),
        (lambda: Reasoner("").load(None), "a path is a `str` or a `Path`, not None"),
        (lambda: read("p.csv", header="yes"), "`header` is True or False, not 'yes'"),
        (lambda: read("p.csv", strings=1), "`strings` is True or False, not 1"),
        (lambda: read("p.csv", columns="ab"), "`columns` is a list of names or positions: columns=['ab']"),
        (lambda: read("p.csv", columns=[None]), "a column is a name or a position from 0, not None"),
        (lambda: read("p.csv", mapping={"p": "ab"}), "`columns` is a list of names or positions"),
        (lambda: facts("p", [(1,)], columns=0), "`columns` is a list of names or positions: columns=[0]"),
        (lambda: Reasoner("").add("p", [(1,)], columns=[True]), "a column is a name or a position"),
        (lambda: read("p.csv", mapping=[1]), "`mapping` has columns by predicate"),
        (lambda: read("p.csv", predicate="p", mapping={"q": [0]}), "`mapping` names predicates and their"),
        (lambda: read("p.csv", columns=[0], mapping={"q": [0]}), "`mapping` names predicates and their"),
    ],
)
def test_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(OptionError) as caught:
        make()
    assert str(caught.value).startswith(said)
    assert all(isinstance(caught.value, kind) for kind in (ModulogError, TypeError, ValueError))


def test_open_refuses_too(tmp_path: Path) -> None:
    Reasoner("p(1) .").save(tmp_path)
    for options, said in (
        ({"engin": "local"}, "unknown option `engin`; did you mean `engine`"),
        ({"storage": "plain"}, "unknown option `storage`"),
        ({"broadcast_limit": 0}, r"`broadcast_limit` is spelt `spark=SparkOptions\(broadcast_limit=0\)` now"),
        ({"update_limit": 0}, r"`update_limit` is no option any more.*`workers=2`"),
    ):
        with pytest.raises(OptionError, match=said):
            Reasoner.open(tmp_path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("read", r"modulog\.read\(path"),
        ("given", r"modulog\.facts\(predicate"),
        ("dataframe", "to_spark"),
        ("statistics", r"`materialise\(\)`"),
        ("no_such_thing", "has no `no_such_thing`$"),
    ],
)
def test_what_has_gone_from_a_reasoner_names_what_there_is_instead(name: str, instead: str) -> None:
    r = Reasoner("p(1) .")
    assert not hasattr(r, name)
    with pytest.raises(AttributeError, match=instead):
        getattr(r, name)


def test_what_has_gone_from_a_change() -> None:
    change = Reasoner("p(1) .").update(add={"p": [(2,)]})
    with pytest.raises(AttributeError, match="to_spark"):
        change.dataframe()  # type: ignore[attr-defined]


def test_a_change_is_not_pickled() -> None:
    change = Reasoner("p(1) .").update(add={"p": [(2,)]})
    with pytest.raises(TypeError, match="a change is not pickled: `write` it"):
        pickle.dumps(change)


def test_a_batch_names_its_own_predicates() -> None:
    with pytest.raises(DataError, match=r'read\(…, predicate="edge"\)'):
        Reasoner("").add("edge", read("links.csv"))
    with pytest.raises(DataError, match="facts stand by predicate"):
        Reasoner("").update(add=[("a", "b")])  # type: ignore[arg-type]
    assert (
        repr(read("a.csv") + facts("p", [(1,)]) + {"q": [(2,)]})
        == "<FactBatch: a.csv, facts of p, facts of q>"
    )


NAMED: list[Callable[[Any], object]] = [
    Reasoner("p(1) .").rows,
    Reasoner("p(1) .").count,
    Reasoner("p(1) .").discard,
    lambda name: Reasoner("").add(name, [(1,)]),
    lambda name: Reasoner("").update(add={name: [(1,)]}),
    lambda name: read("p.csv", mapping={name: [0]}),
]


@pytest.mark.parametrize("work", NAMED)
@pytest.mark.parametrize("name", [None, 3, b"p", ""])
def test_what_is_no_name_of_a_predicate(work: Callable[[Any], object], name: Any) -> None:
    with pytest.raises(QueryError, match="a predicate has a name or an IRI"):
        work(name)


def test_what_is_wrong_is_told_before_a_file_is_read() -> None:
    with pytest.raises(QueryError, match="a predicate has a name or an IRI, not ''"):
        read("p.csv", predicate="")
    with pytest.raises(DataError, match='there is no format "xls"'):
        read("p.csv", format="xls")  # type: ignore[arg-type]


@pytest.mark.parametrize("query", [None, b"p(?x)", 3])
def test_a_query_is_a_text(query: Any) -> None:
    with pytest.raises(QueryError, match=r"a query is a text, such as `path\(\?x, \?y\)`, not"):
        Reasoner("p(1) .").query(query)


def test_what_is_not_a_list_and_no_number_of_rows() -> None:
    with pytest.raises(QueryError, match=r"a list of predicates: \['p'\]"):
        Reasoner("p(1) .").export("out", predicates="p")
    with pytest.raises(QueryError, match=r"a number of rows, not '1'"):
        Reasoner("p(1) .").rows("p", limit="1")  # type: ignore[arg-type]


def test_the_types_of_options_have_all_values() -> None:
    assert get_args(ReadFormat) == tuple(dict.fromkeys(EXTENSIONS.values()))
    assert get_args(WriteFormat) == WRITTEN == get_args(of_command_line.FileFormat)
    assert get_args(of_command_line.EngineName) == get_args(EngineName)
    hints = get_type_hints(Switches)
    for name in ("Modules", "Storage", "Decompose"):
        assert getattr(of_command_line, name) == hints[name.lower()]
