"""LUBM's ontology over its facts, from triples to every consequence, beside reasoners for OWL 2 RL: reasonable and owlrl."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pyoxigraph import RdfFormat, parse, serialize

from benchmarks.data import lubm
from benchmarks.data.lubm import ONTOLOGY
from benchmarks.data.ontologies import ontology_file
from benchmarks.harness import Experiment, Run, Settings

API = "benchmarks.systems.ontology_api"
TRIPLES = 10_000
WARM = 1_000


def experiments(settings: Settings) -> Iterator[Experiment]:
    """Yield 10,000 to 100,000 triples of a university; owlrl only the fewest: it needs minutes for them."""
    path = ontology_file("lubm")
    if path is None:
        yield Experiment("ontology: LUBM", "no ontology: set MODULOG_DATA", 0, ())
        return
    settings.data.mkdir(parents=True, exist_ok=True)
    whole, warm = settings.data / "lubm-1.nt", settings.data / "lubm-warm.nt"
    lubm(whole, 1)
    with whole.open(encoding="utf-8") as lines:
        warm.write_text("".join(islice(lines, WARM)), encoding="utf-8")
    ontology = _said_by_rules(path, settings.data / "univ-bench.owl")
    for scale in settings.scales:
        facts = settings.data / f"lubm-{TRIPLES * scale}.nt"
        with whole.open(encoding="utf-8") as lines:
            facts.write_text("".join(islice(lines, TRIPLES * scale)), encoding="utf-8")
        given = {"ontology": str(ontology), "facts": str(facts), "space": ONTOLOGY}
        yield Experiment(
            question="ontology: LUBM",
            size=f"{TRIPLES * scale:,} triples",
            facts=TRIPLES * scale,
            runs=(
                Run("Modulog", 1, f"{API}:modulog", {**given, "warm": str(warm)}),
                Run("reasonable", 1, f"{API}:reasonable", given),
                *((Run("owlrl", 1, f"{API}:owlrl", given),) if scale == 1 else ()),
            ),
            named=scale == 10,
        )


def _said_by_rules(ontology: Path, target: Path) -> Path:
    """Write the ontology without its two axioms that ask for individuals: what follows from these, our rules do not derive, and owlrl does."""
    with ontology.open("rb") as stream:
        triples = list(parse(stream, format=RdfFormat.RDF_XML, base_iri=ONTOLOGY.rstrip("#")))
    asking = {t.subject for t in triples if t.predicate.value.endswith("#someValuesFrom")}
    kept = (
        t.triple for t in triples if not (t.predicate.value.endswith("#subClassOf") and t.object in asking)
    )
    serialize(kept, target, format=RdfFormat.RDF_XML)
    return target
