# Each target sets up .venv as far as it needs and works from a fresh clone with python3, pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# pip is the caller's, told to install into the virtual environment: works where venv comes without pip, too.
PIP := $(PYTHON) -m pip --python $(BIN)/python --disable-pip-version-check
INSTALL := $(PIP) install --quiet --constraint constraints.txt --editable
OUT := build/demo
DATA ?= # for `make bench`: a .jsonl.gz file of documents; by default the built-in ones. For `make peers`: a folder of corpora
RESULTS := benchmarks/results/peers.json
MINUTES ?= 10 # for `make fuzz`

.PHONY: demo test check fuzz bench peers docs clean
.DELETE_ON_ERROR:

demo: $(VENV)/.explore
	@rm -rf $(OUT)
	@echo "Reading the documentation of Python and of the packages that diln is built on: some 5,000 documents"
	$(BIN)/diln corpus build builtin:docs --output $(OUT)/corpus
	@echo
	@echo "Fitting DILN twice, to see what a second chain finds again: 60 sweeps each, fewer than by default; more make more pairs sure"
	$(BIN)/diln fit $(OUT)/corpus --output $(OUT)/model --seed 1 --chains 2 --passes 60 --jobs -1
	@echo
	$(BIN)/diln themes $(OUT)/model
	@echo
	$(BIN)/diln correlations $(OUT)/model --all
	@echo
	$(BIN)/diln info $(OUT)/model
	@echo
	$(BIN)/diln report $(OUT)/model --output $(OUT)/report.html --title "Documentation of Python and its scientific packages"
	@echo
	@echo "Open $(OUT)/report.html in a browser, or explore the model there: $(BIN)/diln explore $(OUT)/model"

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --durations=20

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

fuzz: $(VENV)/.dev
	$(BIN)/python fuzz --minutes $(MINUTES) --findings build/fuzz

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/corpus_build.py $(DATA)

peers: $(VENV)/.bench
	$(BIN)/python benchmarks/peers $(DATA) --out $(RESULTS)
	$(BIN)/python benchmarks/peers --table $(RESULTS)

docs: $(VENV)/.docs
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) build dist site .hypothesis .mypy_cache .pytest_cache .ruff_cache

$(BIN)/python:
	$(PYTHON) -m venv --without-pip $(VENV)

$(VENV)/.explore: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) ".[explore]"
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) ".[dev]"
	@touch $@ $(VENV)/.explore

$(VENV)/.bench: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) ".[bench]"
	@touch $@

$(VENV)/.docs: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) ".[docs]"
	@touch $@
