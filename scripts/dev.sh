#!/usr/bin/env bash
# Starts the local stack: servers, logins, migrations, workers, sample webhooks. Ctrl-C stops all of it.
# The same as `make run`; arguments go to the program (see `scripts/dev.sh --help`).
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
make --no-print-directory --silent setup
exec .venv/bin/python -m headrace.tools.dev run "$@"
