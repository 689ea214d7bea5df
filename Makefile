# Every target sets up what it needs; `make` alone lists the targets.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
OLDEST := .venv-oldest
# Workers of the tests: one per core, each on one thread.
WORKERS ?= auto
PYTEST := -m pytest --numprocesses $(WORKERS) --maxprocesses 8 --dist worksteal

.PHONY: help demo test test-all test-oldest coverage campaign mutants lint format docs dist clean

help:  ## List the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /|/' | while IFS='|' read -r name text; \
	do printf '%-12s %s\n' "$$name" "$$text"; done

demo: $(READY)  ## Compare ADSSC with two scikit-learn methods and write demo.png
	$(BIN)/python examples/demo.py

test: $(READY) lint  ## Run what every change must pass: lint, and the tests that are not slow
	$(BIN)/python $(PYTEST) -m "not slow"

test-all: $(READY) lint  ## Run lint and all tests
	$(BIN)/python $(PYTEST)

NEED_TORCH := engines/torch engines/dask/device_parts.py engines/dask/one_device.py features/scattered_torch.py paper/network.py paper/training.py

# The torch engine is left out: its oldest version brings several gigabytes of CUDA packages. Compiled code
# is kept apart, because two versions of numba would replace each other's. The checks of scikit-learn 1.6
# ask for SCIPY_ARRAY_API where anndata has brought array-api-compat.
test-oldest: $(OLDEST)/.ready  ## Run the tests with the oldest dependencies, in an environment of their own
	SCIPY_ARRAY_API=1 NUMBA_CACHE_DIR=$(CURDIR)/$(OLDEST)/numba $(OLDEST)/bin/python $(PYTEST) -m "not slow" --ignore=tests/engines/torch $(NEED_TORCH:%=--ignore=src/dssc/%)

# Compiled kernels cannot be traced, and the Triton kernels need a GPU: see [tool.coverage].
coverage: $(READY)  ## Run the tests and show which lines of src they miss
	$(BIN)/python $(PYTEST) -m "not slow" --cov --cov-report=term-missing:skip-covered --cov-report=xml

# Kernels with checked bounds have a cache of their own: numba would take the usual ones from it.
campaign: $(READY)  ## Try hostile problems, faults, damaged files and indices out of bounds (long)
	$(BIN)/python -m benchmarks.hostile
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/$(VENV)/bounds $(BIN)/python -m pytest -q -m "not slow" tests/kernels tests/stochastic --deselect tests/kernels/test_compiling.py
	$(BIN)/python -m pytest -q tests/test_faults.py tests/test_forking.py
	$(BIN)/python $(PYTEST) -m slow tests/cli/test_damaged_files.py

mutants: $(READY)  ## Change the projection's code in 60 places, one at a time, and see which tests notice
	$(BIN)/python tools/mutate.py --out $(VENV)/mutants.jsonl

lint: $(READY)  ## Run ruff, mypy and the import contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)  ## Format the code and repair what ruff can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The pages go to site/, which no page of them leaves: everything works offline.
docs: $(READY) $(VENV)/.docs  ## Build the pages into site/
	MPLBACKEND=Agg $(BIN)/python -m sphinx -W --keep-going -q -d $(VENV)/doctrees docs site
	@echo "open site/index.html"

dist: $(READY) $(VENV)/.release  ## Build wheel and sdist, check them, and try both in empty environments
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tools/smoke_test.py dist

$(VENV)/.docs: pyproject.toml
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[docs]"
	touch $@

$(VENV)/.release: pyproject.toml
	$(BIN)/python -m pip install --quiet build twine
	touch $@

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("dssc needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

$(OLDEST)/.ready: pyproject.toml constraints-oldest.txt
	$(PYTHON) -c 'import sys; sys.exit("the oldest dependencies need Python 3.11 or 3.12") if sys.version_info[:2] not in ((3, 11), (3, 12)) else None'
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --constraint constraints-oldest.txt --editable ".[anndata,images,plot,tables,test]"
	touch $@

clean:  ## Remove environments and everything that was built
	rm -rf $(VENV) $(OLDEST) dist demo.png coverage.xml .coverage site docs/gallery docs/generated
