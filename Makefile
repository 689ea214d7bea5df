# `make demo` and `make test` set up everything they need in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-all lint docs clean

demo: $(READY)
	$(BIN)/python examples/demo.py

test: $(READY) lint
	$(BIN)/python -m pytest -m "not slow"

test-all: $(READY) lint
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The pages go to site/, which no page of them leaves: everything works offline.
docs: $(READY) $(VENV)/.docs
	MPLBACKEND=Agg $(BIN)/python -m sphinx -W --keep-going -q -d $(VENV)/doctrees docs site
	@echo "open site/index.html"

$(VENV)/.docs: pyproject.toml
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $(VENV)/.docs

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("dssc needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $(READY)

clean:
	rm -rf $(VENV) demo.png site docs/gallery docs/generated
