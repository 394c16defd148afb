#!/bin/sh
# A tour of the command line; `make tour` runs it. Everything it prints is the output of the commands it shows.
set -eu
cd "$(dirname "$0")"
. ../show.sh
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

say "A company runs 48 services, built from 936 packages that depend on each other. Which of them are in trouble?"
echo "The rules are in examples/supply-chain/rules.rls; the facts are CSV files, one for each predicate, and a table of services."

say "1. Are the rules sound? Nothing is read but the rules."
run modulog check rules.rls --facts facts team=services.csv exposure=services.csv delivery=services.csv

# One column of the services for each predicate, by position.
set -- --facts facts --map team=services.csv:0,1 exposure=services.csv:0,2 delivery=services.csv:0,3

say "2. How will they be evaluated? One stratum after another; joins in the order that the sizes of the tables suggest."
run modulog plan rules.rls "$@"

say "3. Every consequence, in one file for each predicate."
run modulog materialise rules.rls "$@" --out "$out" | sed "s#$out#consequences#"

say "4. Services on the internet that run, somewhere deep down, a package with a severe flaw and no fix:"
run modulog query rules.rls 'atRisk(?service, ?team, ?advisory, ?package)' "$@"

say "5. Products shipped to customers that contain copyleft code:"
run modulog query rules.rls 'conflict(?service, ?package, ?licence), team(?service, ?team)' "$@"

say "6. Packages that need each other, which makes both hard to replace:"
run modulog query rules.rls 'needs(?one, ?other), needs(?other, ?one), ?one < ?other' "$@"
