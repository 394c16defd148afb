"""The arguments and options that several commands of the command line have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

# The values that options of the command line can have.
Modules = Literal["auto", "off"]
Storage = Literal["auto", "plain", "compact"]
Decompose = Literal["auto", "all", "off"]
EngineName = Literal["auto", "local", "spark"]
PipelineEngine = Literal["spark", "local"]
BadRecords = Literal["fail", "set-aside"]
FileFormat = Literal["csv", "tsv", "parquet", "nt", "ttl"]
AnswerFormat = Literal["table", "csv", "json"]
ChangeFormat = Literal["table", "json"]

RulesFile = Annotated[
    Path,
    typer.Argument(
        metavar="RULES",
        help="The program, a file of rules; one that ends in .dlog is in RDFox's syntax.",
        show_default=False,
    ),
]
RulesOrStore = Annotated[
    Path,
    typer.Argument(
        metavar="RULES|STORE", help="The program, a file of rules, or a store, a folder.", show_default=False
    ),
]
StoreFolder = Annotated[
    Path,
    typer.Argument(metavar="STORE", help="A folder that `materialise --store` wrote.", show_default=False),
]
PipelineFile = Annotated[
    Path,
    typer.Argument(
        metavar="PIPELINE", help="A TOML file: sources, rules, sinks and a store.", show_default=False
    ),
]
FactPaths = Annotated[
    list[str] | None,
    typer.Option(
        "--facts",
        metavar="PATH...",
        help="Files, globs or folders of facts: CSV, TSV, Parquet or RDF, also gzipped. "
        "A table fills the predicate it is named for, RDF the predicates of its triples; "
        "NAME=PATH fills NAME.",
        show_default=False,
    ),
]
Header = Annotated[bool, typer.Option("--header", help="The first row of CSV files names the columns.")]
Strings = Annotated[bool, typer.Option("--strings", help="Every field of CSV files is a string.")]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter", metavar="CHAR", help="What separates the fields of CSV files.", show_default=False
    ),
]
Maps = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="NAME=FILE:COL,COL...",
        help="Fill NAME from columns of a wide file, "
        "by name (with --header, or Parquet) or by position from 0.",
        show_default=False,
    ),
]
Bad = Annotated[
    BadRecords,
    typer.Option("--bad", help="`set-aside`: leave bad records out, tell how many, write them down."),
]
ModulesSwitch = Annotated[Modules, typer.Option("--modules", help="`off` is plain seminaive evaluation.")]
StorageSwitch = Annotated[
    Storage,
    typer.Option("--storage", help="`plain` lists all facts, `compact` none that can be represented."),
]
DecomposeSwitch = Annotated[
    Decompose,
    typer.Option("--decompose", help="Hypertree decompositions: where they pay, of `all` rules, `off`."),
]
EngineSwitch = Annotated[
    EngineName, typer.Option("--engine", help="`spark` needs modulog[spark] and Java; `auto` is local.")
]

WorkersSwitch = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        metavar="N",
        help="Threads on this machine; unless given, as many as there are cores.",
        show_default=False,
    ),
]
PipelineEngineSwitch = Annotated[
    PipelineEngine | None,
    typer.Option(
        "--engine",
        help="Where it runs, whatever the file says: `local` is this process, without Java.",
        show_default=False,
    ),
]
PipelineWorkersSwitch = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        metavar="N",
        help="On Spark 1 is one task for everything, more are executors; with --engine local threads. "
        "Otherwise as the file says, or as many as are right.",
        show_default=False,
    ),
]


class Verb(TyperCommand):
    """A command whose repeatable options take several values at once: `--facts a.csv b.csv`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the name of a repeatable option before each of its values, then parse as usual."""
        needed = sum(1 for p in self.params if p.param_type_name == "argument")
        flags = {name for p in self.params if getattr(p, "is_flag", False) for name in p.opts}
        several = {name for p in self.params if getattr(p, "multiple", False) for name in p.opts}
        return super().parse_args(ctx, args if "--" in args else _spread(args, needed, flags, several))


def _spread(args: list[str], needed: int, flags: set[str], several: set[str]) -> list[str]:
    """The arguments with the option's name before each value of a repeatable option.

    The first `needed` bare words are arguments of the command; those that follow belong to the repeatable
    option before them. `flags` are the options without a value, `several` the repeatable ones.

    >>> _spread(["r.rls", "--facts", "a", "b", "--header"], 1, {"--header"}, {"--facts"})
    ['r.rls', '--facts', 'a', '--facts', 'b', '--header']
    """
    spread: list[str] = []
    option, waiting, seen = "", False, 0
    for arg in args:
        if arg.startswith("-"):
            option, waiting = arg.split("=")[0], "=" not in arg and arg not in flags
        elif waiting:
            waiting = False
        elif option in several and seen >= needed:
            spread.append(option)
        else:
            seen += 1
        spread.append(arg)
    return spread
