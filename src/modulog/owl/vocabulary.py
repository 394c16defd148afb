"""The IRIs of OWL, RDF Schema and SWRL."""

from __future__ import annotations

from modulog.terms.constant import RDF, XSD

OWL = "http://www.w3.org/2002/07/owl#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
SWRL = "http://www.w3.org/2003/11/swrl#"

TYPE, FIRST, REST, NIL = RDF + "type", RDF + "first", RDF + "rest", RDF + "nil"
LABEL = RDFS + "label"
THING, NOTHING = OWL + "Thing", OWL + "Nothing"
UNIVERSAL = frozenset({THING, RDFS + "Resource"})
"""The classes of which everything is an instance."""

DATATYPE = RDFS + "Datatype"
DATATYPES = frozenset(
    {
        RDFS + "Literal",
        RDF + "PlainLiteral",
        RDF + "XMLLiteral",
        RDF + "langString",
        OWL + "real",
        OWL + "rational",
    }
)
"""The datatypes that are not in the namespace of XML Schema."""

RESERVED = (OWL, RDF, RDFS, XSD, SWRL)
"""The namespaces of the languages themselves: an instance of a class from them is not an individual."""


def is_datatype(iri: str) -> bool:
    """Whether an IRI names a standard datatype.

    >>> is_datatype(XSD + "string"), is_datatype(THING)
    (True, False)
    """
    return iri.startswith(XSD) or iri in DATATYPES
