# make run | test | check | bench | docs | clean      (needs Python >= 3.11 with pip; everything else goes into .venv)
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PY := .venv/bin/python
WORKERS ?= 2
ARGS ?=

.PHONY: run test test-all check bench docs clean constraints

run: .venv/.installed
	$(PY) experiments/demo.py $(ARGS)

test: .venv/.installed
	$(PY) -m pytest -m "not slow" -n $(WORKERS) $(ARGS)

test-all: .venv/.installed
	$(PY) -m pytest -n $(WORKERS) $(ARGS)

check: .venv/.installed
	$(PY) -m ruff check .
	$(PY) -m pyright

bench: .venv/.installed
	$(PY) experiments/bench/throughput.py $(ARGS)

# Pages from README, docs and docstrings, in dist/docs; warnings are errors. From the disk: open dist/docs/index.html
docs: .venv/.installed
	$(PY) -c 'import mkdocs, mkdocstrings, material' 2>/dev/null || $(PY) -m pip install -q -c constraints.txt -e '.[docs]'
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet

clean:
	rm -rf dist .pytest_cache .ruff_cache .hypothesis
	find src tests experiments -name __pycache__ -prune -exec rm -rf {} +

# Records the versions of .venv, after a deliberate upgrade.
constraints:
	$(PY) -m pip freeze --exclude-editable > constraints.tmp && mv constraints.tmp constraints.txt

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "qes_jax needs Python >= 3.11; set it with: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv .venv || $(MAKE) venv-without-ensurepip

# Some systems ship Python without ensurepip: their own pip then fills the environment.
.PHONY: venv-without-ensurepip
venv-without-ensurepip:
	rm -rf .venv && $(PYTHON) -m venv --without-pip .venv && $(PYTHON) -m pip --python .venv/bin/python install pip

.venv/.installed: pyproject.toml constraints.txt | .venv/bin/python
	$(PY) -m pip install -q -c constraints.txt -e '.[dev]'
	@touch $@
