#!/usr/bin/env bash
# Checks the workflows: workflows.sh BIN
# actionlint knows what a workflow may say, and has shellcheck read its scripts; zizmor knows what it had better not say.
# Neither looks anything up, so both say the same with and without a network.
set -euo pipefail

bin="$1"
"$bin/actionlint" -no-color -shellcheck "$bin/shellcheck" -pyflakes "" .github/workflows/*.yml
"$bin/zizmor" --offline --no-progress --persona=pedantic .github
