# `make help` lists the targets.
#
# A fresh machine needs only GNU make (3.81 or newer) and Python 3.11 or newer. Everything else is
# installed into $(VENV). To choose an interpreter, set PYTHON, for example PYTHON=python3.13.

VENV ?= .venv
ARGS ?=
# Use one and a half workers per processor, because many tests wait for a process or a page.
WORKERS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) * 3 / 2 )))

# The first interpreter that is new enough. It is looked up only if there is no environment yet.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && { echo "$$python"; break; }; done)

BIN := $(VENV)/bin
# Let Python write .pyc files. Tests start hundreds of processes, and without these files each process
# would compile every module that it imports.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip --disable-pip-version-check
RUN_STAMP := $(VENV)/.installed-run
DEV_STAMP := $(VENV)/.installed-dev
LOCKS := .ci/locks/image.txt .ci/locks/tests.txt

# The environment with the documentation tools, and the site that they build.
SITE := .venv-docs
SITE_STAMP := $(SITE)/.installed

# The environment with the lowest versions of the dependencies that pyproject.toml allows, and the tests
# that run in it. It cannot use Python 3.14, because some of these versions have no wheels for it.
LOWEST := .venv-lowest
LOWEST_STAMP := $(LOWEST)/.installed
OLD_ENOUGH := import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))
LOWEST_PYTHON ?= $(shell for python in $(BIN)/python python3 python3.13 python3.12 python3.11; do \
	"$$python" -c '$(OLD_ENOUGH)' >/dev/null 2>&1 && { echo "$$python"; break; }; done)
LOWEST_TESTS := tests/attacks/load/test_framing.py tests/attacks/load/test_backpressure.py \
	tests/attacks/intrusion/test_foreign_pages.py tests/doors/http/test_malformed_http.py \
	tests/doors/control/test_metrics.py tests/control/test_events.py $(addprefix tests/service/test_, \
	fault_effects.py set_project_powered_by_flag.py initialize_managed_source.py create_user_api_key.py \
	apply_project_domains.py polling.py tickets.py get_dns_authorization.py list_deployments.py \
	create_dev_access_ticket.py read_database_compute.py)

.DEFAULT_GOAL := help
.PHONY: help run install test style types layers lowest pytest record schemathesis torture image lock audit bench mutants coverage pictures site docs format clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  make run ARGS='--port 4700'     pass arguments to 'hosting-emulator start'"
	@echo "  make test PYTHON=python3.13     choose the interpreter for a new environment"

run: $(RUN_STAMP) ## install the emulator if necessary, and start it
	@# Replace the shell, because Ctrl-C would end it, and make would report this as an error.
	@exec env HOSTING_EMULATOR_MAKE_RUN=1 $(BIN)/hosting-emulator start $(ARGS)

install: $(DEV_STAMP) ## install the emulator and everything that its tests need

test: $(DEV_STAMP) ## run style, types, layers, lowest and pytest at the same time
	@$(BIN)/python .ci/side_by_side.py "$(MAKE)" style types layers lowest pytest

style: $(DEV_STAMP) ## check rules and format with ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV_STAMP) ## check types with mypy, in strict mode
	$(BIN)/mypy

layers: $(DEV_STAMP) ## check with import-linter that each package imports only the layers below it
	$(BIN)/lint-imports --no-cache

lowest: $(DEV_STAMP) ## run some of the tests with the lowest version of each dependency
ifeq ($(LOWEST_PYTHON),)
	@echo "skipped: the lowest versions need Python 3.11, 3.12 or 3.13, and none was found"
else
	@$(MAKE) --no-print-directory $(LOWEST_STAMP)
	$(LOWEST)/bin/python -m pytest -q -p no:cacheprovider $(LOWEST_TESTS)
endif

pytest: $(DEV_STAMP) ## run the tests; ARGS is passed to pytest
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

record: $(DEV_STAMP) ## renew the golden files and docs/reference after an intended change
	$(BIN)/python -m tests.golden.walk
	$(BIN)/python -m tests.lab.contract_check.whole_reports
	RENEW_GOLDEN_FILES=1 $(BIN)/pytest -q -n 0 tests/cli/test_golden.py tests/cli/test_doctor_findings.py tests/cli/test_rich_views.py
	$(BIN)/python -m tests.lab.judge.whole_reports
	$(BIN)/python -m tests.conduct.findings
	$(BIN)/python -m tests.faults.refusals
	$(BIN)/python -m tests.faults.armed_rules
	$(BIN)/python -m tests.contract.refusals
	$(BIN)/python -m tests.criteria.refusals
	PYTHONPATH=.ci $(BIN)/python -m reference

schemathesis: $(DEV_STAMP) ## test both OpenAPI documents thoroughly: generated requests, linters, more clients
	$(BIN)/pytest -n 0 -m schemathesis -s tests/openapi $(ARGS)

image: $(DEV_STAMP) ## build and run the image without an engine (needs root, buildah and mmdebstrap), or test its steps
	@$(BIN)/python .ci/image.py

lock: $(DEV_STAMP) ## update the pins for CI and the image; ARGS=--upgrade raises all versions
	@.ci/lock $(BIN)/python $(ARGS)

audit: $(DEV_STAMP) ## check the dependencies against published advisories, if these can be reached
	@.ci/audit $(BIN)/python

torture: $(DEV_STAMP) ## run the long stress tests, which kill the emulator more than a thousand times
	$(BIN)/pytest -n 0 -m torture -s $(ARGS)

bench: $(DEV_STAMP) ## measure speed and write docs/maintainers/speed.md; ARGS=--quick takes a minute or two
	PYTHONPATH=.ci:. $(BIN)/python -m benchmarks.bench $(ARGS)

mutants: $(DEV_STAMP) ## measure whether the tests notice small changes to the product; takes about an hour
	@PYTHONPATH=.ci $(BIN)/python -m mutants $(ARGS)

coverage: $(DEV_STAMP) ## list the lines of the product that no test runs
	@PYTHONPATH=.ci $(BIN)/python -m mutants.untested_lines $(ARGS)

pictures: $(DEV_STAMP) ## draw docs/pictures from a running emulator; needs Chromium
	$(BIN)/python -m tests.pictures

site: $(SITE_STAMP) ## build the documentation as a site with search; fails on a broken link
	@$(SITE)/bin/python -m sphinx -q -W --keep-going -b html -d $(SITE)/read docs $(SITE)/html

docs: site ## serve the documentation site on port 8000; ARGS=8001 chooses another port
	@$(SITE)/bin/python -m http.server --bind 127.0.0.1 --directory $(SITE)/html $(ARGS)

format: $(DEV_STAMP) ## apply ruff's format and safe fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove environments, caches and build output, but never an emulator's data
	rm -rf "$(VENV)" "$(LOWEST)" "$(SITE)" dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .mutants
	find emulator scenarios fixtures cli tests .ci -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment is complete once it contains pip. If Python lacks ensurepip, `venv` leaves an
# incomplete folder behind, which the next attempt must not use.
$(BIN)/pip:
	@test -n "$(PYTHON)" || { \
	  echo "error: no Python 3.11 or newer found." \
	       "Install one, or give its path: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c '$(NEW_ENOUGH)' 2>/dev/null || { \
	  echo "error: Python 3.11 or newer is needed, but '$(PYTHON)' is" \
	       "$$("$(PYTHON)" --version 2>/dev/null || echo 'not a Python interpreter')." \
	       "Choose another: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Creating $(VENV) with $$("$(PYTHON)" --version)"
	@"$(PYTHON)" -m venv "$(VENV)" || { \
	  echo "error: '$(PYTHON) -m venv' failed. On Debian and Ubuntu:" \
	       "apt-get install python3-venv" >&2; exit 1; }

$(RUN_STAMP): $(BIN)/pip pyproject.toml
	@echo "Installing hosting-emulator into $(VENV)"
	@$(PIP) install --quiet --editable .
	@touch $@

# Update pip first, because the pip that comes with Python takes twice as long, here and in tests that
# install packages. The pins include the build backend. `pip check` fails if a pin is missing.
$(DEV_STAMP): $(BIN)/pip pyproject.toml $(LOCKS)
	@echo "Installing hosting-emulator and its tests' tools, as pinned, into $(VENV)"
	@$(PIP) install --quiet "$$(sed -n 's/^\(pip==[0-9.]*\).*/\1/p' .ci/locks/tests.txt)"
	@$(PIP) install --quiet --no-deps --require-hashes $(addprefix --requirement ,$(LOCKS))
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@$(PIP) check >$(VENV)/check.txt || { cat $(VENV)/check.txt >&2; exit 1; }
	@touch $@ $(RUN_STAMP)

$(SITE_STAMP): $(BIN)/pip .ci/locks/docs.txt
	@$(BIN)/python -m venv --without-pip $(SITE)
	@$(PIP) --python $(SITE)/bin/python install --quiet --no-deps --require-hashes \
	  --requirement .ci/locks/docs.txt
	@touch $@

$(LOWEST_STAMP): pyproject.toml .ci/lowest_versions.py
	@rm -rf $(LOWEST)
	@$(LOWEST_PYTHON) -m venv --without-pip $(LOWEST)
	@$(LOWEST)/bin/python .ci/lowest_versions.py > $(LOWEST)/constraints.txt
	@$(PIP) --python $(LOWEST)/bin/python install --quiet --no-compile \
	  --constraint $(LOWEST)/constraints.txt --editable '.[pytest]' pytest-aiohttp
	@touch $@
