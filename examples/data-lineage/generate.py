"""Makes the data of this example: a catalogue of tables as RDF, and the jobs that move data between them as CSV, today and a day later.

python generate.py
"""

from __future__ import annotations

from pathlib import Path
from random import Random

HERE = Path(__file__).parent
DATA, NS = "https://data.example/", "https://data.example/ns#"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LAYERS = {"raw": 40, "lake": 60, "core": 50, "mart": 40, "report": 30}
SUBJECTS = (
    "customers",
    "orders",
    "visits",
    "payments",
    "staff",
    "parcels",
    "returns",
    "prices",
    "stock",
    "support",
)
PERSONAL = ("customers", "visits", "staff", "support")
STEWARDS = ("ada", "ben", "cleo", "dan", "eva")
Job = dict[str, str]


def tables(layer: str) -> list[str]:
    """The tables of a layer, ten subjects over and over."""
    return [f"{layer}.{SUBJECTS[n % 10]}_{n // 10 + 1}" for n in range(LAYERS[layer])]


def jobs(random: Random) -> list[Job]:
    """Every table but the raw ones is made from one to three tables of the layer before it, or of its own."""
    found, before = list[Job](), tables("raw")
    for layer in list(LAYERS)[1:]:
        for number, table in enumerate(own := tables(layer)):
            for source in random.sample([*before, *own[:number]], random.choice((1, 1, 1, 2, 2, 3))):
                kind = random.choices(("copy", "join", "aggregate", "anonymise"), (4, 3, 2, 3))[0]
                found.append(
                    {"job": f"{kind}_{len(found):03d}", "kind": kind, "reads": source, "writes": table}
                )
        before = own
    return found


def catalogue(stewards: dict[str, str]) -> list[str]:
    """What is known of each table: its name, whether it was declared personal, and in most cases who looks after it."""
    lines = []
    for layer in LAYERS:
        for number, table in enumerate(tables(layer)):
            iri = f"<{DATA}table/{layer}/{number}>"
            lines.append(f'{iri} <{NS}name> "{table}" .')
            if layer == "raw" and table.split(".")[1].split("_")[0] in PERSONAL:
                lines.append(f"{iri} <{TYPE}> <{NS}PersonalData> .")
            if table in stewards:
                lines.append(f"{iri} <{NS}steward> <{DATA}person/{stewards[table]}> .")
    return lines


def csv_lines(found: list[Job]) -> list[str]:
    """Jobs as lines of a table, behind the names of its columns; no value needs quotes."""
    return [",".join(found[0]), *(",".join(job.values()) for job in found)]


def main() -> None:
    random = Random(8)
    every = [table for layer in LAYERS for table in tables(layer)]
    stewards = {table: random.choice(STEWARDS) for table in every if random.random() < 0.85}
    today = jobs(random)
    # A day later one job anonymises, two are gone, and a new one copies personal data to a report that nobody looks after.
    later = [dict(job) for number, job in enumerate(today) if number not in (11, 31)]
    fixed = next(job for job in later if job["kind"] == "copy" and job["reads"].startswith("raw.customers"))
    fixed["kind"] = "anonymise"
    target = next(table for table in tables("report") if table not in stewards)
    later.append({"job": "copy_900", "kind": "copy", "reads": "raw.staff_2", "writes": target})
    (HERE / "later").mkdir(exist_ok=True)
    files = {
        "catalogue.nt": catalogue(stewards),
        "jobs.csv": csv_lines(today),
        "later/jobs.csv": csv_lines(later),
        "later/stopped.csv": [f"raw.staff_2,{target},copy"],
    }
    for name, lines in files.items():
        (HERE / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
