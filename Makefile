# The one front door.  `make demo` and `make test` need Python 3.11+ and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: help demo test check slow conformance browser bench kernels opera auto oslog logistic accuracy adversaries klms files fuzz explore campaign mutants commandline docs clean

help:  ## List the targets
	@grep -E '^[a-z]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | expand -t 13

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@

$(VENV)/bench: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

# Numba's cache looks at a function's own file only: drop it when any compiled file changed.
$(VENV)/compiled: $(wildcard src/noregret/_ops/*.py) | $(VENV)/installed
	@rm -f src/noregret/_ops/__pycache__/*.nbi src/noregret/_ops/__pycache__/*.nbc
	@touch $@

demo: $(VENV)/installed $(VENV)/compiled  ## Forecast a stream with several learners, with proofs
	$(BIN)/noregret demo

test: check  ## Lint, types, imports, then all fast tests and doctests
	$(BIN)/python -m pytest -q -n 2 -m 'not slow'

check: $(VENV)/installed $(VENV)/compiled  ## Lint, types, import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/browser: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[browser]'
	@touch $@

browser: $(VENV)/browser $(VENV)/compiled  ## The report in Chromium, which must be installed
	$(BIN)/python -m pytest -q -rs -m slow tests/report/test_report_browser.py

conformance: $(VENV)/installed $(VENV)/compiled  ## Other libraries' checks of our learners, counted
	$(BIN)/python tests/conformance.py

slow: $(VENV)/installed $(VENV)/compiled  ## The long tests
	$(BIN)/python -m pytest -q -n 2 -m slow tests

bench: $(VENV)/bench $(VENV)/compiled  ## Measure against peers; writes docs/benchmarks.md
	$(BIN)/python benchmarks/run.py

kernels: $(VENV)/bench $(VENV)/compiled  ## Measure kernel learners; writes docs/kernels.md, docs/kernel-losses.md
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/kernel_losses.py

opera: $(VENV)/installed $(VENV)/compiled  ## Merge published forecasts; writes docs/opera.md, docs/opera-weights.svg
	$(BIN)/python benchmarks/opera.py

auto: $(VENV)/bench $(VENV)/compiled  ## Auto on every file against river; writes docs/auto.md
	$(BIN)/python benchmarks/auto.py

oslog: $(VENV)/installed $(VENV)/compiled  ## The paper of OSLOG redone; writes docs/oslog.md, two figures
	$(BIN)/python benchmarks/oslog.py

logistic: $(VENV)/bench $(VENV)/compiled  ## Binary outcomes: losses, approximations, speed; writes docs/logistic.md
	$(BIN)/python benchmarks/logistic.py

klms: $(VENV)/bench $(VENV)/compiled  ## K-LMS-NET: its rule, speed, real data; writes docs/klms.md, docs/klms-posterior.svg
	$(BIN)/python benchmarks/klms.py

accuracy: $(VENV)/installed $(VENV)/compiled  ## Measure against exact arithmetic; writes docs/accuracy.md
	$(BIN)/python benchmarks/accuracy.py

adversaries: $(VENV)/installed $(VENV)/compiled  ## Play the lower-bound proofs; writes docs/adversaries.md, docs/adversaries.svg
	$(BIN)/python benchmarks/adversaries.py

commandline: $(VENV)/installed $(VENV)/compiled  ## The command on 10 million rows; writes docs/command-line.md
	$(BIN)/python benchmarks/command_line.py

files: $(VENV)/installed $(VENV)/compiled  ## Time model files; writes their figures into docs/model-files.md
	$(BIN)/python benchmarks/snapshot.py

# Without Atheris (it has no wheel for every Python) the fuzzers change inputs at random, and say so.
$(VENV)/fuzz: $(VENV)/installed
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[fuzz]'
	@touch $@

FUZZ_SECONDS ?= 600
fuzz: $(VENV)/fuzz $(VENV)/compiled  ## Fuzz model files, CSV and JSON lines, 10 minutes each (FUZZ_SECONDS)
	$(BIN)/python tests/fuzz_snapshot.py $(FUZZ_SECONDS)
	$(BIN)/python tests/fuzz_sources.py csv $(FUZZ_SECONDS)
	$(BIN)/python tests/fuzz_sources.py jsonl $(FUZZ_SECONDS)

RUNS ?= 10000
explore: $(VENV)/installed $(VENV)/compiled  ## All of Hypothesis at random; the state machine 10,000 runs of 50 steps
	NOREGRET_EXPLORE=$(RUNS) $(BIN)/python -m pytest -q -n 2 -m hypothesis tests
	NOREGRET_EXPLORE=$(RUNS) $(BIN)/python -m pytest -q -n 2 tests/learner/test_machine.py

campaign: $(VENV)/installed $(VENV)/compiled  ## 40,000 hostile calls to all learners, counted
	$(BIN)/python tests/campaign.py

mutants: $(VENV)/installed $(VENV)/compiled  ## Make 500 small mistakes, one at a time: do the fast tests notice?
	$(BIN)/python tests/mutants/run.py --jobs 2

docs: $(VENV)/installed $(VENV)/compiled  ## Run every example of the documentation
	$(BIN)/python -m pytest -q --doctest-glob='*.md' docs README.md src

clean:  ## Remove everything that make made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
