# Every chore is one target. `make run` and `make test` do their own set-up; only Python and make
# are needed. Works with GNU make and a POSIX shell.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:

VENV := .venv
BIN := $(VENV)/bin
# Two stamps: dependencies installed; the project itself installed, editable.
LOCKED := $(VENV)/.locked
READY := $(VENV)/.ready
PYTHONS := $(or $(PYTHON),python3 python3.13 python3.12 python3.11 python3.14)
# Twice quiet: errors only.
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
LOCK := --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
	--no-emit-index-url --no-annotate --no-header
# The suites run in two processes; a model thread in each is then as many as are useful.
PROCESSES ?= 2
ARGS ?=

.PHONY: help setup run test lint format types layers budgets suites eval lock clean

help: ## Show this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
		while IFS='|' read -r name text; do printf '%-10s %s\n' "$$name" "$$text"; done

setup: $(READY) ## Make .venv with the locked dependencies (only when they changed) and compile bytecode
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m compileall -q src

$(LOCKED): requirements/dev.txt
	@set -e; found=; \
	for name in $(PYTHONS); do \
		if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
			found=$$name; break; \
		fi; \
	done; \
	if [ -z "$$found" ]; then \
		echo "Python 3.11 or newer is needed; none of these is: $(PYTHONS)." >&2; \
		echo "Install it, or name one: make setup PYTHON=/path/to/python3" >&2; exit 1; \
	fi; \
	if ! $$found -c 'import venv, ensurepip' >/dev/null 2>&1; then \
		echo "$$found has no venv or ensurepip (on Debian and Ubuntu: the package python3-venv)." >&2; \
		exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$($$found --version); this takes about a minute."; \
	$$found -m venv $(VENV); \
	$(PIP) --no-compile --require-hashes -r requirements/dev.txt; \
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m compileall -q -j 2 $(VENV)/lib; \
	touch $@

$(READY): pyproject.toml $(LOCKED)
	@$(PIP) --no-build-isolation --no-deps -e .
	@touch $@

run: setup ## Import the conversation shipped with the project, ask about it, show what is recalled
	@$(BIN)/remembrancer demo $(ARGS)

test: lint types layers budgets suites ## Everything that must hold, cheapest first

lint: setup ## Lint and check the format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: setup ## Mend what can be mended: imports, lint, format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: setup ## Check types, strictly
	$(BIN)/mypy src

layers: setup ## Check that imports point one way
	$(BIN)/lint-imports

budgets: setup ## Check sizes, names and what may stand in a committed file
	$(BIN)/pytest -q tests/architecture

suites: setup ## Run the test suites with coverage (ARGS="..." goes to pytest)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(PROCESSES) --ignore=tests/architecture \
		--cov --cov-report=term $(ARGS)
	@echo "Pure modules, every branch:"
	@$(BIN)/coverage report --fail-under=100 --include="$$($(BIN)/python -m tests.architecture.pure)"

eval: setup ## Measure recall on LoCoMo (REMEMBRANCER_EVAL_DATA or LOCOMO says where it is)
	@set -e; file="$${LOCOMO:-$$REMEMBRANCER_EVAL_DATA/locomo/locomo10.json}"; \
	if [ ! -f "$$file" ]; then \
		echo "LoCoMo is not at '$$file'. Set REMEMBRANCER_EVAL_DATA to the folder of the data sets." >&2; \
		exit 1; \
	fi; \
	$(BIN)/remembrancer eval recall "$$file" $(ARGS)

lock: setup ## Write requirements/*.txt anew (ARGS=--upgrade takes newer versions)
	@command -v $(BIN)/uv >/dev/null || $(PIP) uv
	$(BIN)/uv pip compile $(LOCK) $(ARGS) --group dev pyproject.toml -o requirements/dev.txt
	$(BIN)/uv pip compile $(LOCK) $(ARGS) -c requirements/dev.txt pyproject.toml \
		-o requirements/runtime.txt

clean: ## Remove .venv, caches and build products
	rm -rf $(VENV) dist build .coverage .coverage.* htmlcov .pytest_cache .mypy_cache .ruff_cache \
		.import_linter_cache .hypothesis
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
