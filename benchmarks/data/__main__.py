"""Write generated data: ``python -m benchmarks.data dag --nodes 10000 --edges 100000 --out edge.csv``."""

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
from numpy.typing import NDArray

from benchmarks import data


def write_csv(path: Path, rows: NDArray[np.int64]) -> None:
    """Write an array as CSV without header, one line for each row."""
    columns = {f"c{i}": np.ascontiguousarray(rows[:, i]) for i in range(rows.shape[1])}
    pc.write_csv(pa.table(columns), str(path), pc.WriteOptions(include_header=False))


def main(arguments: list[str] | None = None) -> None:
    """Generate what the command line asks for."""
    options = _parser().parse_args(arguments)
    out: Path = options.out
    if options.what == "words":
        data.words(out, options.rows, options.distinct)
    elif options.what == "lubm":
        data.lubm(out, options.universities, options.seed)
    elif options.what == "relations":
        from benchmarks.data.ontologies import ontology_file, vocabulary

        ontology = ontology_file("relations")
        if ontology is None:
            raise SystemExit("the Relation Ontology is missing: MODULOG_DATA names the folder of real data")
        data.write_relations(out, vocabulary(ontology), options.facts, options.seed)
    elif options.what in ("joins", "rule-chain"):
        out.mkdir(parents=True, exist_ok=True)
        if options.what == "joins":
            rules, relations = (
                data.JOIN_RULES[options.kind],
                data.joins(options.kind, options.facts, options.seed),
            )
        else:
            rules, relations = data.rule_chain(options.rules, options.facts, options.seed)
        (out / "rules.rls").write_text(rules + "\n", encoding="utf-8")
        for name, rows in relations.items():
            write_csv(out / f"{name}.csv", rows)
    else:
        write_csv(out, _edges(options))


def _edges(options: argparse.Namespace) -> NDArray[np.int64]:
    match options.what:
        case "dag":
            return data.dag(options.nodes, options.edges, options.seed)
        case "digraph":
            return data.digraph(options.nodes, options.edges, options.seed)
        case "tree":
            return data.tree(options.nodes, options.kind, options.seed)
        case "chain":
            return data.chain(options.nodes)
        case _:
            return data.cliques(options.cliques, options.size)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.data", description=__doc__)
    kinds = parser.add_subparsers(dest="what", required=True)
    numbers: dict[str, dict[str, int]] = {
        "dag": {"nodes": 10_000, "edges": 100_000, "seed": 1},
        "digraph": {"nodes": 3_000, "edges": 6_000, "seed": 1},
        "tree": {"nodes": 10_000, "seed": 1},
        "chain": {"nodes": 1_000},
        "cliques": {"cliques": 100, "size": 100},
        "joins": {"facts": 5_000_000, "seed": 1},
        "lubm": {"universities": 10, "seed": 1},
        "relations": {"facts": data.RELATIONS, "seed": 1},
        "words": {"rows": 10_000_000, "distinct": 1_000_000},
        "rule-chain": {"rules": 2_000, "facts": 100, "seed": 1},
    }
    for what, defaults in numbers.items():
        kind = kinds.add_parser(what, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        for name, default in defaults.items():
            kind.add_argument(
                f"--{name}",
                type=int,
                default=default,
                help="number" if name == "seed" else f"how many {name}",
            )
        out_help = "folder to write" if what in ("joins", "rule-chain") else "file to write"
        kind.add_argument("--out", type=Path, required=True, help=out_help)
    kinds.choices["tree"].add_argument("--kind", choices=["wide", "deep"], default="wide", help="shape")
    kinds.choices["joins"].add_argument(
        "--kind", choices=list(data.JOIN_RULES), default="chain", help="which join"
    )
    return parser


if __name__ == "__main__":
    main()
