"""clingo through its Python interface; the programs here have no negation, so grounding them answers them."""

import re
from importlib import import_module
from pathlib import Path
from time import perf_counter

from benchmarks.outcome import Outcome, peak_memory, resting_memory, versions
from benchmarks.workload import PREFIX, prefixed, read


def materialise(folder: str) -> Outcome:
    """Ground the facts, then the rules, of the workload in ``folder``; the seconds are those of the rules."""
    clingo = import_module("clingo")
    workload = read(Path(folder))
    facts = "".join(
        f"{PREFIX}{predicate}({','.join(map(str, row))}).\n"
        for predicate, rows in workload.facts.items()
        for row in rows.tolist()
    )
    rules = re.sub(r"\?(\w+)", lambda match: match.group(1).upper(), prefixed(workload.rules))
    rules = re.sub(r"<([^>]*)>", r'"\1"', rules)
    control = clingo.Control(["--warn=none"])
    start = perf_counter()
    control.add("facts", [], facts)
    control.ground([("facts", [])])
    loaded = perf_counter()
    control.add("rules", [], rules)
    control.ground([("rules", [])])
    done = perf_counter()
    peak, resting = peak_memory(), resting_memory()
    arities = {signature[0]: signature[1] for signature in control.symbolic_atoms.signatures}
    counts = {
        name: sum(
            1 for _ in control.symbolic_atoms.by_signature(PREFIX + name, arities.get(PREFIX + name, 0))
        )
        for name in workload.counted
    }
    return Outcome(done - loaded, loaded - start, counts, peak, versions("clingo"), resting=resting)
