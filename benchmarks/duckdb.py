"""Beside DuckDB on as many threads, tables loaded on both sides: a triangle, a chain of three, two negations, same generation with few rounds and with many."""

from collections.abc import Iterator

import numpy as np

from benchmarks import joins, same_generation
from benchmarks.data.graphs import digraph, levels
from benchmarks.harness import Experiment, Settings, Target
from benchmarks.systems import runs
from benchmarks.workload import Workload

NEGATIONS = "out(?x, ?y) :- r(?x, ?y), ~s(?x, ?y), ~t(?y, ?x) ."
SQL = (
    "CREATE TABLE out AS SELECT r.c0, r.c1 FROM r "
    "WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.c0 = r.c0 AND s.c1 = r.c1) "
    "AND NOT EXISTS (SELECT 1 FROM t WHERE t.c0 = r.c1 AND t.c1 = r.c0)"
)


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield all five at a tenth, three tenths and the whole of the sizes that the targets speak of."""
    for scale in settings.scales:
        for question, (made, warm, limit, expected) in _workloads(scale).items():
            name = question.replace(" ", "-").replace(",", "")
            folder = made.write(settings.data / f"{name}-{scale}", csv=False)
            yield Experiment(
                question=question,
                size=f"{len(made):,} facts",
                facts=len(made),
                runs=(
                    *runs.modulog(folder, warm.write(settings.data / f"{name}-warm", csv=False)),
                    *runs.duckdb(folder),
                ),
                named=scale == 10,
                targets=(Target(limit, "DuckDB"),),
                expected=expected,
            )


def _workloads(scale: int) -> dict[str, tuple[Workload, Workload, float, dict[str, int]]]:
    """Each question at a scale; the same at a size that compiles kernels; at most how many times DuckDB's seconds; known counts."""
    wide = same_generation.workload("wide", 1_000 * scale)
    deep = same_generation.workload("deep", 1_500 * scale)
    return {
        "triangle": (
            joins.workload("triangle", 450_000 * scale),
            joins.workload("triangle", 30_000),
            1.0,
            {},
        ),
        "chain of three": (
            joins.workload("chain", 450_000 * scale),
            joins.workload("chain", 30_000),
            1.0,
            {},
        ),
        "two negations": (negations(260_000 * scale), negations(3_000), 1.0, {}),
        "same generation, wide": (wide, same_generation.workload("wide", 100), 0.7, _same_generation(wide)),
        "same generation, deep": (deep, same_generation.workload("deep", 100), 1.0, _same_generation(deep)),
    }


def negations(facts: int) -> Workload:
    """Return two negations over so many facts; a quarter of them are in each of the negated tables, with as many that are not."""
    r = digraph(facts // 3, facts, 1)
    half = facts // 4
    s = np.unique(np.concatenate([r[:half], digraph(facts // 3, half, 2)]), axis=0)
    t = np.unique(np.concatenate([r[half : 2 * half, ::-1], digraph(facts // 3, half, 3)]), axis=0)
    rng = np.random.default_rng(4)
    facts_of = {"r": r, "s": s[rng.permutation(len(s))], "t": t[rng.permutation(len(t))]}
    return Workload(NEGATIONS, facts_of, ("out",), {"rules": (SQL,)})


def _same_generation(made: Workload) -> dict[str, int]:
    """Below the root, all nodes of one depth are of one generation."""
    return {"sg": int((levels(made.facts["parent"])[1:] ** 2).sum())}
