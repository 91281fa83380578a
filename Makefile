# hosting-emulator: `make help` lists what there is.
#
# A fresh machine needs GNU make (3.81 or newer) and Python 3.11 or newer, nothing else:
# everything is installed into $(VENV). Choose an interpreter with PYTHON=python3.13.

VENV ?= .venv
ARGS ?=
# Half as many again as there are processors: many a test waits for a process or a page.
WORKERS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) * 3 / 2 )))

# The first interpreter that is new enough; expanded only when there is no environment yet.
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c '$(NEW_ENOUGH)' >/dev/null 2>&1 && { echo "$$python"; break; }; done)

BIN := $(VENV)/bin
# Tests start hundreds of processes: with no compiled files, each compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE
PIP := $(BIN)/python -m pip --disable-pip-version-check
RUN_STAMP := $(VENV)/.installed-run
DEV_STAMP := $(VENV)/.installed-dev
LOCKS := .ci/locks/image.txt .ci/locks/tests.txt

# The documentation's tools, and the site that they build.
SITE := .venv-docs
SITE_STAMP := $(SITE)/.installed

# The lowest versions of the dependencies that pyproject.toml allows, and what is tested with them.
# Python 3.14 is newer than some of these: they have no wheels for it.
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

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  make run ARGS='--port 4700'     arguments for 'hosting-emulator start'"
	@echo "  make test PYTHON=python3.13     the interpreter for a new environment"

run: $(RUN_STAMP) ## start the emulator; the first time, install it
	@$(BIN)/hosting-emulator start $(ARGS)

install: $(DEV_STAMP) ## install the emulator with all that its tests need

test: $(DEV_STAMP) ## everything that CI checks, at the same time
	@$(BIN)/python .ci/side_by_side.py "$(MAKE)" style types layers lowest pytest

style: $(DEV_STAMP) ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV_STAMP) ## mypy, strict
	$(BIN)/mypy

layers: $(DEV_STAMP) ## import-linter: a package imports only the layers below it
	$(BIN)/lint-imports --no-cache

lowest: $(DEV_STAMP) ## some of the tests, with the lowest version of each dependency
ifeq ($(LOWEST_PYTHON),)
	@echo "skipped: no Python 3.11 to 3.13, for which the lowest versions are built"
else
	@$(MAKE) --no-print-directory $(LOWEST_STAMP)
	$(LOWEST)/bin/python -m pytest -q -p no:cacheprovider $(LOWEST_TESTS)
endif

pytest: $(DEV_STAMP) ## the tests; ARGS goes to pytest
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

record: $(DEV_STAMP) ## renew all golden files and docs/reference, after an intended change of what they show
	$(BIN)/python -m tests.golden.walk
	RENEW_GOLDEN_FILES=1 $(BIN)/pytest -q -n 0 tests/cli/test_golden.py
	PYTHONPATH=.ci $(BIN)/python -m reference

schemathesis: $(DEV_STAMP) ## both OpenAPI documents at length: made-up requests, linters, more clients
	$(BIN)/pytest -n 0 -m schemathesis -s tests/openapi $(ARGS)

image: $(DEV_STAMP) ## build the image without an engine and run it (root, buildah, mmdebstrap), or try its steps
	@$(BIN)/python .ci/image.py

lock: $(DEV_STAMP) ## pin anew what CI and the image install; ARGS=--upgrade raises all versions
	@.ci/lock $(BIN)/python $(ARGS)

audit: $(DEV_STAMP) ## dependencies against published advisories, where these can be reached
	@.ci/audit $(BIN)/python

torture: $(DEV_STAMP) ## the long tests that try to break it: a thousand kills and more
	$(BIN)/pytest -n 0 -m torture -s $(ARGS)

bench: $(DEV_STAMP) ## measure speed against its bars and write docs/maintainers/speed.md; ARGS=--quick for a minute
	PYTHONPATH=.ci:. $(BIN)/python -m benchmarks.bench $(ARGS)

mutants: $(DEV_STAMP) ## measure the tests: do they notice small changes of the product? About an hour
	@PYTHONPATH=.ci $(BIN)/python -m mutants $(ARGS)

coverage: $(DEV_STAMP) ## list the lines of the product that no test runs
	@PYTHONPATH=.ci $(BIN)/python -m mutants.untested_lines $(ARGS)

pictures: $(DEV_STAMP) ## draw docs/pictures from a running emulator; wants Chromium
	$(BIN)/python -m tests.pictures

site: $(SITE_STAMP) ## build the documentation as a site with search; a broken link fails
	@$(SITE)/bin/python -m sphinx -q -W --keep-going -b html -d $(SITE)/read docs $(SITE)/html

docs: site ## serve that site on this machine; ARGS=8001 for another port than 8000
	@$(SITE)/bin/python -m http.server --bind 127.0.0.1 --directory $(SITE)/html $(ARGS)

format: $(DEV_STAMP) ## let ruff write the format and its safe fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove the environment, caches and build output; never an emulator's data
	rm -rf "$(VENV)" "$(LOWEST)" "$(SITE)" dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .mutants
	find emulator scenarios fixtures cli tests .ci -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment counts as made once it has pip: where Python lacks ensurepip, `venv` leaves a
# half-made folder behind, and the next try must not take that for a whole one.
$(BIN)/pip:
	@test -n "$(PYTHON)" || { \
	  echo "error: no Python 3.11 or newer found." \
	       "Install one, or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c '$(NEW_ENOUGH)' 2>/dev/null || { \
	  echo "error: Python 3.11 or newer is needed, and '$(PYTHON)' is" \
	       "$$("$(PYTHON)" --version 2>/dev/null || echo 'not to be found')." \
	       "Name another: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; }
	@echo "Creating $(VENV) with $$("$(PYTHON)" --version)"
	@"$(PYTHON)" -m venv "$(VENV)" || { \
	  echo "error: '$(PYTHON) -m venv' failed. On Debian and Ubuntu:" \
	       "apt-get install python3-venv" >&2; exit 1; }

$(RUN_STAMP): $(BIN)/pip pyproject.toml
	@echo "Installing hosting-emulator into $(VENV)"
	@$(PIP) install --quiet --editable .
	@touch $@

# Python's own pip is old, and takes twice as long: here, and where tests install what is shipped.
# What builds the wheel is among what is pinned; that nothing is missing there, `pip check` says.
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
