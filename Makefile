# The commands of this repository; `make help` lists them. Everything else is in scripts/ and tools/.
# Needs GNU make, git and Python 3.12 or later, or any Python 3 and a network from which uv may bring one.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

STATE := .headrace
UV := $(STATE)/bin/uv
PYTHON := $(STATE)/bin/python
BIN := .venv/bin
STAMP := .venv/.headrace-setup
STEP := scripts/step.sh
LOCK := PYTHONPATH=tools/src $(PYTHON) -m headrace.tools.lock --uv "$(CURDIR)/$(UV)"

MEMBERS := om infra tools $(wildcard workers/*)
PROJECTS := pyproject.toml $(wildcard $(MEMBERS:%=%/pyproject.toml))
SOURCES := $(wildcard $(MEMBERS:%=%/src))
SCRIPTS := .ci/run $(wildcard scripts/*.sh)
MIGRATIONS := $(wildcard om/migrations/sql/*/*.up.sql)
# uv must neither look for another interpreter nor use an environment that happens to be active.
unexport VIRTUAL_ENV
# uv brings its own list of authorities; where the machine keeps one, trust that instead, as pip and browsers do.
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem),)
export UV_SYSTEM_CERTS ?= true
# The same setting as uv called it before.
export UV_NATIVE_TLS ?= true
endif

.PHONY: help setup run test test-postgres-18 check fmt lint types lock lock-check migrate migrate-check up down reset urls new-worker remove-worker golden env-example terraform-schema bench bench-peers bench-plots bench-smoke bench-soak images nix-check clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(STAMP) ## Install everything into .venv (quick when nothing changed)
	@:

run: setup ## Start the whole stack and send sample webhooks through it; ONCE=1 ends when all have arrived
	@exec $(BIN)/python -m headrace.tools.dev run $(if $(ONCE),--once)

# No wheel carries pgbouncer, so a newcomer's machine may lack it.
NO_POOLER := $(if $(shell PATH="$$PATH:/usr/sbin" command -v pgbouncer),, and not pooler)
# Images run as root, each in a network of its own.
IMAGES := $(shell [ "$$(id -u)" = 0 ] && command -v podman >/dev/null && unshare --net true 2>/dev/null && echo yes)
NO_IMAGES := $(if $(IMAGES),, and not images)

# Nor does one carry Terraform or its AWS provider, half a gigabyte of it.
NO_TERRAFORM := $(if $(shell scripts/terraform.sh plugins 2>/dev/null),, and not terraform)
TERRAFORM_TOLD := $(if $(NO_TERRAFORM),checked against the kept schema alone: no AWS provider is on this machine,validated and \
	tested by Terraform with the AWS provider of this machine)

NO_REGISTRY := $(if $(and $(shell command -v docker-registry),$(shell command -v skopeo),$(shell command -v jq)),, and not registry)

test: check ## Run the checks, then every test that they left out
	@$(if $(NO_POOLER),echo "pgbouncer is not on this machine: the tests behind a pooler are left out; CI has it" >&2)
	@$(if $(NO_IMAGES),echo "no root or no podman that may be used: no image is run; CI runs one" >&2)
	@$(if $(NIX),,echo "nix-instantiate is not on this machine: the Nix files are left out; CI has it" >&2)
	@$(if $(NO_REGISTRY),echo "docker-registry or skopeo or jq is not on this machine: the promotion by digest and the script of the migration are left out; CI has them" >&2)
	@scripts/checkov.sh
	@echo "the Terraform configuration is $(TERRAFORM_TOLD)" >&2
	@$(BIN)/pytest -m "(servers or long) and not processes$(NO_POOLER)" --numprocesses 2 --dist loadfile
	@$(BIN)/pytest -m "processes$(NO_IMAGES)$(NO_TERRAFORM)$(NO_REGISTRY)"

# A package of the lock carries it, so any machine can.
test-postgres-18: setup ## Run what needs PostgreSQL over PostgreSQL 18 instead of the machine's own
	@HEADRACE_TEST_POSTGRES=wheel $(BIN)/pytest -m "servers and not processes$(NO_POOLER)" --numprocesses 2 --dist loadfile
	@HEADRACE_TEST_POSTGRES=wheel $(BIN)/pytest tests/chaos -m processes

# An evaluator alone is enough for the parser and the unit tests of the Nix files; nothing else needs Nix.
NIX := $(shell command -v nix-instantiate)
NO_NIX := $(if $(NIX),, and not nix)

CHECKS := ruff format mypy imports arch deptry vulture interrogate typos shellcheck workflows lock env inputs $(if $(MIGRATIONS),squawk) \
	$(if $(NIX),nix) unit
.PHONY: $(CHECKS:%=check-%)

# Where make can, each check's output in one piece.
SYNC := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

check: setup ## Run linters, type checks, contracts and the tests that start no server
	@$(MAKE) --no-print-directory --jobs 2 --keep-going $(SYNC) $(CHECKS:%=check-%)

# The longest ones come first, so that the short ones fill the other core.
check-unit:
	@$(STEP) unit $(BIN)/pytest -q --numprocesses 2 --dist worksteal -m "not servers and not long and not processes and not flake$(NO_NIX)"

check-mypy:
	@$(STEP) mypy scripts/types.sh $(BIN)/mypy

check-ruff:
	@$(STEP) ruff $(BIN)/ruff check .

check-format:
	@$(STEP) format $(BIN)/ruff format --check .

check-imports:
	@$(STEP) imports $(BIN)/lint-imports --no-cache

check-arch:
	@$(STEP) arch $(BIN)/python -m headrace.tools.arch_check

check-deptry:
	@$(STEP) deptry scripts/deptry.sh $(BIN)/deptry $(MEMBERS)

check-vulture:
	@$(STEP) vulture scripts/vulture.sh $(BIN)/vulture

# ruff asks for each docstring; this holds the share, in which overriding methods (they need none) count as missing.
check-interrogate:
	@$(STEP) interrogate $(BIN)/interrogate --fail-under 60 --ignore-magic --ignore-private --ignore-semiprivate \
		--ignore-nested-functions --ignore-init-method --ignore-setters $(SOURCES)

check-typos:
	@$(STEP) typos $(BIN)/typos

check-shellcheck:
	@$(STEP) shellcheck $(BIN)/shellcheck $(SCRIPTS)

check-workflows:
	@$(STEP) workflows scripts/workflows.sh $(BIN)

check-squawk:
	@$(STEP) squawk $(BIN)/squawk $(MIGRATIONS)

check-env:
	@$(STEP) env $(BIN)/python -m headrace.tools.env_example --check

check-inputs:
	@$(STEP) inputs $(BIN)/python -m headrace.tools.terraform_inputs --check

check-nix:
	@$(STEP) nix scripts/nix-unit.sh

check-lock:
	@$(STEP) lock env $(LOCK) check

fmt: setup ## Format the code and repair what can be repaired without thought
	@$(BIN)/ruff check --fix-only --exit-zero --quiet .
	@$(BIN)/ruff format .

lint: setup ## Run ruff
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: setup ## Run mypy
	@scripts/types.sh $(BIN)/mypy

lock: $(UV) ## Resolve the dependencies again and write the host-free lock, nix/uv.lock and workers/*/lock.toml
	@$(LOCK) relock

lock-check: setup ## Check that the locks agree with each other and with the projects, and that no host slipped in
	@$(LOCK) check

up: setup ## Start PostgreSQL and Redis (in containers, where a Docker engine answers) and leave them running
	@$(BIN)/python -m headrace.tools.dev servers start

down: setup ## Stop them; their data stays
	@$(BIN)/python -m headrace.tools.dev servers stop

reset: setup ## Stop them and forget their data
	@$(BIN)/python -m headrace.tools.dev servers reset

urls: setup ## Say where everything listens that runs now
	@$(BIN)/python -m headrace.tools.dev urls

migrate: setup ## Bring the local database up to date
	@$(BIN)/python -m headrace.tools.dev exec -- $(BIN)/headrace migrate

migrate-check: setup ## Check that schema and code agree, and that revisions go back and forth
	@$(BIN)/pytest -q om/tests/integration/test_migrations.py -k "agree or back or scripts or check"

new-worker: setup ## Add a worker; ARGS="shipment-notifier NOTIFY_SHIPMENT", ARGS=--help tells the rest
	@$(BIN)/new-worker $(ARGS)

remove-worker: setup ## Take a worker that new-worker made out again; ARGS=shipment-notifier
	@$(BIN)/remove-worker $(ARGS)

golden: setup ## Write the generator's golden trees anew; then look at what git says
	@HEADRACE_REFRESH_GOLDEN=1 $(BIN)/pytest -q tools/tests/new_worker/test_rendering_golden.py

env-example: setup ## Write the .env.example files from the settings classes
	@$(BIN)/python -m headrace.tools.env_example

terraform-schema: setup ## Write the JSON schema of the Terraform inputs from their classes
	@$(BIN)/python -m headrace.tools.terraform_inputs --write-schema

bench: setup ## Measure everything, in less than five minutes; ARGS=--quick for the shape of it
	@$(BIN)/python -m headrace.tools.bench all $(ARGS)

bench-peers: setup ## Measure other queues beside ours, in turns; ARGS="--quick pgqueuer" for some of it
	@$(BIN)/python -m headrace.tools.bench peers $(ARGS)

# matplotlib is in a dependency group of its own, which no other command needs.
PLOTS := $(UV) sync --frozen --all-packages --all-extras --group plots --quiet --python $(PYTHON)
BENCHES := $(STATE)/bench

bench-plots: setup ## Measure how the rate goes with capacity, processes, payload and backlog, and draw it
	@$(PLOTS)
	@$(BIN)/python -m headrace.tools.bench scaling $(ARGS) --json $(BENCHES)/scaling.json
	@$(BIN)/python -m headrace.tools.bench draw $(BENCHES)/scaling.json

bench-soak: setup ## Let items come for 20 minutes, or SECONDS=60, and draw what should stay flat
	@$(PLOTS)
	@$(BIN)/python -m headrace.tools.bench soak --seconds $(or $(SECONDS),1200) $(ARGS) --json $(BENCHES)/soak.json
	@$(BIN)/python -m headrace.tools.bench draw $(BENCHES)/soak.json

bench-smoke: setup ## Measure how fast an item is picked up
	@$(BIN)/python -m headrace.tools.bench smoke

images: setup ## Build the Dockerfiles and run each image as the tests would; ARGS="maintenance" takes one
	@scripts/images.sh $(ARGS)

nix-check: setup ## Build and check everything by Nix, as far as this machine can
	@scripts/nix-check.sh $(BIN)/pytest

clean: ## Stop local servers and remove everything that was built or kept
	@if [ -x $(BIN)/python ]; then $(BIN)/python -m headrace.tools.dev clean; fi
	@rm -rf .venv $(STATE) uv.lock dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One script makes both; it decides itself whether anything is missing.
$(PYTHON):
	@scripts/bootstrap.sh

$(UV): | $(PYTHON)
	@scripts/bootstrap.sh

# The folder `workers` changes when a worker comes or goes.
uv.lock: nix/uv.lock workers $(wildcard workers/*/lock.toml) | $(UV)
	@$(LOCK) hydrate && touch $@

$(STAMP): uv.lock $(PROJECTS) | $(UV)
	@$(UV) sync --frozen --all-packages --all-extras --quiet --python $(PYTHON)
	@touch $@
