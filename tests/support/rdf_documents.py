"""Small documents in every format of RDF, each with the quads it means, and documents that are wrong, each with the line.

The kinds of cases are those of the W3C's suites for N-Triples, N-Quads, Turtle, TriG and RDF/XML; the documents are our own. Expected
quads are N-Quads; `e:` stands for `<http://e/…>`, `rdf:` and `xsd:` for what they usually do, in `brief` form.
"""

from __future__ import annotations

import re

RDF, XSD = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://www.w3.org/2001/XMLSchema#"
SPACES = {"e": "http://e/", "rdf": RDF, "xsd": XSD}


def brief(text: str) -> str:
    """N-Quads from a text in which names stand with their prefixes, and statements end at line ends without points."""
    full = re.sub(r"(?<![\w:\"])(e|rdf|xsd):([\w.-]*)", lambda m: f"<{SPACES[m[1]]}{m[2]}>", text)
    return "".join(f"{line.strip()} .\n" for line in full.strip().splitlines())


HEAD = f"@prefix e: <http://e/> .\n@prefix xsd: <{XSD}> .\n"
TYPED = f'"1"^^<{XSD}integer>'

NUMBERS = {
    "integer": ("1", "-5", "7"),
    "decimal": ("1.5", "0.5"),
    "double": ("1.0E0", "-1.5E3"),
    "boolean": ("true", "false"),
}

GOOD_LINES = {
    "comments and blank lines": (
        "# one\n\n<http://e/a> <http://e/p> <http://e/b> . # two\n   \n",
        "e:a e:p e:b",
    ),
    "no blanks": ('<http://e/a><http://e/p>"x".', 'e:a e:p "x"'),
    "tabs": ("\t<http://e/a>\t<http://e/p>\t_:b\t.\t", "e:a e:p _:b"),
    "no newline at the end": ("<http://e/a> <http://e/p> <http://e/b> .", "e:a e:p e:b"),
    "carriage returns": (
        "<http://e/a> <http://e/p> <http://e/b> .\r\n<http://e/a> <http://e/p> <http://e/c> .\r\n",
        "e:a e:p e:b\ne:a e:p e:c",
    ),
    "escapes in strings": (
        r'<http://e/a> <http://e/p> "\t\b\n\r\f\"\'\\\u00E9\U0001F600" .',
        r'e:a e:p "\t\b\n\r\f\"' + "'" + r'\\é😀"',
    ),
    "escapes in IRIs": (r"<http://e/\u0061> <http://e/p> <http://e/\U00000062> .", "e:a e:p e:b"),
    "beyond ASCII": ('<http://e/é> <http://e/p> "漢😀" .', '<http://e/é> e:p "漢😀"'),
    "languages": (
        '<http://e/a> <http://e/p> "x"@EN-gb, .'.replace(",", "")
        + '\n<http://e/a> <http://e/p> "y"@ar--rtl .',
        'e:a e:p "x"@en-gb\ne:a e:p "y"@ar--rtl',
    ),
    "datatypes": (
        f'<http://e/a> <http://e/p> "01"^^<{XSD}integer> .\n<http://e/a> <http://e/p> "x"^^<http://e/t> .',
        f'e:a e:p {TYPED}\ne:a e:p "x"^^e:t',
    ),
    "a string with its datatype": (f'<http://e/a> <http://e/p> "x"^^<{XSD}string> .', 'e:a e:p "x"'),
    "an ill-typed literal": (
        f'<http://e/a> <http://e/p> "many"^^<{XSD}integer> .',
        f'e:a e:p "many"^^<{XSD}integer>',
    ),
    "labels": ("_:a <http://e/p> _:1b.c .\n_:a <http://e/p> _:a-_ .", "_:a e:p _:x\n_:a e:p _:y"),
    "a class that is a blank node": (
        f"<http://e/a> <{RDF}type> _:c .\n<http://e/a> <{RDF}type> <http://e/C> .",
        "e:a rdf:type _:c\ne:a rdf:type e:C",
    ),
}
GOOD: dict[str, dict[str, tuple[str, str]]] = {
    "nt": GOOD_LINES,
    "nq": GOOD_LINES
    | {
        "graphs": (
            "<http://e/a> <http://e/p> <http://e/b> <http://e/g> .\n<http://e/a> <http://e/p> <http://e/b> .\n",
            "e:a e:p e:b e:g\ne:a e:p e:b",
        ),
        "a blank graph": ('<http://e/a> <http://e/p> "x"@en _:g .', 'e:a e:p "x"@en _:g'),
    },
    "ttl": {
        "prefixes and base": (
            "@base <http://e/> .\n@prefix : <#> .\nPREFIX q: <http://e/>\n<a> <p> :x .\nBASE <http://e/d/>\n<b> q:p <../c> .",
            "e:a e:p <http://e/#x>\n<http://e/d/b> e:p e:c",
        ),
        "a prefix declared again": (
            "@prefix x: <http://e/a> .\nx: x: x: .\n@prefix x: <http://e/b> .\nx: x: x: .",
            "e:a e:a e:a\ne:b e:b e:b",
        ),
        "lists of objects and predicates": (
            HEAD + "e:a e:p e:b , e:c ; e:q e:d ;; .",
            "e:a e:p e:b\ne:a e:p e:c\ne:a e:q e:d",
        ),
        "the keyword a": (HEAD + "e:x a e:C .", "e:x rdf:type e:C"),
        "collections": (
            HEAD + "e:a e:p (1 e:b) . () e:p () .",
            f"e:a e:p _:l\n_:l rdf:first {TYPED}\n_:l rdf:rest _:m\n_:m rdf:first e:b\n_:m rdf:rest rdf:nil\nrdf:nil e:p rdf:nil",
        ),
        "nested collections": (
            HEAD + "e:a e:p ((e:b)) .",
            "e:a e:p _:l\n_:l rdf:first _:m\n_:l rdf:rest rdf:nil\n_:m rdf:first e:b\n_:m rdf:rest rdf:nil",
        ),
        "property lists of blank nodes": (
            HEAD + "[ e:p e:a ] e:q [ e:r [] ] .\n[ e:p e:b ] .",
            "_:x e:p e:a\n_:x e:q _:y\n_:y e:r _:z\n_:w e:p e:b",
        ),
        "labels": (HEAD + "_:a e:p _:b . _:a e:p [] .", "_:a e:p _:b\n_:a e:p _:c"),
        "numbers": (
            HEAD + "e:a e:p 1, -5, +7, 1.50, .5, 1e0, -1.5E3, true, false .",
            "\n".join(f'e:a e:p "{t}"^^xsd:{k}' for k, texts in NUMBERS.items() for t in texts),
        ),
        "kinds of quotes": (
            HEAD + "e:a e:p 'x', '''y\n'\"''', \"\"\"z\"\"w\"\"\" .",
            'e:a e:p "x"\ne:a e:p "y\\n\'\\""\ne:a e:p "z\\"\\"w"',
        ),
        "escapes": (
            HEAD + r"e:a e:p '\u00e9\t\"', <http://e/\u0062>, e:x\,y .",
            'e:a e:p "é\\t\\""\ne:a e:p e:b\ne:a e:p <http://e/x,y>',
        ),
        "languages and datatypes": (
            HEAD + 'e:a e:p "x"@FR-be, "1"^^xsd:integer, "2020-01-01"^^xsd:date .',
            f'e:a e:p "x"@fr-be\ne:a e:p {TYPED}\ne:a e:p "2020-01-01"^^xsd:date',
        ),
        "odd local names": (
            HEAD + "e:a.b e:p e:1, e:a%20b, e:a:b, e: .",
            "e:a.b e:p e:1\ne:a.b e:p <http://e/a%20b>\ne:a.b e:p <http://e/a:b>\ne:a.b e:p e:",
        ),
        "comments": (HEAD + "# c\ne:a # d\n e:p e:b. # e", "e:a e:p e:b"),
        "a number before the point": (HEAD + "e:a e:p 1.", f"e:a e:p {TYPED}"),
        "a byte order mark": ("\ufeff" + HEAD + "e:a e:p e:b .", "e:a e:p e:b"),
        "nothing": ("", ""),
    },
    "trig": {
        "graphs": (
            HEAD + "e:g { e:a e:p e:b . e:a e:p e:c } GRAPH e:h { e:a e:p 1 }\ne:x e:p e:y .",
            f"e:a e:p e:b e:g\ne:a e:p e:c e:g\ne:a e:p {TYPED} e:h\ne:x e:p e:y",
        ),
        "the default graph in braces": (HEAD + "{ e:a e:p e:b }", "e:a e:p e:b"),
        "blank graphs": (HEAD + "_:g { e:a e:p _:g } [] { e:a e:p e:b }", "e:a e:p _:g _:g\ne:a e:p e:b _:h"),
        "an empty graph": (HEAD + "e:g { }", ""),
        "a label in two graphs": (
            HEAD + "e:g { _:a e:p e:b } e:h { _:a e:p e:b }",
            "_:a e:p e:b e:g\n_:a e:p e:b e:h",
        ),
        "a collection in a graph": (
            HEAD + "e:g { e:a e:p (e:b) }",
            "e:a e:p _:l e:g\n_:l rdf:first e:b e:g\n_:l rdf:rest rdf:nil e:g",
        ),
    },
}


def xml(body: str, attributes: str = "") -> str:
    """A document of RDF/XML."""
    return f'<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="http://e/" {attributes}>\n{body}\n</rdf:RDF>\n'


GOOD["rdf"] = {
    "descriptions": (
        xml(
            '<rdf:Description rdf:about="http://e/a"><e:p rdf:resource="http://e/b"/><e:q>x</e:q></rdf:Description>'
        ),
        'e:a e:p e:b\ne:a e:q "x"',
    ),
    "typed nodes": (xml('<e:C rdf:about="http://e/a"/>'), "e:a rdf:type e:C"),
    "property attributes": (xml('<rdf:Description rdf:about="http://e/a" e:p="x"/>'), 'e:a e:p "x"'),
    "attributes of an empty property": (
        xml('<rdf:Description rdf:about="http://e/a"><e:p e:q="x"/></rdf:Description>'),
        'e:a e:p _:b\n_:b e:q "x"',
    ),
    "datatype": (
        xml(
            f'<rdf:Description rdf:about="http://e/a"><e:p rdf:datatype="{XSD}integer">01</e:p></rdf:Description>'
        ),
        f"e:a e:p {TYPED}",
    ),
    "languages": (
        xml(
            '<rdf:Description rdf:about="http://e/a" xml:lang="en"><e:p>x</e:p><e:p xml:lang="DE-at">y</e:p></rdf:Description>'
        ),
        'e:a e:p "x"@en\ne:a e:p "y"@de-at',
    ),
    "xml:base": (
        xml(
            '<rdf:Description rdf:about="a" xml:base="http://e/d/"><e:p rdf:resource="../b"/><e:q rdf:resource="#c"/></rdf:Description>',
            'xml:base="http://e/"',
        ),
        "<http://e/d/a> e:p e:b\n<http://e/d/a> e:q <http://e/d/#c>",
    ),
    "rdf:ID": (
        xml('<rdf:Description rdf:ID="a"><e:p>x</e:p></rdf:Description>', 'xml:base="http://e/"'),
        '<http://e/#a> e:p "x"',
    ),
    "reification by rdf:ID": (
        xml(
            '<rdf:Description rdf:about="http://e/a"><e:p rdf:ID="r">x</e:p></rdf:Description>',
            'xml:base="http://e/"',
        ),
        'e:a e:p "x"\n<http://e/#r> rdf:type rdf:Statement\n<http://e/#r> rdf:subject e:a\n<http://e/#r> rdf:predicate e:p\n<http://e/#r> rdf:object "x"',
    ),
    "rdf:nodeID": (
        xml('<rdf:Description rdf:nodeID="n"><e:p rdf:nodeID="m"/></rdf:Description><e:C rdf:nodeID="m"/>'),
        "_:n e:p _:m\n_:m rdf:type e:C",
    ),
    "parseType Resource": (
        xml(
            '<rdf:Description rdf:about="http://e/a"><e:p rdf:parseType="Resource"><e:q>x</e:q></e:p></rdf:Description>'
        ),
        'e:a e:p _:b\n_:b e:q "x"',
    ),
    "parseType Collection": (
        xml(
            '<rdf:Description rdf:about="http://e/a"><e:p rdf:parseType="Collection"><e:C/><rdf:Description rdf:about="http://e/b"/></e:p></rdf:Description>'
        ),
        "e:a e:p _:l\n_:l rdf:first _:c\n_:c rdf:type e:C\n_:l rdf:rest _:m\n_:m rdf:first e:b\n_:m rdf:rest rdf:nil",
    ),
    "parseType Literal": (
        f'<rdf:RDF xmlns:rdf="{RDF}"><rdf:Description rdf:about="http://e/a"><p xmlns="http://e/" rdf:parseType="Literal">x</p></rdf:Description></rdf:RDF>',
        'e:a e:p "x"^^rdf:XMLLiteral',
    ),
    "rdf:li": (
        xml('<rdf:Bag rdf:about="http://e/a"><rdf:li>x</rdf:li><rdf:li>y</rdf:li></rdf:Bag>'),
        'e:a rdf:type rdf:Bag\ne:a rdf:_1 "x"\ne:a rdf:_2 "y"',
    ),
    "nested nodes": (
        xml(
            '<rdf:Description rdf:about="http://e/a"><e:p><e:C rdf:about="http://e/b"><e:q>x</e:q></e:C></e:p></rdf:Description>'
        ),
        'e:a e:p e:b\ne:b rdf:type e:C\ne:b e:q "x"',
    ),
    "entities": (
        f'<!DOCTYPE rdf:RDF [<!ENTITY e "http://e/">]>\n<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="http://e/"><rdf:Description rdf:about="&e;a"><e:p>&lt;&#233;</e:p></rdf:Description></rdf:RDF>',
        'e:a e:p "<é"',
    ),
    "a node alone": (
        f'<e:C xmlns:e="http://e/" xmlns:rdf="{RDF}" rdf:about="http://e/a"/>',
        "e:a rdf:type e:C",
    ),
    "comments and CDATA": (
        xml('<!-- c --><rdf:Description rdf:about="http://e/a"><e:p><![CDATA[<x>]]></e:p></rdf:Description>'),
        'e:a e:p "<x>"',
    ),
}

BAD_LINES = {
    "a relative IRI": ('<http://e/a> <http://e/p> "x" .\n<a> <http://e/p> "x" .', 2),
    "a blank in an IRI": ("<http://e/a b> <http://e/p> <http://e/c> .", 1),
    "a bad escape in an IRI": (r"<http://e/\n> <http://e/p> <http://e/c> .", 1),
    "an escaped blank in an IRI": (r"<http://e/\u0020> <http://e/p> <http://e/c> .", 1),
    "a bad percent sign": ("<http://e/%zz> <http://e/p> <http://e/c> .", 1),
    "a bad escape": (r'<http://e/a> <http://e/p> "\a" .', 1),
    "half a character": (r'<http://e/a> <http://e/p> "\uD800" .', 1),
    "too few digits": (r'<http://e/a> <http://e/p> "\u12" .', 1),
    "a missing point": ('<http://e/a> <http://e/p> "x"\n<http://e/a> <http://e/p> "y" .', 1),
    "a missing object": ("\n\n<http://e/a> <http://e/p> .", 3),
    "a literal as subject": ('"x" <http://e/p> <http://e/b> .', 1),
    "a literal as predicate": ('<http://e/a> "p" <http://e/b> .', 1),
    "a blank node as predicate": ("<http://e/a> _:p <http://e/b> .", 1),
    "a bad language": ('<http://e/a> <http://e/p> "x"@1 .', 1),
    "an open string": ('<http://e/a> <http://e/p> "x .', 1),
    "a newline in a string": ('<http://e/a> <http://e/p> "x\ny" .', 1),
    "quotes of Turtle": ("<http://e/a> <http://e/p> 'x' .", 1),
    "a bare number": ("<http://e/a> <http://e/p> 1 .", 1),
    "two statements in a line": ("<http://e/a> <http://e/p> _:b . <http://e/a> <http://e/p> _:c .", 1),
    "a directive": ("@prefix e: <http://e/> .", 1),
    "a bad datatype": ('<http://e/a> <http://e/p> "x"^^<t> .', 1),
    "a triple about a triple": (
        "<http://e/a> <http://e/p> <<( <http://e/a> <http://e/p> <http://e/b> )>> .",
        1,
    ),
}
BAD: dict[str, dict[str, tuple[str, int]]] = {
    "nt": BAD_LINES | {"a graph": ("<http://e/a> <http://e/p> <http://e/b> <http://e/g> .", 1)},
    "nq": BAD_LINES | {"a literal as graph": ('<http://e/a> <http://e/p> <http://e/b> "g" .', 1)},
    "ttl": {
        "a missing point": (HEAD + "e:a e:p e:b\ne:c e:p e:d .", 4),
        "an unknown prefix": (HEAD + "\nx:a e:p e:b .", 4),
        "a bad escape": (HEAD + r"e:a e:p '\a' .", 3),
        "a literal as subject": (HEAD + '"x" e:p e:b .', 3),
        "a literal as predicate": (HEAD + 'e:a "p" e:b .', 3),
        "a as subject": (HEAD + "a e:p e:b .", 3),
        "a bad IRI": (HEAD + "e:a e:p <http://e/ b> .", 3),
        "an open collection": (HEAD + "e:a e:p (e:b .", 3),
        "an open bracket": (HEAD + "e:a e:p [ e:q e:b .", 3),
        "a newline in a short string": (HEAD + 'e:a e:p "x\ny" .', 3),
        "an open long string": (HEAD + 'e:a e:p """x" .', 3),
        "a bad language": (HEAD + 'e:a e:p "x"@1 .', 3),
        "a graph": (HEAD + "e:g { e:a e:p e:b }", 3),
        "a triple about a triple": (HEAD + "e:a e:p e:b .\ne:a e:p <<( e:a e:p e:b )>> .", 4),
    },
    "trig": {
        "an open graph": (HEAD + "e:g { e:a e:p e:b .", 3),
        "a literal as graph": (HEAD + '"g" { e:a e:p e:b }', 3),
        "graphs in graphs": (HEAD + "e:g { e:h { e:a e:p e:b } }", 3),
    },
    "rdf": {
        "a tag that is not closed": (xml('<rdf:Description rdf:about="http://e/a">'), 4),
        "tags that cross": (xml('<rdf:Description rdf:about="http://e/a"><e:p>x</e:q></rdf:Description>'), 3),
        "an unknown prefix": (xml('<x:C rdf:about="http://e/a"/>'), 3),
        "a bad rdf:ID": (xml('\n<e:C rdf:ID="1 x"/>'), 4),
        "rdf:ID twice": (xml('<e:C rdf:ID="x"/>\n<e:C rdf:ID="x"/>', 'xml:base="http://e/"'), 4),
        "rdf:about and rdf:nodeID": (xml('<e:C rdf:about="http://e/a" rdf:nodeID="b"/>'), 3),
        "a bad rdf:nodeID": (xml('<e:C rdf:nodeID="a:b"/>'), 3),
        "a bad IRI": (xml('<e:C rdf:about="http://e/a b"/>'), 3),
        "rdf:li as node": (xml("<rdf:li/>"), 3),
        "an unknown entity": (xml("<e:C><e:p>&x;</e:p></e:C>"), 3),
        "no XML": ("<http://e/a> <http://e/p> <http://e/b> .", 1),
    },
}
