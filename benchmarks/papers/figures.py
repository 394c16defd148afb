"""What the papers' tables say, each figure under the table, the benchmark, the task and the technique it belongs to.

``modular`` is Hu, Motik, Horrocks: Modular Materialisation of Datalog Programs (AAAI 2019); ``hypertree`` is Zhang, Hu, Nenov, Horrocks: Enhancing Datalog
Reasoning with Hypertree Decompositions (IJCAI 2023); ``storage`` is Zhang, Hu, Nenov, Horrocks: Optimised Storage for Datalog Reasoning (AAAI 2024). Their machine: two Xeon E5-2640
at 2.6 GHz, 512 GB.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

SECONDS, PEAK, RESTING = "seconds", "peak MB", "resting MB"
GIVEN, DERIVED, RULES, COMPLEX = "facts given", "facts with what follows", "rules", "complex rules"


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table: its techniques, the one that the others are compared with first, and what it measures."""

    key: str
    title: str
    techniques: tuple[str, ...]
    tasks: tuple[str, ...]
    metrics: tuple[str, ...] = (SECONDS,)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A benchmark of a paper: its facts before and after materialisation, and how our data differs."""

    given: str
    derived: str
    ours: str


Cell = float | str | None
"""A figure; a text such as ">38h" where there is none, None where the table has a dash."""

TABLES: Final = {
    table.key: table
    for table in (
        PaperTable(
            "modular 1", "Modular paper, Table 1: materialisation", ("Mat", "Mat-Mod"), ("materialisation",)
        ),
        PaperTable(
            "modular 2",
            "Modular paper, Table 2: incremental maintenance",
            ("DRed^c", "DRed^c-Mod"),
            ("small deletions", "small insertions", "large deletions"),
        ),
        PaperTable(
            "hypertree 1",
            "Hypertree paper, Table 1: the data; of ours, rules count as complex if the combined approach decomposes them",
            ("rules",),
            ("data",),
            (GIVEN, DERIVED, RULES, COMPLEX),
        ),
        PaperTable(
            "hypertree 2",
            "Hypertree paper, Table 2: materialisation and updates",
            ("standard", "HD", "combined"),
            ("materialisation", "small deletions", "large deletions", "small additions"),
            note="Our standard side may join in bushy plans, which do on LUBM L+C what decompositions do in the paper.",
        ),
        PaperTable(
            "hypertree memory",
            "Hypertree paper, section 5.5: memory of the combined approach",
            ("standard", "combined"),
            ("all tasks",),
            (PEAK,),
        ),
        PaperTable(
            "storage 1",
            "Storage paper, Table 1: the closure of DBpedia's broader relation, in four insertions",
            ("Standard", "TCModule", "TCScheme"),
            ("first insertion", "second insertion", "third insertion", "fourth insertion"),
            (SECONDS, PEAK, RESTING),
        ),
        PaperTable(
            "storage 2",
            "Storage paper, Table 2: materialisation with several storage schemes",
            ("Standard", "TCModule", "MultiScheme"),
            ("materialisation",),
            (SECONDS, PEAK, RESTING),
        ),
        PaperTable(
            "storage 3",
            "Storage paper, Table 3 and its appendix: queries over DB50%",
            ("Standard", "MultiScheme"),
            tuple(f"{kind} Q{number}" for kind in ("TC", "U") for number in range(11)),
            note="Our answers are counted, not written out.",
        ),
    )
}

PEERS: Final = PaperTable(
    "peers",
    "Other systems on the same data",
    ("Modulog", "Modulog, Spark", "Modulog, executors", "Nemo", "clingo", "DuckDB", "reasonable", "owlrl"),
    ("materialisation",),
    (SECONDS, PEAK, RESTING),
    note="All have one core. On Spark the version that was measured left strata of up to 100,000 facts to the driver, unless it says executors; its seconds include the ids of terms, which others have given before, its memory is that of all processes together, and what the small run before does not use, such as executors, is cold. A dash: the system was not asked, most often because it cannot say the rules.",
)
CHANGES: Final = PaperTable(
    "changes", "Updates against their size", ("DRed^c", "DRed^c-Mod"), ("deletion", "insertion")
)
"""What the papers have no table for."""

DATASETS: Final = {
    "modular": {
        "Claros-LE": Dataset(
            "18.8 M", "533.3 M", "generated finds and places under VLog's Claros LE rules, without equality"
        ),
        "LUBM-LE": Dataset("133.6 M", "332.6 M", "generated universities under VLog's LUBM LE rules"),
        "DBpedia-SKOS": Dataset("5.0 M", "97.0 M", "a generated thesaurus under the rules of SKOS"),
        "DAG-R": Dataset("0.1 M", "22.9 M", "a random DAG of 10,000 nodes, at most 100,000 edges as theirs"),
    },
    "hypertree": {
        "LUBM L": Dataset("66,751,196", "91,128,727", "generated universities under VLog's LUBM L rules"),
        "LUBM L+C": Dataset("66,751,196", "99,361,809", "the same with cyclic rules of our own"),
        "Exp": Dataset("3,362,280", "6,440,280", "generated expressions"),
        "YAGO": Dataset("58,276,868", "59,755,990", "a generated graph with labelled edges"),
    },
    "storage": {
        "broader, small": Dataset("159,561", "53,928,267", "generated categories"),
        "broader, large": Dataset("1,426,588", "1,953,752,969", "generated categories"),
        "DB25%": Dataset("23.0 M", "32.7 M", "generated categories under the rules of SKOS"),
        "DB50%": Dataset("46.0 M", "608.7 M", "generated categories under the rules of SKOS"),
        "DB75%": Dataset("69.0 M", "8.6 B", "generated categories under the rules of SKOS"),
        "DBAll": Dataset("92.0 M", "34.9 B", "generated categories under the rules of SKOS"),
        "DAG-R": Dataset("100 k", "22.9 M", "a random DAG of 10,000 nodes, at most 100,000 edges as theirs"),
        "Relations": Dataset(
            "845.8 k", "212.2 M", "generated facts under the rules of the Relation Ontology"
        ),
    },
}

_MODULAR_1 = {
    "Claros-LE": (3593.32, 733.55),
    "LUBM-LE": (1100.22, 291.90),
    "DBpedia-SKOS": (3623.37, 103.23),
    "DAG-R": (3238.86, 29.60),
}
_MODULAR_2 = {
    "Claros-LE": ((1035.28, 0.93), (0.80, 0.17), (3616.93, 314.33)),
    "LUBM-LE": ((3.87, 0.32), (0.01, 0.01), (1369.77, 182.93)),
    "DBpedia-SKOS": ((691.32, 21.77), (2.78, 0.20), (3826.87, 111.28)),
    "DAG-R": ((3005.11, 64.92), (116.78, 14.56), (4316.71, 62.48)),
}
_HYPERTREE_2 = {  # for each task: standard, HD, combined
    "LUBM L+C": (
        (29577.90, 1168.83, 554.00),
        (0.92, 4.00, 1.06),
        (15193.70, 812.32, 195.51),
        (0.97, 1.04, 0.73),
    ),
    "LUBM L": ((95.73, 740.81, 75.50), (0.03, 3.70, 0.04), (27.09, 558.90, 21.71), (0.02, 0.45, 0.06)),
    "Exp": ((7039.87, 56.83, 57.01), (37.60, 0.47, 0.45), (4006.44, 30.93, 28.62), (40.23, 0.57, 0.53)),
    "YAGO": (
        (155022.00, 367.59, 366.03),
        (20.06, 0.18, 0.20),
        (126562.00, 168.34, 159.43),
        (20.42, 0.17, 0.17),
    ),
}
_STORAGE_1 = {  # for each insertion and technique: seconds, peak, static
    "broader, small": (
        ((2845.08, 1480.58, 1251.77), (28.24, 1554.44, 1320.64), (8.44, 249.64, 248.01)),
        ((96.02, 1483.22, 1275.57), (15.50, 1564.41, 1358.62), (0.84, 249.74, 248.01)),
        ((92.07, 1483.22, 1305.44), (2.78, 1564.41, 1374.29), (0.91, 249.77, 248.01)),
        ((6352.03, 2750.76, 2340.10), (39.42, 2845.42, 2414.81), (6.06, 284.93, 278.26)),
    ),
    "broader, large": (
        ((">38h", None, None), (3295.25, 97940.15, 82348.18), (443.80, 2447.91, 2304.00)),
        ((None, None, None), (138.40, 97940.15, 82101.52), (2.22, 2447.91, 2304.84)),
        ((None, None, None), (30.04, 97940.15, 82132.15), (2.96, 2447.91, 2304.85)),
        ((None, None, None), (1519.99, 98406.95, 82548.45), (14.84, 2447.91, 2304.87)),
    ),
}
_STORAGE_2 = {  # for each technique: seconds, peak and static memory in GB
    "DB25%": ((33.42, 2.7, 2.2), (33.88, 3.2, 2.7), (31.39, 3.6, 3.1)),
    "DB50%": ((12879.90, 30.8, 25.4), (984.86, 31.8, 26.4), (479.35, 8.7, 7.7)),
    "DB75%": ((">86h", None, "≈515,000"), (">86h", None, None), (5973.34, 16.3, 14.9)),
    "DBAll": ((None, None, "≈2,094,900"), (None, None, None), (23092.37, 17.3, 15.1)),
    "DAG-R": ((3973.21, 1.1, 0.9), (36.04, 1.2, 1.0), (26.45, 0.9, 0.9)),
    "Relations": ((14277.00, 11.0, 9.3), (2046.36, 11.1, 9.4), (6905.72, 4.9, 4.1)),
}
_STORAGE_3 = {  # of all queries in their order: standard, and with several schemes
    "TC": (
        (8.38, 27.70, 0.03, 0.03, 0.03, 0.03, 15.00, 0.10, 0.13, 0.03, 0.03),
        (22.43, 20.64, 0.03, 0.03, 0.03, 0.03, 42.15, 0.24, 0.35, 0.03, 0.03),
    ),
    "U": (
        (25.50, 77.00, 0.28, 0.42, 0.03, 0.03, 36.00, 0.10, 0.15, 0.03, 0.03),
        (338.90, 393.00, 0.61, 0.89, 0.03, 0.03, 416.23, 1.97, 2.93, 0.03, 0.03),
    ),
}
_HYPERTREE_1 = {
    "LUBM L": (66_751_196.0, 91_128_727.0, 98.0, 0.0),
    "LUBM L+C": (66_751_196.0, 99_361_809.0, 114.0, 16.0),
    "Exp": (3_362_280.0, 6_440_280.0, 3.0, 3.0),
    "YAGO": (58_276_868.0, 59_755_990.0, 23.0, 23.0),
}

Key = tuple[str, str, str, str, str]
"""Table, benchmark, task, technique, metric."""


def _entries() -> Iterator[tuple[Key, Cell]]:
    for benchmark, cells in _MODULAR_1.items():
        for technique, cell in zip(TABLES["modular 1"].techniques, cells, strict=True):
            yield ("modular 1", benchmark, "materialisation", technique, SECONDS), cell
    for table, of in (("modular 2", _MODULAR_2), ("hypertree 2", _HYPERTREE_2)):
        for benchmark, tasks in of.items():
            for task, cells in zip(TABLES[table].tasks, tasks, strict=True):
                for technique, cell in zip(TABLES[table].techniques, cells, strict=True):
                    yield (table, benchmark, task, technique, SECONDS), cell
    for benchmark, numbers in _HYPERTREE_1.items():
        for metric, number in zip(TABLES["hypertree 1"].metrics, numbers, strict=True):
            yield ("hypertree 1", benchmark, "data", "rules", metric), number
    for benchmark in _HYPERTREE_2:
        yield ("hypertree memory", benchmark, "all tasks", "standard", PEAK), "1"
        yield ("hypertree memory", benchmark, "all tasks", "combined", PEAK), "up to 2.3"
    for benchmark, insertions in _STORAGE_1.items():
        for task, techniques in zip(TABLES["storage 1"].tasks, insertions, strict=True):
            yield from _three("storage 1", benchmark, task, techniques, 1.0)
    for benchmark, techniques in _STORAGE_2.items():
        yield from _three("storage 2", benchmark, "materialisation", techniques, 1_000.0)
    for kind, techniques in _STORAGE_3.items():
        for technique, cells in zip(TABLES["storage 3"].techniques, techniques, strict=True):
            for number, cell in enumerate(cells):
                yield ("storage 3", "DB50%", f"{kind} Q{number}", technique, SECONDS), cell


def _three(
    table: str, benchmark: str, task: str, techniques: tuple[tuple[Cell, ...], ...], unit: float
) -> Iterator[tuple[Key, Cell]]:
    """Seconds, peak and resting memory of each technique; memory in so many MB."""
    for technique, cells in zip(TABLES[table].techniques, techniques, strict=True):
        for metric, cell in zip(TABLES[table].metrics, cells, strict=True):
            scaled = cell * unit if isinstance(cell, float) and metric != SECONDS else cell
            yield (table, benchmark, task, technique, metric), scaled


FIGURES: Final[dict[Key, Cell]] = dict(_entries())
"""Every figure of the papers."""
