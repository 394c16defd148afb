"""A pipeline of small files whose fixpoint takes many rounds, for runs that are killed, and what there must be in the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from modulog import Pipeline, Reasoner
from modulog.pipeline import Sink, Source
from support.reasoners import with_switches

RULES = """
    path(?x, ?y) :- edge(?x, ?y) .
    path(?x, ?z) :- path(?x, ?y), edge(?y, ?z), ~closed(?y) .
    both(?x, ?y) :- path(?x, ?y), path(?y, ?x) .
    end(?x) :- path(_, ?x), ~edge(?x, _) .
"""
NAMES = ("edge", "path", "both", "end")


def pipeline(folder: Path, length: int = 7, **options: Any) -> Pipeline:
    """A pipeline whose fixpoint takes as many rounds as a chain is long."""
    (folder / "rules.rls").write_text(RULES)
    edges = [(i, i + 1) for i in range(length)] + [(3, 1), (length, length - 2)]
    (folder / "edge.csv").write_text("".join(f"a{x},a{y}\n" for x, y in edges) + "odd\n")
    (folder / "closed.csv").write_text("a5\n")
    return Pipeline(
        rules=[folder / "rules.rls"],
        sources=[Source(str(folder / "edge.csv"), bad="set-aside"), Source(str(folder / "closed.csv"))],
        sinks=[Sink(str(folder / "out"), format="csv", predicates=("path", "end"))],
        store=folder / "store",
        mode="incremental",
        checkpoint_rounds=2,
        **with_switches({"engine": "local", "storage": "plain", **options}),
    )


def expected(folder: Path) -> dict[str, list[Any]]:
    with Reasoner(folder / "rules.rls") as r:
        r.load(folder / "edge.csv", bad="set-aside")
        r.load(folder / "closed.csv")
        return {name: sorted(r.rows(name)) for name in NAMES}


def stored(folder: Path) -> dict[str, list[Any]]:
    with Reasoner.open(folder / "store") as r:
        return {name: sorted(r.rows(name)) for name in NAMES}


def check(folder: Path) -> None:
    """Store, sinks and the folders of the store have what follows from the files, and nothing else is left."""
    found = stored(folder)
    assert found == expected(folder)
    parts = {path.name: len(path.read_text().splitlines()) for path in (folder / "out").iterdir()}
    assert parts == {f"{name}.csv": len(found[name]) for name in ("path", "end")}
    assert not (folder / "store" / "checkpoint").exists()
