"""How many rows each rule gives on Spark: as many as on one machine, however rules share their evaluation, and without a job."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Observation

from modulog import Pipeline, Reasoner
from modulog.engines.spark.parts import Part, Parts
from modulog.engines.spark.tallies import Sketches
from modulog.materialisation.statistics import Statistics
from modulog.pipeline import Source

Facts = dict[str, list[tuple[Any, ...]]]
FACTS: Facts = {
    "e": [(i, i + 1) for i in range(20)],
    "f": [(i, i % 3) for i in range(20)],
    "g": [(i % 4, i) for i in range(12)],
}
SHAPES = """
    two(?x, ?z) :- e(?x, ?y), f(?y, ?z) .
    three(?x, ?z) :- e(?x, ?y), g(?y, ?z) .
    four(?x, ?z) :- f(?x, ?y), g(?y, ?z) .
    copy(?x, ?y) :- e(?x, ?y) .
    copy(?x, ?y) :- f(?x, ?y) .
    back(?y, ?x) :- g(?x, ?y) .
    one(?x) :- g(3, ?x) .
    one(?x) :- f(?x, 2) .
    loop(?x) :- e(?x, ?x) .
    late(?x) :- e(?x, ?y), ?y > 17 .
    only(?x, ?y) :- e(?x, ?y), ~f(?y, ?x) .
    never(?x, ?z) :- e(?x, ?y), nothing(?y, ?z) .
    sum(?x, ?x + 1) :- f(?x, 0) .
"""
LAYERS = """
    q(?x, ?z) :- e(?x, ?y), f(?y, ?z) .
    all(?x, ?y) :- q(?x, ?y) .
    all(?x, ?y) :- e(?x, ?y) .
    turned(?y, ?x) :- all(?x, ?y) .
    empty(?x, ?z) :- q(?x, ?y), g(?y, ?z), ?z > 100 .
    first(?x) :- all(?x, ?y) .
    joined(?x) :- all(?x, ?y), empty(?y, ?z) .
    again(?x, ?z) :- turned(?x, ?y), q(?y, ?z) .
    some(?x) :- q(?x, 1) .
"""
PATHS = """
    path(?x, ?y) :- e(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), e(?y, ?z) .
    near(?x, ?y) :- f(?x, ?y) .
    near(?x, ?z) :- near(?x, ?y), f(?y, ?z) .
    end(?x) :- path(_, ?x), ~e(?x, _) .
"""


@pytest.fixture(params=["false", pytest.param("true", marks=pytest.mark.long)], ids=["planned", "adaptive"])
def adaptive(request: pytest.FixtureRequest, spark: Any) -> Iterator[None]:
    """With plans that stay as they are, and with those that Spark changes once it knows what is empty."""
    before = spark.conf.get("spark.sql.adaptive.enabled")
    spark.conf.set("spark.sql.adaptive.enabled", request.param)
    yield
    spark.conf.set("spark.sql.adaptive.enabled", before)


def materialised(rules: str, facts: Facts, **options: Any) -> Statistics:
    with Reasoner(rules, **options) as r:
        for name, rows in {**facts, "nothing": []}.items():
            r.add(name, rows)
        return r.materialise()


def rows(statistics: Statistics) -> dict[str, int | None]:
    """The rows of each rule that ran."""
    by_rule = [stratum.by_rule() for stratum in statistics.strata]
    return {name: rule.rows for rules in by_rule for name, rule in rules.items()}


@pytest.mark.usefixtures("adaptive")
@pytest.mark.parametrize(("rules", "jobs"), [(SHAPES, 5), (LAYERS, 3)], ids=["shapes", "layers"])
def test_rules_without_recursion(spark: Any, rules: str, jobs: int) -> None:
    """Several rules of one shape, several shapes, rules over rules that were put off, and rules that give nothing."""
    found = materialised(rules, FACTS, spark=spark, local_limit=0)
    local = rows(materialised(rules, FACTS))
    assert {name: count for name, count in rows(found).items() if name in local} == local
    assert not any(count for name, count in rows(found).items() if name not in local)
    assert found.actions() == jobs  # as many as without counting


def test_rows_by_hand(spark: Any) -> None:
    """Rows count with repetitions: all pairs have the end 0, and all three rules give the same facts."""
    rules = "a(?x) :- p(?x, ?y), q(?y) . a(?x) :- p(?y, ?x), q(?y) . a(?x) :- q(?x) ."
    facts: Facts = {"p": [(0, i) for i in range(5)], "q": [(i,) for i in range(4)]}
    found = rows(materialised(rules, facts, spark=spark, local_limit=0))
    assert found == {
        "a(?x) :- p(?x, ?y), q(?y) .": 4,
        "a(?x) :- p(?y, ?x), q(?y) .": 5,
        "a(?x) :- q(?x) .": 4,
    }


@pytest.mark.parametrize("modules", ["off", pytest.param("auto", marks=pytest.mark.long)])
def test_recursive_rules(spark: Any, modules: str) -> None:
    facts = {"e": FACTS["e"][:5], "f": FACTS["f"][:8]}
    options = {"modules": modules, "storage": "plain"}
    found = materialised(PATHS, facts, spark=spark, local_limit=0, **options)
    assert rows(found) == rows(materialised(PATHS, facts, **options))
    if modules == "off":
        assert rows(found)["path(?x, ?z) :- path(?x, ?y), e(?y, ?z) ."] == 4 + 3 + 2 + 1


def test_many_rules_of_one_shape(spark: Any) -> None:
    """More than one small sketch has room for; the i-th rule joins i facts with three."""
    rules = " ".join(f"c{i}(?x, ?z) :- r{i}(?x, ?y), s(?y, ?z) ." for i in range(1, 41))
    facts: Facts = {f"r{i}": [(x, 0) for x in range(i)] for i in range(1, 41)}
    found = rows(materialised(rules, {**facts, "s": [(0, z) for z in range(3)]}, spark=spark, local_limit=0))
    assert list(found.values()) == [3 * i for i in range(1, 41)]


@pytest.mark.parametrize("rules", [2, 33, pytest.param(700, marks=pytest.mark.long)])
def test_sketches_count_exactly(spark: Any, tmp_path: Path, rules: int) -> None:
    sketches, observed = Sketches(spark), Observation()
    numbers = sketches.numbers(rules)
    assert len(set(numbers)) == rules
    table = spark.createDataFrame([(n, i) for i, n in enumerate(numbers)], "number long, i long")
    many = table.repartition(3).selectExpr("number", "explode(sequence(0, i)) AS j").where("j < i")
    sketches.watch(many, observed, "number", rules).write.parquet(str(tmp_path / "rows"))
    assert sketches.counts(observed.get["rows"], rules) == list(range(rules))


@pytest.mark.parametrize("adaptive", ["false"], indirect=True)
@pytest.mark.usefixtures("adaptive")
def test_what_is_counted_is_evaluated_once(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that only reads what was put off shares its evaluation, though that is counted."""
    plans: list[str] = []
    write = Parts.write

    def watch(parts: Parts, arity: int, frame: Any, numbers: set[int]) -> Part:
        plans.append(frame._jdf.queryExecution().executedPlan().toString())
        return write(parts, arity, frame, numbers)

    monkeypatch.setattr(Parts, "write", watch)
    rules = "q(?x, ?z) :- e(?x, ?y), f(?y, ?z) . all(?x, ?y) :- q(?x, ?y) . all(?x, ?y) :- e(?x, ?y) ."
    found = materialised(rules, FACTS, spark=spark, local_limit=0)
    assert list(rows(found).values()) == [19, 19, 20]
    assert plans[-1].count("CollectMetrics") == 1
    assert len(re.findall("ReusedExchange .*hashpartitioning", plans[-1])) == 1


@pytest.mark.long
def test_taken_up_from_a_checkpoint(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was put off, and evaluated before the run was stopped, has been counted."""
    from modulog.pipeline import checkpoints, committed

    monkeypatch.setattr(committed, "SHARE", 0)
    rules = "q(?x, ?z) :- e(?x, ?y), f(?y, ?z) . to(?x) :- q(0, ?x) . to(?y) :- to(?x), e(?x, ?y) ."

    class Stopped(Exception):
        pass

    def stop(stratum: int, strata: int, name: str, round_: int, facts: int) -> None:
        if round_ == 3:
            raise Stopped

    def reasoner(progress: Any) -> Reasoner:
        made = checkpoints.Checkpoints(tmp_path, {"key": 1}, rounds=1)
        options = {"folder": made.folder, "checkpoints": made, "progress": progress, "local_limit": 0}
        return Reasoner(rules, spark=spark, **options)

    with reasoner(stop) as r:
        for name, facts in FACTS.items():
            r.add(name, facts)
        with pytest.raises(Stopped):
            r.materialise()
    with reasoner(None) as r:
        found = rows(r.materialise())
    assert found == rows(materialised(rules, FACTS))


@pytest.mark.long
def test_the_report_has_a_count_for_every_rule(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "rules.rls").write_text(LAYERS + PATHS)
    sources = []
    for name, facts in FACTS.items():
        (tmp_path / f"{name}.csv").write_text("".join(f"{x},{y}\n" for x, y in facts))
        sources.append(Source(str(tmp_path / f"{name}.csv")))
    pipeline = Pipeline(
        rules=[tmp_path / "rules.rls"], sources=sources, store=tmp_path / "store", local_limit=0
    )
    run = pipeline.run(spark=spark)
    assert run.report is not None
    page = Path(run.report).read_text(encoding="utf-8")
    section = page.split("<h2>Rules</h2>")[1].split("</section>")[0]
    lines = section.split("<tr>")[2:]
    assert len(lines) == len([line for line in (LAYERS + PATHS).splitlines() if line.strip()])
    assert "–" not in section
    (line,) = [line for line in lines if "q(?x, ?z) :- e(?x, ?y), f(?y, ?z)" in line]
    assert '<td class="n">19</td>' in line and " shared</td>" in line


@pytest.mark.long
def test_updates_count_rows(spark: Any) -> None:
    """By rule as on one machine: what nonrecursive rules lost and won, what a closure did, and rules whose relation has nothing to lose."""
    rules = PATHS + "late(?x) :- end(?x), g(?x, ?y) ."
    found = []
    for options in ({}, {"spark": spark, "local_limit": 0, "update_limit": 0}):
        with Reasoner(rules, storage="plain", maintenance="dredc", **options) as r:
            for name, facts in {"e": FACTS["e"][:5], "f": FACTS["f"][:8], "g": FACTS["g"][:2]}.items():
                r.add(name, facts)
            r.materialise()
            change = r.update(delete={"e": [(2, 3)]}, add={"e": [(5, 6)]})
            rounds = [round_ for stratum in change.statistics.strata for round_ in stratum.evaluated]
            found.append([(rule.rule, rule.rows) for round_ in rounds for rule in round_.rules])
    assert found[1] == found[0]
    assert ("end(?x) :- path(_, ?x), ~e(?x, _) .", 1) in found[0]
