#!/usr/bin/env bash
# Runs one check and says how it went in a line: step.sh NAME COMMAND [ARGUMENT...]
# The command's output is shown only when it fails, in one piece, so that checks may run side by side.
set -euo pipefail

name="$1"
shift
output="$(mktemp)"
trap 'rm -f "$output"' EXIT

start="$SECONDS"
if "$@" >"$output" 2>&1; then
    printf 'ok    %-14s %3d s\n' "$name" "$((SECONDS - start))"
else
    code="$?"
    { printf 'FAIL  %-14s %3d s: %s\n' "$name" "$((SECONDS - start))" "$*"; cat "$output"; } >&2
    exit "$code"
fi
