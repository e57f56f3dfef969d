# `make run` and `make test` need Python 3.11 or later, GNU Make and a Python package index, nothing
# else. Everything is installed into .venv; `make run PYTHON=python3.12` picks another Python.

PYTHON ?= python3
# An optional job argument: `make run PROJECT_ARGS="--force"`, see `spacy project run --help`.
PROJECT_ARGS ?=
PYTEST_ARGS ?=
# How many processes share the tests; `make test TEST_PROCESSES=0` runs all in one.
TEST_PROCESSES ?= 2

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt
INSTALLED := $(VENV)/installed
PYTHONS ?= python3.12 python3.13 python3.14
PYTHON_EXTRAS := starter,torch,onnx,train,peft,parquet,rdf,serve,mcp,dev
FLOORS := .venv-floors
DOCS := .venv-docs
FLOOR_EXTRAS := torch,onnx,parquet,rdf,serve
FLOOR_PIP := $(FLOORS)/bin/python -m pip install --quiet --disable-pip-version-check --prefer-binary -c $(FLOORS)/floors.txt
PROJECT := $(PY) -m spacy project run all .

# The steps of the project call `medlink` and `python` by name.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

.PHONY: help setup run open docs test test-all test-gpu test-floors test-pythons lint format ci-run clean distclean
.DELETE_ON_ERROR:

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1 \t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

setup: $(INSTALLED) ## Make .venv and install the project and its pinned dependencies

run: $(INSTALLED) ## Build, train, evaluate, package and try the embedded default
	$(PROJECT) $(PROJECT_ARGS)

open: $(INSTALLED) ## Build and package a linker of open ontologies: 280,000 concepts, without a licence
	$(PIP) --no-build-isolation -e '.[open]'
	$(PY) -m spacy project run open . $(PROJECT_ARGS)

test: $(INSTALLED) ## Run the tests, without those marked slow or gpu
	$(PY) -m pytest -n $(TEST_PROCESSES) --dist worksteal -m "not slow and not gpu" $(PYTEST_ARGS)

test-all: $(INSTALLED) ## Run all tests that this machine can run
	HYPOTHESIS_PROFILE=explore $(PY) -m pytest $(PYTEST_ARGS)

docs: ## Make a site of the pages, with a search, in build/site
	test -d $(DOCS) || $(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --disable-pip-version-check -r docs/requirements.txt
	$(DOCS)/bin/mkdocs build --quiet

test-gpu: $(INSTALLED) ## Run the tests that need a CUDA device, also the long ones among them
	$(PY) -m pytest -m gpu $(PYTEST_ARGS)

# Environments of their own; an interpreter that is not there is left out, and said so.
test-pythons: ## Run the tests with every Python of PYTHONS that is there
	@for python in $(PYTHONS); do \
		if ! command -v $$python > /dev/null; then echo "$$python is not there: left out"; continue; fi; \
		venv=.venv-$$(basename $$python); echo "$$python, in $$venv"; \
		install="$$venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt"; \
		test -x $$venv/bin/python || $$python -m venv $$venv || exit 1; \
		$$install setuptools wheel && $$install --no-build-isolation -e '.[$(PYTHON_EXTRAS)]' && \
		$$venv/bin/python -m pytest -n $(TEST_PROCESSES) --dist worksteal -m "not slow and not gpu" $(PYTEST_ARGS) || exit 1; \
	done

# Tests of rooms that use the libraries most. Old libraries warn of what newer ones have replaced.
test-floors: $(FLOORS)/installed ## Run some tests with the lowest versions that setup.cfg allows
	$(FLOORS)/bin/python -m pytest -n $(TEST_PROCESSES) -W ignore::DeprecationWarning -m "not slow and not gpu" \
		tests/workbench/serve/test_guard.py tests/workbench/serve/test_mappings.py tests/encoders/test_bi_encoder.py

lint: $(INSTALLED) ## Check style, formatting and types
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

format: $(INSTALLED) ## Mend style and formatting where that can be done by itself
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

# The main job with little training: every step runs, the encoder is not worth keeping.
ci-run: $(INSTALLED)
	$(PROJECT) --vars.sap_names=2000 --vars.names=2000 --vars.student_names=60000

clean: ## Remove what the tools and the project have built, but neither .venv nor downloads
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage
	rm -rf corpora/hp.obo corpora/open.jsonl models kb gold metrics packages training_runs project.lock
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean ## Remove .venv too
	rm -rf $(VENV) $(FLOORS) $(DOCS) .venv-python3*

$(FLOORS)/installed: setup.cfg constraints.txt tests/floors.py | $(INSTALLED)
	$(PYTHON) -m venv --clear $(FLOORS)
	$(PY) -m tests.floors $(FLOOR_EXTRAS) > $(FLOORS)/floors.txt
	$(FLOOR_PIP) setuptools wheel
	$(FLOOR_PIP) --no-build-isolation -e '.[$(FLOOR_EXTRAS)]' httpx hypothesis jsonschema packaging pytest pytest-timeout pytest-xdist
	@touch $@

# The stamp is newer than the files that say what to install, or everything is installed again.
# --no-build-isolation: the build uses the pinned setuptools of .venv (70.1 and later can make
# editable wheels alone). An isolated build would fetch the newest one, which no constraint holds.
$(INSTALLED): setup.cfg pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or later is needed, " + sys.executable + " is " + sys.version.split()[0] + ": make PYTHON=/path/to/python3.11")'
	@test -x $(PY) || $(PYTHON) -m venv --clear $(VENV) || { echo "No virtual environment could be made: on Debian and Ubuntu, install python3-venv." >&2; exit 1; }
	@echo "Installing into $(VENV) (the first time this takes a minute or more)"
	$(PIP) setuptools wheel
	$(PIP) --no-build-isolation -e '.[starter,torch,onnx,train,peft,parquet,rdf,transformers,serve,mcp,dev]'
	@touch $@
