# Everything that is done with this repository. `make demo` and `make test` set up what they need.
PYTHON := $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin

.PHONY: help demo test test-long packages fuzz lowest newest lint bench experiments docs dist clean

help:  ## say what each target does
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name what; do printf '  make %-12s %s\n' "$$name" "$$what"; done

demo: .venv/demo  ## set up, and run the whole job on a real sample
	$(BIN)/shoal demo -o demo-output --overwrite

# Three processes on two cores: one works while others wait for a browser, Java or a process that they started.
test: .venv/installed packages .venv-dbt/tried  ## everything, as continuous integration does; it ends with what was slow
	$(BIN)/python -m tests.kernels
	$(BIN)/python -m pytest -n 3

# What is too slow for every day: all counts of the property and kill tests, all combinations, Spark's slow faults, and the
# lowest and newest versions of all dependencies.
test-long: .venv/installed packages lowest newest .venv-dbt/tried .venv-dist/tried .venv-dagster/tried .venv-airflow/tried  ## what is too slow for every day, with the lowest and newest versions too
	$(BIN)/python -m tests.kernels
	SHOAL_LONG=1 $(BIN)/python -m pytest -n 3

# Programs that some tests compare with or look through; where they cannot be installed, those tests are skipped.
PACKAGES := weka openjdk-17-jre-headless chromium-headless-shell postgresql
packages:
	@test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || dpkg -s $(PACKAGES) >/dev/null 2>&1 || { \
	    echo "Installing Debian packages that some tests need (without them those tests are skipped): $(PACKAGES)" \
	    && apt-get update -q && apt-get install -qy --no-install-recommends $(PACKAGES); } \
	    || echo "not all of $(PACKAGES) could be installed: tests that need them are skipped"

# Tools that bring packages of their own have environments of their own; where one cannot be had, its tests are skipped.
.venv-dbt/tried: integrations/dbt/requirements.txt
.venv-dist/tried: distribution/requirements.txt
.venv-dagster/tried: examples/dagster/requirements.txt pyproject.toml
.venv-airflow/tried: examples/airflow/requirements.txt pyproject.toml
.venv-dbt/tried .venv-dist/tried .venv-dagster/tried .venv-airflow/tried: | .venv/bin/python
	@$(PYTHON) -m venv --clear $(@D)
	@echo "Installing $< into $(@D)"
	@$(BIN)/uv pip install --quiet --python $(@D)/bin/python -r $< \
	    || $(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $< \
	    || echo "not all of $< could be installed: tests that need it are skipped"
	@touch $@

# A few tests with the lowest versions that pyproject.toml allows, whose own deprecation warnings do not count.
lowest: .venv-lowest/installed  ## a few tests with the lowest versions of every dependency
	NUMBA_CACHE_DIR=.venv-lowest/cache .venv-lowest/bin/python -m pytest -m smoke -W default

newest: .venv-newest/installed  ## the same tests with the newest versions
	NUMBA_CACHE_DIR=.venv-newest/cache .venv-newest/bin/python -m pytest -m smoke -W default

# Thousands of cases, and some of them on Spark; what was drawn is counted. A failing case is made as simple as it gets, and
# the command that runs it again is printed.
CASES := 5000
SEED := 1
SPARK := 10
fuzz: .venv/installed  ## thousands of odd tables, released and read back without Shoal's code
	$(BIN)/python -m tests.fuzz --cases $(CASES) --seed $(SEED) --processes 2
	$(BIN)/python -m tests.fuzz --cases $(SPARK) --seed $(SEED) --engine spark

lint: .venv/installed  ## ruff, and mypy in strict mode on everything but kernels
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed  ## the benchmarks: ratios measured side by side
	$(BIN)/python -m benchmarks

experiments: .venv/installed  ## the papers' tables once more; writes docs/experiments
	$(BIN)/python -m experiments

docs: .venv/installed  ## the reference pages from the code, and the site
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/site.py

# An sdist, wheels with and without compiled kernels, a bill of materials and where they came from, checked and tried; into dist/.
# Wheels with kernels are for each Python that is found; DIST='--python 3.12 --machine x86_64' builds one of them.
DIST :=
dist: .venv/installed .venv-dist/tried  ## the packages that go out, checked and tried, in dist/
	$(BIN)/python -m distribution $(DIST)

clean:  ## remove everything that make has made
	rm -rf .venv .venv-lowest .venv-newest .venv-dbt .venv-dist .venv-dagster .venv-airflow site demo-output dist

# An environment, with a fast installer where there is one.
.venv/bin/python .venv-lowest/bin/python .venv-newest/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Shoal needs Python 3.11 or newer"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { test "$$(id -u)" = 0 && apt-get update -q && apt-get install -qy python3-venv; }
	$(PYTHON) -m venv $(@D)/..
	@$(@D)/python -m pip install --quiet --disable-pip-version-check uv || echo "uv is not to be had: pip installs, which takes longer"

# What is installed: what the demo needs, or everything.
WHAT = .[all,dev]
.venv/demo: WHAT = .[report]
.venv/demo .venv/installed: constraints.txt
.venv-lowest/installed: constraints-lowest.txt
.venv/demo .venv/installed .venv-lowest/installed .venv-newest/installed: pyproject.toml
.venv/demo .venv/installed: | .venv/bin/python
.venv-lowest/installed: | .venv-lowest/bin/python
.venv-newest/installed: | .venv-newest/bin/python
.venv/demo .venv/installed .venv-lowest/installed .venv-newest/installed:
	@echo "Installing $(WHAT) into $(@D)"
	@$(@D)/bin/uv pip install --quiet --python $(@D)/bin/python $(patsubst %,-c %,$(filter constraints%,$^)) -e '$(WHAT)' \
	    || $(@D)/bin/python -m pip install --quiet --disable-pip-version-check $(patsubst %,-c %,$(filter constraints%,$^)) -e '$(WHAT)'
	@touch $@
