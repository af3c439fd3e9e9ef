#!/usr/bin/env bash
# What can be said of the Nix files with an evaluator alone, in seconds and without a store: each parses, and the unit tests
# of the pure functions pass.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Evaluating builds nothing, so no store is needed, nor the right to write one.
export NIX_REMOTE=dummy://

find . -name '*.nix' -not -path './.*' -print0 | xargs -0 -r nix-instantiate --parse >/dev/null

failed="$(nix-instantiate --eval --strict --json nix/tests)"
if [ "$failed" != "[]" ]; then
    echo "Nix unit tests failed: $failed" >&2
    exit 1
fi
