"""Universities as triples, by the published profile of LUBM: departments, faculty, students, courses, publications.

The numbers of each kind and their ratios are those of the Lehigh University Benchmark (Guo, Pan, Heflin, 2005). The names of things
follow its scheme, so that its queries have answers here too; the triples are not those of its own generator.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import TextIO

ONTOLOGY = "http://www.lehigh.edu/~zhp2/2004/0401/univ-bench.owl#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
DEPARTMENTS = (15, 25)
FACULTY = {  # how many in a department, and how many publications each
    "FullProfessor": ((7, 10), (15, 20)),
    "AssociateProfessor": ((10, 14), (10, 18)),
    "AssistantProfessor": ((8, 11), (5, 10)),
    "Lecturer": ((5, 7), (0, 5)),
}
COURSES = (1, 2)
"""How many courses, and how many for graduates, each of the faculty teaches."""
UNDERGRADUATES, GRADUATES = (8, 14), (3, 4)
"""How many students there are for each of the faculty."""
TAKEN, TAKEN_BY_GRADUATES = (2, 4), (1, 3)
GROUPS = (10, 20)
JOINT_PUBLICATIONS = (0, 5)
ADVISED = 5
"""One in so many undergraduates has an advisor; every graduate has one."""
TEACHING, RESEARCHING = (4, 5), (3, 4)
"""One in so many graduates is a teaching or a research assistant."""
INTERESTS, UNIVERSITIES = 30, 1_000
"""How many interests there are, and how many universities may have given a degree."""
_BUFFER = 1 << 20


def lubm(path: Path, universities: int, seed: int = 1) -> int:
    """Write so many universities, about 100,000 triples each, as N-Triples; return the number of triples, all different."""
    random = Random(seed)
    alumni: set[int] = set()
    written = 0
    with path.open("w", encoding="utf-8", buffering=_BUFFER) as file:
        for number in range(universities):
            university = f"<http://www.University{number}.edu>"
            alumni.add(number)
            written += _write(file, [f'{university} {_p("name")} "University{number}"'])
            for department in range(random.randint(*DEPARTMENTS)):
                host = f"Department{department}.University{number}.edu"
                written += _write(file, _department(host, university, random, alumni))
        types = (f"<http://www.University{n}.edu> {TYPE} {_p('University')}" for n in sorted(alumni))
        written += _write(file, types)
    return written


def _write(file: TextIO, triples: Iterable[str]) -> int:
    lines = list(triples)
    file.write(" .\n".join(lines) + " .\n")
    return len(lines)


def _p(name: str) -> str:
    return f"<{ONTOLOGY}{name}>"


def _department(host: str, university: str, random: Random, alumni: set[int]) -> Iterator[str]:
    home = f"<http://www.{host}>"
    yield f"{home} {TYPE} {_p('Department')}"
    yield f'{home} {_p("name")} "{host.split(".")[0]}"'
    yield f"{home} {_p('subOrganizationOf')} {university}"
    for number in range(random.randint(*GROUPS)):
        group = f"<http://www.{host}/ResearchGroup{number}>"
        yield f"{group} {TYPE} {_p('ResearchGroup')}"
        yield f"{group} {_p('subOrganizationOf')} {home}"
    counts = {kind: random.randint(*few) for kind, (few, _) in FACULTY.items()}
    faculty = [(kind, number) for kind, count in counts.items() for number in range(count)]
    graduates = sum(random.randint(*GRADUATES) for _ in faculty)
    undergraduates = sum(random.randint(*UNDERGRADUATES) for _ in faculty)
    courses = {"Course": 0, "GraduateCourse": 0}
    head = random.randrange(counts["FullProfessor"])
    publications: list[str] = []
    for kind, number in faculty:
        yield from _teacher(host, kind, number, courses, publications, random, alumni)
        if (kind, number) == ("FullProfessor", head):
            yield f"<http://www.{host}/{kind}{number}> {_p('headOf')} {home}"
    for kind, count in courses.items():
        for number in range(count):
            yield from _named(host, f"{kind}{number}", kind)
    professors = [f"<http://www.{host}/{kind}{n}>" for kind, n in faculty if kind != "Lecturer"]
    for number in range(undergraduates):
        advisor = random.choice(professors) if random.randrange(ADVISED) == 0 else None
        taken = random.sample(range(courses["Course"]), random.randint(*TAKEN))
        yield from _student(host, f"UndergraduateStudent{number}", "Course", taken, advisor)
    yield from _graduates(host, graduates, courses, professors, publications, random, alumni)


def _named(host: str, name: str, kind: str) -> Iterator[str]:
    thing = f"<http://www.{host}/{name}>"
    yield f"{thing} {TYPE} {_p(kind)}"
    yield f'{thing} {_p("name")} "{name.rpartition("/")[2]}"'


def _person(host: str, name: str, kind: str) -> Iterator[str]:
    yield from _named(host, name, kind)
    person = f"<http://www.{host}/{name}>"
    yield f'{person} {_p("emailAddress")} "{name}@{host}"'
    yield f'{person} {_p("telephone")} "xxx-xxx-xxxx"'


def _teacher(
    host: str,
    kind: str,
    number: int,
    courses: dict[str, int],
    publications: list[str],
    random: Random,
    alumni: set[int],
) -> Iterator[str]:
    name = f"{kind}{number}"
    teacher = f"<http://www.{host}/{name}>"
    yield from _person(host, name, kind)
    yield f"{teacher} {_p('worksFor')} <http://www.{host}>"
    for course in courses:
        for _ in range(random.randint(*COURSES)):
            yield f"{teacher} {_p('teacherOf')} <http://www.{host}/{course}{courses[course]}>"
            courses[course] += 1
    for degree in ("undergraduate", "masters", "doctoral"):
        yield f"{teacher} {_p(f'{degree}DegreeFrom')} {_alma_mater(random, alumni)}"
    if kind != "Lecturer":
        yield f'{teacher} {_p("researchInterest")} "Research{random.randrange(INTERESTS)}"'
    for paper in range(random.randint(*FACULTY[kind][1])):
        yield from _named(host, f"{name}/Publication{paper}", "Publication")
        publication = f"<http://www.{host}/{name}/Publication{paper}>"
        yield f"{publication} {_p('publicationAuthor')} {teacher}"
        publications.append(publication)


def _student(host: str, name: str, course: str, taken: list[int], advisor: str | None) -> Iterator[str]:
    student = f"<http://www.{host}/{name}>"
    yield from _person(host, name, name.rstrip("0123456789"))
    yield f"{student} {_p('memberOf')} <http://www.{host}>"
    for number in taken:
        yield f"{student} {_p('takesCourse')} <http://www.{host}/{course}{number}>"
    if advisor is not None:
        yield f"{student} {_p('advisor')} {advisor}"


def _graduates(
    host: str,
    graduates: int,
    courses: dict[str, int],
    professors: list[str],
    publications: list[str],
    random: Random,
    alumni: set[int],
) -> Iterator[str]:
    for number in range(graduates):
        taken = random.sample(range(courses["GraduateCourse"]), random.randint(*TAKEN_BY_GRADUATES))
        name = f"GraduateStudent{number}"
        yield from _student(host, name, "GraduateCourse", taken, random.choice(professors))
        student = f"<http://www.{host}/{name}>"
        yield f"{student} {_p('undergraduateDegreeFrom')} {_alma_mater(random, alumni)}"
        for publication in random.sample(publications, random.randint(*JOINT_PUBLICATIONS)):
            yield f"{publication} {_p('publicationAuthor')} {student}"
    few, many = (graduates // n for n in (TEACHING[1], TEACHING[0]))
    teaching = min(random.randint(few, many), courses["Course"])
    few, many = (graduates // n for n in (RESEARCHING[1], RESEARCHING[0]))
    chosen = random.sample(range(graduates), teaching + random.randint(few, many))
    assisted = random.sample(range(courses["Course"]), teaching)
    for place, number in enumerate(chosen):
        student = f"<http://www.{host}/GraduateStudent{number}>"
        if place < teaching:
            yield f"{student} {TYPE} {_p('TeachingAssistant')}"
            yield f"{student} {_p('teachingAssistantOf')} <http://www.{host}/Course{assisted[place]}>"
        else:
            yield f"{student} {TYPE} {_p('ResearchAssistant')}"


def _alma_mater(random: Random, alumni: set[int]) -> str:
    number = random.randrange(UNIVERSITIES)
    alumni.add(number)
    return f"<http://www.University{number}.edu>"
