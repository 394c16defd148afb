"""What the verbs of the command line share: a reasoner over rules and facts, or over a store, and results written as a whole."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from modulog.inputs import Inputs, named_path
from modulog.printing import complain, renaming
from modulog.wording import plural

if TYPE_CHECKING:
    from modulog.engines.backend import FactFile
    from modulog.language.model import Program
    from modulog.language.places import Diagnostic
    from modulog.maintenance.change import Change
    from modulog.progress import Progress
    from modulog.session import Reasoner

WARNINGS = 5
"""How many warnings about a program are shown before it runs."""

INPUTS = 50
"""How many predicates that need facts are named."""


@contextmanager
def reasoning(
    rules: Path,
    inputs: Inputs,
    engine: str,
    switches: Mapping[str, Any] | None = None,
    *,
    awaits: bool = False,
) -> Iterator[tuple[Reasoner, Progress]]:
    """A reasoner over rules, or over the store that a folder is, with facts, and the line that shows how far it is.

    With `awaits` nobody misses the facts that are not there yet.
    """
    with _progress() as progress:
        progress.doing = f"reading {rules}"
        from modulog.language.suspicions import warnings as suspicions
        from modulog.session import Reasoner

        if rules.is_dir():
            _refuse_inputs(rules, inputs, switches or {})
            made = Reasoner.open(rules, engine=engine, progress=progress)
        else:
            made = Reasoner(rules, engine=engine, progress=progress, **(switches or {}))
        with made as reasoner:
            inputs.load(reasoner, progress)
            if not rules.is_dir():
                _warn(rules, suspicions(reasoner.program, known=None) if awaits else reasoner.warnings)
            progress.doing = "before the first round"
            yield reasoner, progress


def _warn(rules: Path, warnings: Sequence[Diagnostic]) -> None:
    """Show the first warnings: the rules of an ontology name much more than most facts have."""
    for warning in warnings[:WARNINGS]:
        complain(str(warning))
    if len(warnings) > WARNINGS:
        complain(f"{plural(len(warnings) - WARNINGS, 'more warning')}: `modulog check {rules}` shows all")


@contextmanager
def _progress() -> Iterator[Progress]:
    """The line that shows how far the work is; Ctrl-C says where it stopped."""
    from modulog.errors import Interrupted, stopped
    from modulog.progress import Progress

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
    """Say what is wrong or odd in files of rules, and of which predicates facts are expected; whether nothing is wrong.

    Of files of facts only the names count; without any, nobody knows which predicates will have facts.
    """
    from modulog.errors import DataError, ProgramError
    from modulog.language.checks import check
    from modulog.language.parser import parse_file

    is_right, files = True, [file for given in facts or () for file in _named_files(given)]
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


def _named_files(given: str) -> list[tuple[str | None, FactFile]]:
    """The files that PATH or NAME=PATH stands for, with the name."""
    from modulog.formats.files import discover

    name, path = named_path(given)
    return [(name, file) for file in discover(path)]


def _known(program: Program, files: Sequence[tuple[str | None, FactFile]]) -> set[str]:
    """The predicates that may have facts from files. Triples may have facts of anything that is named by an IRI, and of the views over them."""
    from modulog.engines.backend import TRIPLES, VIEWS

    known = {name or file.predicate for name, file in files}
    if any(name is None and file.format in TRIPLES for name, file in files):
        known |= {p.name for p in program.predicates() if p.name.startswith("<")} | VIEWS.keys()
    return known


def _inputs(program: Program) -> str:
    """The predicates that a program reads and has no facts and rules for, on one line."""
    from modulog.language.printer import print_predicate
    from modulog.language.suspicions import unmade

    prefixes = dict(program.prefixes).items()
    names = sorted(print_predicate(name, prefixes) for name in unmade(program))
    more = f", … ({len(names)} in all)" if len(names) > INPUTS else ""
    return ", ".join(names[:INPUTS]) + more


def _refuse_inputs(store: Path, inputs: Inputs, switches: Mapping[str, Any]) -> None:
    """A store has its facts, and its consequences were computed in one way."""
    from modulog.errors import DataError

    if inputs.facts or inputs.maps:
        raise DataError(f"{store}: a store has its facts already: leave --facts and --map out")
    for name, chosen in switches.items():
        if chosen != "auto":
            raise DataError(f"{store}: a store was computed already: leave --{name} out")


def check_targets(out: Path | None, store: Path | None) -> None:
    """Say before long work that its result could not be written."""
    from modulog.errors import DataError
    from modulog.store.manifest import MANIFEST
    from modulog.store.writing import check_target

    if out is not None:
        if out.exists() and not out.is_dir():
            raise DataError(f"{out}: not a folder")
        if (out / MANIFEST).exists():
            raise DataError(f"{out}: a store: files are written to another folder")
    if store is not None:
        check_target(store)


def check_store(folder: Path) -> None:
    """Refuse what is not a store; a folder of other things and a missing one are told apart."""
    from modulog.store.manifest import read_manifest

    read_manifest(folder)


def shown_prefixes(reasoner: Reasoner) -> list[tuple[str, str]]:
    """The prefixes with which IRIs are shown: those of the program, and those that need no declaration."""
    from modulog.language.reading import in_force

    return list(in_force(reasoner.program.prefixes).items())


def update_store(
    store: Path, add: Inputs, delete: Inputs, engine: str
) -> tuple[Change, list[tuple[str, str]]]:
    """Change the facts of a store, and write what that changed; also gives the prefixes to show it with."""
    with reasoning(store, Inputs((), (), False, False), engine) as (reasoner, progress):
        minus, plus = delete.read(reasoner, progress), add.read(reasoner, progress)
        progress.doing = "updating"
        change = reasoner.update(add=plus, delete=minus)
        progress.doing = f"writing {store}"
        reasoner.save(store)
        prefixes = shown_prefixes(reasoner)
    return change, prefixes


def export(reasoner: Reasoner, out: Path, format: str) -> dict[str, int]:
    """Write all files aside, then move them: on a failure nothing of the old content has changed; answers the rows of each."""
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
    """Write the rules of ontologies to a file, as a whole, or to stdout, and say on stderr what was skipped."""
    from modulog.errors import DataError
    from modulog.formats.writing import replacing
    from modulog.ontology.rules import rules_of

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
    """The predicates that @output and @export name; None if there are none, which means all."""
    program = reasoner.program
    chosen = dict.fromkeys((*program.outputs, *(d.predicate for d in program.exports)))
    return list(chosen) or None
