"""The command line: check, plan, materialise, query.

A thin client of the library. Whatever is heavy is imported inside the verbs, so that `modulog --help` takes no time. Exit codes: 0 done, 1 a mistake of
ours, 2 a mistake in what was given, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from modulog import __version__
from modulog.inputs import Inputs, named_path
from modulog.printing import complain, plural, print_csv, print_json, print_table, renaming

if TYPE_CHECKING:
    from modulog.progress import Progress
    from modulog.session import Reasoner

SHOWN = 50  # rows of a table, unless --limit says otherwise


class Modules(StrEnum):
    """The switch `modules` of a reasoner."""

    auto = "auto"
    off = "off"


class EngineName(StrEnum):
    """Where the work is done."""

    auto = "auto"
    local = "local"
    spark = "spark"


class FileFormat(StrEnum):
    """What `materialise` writes."""

    csv = "csv"
    tsv = "tsv"
    parquet = "parquet"
    nt = "nt"


class AnswerFormat(StrEnum):
    """What `query` prints."""

    table = "table"
    csv = "csv"
    json = "json"


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


app = typer.Typer(
    name="modulog",
    help="Modulog: a Datalog reasoner. Facts and rules in, every consequence out.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

RulesFile = Annotated[
    Path, typer.Argument(metavar="RULES", help="The program, a file of rules.", show_default=False)
]
FactPaths = Annotated[
    list[str] | None,
    typer.Option(
        "--facts",
        metavar="PATH...",
        help="Files or folders of facts: CSV, TSV or Parquet, also gzipped. A file fills the predicate it is named for; NAME=PATH fills NAME.",
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
ModulesSwitch = Annotated[Modules, typer.Option("--modules", help="`off` is plain seminaive evaluation.")]
EngineSwitch = Annotated[
    EngineName, typer.Option("--engine", help="`spark` needs modulog[spark] and Java; `auto` is local.")
]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"modulog {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    pass


@app.command(cls=Verb)
def check(
    rules: Annotated[
        list[Path], typer.Argument(metavar="RULES...", help="Files of rules.", show_default=False)
    ],
    facts: FactPaths = None,
) -> None:
    """Check rules without running them.

    Looks for mistakes of syntax, unsafe rules, clashing arities and negation in a cycle. Of fact files only the names count.
    """
    from modulog.errors import DataError, ProgramError
    from modulog.formats.files import discover
    from modulog.language.checks import check as check_program
    from modulog.language.parser import parse_file

    wrong = 0
    with _honest():
        named = [named_path(f) for f in facts or ()]
        known = {name or file.predicate for name, path in named for file in discover(path)}
        for path in rules:
            try:
                program = parse_file(path)
                found = check_program(program, source=str(path), known=known)
            except (ProgramError, DataError) as error:
                wrong += 1
                complain(str(error))
                continue
            for warning in found:
                complain(str(warning))
            print(f"{path}: {plural(len(program.rules), 'rule')}, {plural(len(program.facts), 'fact')}: fine")
    if wrong:
        raise typer.Exit(2)


@app.command(cls=Verb)
def plan(
    rules: RulesFile,
    facts: FactPaths = None,
    header: Header = False,
    strings: Strings = False,
    maps: Maps = None,
    modules: ModulesSwitch = Modules.auto,
    engine: EngineSwitch = EngineName.auto,
) -> None:
    """Show how a program is evaluated.

    That is: strata, modules and, with facts, the orders of joins that were last used.
    """
    inputs = Inputs(facts or (), maps or (), header, strings)
    with _honest():
        with _reasoner(rules, inputs, modules, engine) as (reasoner, _):
            if facts or maps:
                reasoner.materialise()
            shown = str(reasoner.plan())
        print(shown)


@app.command(cls=Verb)
def materialise(
    rules: RulesFile,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder to write to.", show_default=False)
    ],
    facts: FactPaths = None,
    format: Annotated[FileFormat, typer.Option("--format", help="The format of the files.")] = FileFormat.csv,
    header: Header = False,
    strings: Strings = False,
    maps: Maps = None,
    modules: ModulesSwitch = Modules.auto,
    engine: EngineSwitch = EngineName.auto,
) -> None:
    """Compute every consequence and write it to files.

    There is one file for each predicate; if the program has @output or @export, for those predicates only.
    """
    inputs = Inputs(facts or (), maps or (), header, strings)
    with _honest():
        _check_folder(out)
        with _reasoner(rules, inputs, modules, engine) as (reasoner, progress):
            statistics = reasoner.materialise()
            progress.doing = f"writing {out}"
            program = reasoner.program
            chosen = dict.fromkeys((*program.outputs, *(d.predicate for d in program.exports)))
            written = _export(reasoner, out, format.value, list(chosen) or None)
        width = max(map(len, written), default=0)
        for name, rows in written.items():
            print(f"{out / name}{' ' * (width - len(name))}  {plural(rows, 'row'):>14}")
        print(statistics)


@app.command(cls=Verb)
def query(
    rules: RulesFile,
    question: Annotated[
        str, typer.Argument(metavar="QUERY", help="Such as 'path(a, ?y), ~edge(a, ?y)'.", show_default=False)
    ],
    facts: FactPaths = None,
    format: Annotated[
        AnswerFormat, typer.Option("--format", help="How to print the answers.")
    ] = AnswerFormat.table,
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=0, metavar="N", help="At most N answers; a table shows 50 unless told."),
    ] = None,
    header: Header = False,
    strings: Strings = False,
    maps: Maps = None,
    modules: ModulesSwitch = Modules.auto,
    engine: EngineSwitch = EngineName.auto,
) -> None:
    """Answer a query over rules and facts."""
    inputs = Inputs(facts or (), maps or (), header, strings)
    is_table = format is AnswerFormat.table
    limit = SHOWN if limit is None and is_table else limit
    with _honest():
        with _reasoner(rules, inputs, modules, engine) as (reasoner, _):
            found = reasoner.query(question, limit=limit)
            total = found.num_rows
            if is_table and total == limit and found.column_names != ["holds"]:
                total = reasoner.count(question)
        if is_table:
            print_table(found, total)
        elif format is AnswerFormat.json:
            print_json(found)
        else:
            print_csv(found)


# ---- The work


@contextmanager
def _reasoner(
    rules: Path, inputs: Inputs, modules: Modules, engine: EngineName
) -> Iterator[tuple[Reasoner, Progress]]:
    """A reasoner with its facts, and the line that shows how far it is; Ctrl-C says where it stopped."""
    from modulog.errors import Interrupted, stopped
    from modulog.progress import Progress

    began = monotonic()
    with Progress() as progress:
        try:
            progress.doing = f"reading {rules}"
            from modulog.session import Reasoner

            with Reasoner(rules, engine=engine.value, modules=modules.value, progress=progress) as reasoner:
                inputs.load(reasoner, progress)
                for warning in reasoner.warnings:
                    complain(str(warning))
                progress.doing = "before the first round"
                yield reasoner, progress
        except Interrupted:
            raise
        except (KeyboardInterrupt, SystemError) as error:
            if not stopped(error):
                raise
            facts = f", with {progress.facts:,} facts derived" if progress.rounds else ""
            raise Interrupted(f"stopped after {monotonic() - began:.1f} s {progress.doing}{facts}") from None


def _check_folder(folder: Path) -> None:
    """Say before long work that the result could not be written."""
    from modulog.errors import DataError

    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: not a folder")


def _export(reasoner: Reasoner, out: Path, format: str, predicates: list[str] | None) -> dict[str, int]:
    """Write all files aside, then move them: on a failure nothing of the old content has changed."""
    import shutil
    from tempfile import TemporaryDirectory

    from modulog.errors import DataError

    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
            with renaming(str(Path(folder)), str(out)):
                written = reasoner.export(folder, format=format, predicates=predicates)
            out.mkdir(exist_ok=True)
            for name in written:
                if (out / name).is_dir():
                    shutil.rmtree(out / name)
                Path(folder, name).replace(out / name)
    except OSError as error:
        raise DataError(f"cannot write to {out}: {error.strerror or error}") from error
    return written


# ---- What goes wrong


@contextmanager
def _honest() -> Iterator[None]:
    """Turn whatever goes wrong into a message on stderr and an exit code."""
    import warnings

    from modulog import errors
    from modulog.formats import DataWarning

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", DataWarning)
            warnings.showwarning = _show_warning
            yield
            sys.stdout.flush()
    except KeyboardInterrupt as stop:
        _fail(130, str(stop) or "stopped")
    except BrokenPipeError:
        # Whoever reads the output has seen enough; Python must not complain when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(141)
    except errors.ProgramError as error:
        _fail(2, str(error))
    except errors.ModulogError as error:
        ours = isinstance(error, errors.InternalError) or type(error) is errors.EngineError
        _fail(1 if ours else 2, f"{'internal error' if ours else 'error'}: {error}")
    except MemoryError:
        _fail(1, "error: there is not enough memory")


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    complain(f"warning: {message}")


def _fail(code: int, message: str = "") -> NoReturn:
    if message:
        complain(message)
    raise typer.Exit(code) from None


def main() -> None:
    """Run the command line."""
    app()
