"""The arguments and options that verbs of the command line share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from modulog.choices import BadRecords, Decompose, EngineName, Modules, Storage

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
        help="Files, globs or folders of facts: CSV, TSV, Parquet or RDF, also gzipped. A table fills the predicate it is named for, RDF the predicates of its triples; NAME=PATH fills NAME.",
        show_default=False,
    ),
]
Header = Annotated[bool, typer.Option("--header", help="The first row of CSV files names the columns.")]
Strings = Annotated[bool, typer.Option("--strings", help="Every field of CSV files is a string.")]
Maps = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="NAME=FILE:COL,COL...",
        help="Fill NAME from columns of a wide file, by name (with --header, or Parquet) or by position from 0.",
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


class Verb(TyperCommand):
    """A command whose repeated options take several values at once: `--facts a.csv b.csv`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Write every value of a repeated option behind the option's name, then parse as usual."""
        needed = sum(1 for p in self.params if p.param_type_name == "argument")
        flags = {name for p in self.params if getattr(p, "is_flag", False) for name in p.opts}
        several = {name for p in self.params if getattr(p, "multiple", False) for name in p.opts}
        return super().parse_args(ctx, args if "--" in args else _spread(args, needed, flags, several))


def _spread(args: list[str], needed: int, flags: set[str], several: set[str]) -> list[str]:
    """Once the arguments of the verb are there, bare words belong to the repeated option before them.

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
