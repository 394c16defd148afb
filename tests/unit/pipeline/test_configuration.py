"""Configurations: what a file says, and everything that can be wrong with it, with the line and all at once."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from modulog import Pipeline
from modulog.errors import DataError, OptionError, PipelineError
from modulog.pipeline import Sink, Source, check

RULES = "path(?x, ?y) :- edge(?x, ?y) .\nold(?x) :- age(?x, ?a), ?a > 60 .\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.rls").write_text(RULES)
    (tmp_path / "edge.csv").write_text("a,b\nb,c\n")
    (tmp_path / "people.csv").write_text("id,name,age\n1,Ann,30\n")
    return tmp_path


def made(folder: Path, text: str) -> Pipeline:
    (folder / "pipeline.toml").write_text(text)
    return Pipeline.from_file(folder / "pipeline.toml")


def mistakes(folder: Path, text: str) -> list[str]:
    """The mistakes of a configuration, without the folder."""
    with pytest.raises(PipelineError) as caught:
        made(folder, text).check()
    return [mistake.replace(f"{folder}/", "") for mistake in caught.value.mistakes]


def test_everything_that_can_be_said(folder: Path) -> None:
    found = made(
        folder,
        """
        store = "store"
        rules = ["rules.rls"]
        mode = "incremental"
        modules = "off"
        storage = "plain"
        decompose = "all"
        maintenance = "dredc"
        workers = 3
        broadcast_limit = 10
        checkpoint_rounds = 3
        [spark]
        master = "local[2]"
        driver.memory = "2g"
        "spark.ui.enabled" = false
        [[source]]
        path = "people.csv"
        header = true
        strings = true
        map = { age = ["id", "age"], name = ["id", 1] }
        bad = "set-aside"
        [[source]]
        table = "shop.orders"
        predicate = "edge"
        columns = ["from", "to"]
        [[source]]
        path = "s3a://bucket/add/*.csv"
        format = "csv"
        predicate = "edge"
        role = "add"
        [[source]]
        path = "in/"
        predicate = "edge"
        stream = true
        trigger = "10 seconds"
        [[sink]]
        path = "out"
        predicates = ["path"]
        format = "ntriples"
        [[sink]]
        table = "results_{predicate}"
        """,
    )
    configuration = found.configuration
    assert configuration.rules == (f"{folder}/rules.rls",) and configuration.store == f"{folder}/store"
    assert configuration.spark == {
        "spark.master": "local[2]",
        "spark.driver.memory": "2g",
        "spark.ui.enabled": "false",
    }
    assert configuration.switches == {
        "modules": "off",
        "storage": "plain",
        "decompose": "all",
        "maintenance": "dredc",
    }
    assert configuration.limits == {"broadcast_limit": 10}
    assert configuration.mode == "incremental" and configuration.checkpoint_rounds == 3
    people, orders, adds, stream = configuration.sources
    assert people.path == f"{folder}/people.csv" and people.predicates == ("age", "name")
    assert orders.place == "table:shop.orders" and orders.columns == ["from", "to"]
    assert adds.path == "s3a://bucket/add/*.csv" and adds.role == "add" and adds.is_batch
    assert stream.stream and stream.trigger == "10 seconds"
    assert [sink.key for sink in configuration.sinks] == [
        f"ntriples:{folder}/out",
        "table:results_{predicate}",
    ]
    found.check()


def test_keys_and_kinds(folder: Path) -> None:
    assert mistakes(
        folder,
        """
store = 5
rules = "rules.rls"
mod = "full"
mode = "fast"
workers = 0

[spark]
jars = ["a"]

[[source]]
path = "edge.csv"
headers = true
strings = "yes"
columns = [1.5]
map = { }

[[sink]]
format = "json"
wholly_unknown = 1
""",
    ) == [
        "pipeline.toml:2: `store` is a text, not 5",
        'pipeline.toml:3: `rules` is a list of texts, not "rules.rls"',
        "pipeline.toml:4: there is no key `mod` here; did you mean `mode`?",
        'pipeline.toml:5: `mode` is "full" or "incremental", not "fast"',
        "pipeline.toml:6: `workers` is a number from 1 on, not 0",
        "pipeline.toml:9: `jars` is a text, a number or true or false, not ['a']",
        "pipeline.toml:13: there is no key `headers` here; did you mean `header`?",
        'pipeline.toml:14: `strings` is true or false, not "yes"',
        "pipeline.toml:15: `columns` is a list of columns, by name or by position from 0, not [1.5]",
        'pipeline.toml:16: `map` is columns by predicate, such as { age = ["id", "age"] }, not {}',
        'pipeline.toml:19: `format` is "csv" or "tsv" or "parquet" or "ntriples" or "turtle" or "table", not "json"',
        "pipeline.toml:20: there is no key `wholly_unknown` here; known are path, format, predicates, table",
    ]


def test_all_mistakes_are_told_at_once(folder: Path) -> None:
    """Keys, values, columns, widths, rules, sinks: one run of the check finds them all, and none that only follows from another."""
    (folder / "bad.rls").write_text("p(?x) :- q(?y) .\n")
    assert [
        mistake.split("\n")[0]
        for mistake in mistakes(
            folder,
            """store = "store"
rules = ["rules.rls", "bad.rls"]
mod = "quick"
workers = "many"

[[source]]
path = "people.csv"
headr = true
map = { age = ["id", "years"] }

[[source]]
path = "people.csv"
predicate = "edge"
bad = "ignore"

[[source]]
path = "none.csv"
strings = 3
columns = [0]

[[source]]
path = 7
predicate = "other"

[[sink]]
path = "out"
predicates = ["path", "pth", "other"]

[[sink]]
path = "edge.csv"
predicates = "path"

[[sink]]
format = "json"
predicates = ["nobody"]
""",
        )
    ] == [
        'pipeline.toml:3: `mode` is "full" or "incremental", not "quick"',
        "pipeline.toml:3: there is no key `mod` here; did you mean `mode`?",
        'pipeline.toml:4: `workers` is a number from 1 on, not "many"',
        "pipeline.toml:8: there is no key `headr` here; did you mean `header`?",
        "pipeline.toml:9: people.csv: there is no column 'years', but columns 'id', 'name', 'age'",
        "pipeline.toml:12: people.csv: edge has 2 arguments, but gets 3 columns",
        'pipeline.toml:14: `bad` is "fail" or "set-aside", not "ignore"',
        "pipeline.toml:17: none.csv: there is no such file or folder",
        "pipeline.toml:18: `strings` is true or false, not 3",
        "pipeline.toml:19: `columns` are the arguments of a `predicate`, which is missing",
        "pipeline.toml:22: `path` is a text, not 7",
        "pipeline.toml:30: edge.csv: not a folder",
        'pipeline.toml:31: `predicates` is a list of texts, not "path"',
        'pipeline.toml:34: `format` is "csv" or "tsv" or "parquet" or "ntriples" or "turtle" or "table", not "json"',
        "bad.rls:1:3: `?x` of the head is bound by no positive atom of the body",
    ]


def test_names_of_sinks_are_judged_once_all_predicates_are_known(folder: Path) -> None:
    sink = '[[sink]]\npath = "out"\npredicates = ["pth", "age"]\n'
    source = '[[source]]\npath = "none.csv"\npredicate = "age"\nbad = 1\n'
    assert mistakes(folder, HEAD + source + sink) == [
        "pipeline.toml:4: none.csv: there is no such file or folder",
        'pipeline.toml:6: `bad` is "fail" or "set-aside", not 1',
        "pipeline.toml:9: there is no predicate pth; did you mean path?",
    ]
    (folder / "odd.rls").write_text("p(?x :- q(?x) .\n")
    text = 'store = "store"\nrules = ["rules.rls", "odd.rls"]\n'
    [mistake] = mistakes(folder, text + sink)
    assert mistake.startswith("odd.rls:1:2: this parenthesis is never closed")


def test_missing_keys(folder: Path) -> None:
    assert mistakes(folder, "\n") == [
        "pipeline.toml:1: `rules` is missing",
        "pipeline.toml:1: `store` is missing",
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a = 1\nb = = 2\n", ":2:5: not TOML"),
        ("a = 1\nb = [1,\n", ":2: not TOML"),
        ("a = 1\na = 2\n", ":2:6: not TOML"),
    ],
)
def test_not_toml(folder: Path, text: str, place: str) -> None:
    [mistake] = mistakes(folder, text)
    assert mistake.startswith(f"pipeline.toml{place}")


def test_no_such_pipeline(folder: Path) -> None:
    with pytest.raises(DataError, match=r"none\.toml: cannot be read: No such file"):
        Pipeline.from_file(folder / "none.toml")
    (folder / "latin.toml").write_bytes(b'store = "\xe9"')
    with pytest.raises(PipelineError, match="not UTF-8"):
        Pipeline.from_file(folder / "latin.toml")


HEAD = 'store = "store"\nrules = ["rules.rls"]\n'


def test_sources(folder: Path) -> None:
    pq.write_table(pa.table({"x": [1], "y": [2]}), folder / "age.parquet")
    (folder / "damaged.parquet").write_bytes(b"PAR1 no")
    (folder / "odd.txt").write_text("a\tb\tc\n")
    (folder / "lines.jsonl").write_text('{"a": 1}\n{"b": 2}\n')
    with gzip.open(folder / "edge3.csv.gz", "wb") as file:
        file.write(b"a,b,c\n")
    text = (
        HEAD
        + """
[[source]]
path = "none.csv"
[[source]]
path = "people.csv"
header = true
map = { age = ["id", "years"], edge = ["id"] }
[[source]]
path = "people.csv"
predicate = "edge"
[[source]]
path = "people.csv"
predicate = "name"
columns = [0, 7]
[[source]]
path = "age.parquet"
predicate = "age"
columns = ["x", "z"]
[[source]]
path = "damaged.parquet"
[[source]]
path = "odd.txt"
format = "tsv"
predicate = "edge"
[[source]]
path = "lines.jsonl"
predicate = "age"
columns = ["a", "c"]
[[source]]
path = "edge3.csv.gz"
predicate = "edge"
[[source]]
path = "odd.txt"
"""
    )
    assert mistakes(folder, text) == [
        "pipeline.toml:5: none.csv: there is no such file or folder",
        "pipeline.toml:9: edge has 2 arguments, but gets 1 column",
        "pipeline.toml:9: people.csv: there is no column 'years', but columns 'id', 'name', 'age'",
        "pipeline.toml:11: people.csv: edge has 2 arguments, but gets 3 columns",
        "pipeline.toml:16: people.csv: there is no column 7, but 3 columns",
        "pipeline.toml:20: age.parquet: there is no column 'z', but columns 'x', 'y'",
        "pipeline.toml:22: damaged.parquet: not a Parquet file: "
        + mistakes(folder, text)[6].partition("file: ")[2],
        "pipeline.toml:24: odd.txt: edge has 2 arguments, but gets 3 columns",
        "pipeline.toml:30: lines.jsonl: there is no column 'c', but columns 'a', 'b'",
        "pipeline.toml:32: edge3.csv.gz: edge has 2 arguments, but gets 3 columns",
        "pipeline.toml:35: odd.txt: facts are read from .csv, .tsv, .parquet, .nt, .nq, .ttl, .trig, .rdf, .owl, .jsonl, .ndjson files, also with .gz behind",
    ]


def test_contradictions(folder: Path) -> None:
    assert mistakes(
        folder,
        HEAD
        + """
[[source]]
header = true
[[source]]
path = "edge.csv"
columns = [0, 1]
[[source]]
path = "edge.csv"
predicate = "edge"
map = { edge = [0, 1] }
[[source]]
table = "t"
[[source]]
table = "t"
predicate = "edge"
role = "delete"
[[source]]
path = "edge.csv"
format = "xls"
trigger = "1 second"
""",
    ) == [
        "pipeline.toml:4: a source has either a `path` or a `table`",
        "pipeline.toml:8: `columns` are the arguments of a `predicate`, which is missing",
        "pipeline.toml:12: `map` names predicates and columns: leave `predicate` and `columns` out",
        "pipeline.toml:14: a table needs a `predicate` or a `map`",
        "pipeline.toml:16: a table says what there is: leave `role` and `stream` out",
        'pipeline.toml:21: there is no format "xls"; choose one of: csv, tsv, parquet, nt, nq, ttl, trig, rdf, jsonl',
        "pipeline.toml:22: a trigger belongs to a source with `stream = true`",
    ]


def test_sinks_and_store(folder: Path) -> None:
    (folder / "full").mkdir()
    (folder / "full" / "file").touch()
    assert mistakes(
        folder,
        """store = "full"
rules = ["rules.rls"]
[[sink]]
path = "out"
predicates = ["path", "pth"]
[[sink]]
path = "out"
[[sink]]
format = "table"
path = "out"
[[sink]]
table = "results"
[[sink]]
path = "edge.csv"
[[sink]]
path = "full/inside"
""",
    ) == [
        "pipeline.toml:1: full: not a store, and not empty: nothing was written",
        "pipeline.toml:5: there is no predicate pth; did you mean path?",
        "pipeline.toml:6: out: another sink writes there",
        'pipeline.toml:8: a sink has a `path`, or with format = "table" the name of a `table`',
        'pipeline.toml:12: several predicates need several tables: table = "results_{predicate}"',
        "pipeline.toml:14: edge.csv: not a folder",
        "pipeline.toml:16: full/inside: a store: results are written to another folder",
    ]


def test_rules(folder: Path) -> None:
    """Each file has its own mistakes, and all files together may have others."""
    (folder / "bad.rls").write_text("p(?x) :- q(?y) .\n")
    (folder / "worse.dlog").write_text("p[?x] :- q[?x]\n")
    (folder / "import.rls").write_text('@import r :- csv{resource="r.csv"} .\n')
    found = mistakes(
        folder, 'store = "s"\nrules = ["rules.rls", "bad.rls", "worse.dlog", "import.rls", "none.rls"]\n'
    )
    assert [mistake.split("\n")[0].split(": ")[0] for mistake in found] == [
        "bad.rls:1:3",
        "worse.dlog:1:15",
        "import.rls:1:1",
        "pipeline.toml:2",
    ]
    (folder / "bad.rls").write_text("p(?x) :- q(?y) .\nr(?x) :- q(b, ?x) .\ns(_) .\n")
    found = mistakes(folder, 'store = "s"\nrules = ["rules.rls", "bad.rls"]\n')
    assert [mistake.split(": ")[0] for mistake in found] == ["bad.rls:1:3", "bad.rls:2:10", "bad.rls:3:3"]
    (folder / "bad.rls").write_text("edge(?x) :- old(?x) .\n")
    [mistake] = mistakes(folder, 'store = "s"\nrules = ["rules.rls", "bad.rls"]\n')
    assert "`edge` has" in mistake and "rules.rls:1" in mistake and "bad.rls:1" in mistake


@pytest.mark.parametrize(
    ("name", "sources", "refused"),
    [
        ("contains", '[[source]]\npath = "edge.csv"', True),
        ("edge", '[[source]]\npath = "edge.csv"', False),
        ("contains", '[[source]]\npath = "edge.csv"\npredicate = "contains"', False),
        ("contains", '[[source]]\npath = "s3a://bucket/*.csv"\nformat = "csv"', False),
        ("CONTAINS", '[[source]]\npath = "s3a://bucket/*.csv"\nformat = "csv"', True),
    ],
)
def test_functions_in_place_of_atoms(folder: Path, name: str, sources: str, refused: bool) -> None:
    (folder / "rules.rls").write_text(f"a(?x) :- {name}(?x, b) .\n")
    text = f'store = "store"\nrules = ["rules.rls"]\n{sources}\n'
    if not refused:
        made(folder, text).check()
        return
    (said,) = mistakes(folder, text)
    assert said.startswith(f"rules.rls:1:10: there is no function `{name}`")


def test_triples_may_have_any_predicate(folder: Path) -> None:
    (folder / "facts.nt").write_text("<urn:a> <urn:p> <urn:b> .\n")
    sink = '[[sink]]\npath = "out"\npredicates = ["<urn:other>"]\n'
    assert mistakes(folder, HEAD + sink) == ["pipeline.toml:5: there is no predicate <urn:other>"]
    made(folder, HEAD + '[[source]]\npath = "facts.nt"\n' + sink).check()


def test_names_have_the_prefixes_of_the_rules(folder: Path) -> None:
    (folder / "rules.rls").write_text("@prefix e: <urn:> . e:q(?x) :- e:p(?x, ?y) .\n")
    text = '[[source]]\npath = "edge.csv"\npredicate = "e:p"\n[[sink]]\npath = "out"\npredicates = ["e:q", "triple"]\n'
    checked = check.check(made(folder, HEAD + text).configuration)
    assert checked.configuration.sources[0].predicate == "<urn:p>"
    assert checked.configuration.sinks[0].predicates == ("<urn:q>", "triple")
    assert mistakes(folder, HEAD + text.replace("e:q", "e:r")) == [
        "pipeline.toml:8: there is no predicate <urn:r>; did you mean <urn:q>?"
    ]
    (folder / "rules.rls").write_text("q(?x) :- p(?x, ?y) .\n")
    plain = text.replace("e:", "")
    assert mistakes(folder, HEAD + plain) == ["pipeline.toml:8: there is no predicate triple"]


def test_sinks_may_name_what_only_triples_derive(folder: Path) -> None:
    (folder / "rules.rls").write_text("triple(?y, ?p, ?x) :- edge(?x, ?y), of(?p) .\n")
    made(folder, HEAD + '[[sink]]\npath = "out"\npredicates = ["<urn:p>"]\n').check()


def test_batches_and_streams_may_have_no_files_yet(folder: Path) -> None:
    made(
        folder,
        HEAD + '[[source]]\npath = "add/*.csv"\nrole = "add"\n[[source]]\npath = "in"\nstream = true\n',
    ).check()


def test_from_python(folder: Path) -> None:
    """The same checks; without a file the places are named."""
    pipeline = Pipeline(
        rules=[folder / "rules.rls"],
        store=folder / "store",
        sources=[Source("nowhere.csv"), Source(str(folder / "edge.csv"), bad="ignore")],  # type: ignore[arg-type]
        sinks=[Sink(str(folder / "out"), format="json")],
        mode="quick",  # type: ignore[arg-type]
    )
    with pytest.raises(PipelineError) as caught:
        pipeline.check()
    assert caught.value.mistakes == (
        'mode: `mode` is "full" or "incremental", not "quick"',
        'source 2: bad: `bad` is "fail" or "set-aside", not "ignore"',
        'sink 1: format: `format` is "csv" or "tsv" or "parquet" or "ntriples" or "turtle" or "table", not "json"',
        "source 1: path: nowhere.csv: there is no such file or folder",
    )
    pipeline = Pipeline(rules=[folder / "rules.rls"], store=folder / "store", sources=[Source("nowhere.csv")])
    with pytest.raises(PipelineError, match=r"source 1: path: nowhere\.csv: there is no such file or folder"):
        pipeline.check()


def test_what_only_spark_has_is_a_mistake_in_a_local_pipeline(folder: Path) -> None:
    """Each with its line and what to do, together with all other mistakes."""
    text = """store = "store"
rules = ["rules.rls"]
engine = "local"
broadcast_limit = 5
mood = "full"
[spark]
master = "local[2]"
[[source]]
table = "t"
predicate = "edge"
[[source]]
path = "s3a://lake/people.csv"
map = { age = [0, 2] }
[[source]]
path = "in"
predicate = "edge"
stream = true
[[sink]]
table = "out_{predicate}"
[[sink]]
path = "hdfs://host/out"
"""
    either = 'write engine = "spark", or'
    assert mistakes(folder, text) == [
        f"pipeline.toml:4: `broadcast_limit` is a limit of the Spark engine: {either} remove the key",
        "pipeline.toml:5: there is no key `mood` here; did you mean `mode`?",
        f"pipeline.toml:6: `[spark]` has settings of Spark: {either} remove `[spark]`",
        f"pipeline.toml:9: t: a table of Spark's catalogue: {either} name files in `path`",
        f"pipeline.toml:12: s3a://lake/people.csv: not a file of this machine: {either} copy the files here",
        f'pipeline.toml:17: in: a stream of Spark: {either} take new files with `role = "add"` in each run',
        f"pipeline.toml:19: out_{{predicate}}: a table of Spark's catalogue: {either} write files to a `path`",
        f"pipeline.toml:21: hdfs://host/out: not a folder of this machine: {either} write to a folder here",
    ]
    (folder / "pipeline.toml").write_text(text.replace('engine = "local"\n', "").replace("mood", "mode"))
    with pytest.raises(PipelineError) as caught:
        Pipeline.from_file(folder / "pipeline.toml", engine="local").check()
    told = "\n".join(caught.value.mistakes)  # settings and limits are for runs on Spark
    assert len(caught.value.mistakes) == 5 and "[spark]" not in told and "broadcast_limit" not in told


@pytest.mark.parametrize("name", ["local_limit", "update_limit"])
def test_limits_of_the_first_versions_name_workers(folder: Path, name: str) -> None:
    """In a file, with its line, and from Python."""
    (told,) = mistakes(folder, f'store = "store"\nrules = ["rules.rls"]\n{name} = 0\n')
    assert told.startswith(f"pipeline.toml:3: `{name}` is no limit any more") and "`workers`" in told
    with pytest.raises(OptionError, match=f"`{name}` is no limit any more.*`workers`"):
        Pipeline(rules=[folder / "rules.rls"], store=folder / "store", **{name: 0})


def test_workers(folder: Path) -> None:
    """Those of a call override those of the file, which are for its own engine."""
    file = folder / "pipeline.toml"
    file.write_text('store = "store"\nrules = ["rules.rls"]\nworkers = 3\n')
    found = [
        Pipeline.from_file(file, **options).configuration.workers  # type: ignore[arg-type]
        for options in (
            {},
            {"engine": "spark"},
            {"engine": "local"},
            {"workers": 1},
            {"engine": "local", "workers": 2},
        )
    ]
    assert found == [3, 3, None, 1, 2]
    with pytest.raises(OptionError, match="`workers` is a number from 1 on, not 0"):
        Pipeline.from_file(file, workers=0)


def test_a_session_and_streams_are_refused_by_a_local_pipeline(folder: Path) -> None:
    pipeline = Pipeline(rules=[folder / "rules.rls"], store=folder / "store", engine="local")
    with pytest.raises(OptionError, match="engine of this pipeline is local"):
        pipeline.run(spark=object())
    with pytest.raises(OptionError, match="no streams"):
        pipeline.stream(None, "edge")
    assert not (folder / "store").exists()
