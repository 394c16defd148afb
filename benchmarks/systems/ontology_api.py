"""An ontology and facts in triples, from files to every consequence: Modulog's rules, and reasoners for OWL 2 RL."""

from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.outcome import Outcome, peak_memory, resting_memory, versions

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def modulog(ontology: str, facts: str, warm: str, space: str) -> Outcome:
    """Rules from the ontology, then loading, then materialisation; the rules count as loading."""
    package = import_module("modulog")
    warmed = package.Reasoner(package.rules_of(ontology).program)
    warmed.load(Path(warm))
    warmed.materialise()
    start = perf_counter()
    reasoner = package.Reasoner(package.rules_of(ontology).program)
    reasoner.load(Path(facts))
    loaded = perf_counter()
    reasoner.materialise()
    done = perf_counter()
    peak, resting = peak_memory(), resting_memory()
    counts = {
        f"{p.name[1:-1].removeprefix(space)}/{p.arity}": int(reasoner.count(p.name))
        for p in reasoner.predicates()
        if p.name.startswith("<" + space)
    }
    used = versions("modulog", "numpy", "numba", "pyoxigraph")
    return Outcome(done - loaded, loaded - start, _present(counts), peak, used, resting=resting)


def reasonable(ontology: str, facts: str, space: str) -> Outcome:
    """The reasoner of that name, written in Rust, over graphs of RDFLib."""
    package, rdflib = import_module("reasonable"), import_module("rdflib")
    start = perf_counter()
    reasoner = package.PyReasoner()
    reasoner.from_graph(rdflib.Graph().parse(ontology, format="xml"))
    reasoner.from_graph(rdflib.Graph().parse(facts, format="nt"))
    loaded = perf_counter()
    found = reasoner.reason()
    done = perf_counter()
    peak, resting = peak_memory(), resting_memory()
    return Outcome(
        done - loaded,
        loaded - start,
        _counts(found, space),
        peak,
        versions("reasonable", "rdflib"),
        resting=resting,
    )


def owlrl(ontology: str, facts: str, space: str) -> Outcome:
    """The closure of owlrl, written in Python."""
    package, rdflib = import_module("owlrl"), import_module("rdflib")
    start = perf_counter()
    graph = rdflib.Graph().parse(ontology, format="xml").parse(facts, format="nt")
    loaded = perf_counter()
    package.DeductiveClosure(package.OWLRL_Semantics).expand(graph)
    done = perf_counter()
    peak, resting = peak_memory(), resting_memory()
    return Outcome(
        done - loaded,
        loaded - start,
        _counts(graph, space),
        peak,
        versions("owlrl", "rdflib"),
        resting=resting,
    )


def _counts(triples: Iterable[Any], space: str) -> dict[str, int]:
    """How many instances each class of a vocabulary has, and how many pairs each property; what is said of the vocabulary itself does not count."""
    found: Counter[str] = Counter()
    for subject, predicate, object_ in {tuple(map(str, triple)) for triple in triples}:
        if predicate == TYPE and object_.startswith(space) and not subject.startswith(space):
            found[f"{object_.removeprefix(space)}/1"] += 1
        elif predicate.startswith(space):
            found[f"{predicate.removeprefix(space)}/2"] += 1
    return _present(found)


def _present(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}
