# Everything a contributor runs. `make demo` and `make test` start from a clean clone: they set up what they need.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.modulog-installed
BENCH_STAMP := $(VENV)/.modulog-bench-installed
DOCS_STAMP := $(VENV)/.modulog-docs-installed
WORKERS ?= auto
BENCH ?= --small
RUN := PATH="$(CURDIR)/$(BIN):$$PATH" sh
DEMO := $(RUN) examples/data-lineage/demo.sh
TOUR := $(RUN) examples/supply-chain/demo.sh
PYTEST := $(BIN)/python -m pytest -q
LONG := HYPOTHESIS_PROFILE=long $(PYTEST)
STEP := [1/1]

.DEFAULT_GOAL := help
.PHONY: help setup java demo tour test test-local test-spark test-long check format docs conformance bench bench-papers bench-spark clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv and install Modulog for development, once

$(STAMP): pyproject.toml
	@STEP='$(STEP)' PYTHON='$(PYTHON)' sh scripts/setup.sh packages $(VENV)
	@touch $@

java:
	@STEP='[1/3]' sh scripts/setup.sh java

# Java comes before the packages, so that nobody waits for them before hearing that it is missing.
test: java
demo test: STEP := [2/3]
tour: STEP := [1/2]

$(BENCH_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

demo: java $(STAMP) ## A data pipeline on Spark, run twice, and its store on this machine
	@echo '[3/3] the demo (about 40 seconds the first time, when kernels are compiled; half a minute later)'
	@$(DEMO)

tour: $(STAMP) ## The command line without Spark: the supply chain of a company, from its rules to answers
	@echo '[2/2] the tour (about 15 seconds; ten more the first time, when kernels are compiled)'
	@$(TOUR)

test: test-local test-spark ## All tests but the long ones, the same in every run

test-local: $(STAMP) ## Tests and doctests without Spark, then the kernels again as plain Python
	$(PYTEST) -n $(WORKERS) -m "not long" --ignore=tests/spark
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n $(WORKERS) tests/unit/kernels tests/unit/terms -W ignore::RuntimeWarning

test-spark: $(STAMP) ## Tests of the Spark engine, in two sessions; skipped where there is no Java
	$(PYTEST) -n 2 --dist worksteal -m "not long" tests/spark

test-long: $(STAMP) ## Long tests, more random programs, Spark as users have it; other programs in every run
	$(LONG) -n $(WORKERS) -m "long or hypothesis or more" --ignore=tests/spark
	$(LONG) -n 2 --dist worksteal -m "long and not partitions" tests/spark
	$(LONG) -n 2 --dist worksteal -m partitions --spark-settings=shipped tests/spark

check: $(STAMP) ## Format, lint, types, import directions, spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST) tests/architecture
	$(BIN)/codespell -D - -D .ci/spelling.txt

format: $(STAMP) ## Format the code and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

docs: $(DOCS_STAMP) ## The API reference from docstrings, the guides and all other documents, as pages in build/docs
	$(BIN)/python scripts/docs.py build/docs

conformance: $(STAMP) ## The test programs of other systems; MODULOG_DATA names the folder that holds them
	$(PYTEST) tests/conformance

bench: $(BENCH_STAMP) ## Measure against Nemo, clingo and DuckDB, minutes; BENCH=--full is the whole
	$(BIN)/python -m benchmarks $(BENCH)

bench-papers: $(BENCH_STAMP) ## The three papers' evaluations, hours; goes on where it was stopped, and writes benchmarks/report
	$(BIN)/python -m benchmarks.papers $(PAPERS)

bench-spark: $(BENCH_STAMP) ## Measure the Spark engine beside the local one; BENCH=--full is the whole
	$(BIN)/python -m benchmarks --spark $(BENCH)

clean: ## Remove the environment and everything that tools leave behind
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
