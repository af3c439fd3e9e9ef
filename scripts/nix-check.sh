#!/usr/bin/env bash
# Everything that Nix holds the tree to, as far as this machine can: nix-check.sh PYTEST
# With an offline lab (scripts/nix.sh) or plain Nix that reaches the flake's inputs: `nix flake check`, every image built
# again from what it is made of, and the faults that must turn the check red. With an evaluator alone: parser and unit tests.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
pytest="$1"

# Whether plain Nix can get the inputs of flake.lock; asked once, without the usual patience.
reaches_inputs() {
    command -v nix >/dev/null && timeout 900 nix --extra-experimental-features "nix-command flakes" \
        --option download-attempts 1 --option connect-timeout 5 eval .#worker-image.name >/dev/null 2>&1
}

# Builds every derivation of ours once more and fails where the outcome differs.
build_again() {
    local derivations
    scripts/nix.sh build .#images --no-link
    derivations="$(nix-store --query --requisites "$(scripts/nix.sh eval --raw .#images.drvPath)" |
        grep -E -- '-(headrace-[^/]*|stream-[^/]*)\.drv$')"
    # shellcheck disable=SC2086 # one word each
    scripts/nix.sh build --rebuild --no-link $derivations
}

if ! command -v nix-instantiate >/dev/null; then
    echo "nix-check: there is no Nix on this machine, so nothing ran" >&2
    exit 1
fi
scripts/nix-unit.sh
scripts/nix.sh --takes-folder
if scripts/nix.sh --has-lab; then
    how="the offline lab"
elif reaches_inputs; then
    how="Nix and its cache"
else
    echo "nix-check: only the parser and the unit tests ran, since this machine has no offline lab and reaches no inputs"
    exit 0
fi
scripts/nix.sh flake check -L --keep-going
build_again
"$pytest" -m flake tests/flake
echo "nix-check: everything ran, with $how"
