# Every target sets itself up: a virtual environment in .venv with the exact versions of the lock files.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test lint prefect clean

PYTHON ?= python3
BIN := .venv/bin
hash = $(shell cat $(1) | sha256sum | cut -c1-16)
RUNTIME := .venv/runtime-$(call hash,requirements-cpu.lock pyproject.toml)
TESTING := .venv/testing-$(call hash,requirements-test.lock)

help: ## this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(RUNTIME) ## fill a sample document, then run the whole chain once at a small size (CPU, offline)
	$(BIN)/deg fill --schema data/samples/schema.json --text data/samples/document.txt
	$(BIN)/python -m flows.nightly --config data/demo.yaml
	$(BIN)/deg sql "SELECT mode, system, count(*) AS n, round(avg(correct::INT), 3) AS accuracy FROM eval_rows GROUP BY ALL ORDER BY ALL"

test: $(RUNTIME) $(TESTING) ## the whole test suite
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest

lint: $(RUNTIME) $(TESTING) ## ruff and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy deg_core tasks flows

prefect: $(RUNTIME) ## Prefect server, worker and deployments on this machine; Ctrl-C stops them
	$(BIN)/python -m flows.local_server

clean: ## remove the environment and caches; deg-home stays
	rm -rf .venv build dist ./*.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "deg needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ..." >&2; exit 2; }
	$(PYTHON) -m venv .venv

# The lock is a full freeze, so nothing is resolved; torch alone is asked for again with its dependencies,
# because a build for CUDA brings libraries that a build for the CPU does not have.
$(RUNTIME): | .venv/bin/python
	$(BIN)/pip install --quiet --no-deps -r requirements-cpu.lock
	$(BIN)/pip install --quiet $$(grep '^torch==' requirements-cpu.lock)
	$(BIN)/pip install --quiet --no-deps --editable .
	rm -f .venv/runtime-*
	touch $@

$(TESTING): | .venv/bin/python
	$(BIN)/pip install --quiet --no-deps -r requirements-test.lock
	rm -f .venv/testing-*
	touch $@
