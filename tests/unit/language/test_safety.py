"""What is refused, what is warned of, and where."""

from __future__ import annotations

import pytest

from modulog.errors import ArityError, ProgramError, StratificationError, UnsafeRuleError
from modulog.language.model import Atom, Predicate, Program, Rule, Variable
from modulog.language.parser import parse_program
from modulog.language.safety import Diagnostic, check, verify, warnings

HEAD = "of the head is bound by no positive atom"
NEGATED = "of a negated atom is bound by no positive atom"


def refused(text: str) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        parse_program(text, "rules.rls")
    assert "^" in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "hint"),
    [
        ("p(?x, ?y) :- q(?x) .", 1, 7, f"`?y` {HEAD}", "use `?y` in a positive atom"),
        ("p(?x) :- ~q(?x) .", 1, 3, f"`?x` {HEAD}", "use `?x`"),
        ("p(a) :-\n  q(b), ~r(b,\n ?y) .", 3, 2, f"`?y` {NEGATED}", "write `_` in place of `?y`"),
        ("p(a) :- q(b), ~r(?y, ?y) .", 1, 18, f"`?y` {NEGATED}", "define a predicate of its own"),
        ("p(?x) :- q(?x), ?y < 3 .", 1, 17, "`?y` is compared, but nothing gives it a value", "use `?y`"),
        ("p(?x) :- q(?x), ?y = ?z .", 1, 17, "`?y` is compared", "use `?y`"),
        ("p(?x) :- q(?x), ?y = ?y .", 1, 17, "`?y` is compared", "use `?y`"),
        ("p(?x) :- q(?x), ?x != _ .", 1, 23, "`_` in a comparison has no value", "name the variable"),
        ("p(_) :- q(a) .", 1, 3, "`_` in a head has no value", "name the variable"),
        ("p(a, ?x) .", 1, 6, "a fact has no variables, this one has `?x`", "write a constant"),
        ("p(_) .", 1, 3, "a fact has no variables, this one has `_`", "write a constant"),
        (
            "p(?x) :- q(?x), ?y + 1 < 3 .",
            1,
            17,
            "`?y` is computed with, but nothing gives it a value",
            "use `?y`",
        ),
        ("p(?x) :- q(?x), 1 = ?y + ?x .", 1, 21, "`?y` is computed with", "use `?y`"),
        ("p(?x) :- q(?x), ?y = ?y + 1 .", 1, 17, "`?y` is assigned from itself", "use `?y`"),
        (
            "p(?x) :- q(?x),\n ?y = ?z + 1, ?z = ?y - 1 .",
            2,
            2,
            "`?y` and `?z` are assigned from each other",
            "use `?y`",
        ),
        (
            "p(?a) :- q(?x), ?a = ?b + 1, ?b = ABS(?c), ?c = -?a .",
            1,
            3,
            "`?a` and `?b` and `?c` are",
            "use `?a`",
        ),
        ("p(?x) :- q(?x), FILTER(?x < 1 || ?y > ?x) .", 1, 34, "`?y` is compared", "use `?y`"),
        ("p(?x + ?y) :- q(?x) .", 1, 8, "`?y` is computed with", "use `?y`"),
        ("p(?x) :- q(?x), ?x = _ + 1 .", 1, 22, "`_` in a comparison has no value", "name the variable"),
    ],
)
def test_unsafe(text: str, line: int, column: int, message: str, hint: str) -> None:
    error = refused(text)
    assert isinstance(error, UnsafeRuleError)
    assert error.position is not None
    assert (error.position.line, error.position.column) == (line, column)
    assert message in error.message
    assert hint in (error.hint or "")


@pytest.mark.parametrize(
    "text",
    [
        "p(?x) :- q(?x), ~r(?x, _) .",
        "p(?y) :- q(?x), ?y = ?x .",
        "p(?y) :- ?y = ?x, ?x = 1 .",
        "p(?z) :- 1 = ?x, ?z = ?y, ?y = ?x .",
        "p(a) :- ~q(a) .",
        "p(?x) :- q(?x), c = d .",
        "p(?x) :- q(?x), ?y = 3, ~r(?y), ?y < ?x .",
        "p(?z) :- ?z = ?y * 2, ?x + 1 = ?y, q(?x) .",
        "p(?x + 1) :- q(?x) .",
        "p(?y) :- q(?x), BIND(?x + 1 AS ?y), FILTER(!(?y = 3) || ?x = 2) .",
        "p(1 + 2) .",
    ],
)
def test_safe(text: str) -> None:
    assert parse_program(text).rules


def test_the_first_mistake_is_raised_and_the_others_counted() -> None:
    error = refused("p(a, b) .\nq(?x) :- p(?y) .\nr(?z) :- p(a, b) .")
    assert isinstance(error, UnsafeRuleError)
    assert (error.position and error.position.line) == 2
    assert error.message.endswith("(and 2 more mistakes)")


def test_arity() -> None:
    error = refused("edge(a, b) .\np(?x) :- edge(?x, ?y, ?z) .")
    assert isinstance(error, ArityError)
    assert str(error) == (
        "rules.rls:2:10: `edge` has 3 arguments here, but 2 at rules.rls:1:1\n"
        "  2 | p(?x) :- edge(?x, ?y, ?z) .\n"
        "    |          ^^^^^^^^^^^^^^^^\n"
        "hint: a predicate has one number of arguments; the other place is\n"
        "  1 | edge(a, b) .\n"
        "    | ^^^^^^^^^^"
    )


def test_arity_of_directives() -> None:
    assert isinstance(refused("@import p :- csv{format=(int, int)} .\nq(?x) :- p(?x) ."), ArityError)
    parse_program("@import p :- csv{format=(int, skip)} .\nq(?x) :- p(?x) .")
    parse_program("@import p :- csv{format=int} .\nq(?x) :- p(?x) .")


def test_arity_of_iris() -> None:
    parse_program("<http://e/p>(a) . <http://e/p>(a, b) .")
    assert isinstance(refused("<http://e/p>(a) . <http://e/p>(a, b, c) ."), ArityError)
    assert isinstance(refused("<http://e/p>() . <http://e/p>(a) ."), ArityError)


@pytest.mark.parametrize(
    ("text", "column", "line", "cycle", "rules"),
    [
        ("win(?x) :- move(?x, ?y), ~win(?y) .", 26, 1, "win -> ~win", "rules.rls:1:1"),
        ("p(?x) :- a(?x), ~q(?x) .\nq(?x) :- p(?x) .", 17, 1, "p -> ~q -> p", "rules.rls:1:1, rules.rls:2:1"),
        (
            "r(?x) :- a(?x), ~q(?x) .\np(?x) :- r(?x) .\nq(?x) :- a(?x), ~p(?x) .",
            17,
            1,
            "r -> ~q -> ~p -> r",
            "rules.rls:1:1, rules.rls:3:1, rules.rls:2:1",
        ),
        (
            "s(?x), p(?x) :- a(?x), ~q(?x) .\nq(?x) :- p(?x) .",
            24,
            1,
            "p -> ~q -> p",
            "rules.rls:1:1, rules.rls:2:1",
        ),
    ],
)
def test_stratification(text: str, column: int, line: int, cycle: str, rules: str) -> None:
    error = refused(text)
    assert isinstance(error, StratificationError)
    assert error.position is not None
    assert (error.position.line, error.position.column) == (line, column)
    assert error.message == f"a predicate depends on its own negation: {cycle} (rules at {rules})"
    assert error.hint == "negate only predicates that do not depend on the head"


def test_negation_between_strata_is_fine() -> None:
    parse_program("p(?x) :- p(?x), a(?x) . q(?x) :- a(?x), ~p(?x) . r(?x) :- a(?x), ~q(?x), r(?x) .")


def test_long_chains_need_no_recursion() -> None:
    lines = "\n".join(f"p{i + 1}(?x) :- p{i}(?x), ~q{i}(?x) ." for i in range(5000))
    assert len(parse_program(lines).rules) == 5000


def test_programs_without_positions() -> None:
    x = Variable("x")
    rule = Rule((Atom(Predicate("p", 1), (x,)),), (Atom(Predicate("q", 0), ()),))
    with pytest.raises(UnsafeRuleError, match=r"^`\?x` of the head"):
        verify(Program(rules=(rule,)))


def found(text: str, known: tuple[str, ...] = ()) -> list[tuple[str, str, int, int]]:
    program = parse_program(text, "rules.rls")
    result = []
    for warning in check(program, text, "rules.rls", known=known):
        assert warning.position is not None
        result.append((warning.code, warning.message, warning.position.line, warning.position.column))
    return result


def test_no_facts() -> None:
    text = "edge(a, b) .\npath(?x) :- edges(?x), ~gone(?x) ."
    edges = ("no-facts", "`edges` has no facts and no rules; did you mean `edge`?", 2, 13)
    gone = ("no-facts", "`gone` has no facts and no rules", 2, 25)
    assert found(text) == [edges, gone]
    assert found(text, known=("edges",)) == [gone]
    assert found("@import q :- csv{} . p(?x) :- q(?x) .") == []
    assert found("@export q :- csv{} .") == [("no-facts", "`q` has no facts and no rules", 1, 1)]


def test_outputs_without_facts_have_no_position() -> None:
    (warning,) = warnings(parse_program("@output q ."))
    assert (warning.code, str(warning)) == ("no-facts", "warning: `q` has no facts and no rules")


def test_only_case() -> None:
    text = "Edge(a) .\nedge(b) .\nedge(c) ."
    assert found(text) == [("only-case", "`edge` differs from `Edge` only in case", 2, 1)]


def test_product() -> None:
    facts = "q(a) . r(a) . s(a, b) .\n"
    message = "a Cartesian product: `q(?x)` and `r(?y)` share no variable"
    assert found(facts + "p(?x, ?y) :- q(?x), r(?y) .") == [("product", message, 2, 21)]
    assert found(facts + "p(?x, ?y) :- q(?x), r(?y), ?x < ?y .") == [("product", message, 2, 21)]
    assert found(facts + "p(?x, ?y) :- q(?x), r(?y), s(?x, ?y) .") == []
    assert found(facts + "p(?x) :- q(?x), r(?y), ?x = ?y .") == []
    assert found(facts + "p(?x) :- q(?x), r(a), s(_, _) .") == []


def test_warnings_show_themselves() -> None:
    (warning,) = warnings(parse_program("p(?x) :- q(?x) .", "rules.rls"))
    assert isinstance(warning, Diagnostic)
    assert str(warning) == (
        "rules.rls:1:10: warning: `q` has no facts and no rules\n  1 | p(?x) :- q(?x) .\n    |          ^^^^^"
    )
