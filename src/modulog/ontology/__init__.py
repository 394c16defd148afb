"""Rules from ontologies: the axioms of OWL 2 RL as Datalog.

`reading` takes triples from files, `graph` sees lists and class expressions in them, `axioms` the axioms (OWL 2 Mapping to RDF Graphs), `translating` makes
rules of those that rules can say, with a reason for every other, and `rules` writes a rule file. `docs/ontologies.md` tells what becomes of each axiom.
"""
