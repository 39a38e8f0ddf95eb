# The one front door.  `make demo` and `make test` need Python 3.11+ and make; without a C++17 compiler
# they take one from PyPI.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: help demo test check truth slow conformance browser spark sparkbench bench kernels opera forecasting auto oslog logistic accuracy adversaries klms intervals files fleet fuzz fuzz_snapshot fuzz_csv fuzz_jsonl explore campaign corrupt mutants commandline docs guides wheel sanitize versions clean

help:  ## List the targets
	@grep -E '^[a-z]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | expand -t 13

# The native module is built by pip, and built again when a source of it is newer: in $(VENV) itself, since headers
# in a place that changes would have every file compiled anew.
$(VENV)/installed: pyproject.toml native/CMakeLists.txt $(wildcard native/*.hpp native/*.cpp)
	$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check cmake ninja $$($(BIN)/python -c "$(needed)")
	@native/with-compiler $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -e '.[test]'
	@$(BIN)/python -m compileall -q src  # pip does it for other packages; it is half of a start
	@touch $@

needed = import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'])

# The packages of an extra alone: pip would build the native module anew for `-e '.[extra]'`.
listed = import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['$(1)'])
extra = $(BIN)/python -m pip install --quiet --disable-pip-version-check $$($(BIN)/python -c "$(listed)")

$(VENV)/bench: $(VENV)/installed
	$(call extra,bench)
	@touch $@

demo: $(VENV)/installed  ## Forecast a stream with several learners, with proofs
	$(BIN)/noregret demo

test: check  ## Lint, types, imports, then all fast tests and doctests
	$(BIN)/python -m pytest -q -n 2 -m 'not slow'

check: $(VENV)/installed  ## Lint, types, import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/browser: $(VENV)/installed
	$(call extra,browser)
	@touch $@

browser: $(VENV)/browser  ## The report in Chromium, which must be installed
	$(BIN)/python -m pytest -q -rs -m slow tests/report/test_report_browser.py

# Spark's pandas is older than ours: it has an environment of its own, with our package as pip has installed it in $(VENV).
SPARK := .venv-spark
PACKAGES := lib/python*/site-packages
$(SPARK)/installed: $(VENV)/installed
	$(PYTHON) -m venv $(SPARK)
	@cp -r $(VENV)/$(PACKAGES)/*noregret* $(SPARK)/$(PACKAGES)/
	$(SPARK)/bin/python -m pip install --quiet --disable-pip-version-check 'noregret[sparktest]'
	@touch $@

spark: $(SPARK)/installed  ## The Spark adapter, killed and restarted; Java 17 must be installed
	SPARK_LOCAL_IP=127.0.0.1 $(SPARK)/bin/python -m pytest -q -rs -W default -o addopts='--doctest-modules --strict-markers' --durations=8 tests/adapters/spark src/noregret/adapters/spark

sparkbench: $(SPARK)/installed  ## Measure the Spark adapter; writes its figures into docs/scale.md
	$(SPARK)/bin/python benchmarks/spark.py

conformance: $(VENV)/installed  ## Other libraries' checks of our learners, counted
	$(BIN)/python tests/conformance.py

slow: $(VENV)/installed  ## The long tests
	$(BIN)/python -m pytest -q -n 2 -m slow tests

bench: $(VENV)/bench  ## Measure against peers; writes docs/benchmarks.md
	$(BIN)/python benchmarks/run.py

kernels: $(VENV)/bench  ## Measure kernel learners; writes docs/kernels.md, docs/kernel-losses.md
	$(BIN)/python benchmarks/kernels.py
	$(BIN)/python benchmarks/kernel_losses.py

opera: $(VENV)/installed  ## Merge published forecasts; writes docs/opera.md, docs/opera-weights.svg
	$(BIN)/python benchmarks/opera.py

forecasting: $(VENV)/bench  ## Day-ahead and week-ahead forecasts beside statsforecast; writes docs/forecasting.md
	$(BIN)/python benchmarks/forecasting.py

auto: $(VENV)/bench  ## Auto against the strongest peers; writes docs/auto.md, docs/auto-binary.md
	$(BIN)/python benchmarks/auto.py
	$(BIN)/python benchmarks/auto_binary.py

oslog: $(VENV)/installed  ## The paper of OSLOG redone; writes docs/oslog.md, two figures
	$(BIN)/python benchmarks/oslog.py

logistic: $(VENV)/bench  ## Binary outcomes: losses, approximations, speed; writes docs/logistic.md
	$(BIN)/python benchmarks/logistic.py

klms: $(VENV)/bench  ## K-LMS-NET: its rule, speed, real data; writes docs/klms.md, docs/klms-posterior.svg
	$(BIN)/python benchmarks/klms.py

intervals: $(VENV)/bench  ## Intervals on every file against what else there is; writes docs/intervals.md
	$(BIN)/python benchmarks/intervals.py

accuracy: $(VENV)/installed  ## Measure against exact arithmetic; writes docs/accuracy.md
	$(BIN)/python benchmarks/accuracy.py

adversaries: $(VENV)/installed  ## Play the lower-bound proofs; writes docs/adversaries.md, docs/adversaries.svg
	$(BIN)/python benchmarks/adversaries.py

truth: $(VENV)/installed  ## Every statement of the papers and its test; writes docs/truth.md
	$(BIN)/python tests/truth.py
	$(BIN)/python -m pytest -q tests/test_truth.py

commandline: $(VENV)/installed  ## The command on 10 million rows; writes docs/command-line.md
	$(BIN)/python benchmarks/command_line.py

fleet: $(VENV)/bench  ## Many keys: rates, memory, files, Parquet; writes their figures into docs/scale.md
	$(BIN)/python benchmarks/fleet.py

files: $(VENV)/installed  ## Time model files; writes their figures into docs/model-files.md
	$(BIN)/python benchmarks/snapshot.py

# Without Atheris (it has no wheel for every Python) the fuzzers change inputs at random, and say so.
$(VENV)/fuzz: $(VENV)/installed
	-$(call extra,fuzz)
	@touch $@

FUZZ_SECONDS ?= 600
fuzz: fuzz_snapshot fuzz_csv fuzz_jsonl  ## Fuzz model files, CSV and JSON lines, 10 minutes each (FUZZ_SECONDS)
fuzz_snapshot: $(VENV)/fuzz
	$(BIN)/python tests/fuzz_snapshot.py $(FUZZ_SECONDS)
fuzz_csv fuzz_jsonl: fuzz_%: $(VENV)/fuzz
	$(BIN)/python tests/fuzz_sources.py $* $(FUZZ_SECONDS)

RUNS ?= 10000
explore: $(VENV)/installed  ## All of Hypothesis at random; the state machine 10,000 runs of 50 steps
	NOREGRET_EXPLORE=$(RUNS) $(BIN)/python -m pytest -q -n 2 -m hypothesis tests
	NOREGRET_EXPLORE=$(RUNS) $(BIN)/python -m pytest -q -n 2 tests/learner/test_machine.py

campaign: $(VENV)/installed  ## 40,000 hostile calls to all learners, counted
	$(BIN)/python tests/campaign.py

corrupt: $(VENV)/installed  ## Corrupt 1,000 stored numbers of every learner: do certificates notice?
	$(BIN)/python tests/corruption.py

mutants: $(VENV)/installed  ## Make nearly 800 small mistakes, one at a time: do the tests notice?
	$(BIN)/python tests/mutants/run.py --jobs 2

docs: $(VENV)/installed  ## Run every example of docs/ (make test runs those of README and the library)
	$(BIN)/python -m pytest -q -n 2 --doctest-glob='*.md' docs

guides: $(VENV)/installed  ## Run README and guides; writes the pictures in docs/guides
	$(BIN)/python tests/guides/pages.py

wheel: $(VENV)/installed  ## Build sdist and wheel, install it elsewhere, run the fast tests on it
	native/try-wheel $(BIN)/python

sanitize: $(VENV)/installed  ## ASan and UBSan over the hostile and threaded tests
	$(BIN)/python tests/builds.py sanitize

versions: $(VENV)/installed  ## The native module for each set of instructions: the same bits
	$(BIN)/python tests/builds.py versions

clean:  ## Remove everything that make made
	rm -rf $(VENV) $(SPARK) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
