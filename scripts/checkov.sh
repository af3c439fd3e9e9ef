#!/usr/bin/env bash
# Looks for insecure infrastructure in deployment/; exceptions stand where they are made, each with its reason.
# checkov brings a hundred packages with pins of their own, so it lives in an environment apart from the lock.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=3.3.30
export UV_TOOL_DIR="$PWD/.headrace/tools" UV_TOOL_BIN_DIR="$PWD/.headrace/tools/bin"
checkov="$UV_TOOL_BIN_DIR/checkov"

if ! "$checkov" --version 2>/dev/null | grep -qxF "$version"; then
    if ! said="$(.headrace/bin/uv tool install --quiet --force --python .headrace/bin/python "checkov==$version" 2>&1)"; then
        echo "checkov cannot be installed, so insecure infrastructure was not looked for: ${said##*$'\n'}" >&2
        # Where the gate runs, a check that did not run is a check that failed.
        [ -z "${CI:-}" ]
        exit
    fi
fi

exec "$checkov" --directory deployment --framework terraform dockerfile --compact --quiet --skip-download
