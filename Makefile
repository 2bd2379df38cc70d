PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run test test-slow lint types install browser bench reproduction dist docs clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

run: install
	$(BIN)/thermorbm run desk

test: lint types browser
	$(BIN)/pytest -n 2

test-slow: install browser
	$(BIN)/pytest -n 2 -m "slow or not slow"

browser:
	tools/ensure_chromium.sh

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: install
	$(BIN)/mypy

bench: install
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m benchmarks.sampling
	$(BIN)/python -m benchmarks.datasets
	$(BIN)/python -m benchmarks.first_use
	$(BIN)/python -m benchmarks.start
	$(BIN)/python -m benchmarks.training
	$(BIN)/python -m benchmarks.symmetric

dist: install
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/check_dist.py

docs: install
	$(BIN)/python tools/make_site.py

reproduction: install
	$(BIN)/python tools/reproduction.py $(wildcard results/paper results/paper-plus)

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
