# The commands of a contributor. `make site` and `make test` each work alone on a fresh machine.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SPEC := .cache/node_modules/commonmark-spec/spec.txt
PYTEST_FLAGS ?= -q -n auto

.PHONY: site test lint types format regen clean

site: $(READY)
	$(BIN)/blogsmith build

test: lint types $(SPEC)
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(READY)
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Rewrites expected results; read the difference before you commit it.
regen: $(READY)
	$(BIN)/python -m tests.regen

clean:
	rm -rf $(VENV) .cache .blogsmith .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find blogsmith plugins tests -name __pycache__ -type d -exec rm -rf {} +

# Installed again whenever the dependencies may have changed.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'blogsmith needs Python 3.11 or later; choose one with: make PYTHON=python3.11'; exit 1; }
	@test -x $(BIN)/python && $(BIN)/python -m pip --version >/dev/null 2>&1 || \
		$(PYTHON) -m venv --clear $(VENV) || \
		{ echo 'Python cannot make a virtual environment here.'; \
		  echo 'On Debian and Ubuntu: sudo apt-get install python3-venv'; rm -rf $(VENV); exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[test]'
	@touch $@

# The examples of the CommonMark specification; without npm their test is skipped and says so.
$(SPEC):
	@if command -v npm >/dev/null; then \
		npm install --prefix .cache --silent --no-audit --no-fund --ignore-scripts commonmark-spec@0.31.2; \
	else echo 'npm is missing: the CommonMark examples will be skipped'; fi
