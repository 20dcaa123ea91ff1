# Everything that is done with this repository. `make demo` and `make test` set up what they need.
PYTHON := $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin

.PHONY: demo test packages fuzz lowest lint bench experiments docs clean

demo: .venv/installed
	$(BIN)/shoal demo -o demo-output

test: .venv/installed packages
	$(BIN)/python -m pytest -n 2

# Programs that some tests compare with or look through; where they cannot be installed, those tests are skipped.
PACKAGES := weka openjdk-17-jre-headless chromium
packages:
	@test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || dpkg -s $(PACKAGES) >/dev/null 2>&1 \
	    || { apt-get update -q && apt-get install -qy --no-install-recommends $(PACKAGES); } \
	    || echo "not all of $(PACKAGES) could be installed: tests that need them are skipped"

# A few tests with the lowest versions that pyproject.toml allows, whose own deprecation warnings do not count.
lowest: .venv-lowest/installed
	NUMBA_CACHE_DIR=.venv-lowest/cache .venv-lowest/bin/python -m pytest -m smoke -W default

# Thousands of cases; a failing one is run again, and made as simple as it gets, by the command that is printed.
CASES := 5000
SEED := 1
fuzz: .venv/installed
	$(BIN)/python -m tests.fuzz --cases $(CASES) --seed $(SEED)

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed
	$(BIN)/python -m benchmarks

# The papers' tables, once more; writes docs/experiments.
experiments: .venv/installed
	$(BIN)/python -m experiments

docs: .venv/installed
	$(BIN)/python docs/generate.py
	$(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf .venv .venv-lowest site demo-output

.venv/installed: constraints.txt
.venv-lowest/installed: constraints-lowest.txt
.venv/installed .venv-lowest/installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Shoal needs Python 3.11 or newer"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { test "$$(id -u)" = 0 && apt-get update -q && apt-get install -qy python3-venv; }
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -c $(filter constraints%,$^) -e '.[all,dev]'
	$(if $(findstring lowest,$@),,$(@D)/bin/python -m shoal.kernels.ahead)
	@touch $@
