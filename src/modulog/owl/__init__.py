"""Translates ontologies (the axioms of OWL 2 RL, in RDF) to Datalog rules.

`triple_graph` reads the triples of a file and finds lists and class expressions among them, `axioms` finds
the axioms (OWL 2 Mapping to RDF Graphs), `translation` turns those that rules can express into rules, with a
reason for all others, and `rules` writes a rule file. `docs/ontologies.md` says how each axiom is translated.
"""
