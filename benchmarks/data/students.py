"""N-Triples about students and courses, with labels, and the same as a CSV file of three columns."""

from pathlib import Path

_PREDICATES = ("takes", "knows", "likes", "visits")
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_EXAMPLE = "http://example.org/"
_PIECE = 100_000


def triples(path: Path, count: int, form: str = "nt") -> None:
    """Write ``count`` different triples, five for each subject: a class, a label and three links.

    About three of ten terms are new: subjects and their labels.
    """
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, count, _PIECE):
            lines = map(_line if form == "nt" else _row, range(start, min(start + _PIECE, count)))
            file.write("".join(lines))


def _line(number: int) -> str:
    subject, predicate, value, literal = _triple(number)
    shown = f'"{value}"' if literal else f"<{value}>"
    return f"<{subject}> <{predicate}> {shown} .\n"


def _row(number: int) -> str:
    subject, predicate, value, literal = _triple(number)
    return f"<{subject}>,<{predicate}>,{value if literal else f'<{value}>'}\n"


def _triple(number: int) -> tuple[str, str, str, bool]:
    who, what = divmod(number, 5)
    subject = f"{_EXAMPLE}department{who // 1000}/student{who}"
    if what == 0:
        return subject, _TYPE, f"{_EXAMPLE}Class{who % 40}", False
    if what == 1:
        return subject, f"{_EXAMPLE}label", f"the student with the number {who}", True
    other = (who * 7919 + what * 104_729) % (who + 1000)
    target = f"{_EXAMPLE}department{other // 1000}/student{other}"
    return subject, f"{_EXAMPLE}{_PREDICATES[(who + what) % 4]}", target, False
