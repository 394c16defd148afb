#!/bin/sh
# A tour of the pipeline; `make demo` runs it. Everything it prints is the output of the commands it shows. It works in a copy of this folder.
set -eu
cd "$(dirname "$0")"
. ../show.sh
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R . "$copy"
cd "$copy"
rm -rf output

say "A company has 220 tables and 303 jobs that move data between them. Where does personal data end up, and who answers for it?"
echo "The tables are described in RDF, the jobs are a CSV file; examples/data-lineage/README.md tells more."

say "1. A pipeline: two sources, rules with negation and a closure, a store, two sinks."
run cat pipeline.toml

say "2. The first run, on Spark, as one task: read everything, compute everything, write the store and the sinks."
run modulog run pipeline.toml

say "3. Staff data in tables that nobody answers for; asked on this machine, without Spark:"
run modulog query output/store 'finding(?table, "raw.staff_2")'

say "4. A day later the jobs are others. What has changed is found by comparing, and only what follows from it is computed."
run cp later/jobs.csv jobs.csv
run modulog run pipeline.toml

say "5. The same store on this machine: there is a new finding, so one job is stopped, and a moment later everything is right again."
run modulog update output/store --delete moves=later/stopped.csv
run modulog query output/store 'finding(?table, "raw.staff_2")'

say "6. Every run has left a log and a report beside the store."
run ls output/store/runs
