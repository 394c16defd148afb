"""What the commands share: opening a reasoner, checking arguments, writing results atomically."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from modulog.cli.inputs import Inputs, named_path
from modulog.cli.output import complain, renaming
from modulog.wording import plural

if TYPE_CHECKING:
    from modulog.cli.options import EngineName, FileFormat
    from modulog.cli.progress_line import Progress
    from modulog.formats.fact_file import FactFile
    from modulog.language.model import Program
    from modulog.language.program_warnings import Diagnostic
    from modulog.maintenance.change import Change
    from modulog.reasoner.reasoner import Reasoner

WARNINGS = 5
"""The most warnings about a program that are shown before it runs."""

INPUTS = 50
"""The most predicates without facts that `modulog check` lists."""


@contextmanager
def open_reasoner(
    rules: Path,
    inputs: Inputs,
    engine: EngineName,
    workers: int | None,
    switches: Mapping[str, Any] | None = None,
    *,
    facts_later: bool = False,
) -> Iterator[tuple[Reasoner, Progress]]:
    """A reasoner for a file of rules with facts, or for a store if `rules` is a folder; and its progress.

    With `facts_later`, no warnings are shown about predicates that have no facts yet.
    """
    with _progress() as progress:
        progress.doing = f"reading {rules}"
        from modulog.language.program_warnings import warnings as suspicions
        from modulog.planning.passes import Switches
        from modulog.reasoner.reasoner import Reasoner

        if rules.is_dir():
            _refuse_inputs(rules, inputs, switches or {})
            made = Reasoner.open(rules, engine=engine, workers=workers, progress=progress)
        else:
            chosen = Switches(**(switches or {}))
            made = Reasoner(rules, engine=engine, workers=workers, progress=progress, switches=chosen)
        with made as reasoner:
            inputs.load(reasoner, progress)
            if not rules.is_dir():
                _warn(rules, suspicions(reasoner.program, known=None) if facts_later else reasoner.warnings)
            progress.doing = "before the first round"
            yield reasoner, progress


def _warn(rules: Path, warnings: Sequence[Diagnostic]) -> None:
    """Show the first warnings only, since rules from an ontology name many predicates that have no facts."""
    for warning in warnings[:WARNINGS]:
        complain(str(warning))
    if len(warnings) > WARNINGS:
        complain(f"{plural(len(warnings) - WARNINGS, 'more warning')}: `modulog check {rules}` shows all")


@contextmanager
def _progress() -> Iterator[Progress]:
    """The progress line; Ctrl-C inside the block becomes an error that says how far the work came."""
    from modulog.cli.progress_line import Progress
    from modulog.errors import Interrupted, stopped

    began = monotonic()
    with Progress() as progress:
        try:
            yield progress
        except Interrupted:
            raise
        except (KeyboardInterrupt, SystemError) as error:
            if not stopped(error):
                raise
            facts = f", with {plural(progress.facts, 'fact')} derived" if progress.rounds else ""
            raise Interrupted(f"stopped after {monotonic() - began:.1f} s {progress.doing}{facts}") from None


def check_rules(rules: Sequence[Path], facts: Sequence[str] | None) -> bool:
    """Print mistakes, warnings and missing inputs of files of rules; returns whether there are no mistakes.

    Fact files are not read: their names say which predicates will have facts. Without any, that is not known.
    """
    from modulog.errors import DataError, ProgramError
    from modulog.language.parser import parse_file
    from modulog.language.safety import check

    is_right, files = True, [file for argument in facts or () for file in _named_files(argument)]
    for path in rules:
        try:
            program = parse_file(path)
            warnings = check(program, source=str(path), known=_known(program, files) if facts else None)
        except (ProgramError, DataError) as error:
            is_right = False
            complain(str(error))
            continue
        for warning in warnings:
            complain(str(warning))
        if not facts and (inputs := _inputs(program)):
            print(f"{path}: inputs: {inputs}")
        size = f"{plural(len(program.rules), 'rule')}, {plural(len(program.facts), 'fact')}"
        print(f"{path}: {size}: {plural(len(warnings), 'warning') if warnings else 'fine'}")
    return is_right


def _named_files(argument: str) -> list[tuple[str | None, FactFile]]:
    """The files that an argument PATH or NAME=PATH stands for, each with NAME or None."""
    from modulog.formats.files import discover

    name, path = named_path(argument)
    return [(name, file) for file in discover(path)]


def _known(program: Program, files: Sequence[tuple[str | None, FactFile]]) -> set[str]:
    """The names of the predicates that may get facts from files.

    A file of triples may have facts of any predicate named by an IRI, and of `triple` and `rdf:type`.
    """
    from modulog.formats.format import TRIPLES
    from modulog.language.triples import VIEWS_BY_NAME

    known = {name or file.predicate for name, file in files}
    if any(name is None and file.format in TRIPLES for name, file in files):
        known |= {p.name for p in program.predicates() if p.name.startswith("<")} | VIEWS_BY_NAME.keys()
    return known


def _inputs(program: Program) -> str:
    """The predicates that a program reads and has no facts or rules for, on one line."""
    from modulog.language.printer import print_predicate
    from modulog.language.program_warnings import unmade

    prefixes = dict(program.prefixes).items()
    names = sorted(print_predicate(name, prefixes) for name in unmade(program))
    more = f", … ({len(names)} in all)" if len(names) > INPUTS else ""
    return ", ".join(names[:INPUTS]) + more


def _refuse_inputs(store: Path, inputs: Inputs, switches: Mapping[str, Any]) -> None:
    """Raise an error for arguments that a store does not accept: facts, and switches of materialisation."""
    from modulog.errors import DataError

    if inputs.facts or inputs.maps:
        raise DataError(f"{store}: a store has its facts already: leave --facts and --map out")
    for name, chosen in switches.items():
        if chosen != "auto":
            raise DataError(f"{store}: a store was computed already: leave --{name} out")


def check_targets(out: Path | None, store: Path | None) -> None:
    """Raise an error, before long work begins, if its result cannot be written to `out` or `store`."""
    from modulog.errors import DataError
    from modulog.store.draft import check_target
    from modulog.store.manifest import MANIFEST

    if out is not None:
        if out.exists() and not out.is_dir():
            raise DataError(f"{out}: not a folder")
        if (out / MANIFEST).exists():
            raise DataError(f"{out}: a store: files are written to another folder")
    if store is not None:
        check_target(store)


def check_store(folder: Path) -> None:
    """Raise an error if a folder is not a store; the message says whether it is missing or something else."""
    from modulog.store.manifest import read_manifest

    read_manifest(folder)


def shown_prefixes(reasoner: Reasoner) -> list[tuple[str, str]]:
    """The prefixes with which IRIs are printed: those of the program, and the standard ones."""
    from modulog.language.term_parser import in_force

    return list(in_force(reasoner.program.prefixes).items())


def update_store(
    store: Path, add: Inputs, delete: Inputs, engine: EngineName, workers: int | None = None
) -> tuple[Change, list[tuple[str, str]]]:
    """Update the facts of a store and save it; returns the net change, and the prefixes to print it with."""
    with open_reasoner(store, Inputs((), (), False, False), engine, workers) as (reasoner, progress):
        minus, plus = delete.batch(progress), add.batch(progress)
        progress.doing = "updating"
        change = reasoner.update(add=plus, delete=minus)
        progress.doing = f"writing {store}"
        reasoner.save(store)
        prefixes = shown_prefixes(reasoner)
    return change, prefixes


def export(reasoner: Reasoner, out: Path, format: FileFormat) -> dict[str, int]:
    """Export to a temporary folder, then move the files to `out`; returns the number of rows of each file.

    If the export fails, the old content of `out` has not changed.
    """
    import shutil
    from tempfile import TemporaryDirectory

    from modulog.errors import DataError

    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
            with renaming(str(Path(folder)), str(out)):
                written = reasoner.export(folder, format=format, predicates=_outputs(reasoner))
            out.mkdir(exist_ok=True)
            for name in written:
                if (out / name).is_dir():
                    shutil.rmtree(out / name)
                Path(folder, name).replace(out / name)
    except OSError as error:
        raise DataError(f"cannot write to {out}: {error.strerror or error}") from error
    return written


def write_rules(ontologies: list[Path], out: Path | None) -> None:
    """Write the rules of ontologies to a file, atomically, or to stdout; print to stderr what was skipped."""
    from modulog.errors import DataError
    from modulog.formats.folders import replacing
    from modulog.owl.rules import rules_of

    if out is not None and out.is_dir():
        raise DataError(f"{out}: a folder; --out names a file")
    made = rules_of(*ontologies)
    if out is None:
        sys.stdout.write(str(made))
    else:
        with replacing(out) as partial:
            out.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(str(made), encoding="utf-8")
    complain(made.summary())


def _outputs(reasoner: Reasoner) -> list[str] | None:
    """The predicates that `@output` and `@export` name; None if there are none, which means all."""
    program = reasoner.program
    chosen = dict.fromkeys((*program.outputs, *(d.predicate for d in program.exports)))
    return list(chosen) or None
