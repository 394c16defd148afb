"""The command line: check, plan, materialise, update, query, export, run, rules.

Each command only calls the library. Modules that take long to import are imported inside the commands, so
that `modulog --help` is fast. Exit codes: 0 success, 1 a failure of Modulog, of an engine or of memory, 2 a
mistake in the input, 130 stopped by Ctrl-C, 141 the reader of the output closed the pipe.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from modulog import __version__
from modulog.cli.commands import (
    check_rules,
    check_store,
    check_targets,
    open_reasoner,
    shown_prefixes,
    update_store,
    write_rules,
)
from modulog.cli.commands import export as export_files
from modulog.cli.inputs import Inputs
from modulog.cli.options import (
    AnswerFormat,
    Bad,
    ChangeFormat,
    DecomposeSwitch,
    Delimiter,
    EngineSwitch,
    FactPaths,
    FileFormat,
    Header,
    Maps,
    ModulesSwitch,
    PipelineEngineSwitch,
    PipelineFile,
    PipelineWorkersSwitch,
    RulesFile,
    RulesOrStore,
    StorageSwitch,
    StoreFolder,
    Strings,
    Verb,
    WorkersSwitch,
)
from modulog.cli.output import complain, print_change, print_csv, print_json, print_table, print_written

SHOWN = 50  # the rows of a table that are printed without --limit


app = typer.Typer(
    name="modulog",
    help="Modulog: a Datalog reasoner. Facts and rules in, every consequence out.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


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

    Looks for mistakes of syntax, unsafe rules, clashing arities and negation in a cycle. Of fact files only
    the names count; without --facts the predicates that need some are listed.
    """
    with _report_errors():
        if not check_rules(rules, facts):
            raise typer.Exit(2)


@app.command(cls=Verb)
def plan(
    rules: RulesFile,
    facts: FactPaths = None,
    header: Header = False,
    strings: Strings = False,
    delimiter: Delimiter = None,
    bad: Bad = "fail",
    maps: Maps = None,
    modules: ModulesSwitch = "auto",
    storage: StorageSwitch = "auto",
    decompose: DecomposeSwitch = "auto",
    engine: EngineSwitch = "auto",
    workers: WorkersSwitch = None,
) -> None:
    """Show how a program is evaluated.

    This shows strata, modules and, with facts, the join orders and the decompositions that were last used.
    """
    inputs = Inputs(facts or (), maps or (), header, strings, bad, delimiter)
    with _report_errors():
        switches = {"modules": modules, "storage": storage, "decompose": decompose}
        with open_reasoner(rules, inputs, engine, workers, switches, facts_later=not (facts or maps)) as (
            reasoner,
            _,
        ):
            if facts or maps:
                reasoner.materialise()
            shown = str(reasoner.plan())
        print(shown)


@app.command(cls=Verb)
def materialise(
    rules: RulesFile,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="A folder to write files to.", show_default=False),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="DIR",
            help="A folder to keep everything in, for `query` and `export`: "
            "a store, or an empty or new folder.",
            show_default=False,
        ),
    ] = None,
    facts: FactPaths = None,
    format: Annotated[FileFormat, typer.Option("--format", help="The format of the files.")] = "csv",
    header: Header = False,
    strings: Strings = False,
    delimiter: Delimiter = None,
    bad: Bad = "fail",
    maps: Maps = None,
    modules: ModulesSwitch = "auto",
    storage: StorageSwitch = "auto",
    decompose: DecomposeSwitch = "auto",
    engine: EngineSwitch = "auto",
    workers: WorkersSwitch = None,
) -> None:
    """Compute every consequence and write it to files, or keep it in a store.

    There is one file for each predicate; if the program has @output or @export, for those predicates only. A
    store has everything.
    """
    inputs = Inputs(facts or (), maps or (), header, strings, bad, delimiter)
    with _report_errors():
        if out is None and store is None:
            _fail(2, "error: say where the consequences go: --out DIR for files, --store DIR for a store")
        check_targets(out, store)
        if rules.is_dir():
            _fail(2, f"error: {rules}: a folder; materialise takes a file of rules")
        switches = {"modules": modules, "storage": storage, "decompose": decompose}
        with open_reasoner(rules, inputs, engine, workers, switches) as (reasoner, progress):
            statistics, written = reasoner.materialise(), {}
            if store is not None:
                progress.doing = f"writing {store}"
                reasoner.save(store)
            if out is not None:
                progress.doing = f"writing {out}"
                written = export_files(reasoner, out, format)
        if out is not None:
            print_written(out, written)
        print(statistics)


app.command("materialize", cls=Verb, hidden=True)(materialise)


@app.command(cls=Verb)
def export(
    store: StoreFolder,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to write to.")],
    format: Annotated[FileFormat, typer.Option("--format", help="The format of the files.")] = "csv",
    engine: EngineSwitch = "auto",
    workers: WorkersSwitch = None,
) -> None:
    """Write the facts of a store to files, as `materialise --out` does."""
    with _report_errors():
        check_targets(out, None)
        check_store(store)
        with open_reasoner(store, Inputs((), (), False, False), engine, workers) as (
            reasoner,
            progress,
        ):
            progress.doing = f"writing {out}"
            written = export_files(reasoner, out, format)
        print_written(out, written)


@app.command(cls=Verb)
def update(
    store: StoreFolder,
    add: Annotated[
        list[str] | None,
        typer.Option(
            "--add", metavar="PATH...", help="Facts to add, as --facts takes them.", show_default=False
        ),
    ] = None,
    delete: Annotated[
        list[str] | None,
        typer.Option("--delete", metavar="PATH...", help="Explicit facts to delete.", show_default=False),
    ] = None,
    format: Annotated[ChangeFormat, typer.Option("--format", help="How to print the change.")] = "table",
    header: Header = False,
    strings: Strings = False,
    delimiter: Delimiter = None,
    bad: Bad = "fail",
    engine: EngineSwitch = "auto",
    workers: WorkersSwitch = None,
) -> None:
    """Add facts to a store, delete others, and bring every consequence up to date.

    A fact that is both deleted and added is there afterwards. If anything goes wrong, the store stays as it
    was.
    """
    plus, minus = (Inputs(paths or (), (), header, strings, bad, delimiter) for paths in (add, delete))
    with _report_errors():
        if not add and not delete:
            _fail(2, "error: say what changes: --add PATH..., --delete PATH... or both")
        check_store(store)
        change, prefixes = update_store(store, plus, minus, engine, workers)
        print_change(change, is_json=format == "json", prefixes=prefixes)


@app.command(cls=Verb)
def query(
    rules: RulesOrStore,
    question: Annotated[
        str, typer.Argument(metavar="QUERY", help="Such as 'path(a, ?y), ~edge(a, ?y)'.", show_default=False)
    ],
    facts: FactPaths = None,
    format: Annotated[AnswerFormat, typer.Option("--format", help="How to print the answers.")] = "table",
    limit: Annotated[
        int | None,
        typer.Option("--limit", min=0, metavar="N", help="At most N answers; a table shows 50 unless told."),
    ] = None,
    header: Header = False,
    strings: Strings = False,
    delimiter: Delimiter = None,
    bad: Bad = "fail",
    maps: Maps = None,
    modules: ModulesSwitch = "auto",
    storage: StorageSwitch = "auto",
    decompose: DecomposeSwitch = "auto",
    engine: EngineSwitch = "auto",
    workers: WorkersSwitch = None,
) -> None:
    """Answer a query over rules and facts, or over a store."""
    inputs = Inputs(facts or (), maps or (), header, strings, bad, delimiter)
    is_table = format == "table"
    limit = SHOWN if limit is None and is_table else limit
    with _report_errors():
        switches = {"modules": modules, "storage": storage, "decompose": decompose}
        with open_reasoner(rules, inputs, engine, workers, switches) as (reasoner, _):
            found, prefixes = reasoner.query(question, limit=limit), shown_prefixes(reasoner)
            total = found.num_rows
            if is_table and total == limit and found.column_names != ["holds"]:
                total = reasoner.count(question)
        if is_table:
            print_table(found, total, prefixes)
        elif format == "json":
            print_json(found)
        else:
            print_csv(found)


@app.command(cls=Verb)
def run(
    pipeline: PipelineFile,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything and tell what would be done.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Start again from all sources, whatever the last run did.")
    ] = False,
    engine: PipelineEngineSwitch = None,
    workers: PipelineWorkersSwitch = None,
) -> None:
    """Run a data pipeline, from sources by rules to sinks, over one store: on Spark, or on this machine.

    With mode = "incremental" it takes up what has changed since the last run.
    """
    import warnings

    from modulog.cli.progress_line import RunProgress
    from modulog.errors import ProgramWarning
    from modulog.pipeline.pipeline import Pipeline

    with _report_errors():
        warnings.simplefilter("always", ProgramWarning)
        made = Pipeline.from_file(pipeline, engine=engine, workers=workers)
        if dry_run:
            print(made.describe(full=full))
        else:
            with RunProgress() as progress:
                done = made.run(full=full, watch=progress)
            print(done)


@app.command("rules", cls=Verb)
def rules_of_ontologies(
    ontologies: Annotated[
        list[Path],
        typer.Argument(metavar="ONTOLOGY...", help="Files of RDF: .owl, .ttl, .nt, …, also gzipped."),
    ],
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="A rule file to write.")] = None,
) -> None:
    """Turn the axioms of ontologies, OWL 2 RL, into rules for facts from RDF.

    Every axiom that rules cannot express is listed at the end of the file, with the reason. Without --out,
    the rules go to stdout.
    """
    with _report_errors():
        write_rules(ontologies, out)


# ---- Errors


@contextmanager
def _report_errors() -> Iterator[None]:
    """Turn errors inside the block into a message on stderr and an exit code."""
    import warnings

    from modulog import errors
    from modulog.formats import DataWarning

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", DataWarning)
            warnings.filterwarnings("always", "<query>", errors.ProgramWarning)
            warnings.showwarning = _show_warning
            yield
            sys.stdout.flush()
    except KeyboardInterrupt as stop:
        _fail(130, str(stop) or "stopped")
    except BrokenPipeError:
        # The reader of the output has closed the pipe; Python must not report that when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(141)
    except (errors.ProgramError, errors.PipelineError) as error:
        _fail(2, _with_notes(str(error), error))
    except errors.ModulogError as error:
        is_internal = isinstance(error, errors.InternalError) or type(error) is errors.EngineError
        message = f"{'internal error' if is_internal else 'error'}: {error.told}"
        _fail(1 if is_internal else 2, _with_notes(message, error))
    except OSError as error:  # stdout is closed, or on a disk that is full
        _fail(2, f"error: {error.filename or 'the output'}: {error.strerror or error}")
    except MemoryError:
        _fail(1, "error: there is not enough memory")


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    complain(f"warning: {message}")


def _with_notes(message: str, error: Exception) -> str:
    """A message, and below it what was added to the error on its way: the report of a run that failed."""
    return "\n".join([message, *getattr(error, "__notes__", ())])


def _fail(code: int, message: str = "") -> NoReturn:
    if message:
        complain(message)
    raise typer.Exit(code) from None


def main() -> None:
    """Run the command line."""
    app()
