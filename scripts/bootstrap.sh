#!/usr/bin/env bash
# Gives the working tree a Python (3.12 or later) and a uv of its own to start from: links .headrace/bin/{python,uv}.
# Uses what the machine has; installs nothing outside .headrace. Quick and silent when both are there already.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
bin="$root/.headrace/bin"
bootstrap="$root/.headrace/bootstrap"

# Whether a program is a Python that everything here runs on. A pyenv shim may exist for a version that is switched off.
suits() {
    "$1" -c 'import sys; sys.exit(not (3, 12) <= sys.version_info[:2] < (4, 0))' >/dev/null 2>&1
}

# The folders in which pyenv may keep its versions; HOME need not be the account's own.
pyenv_roots() {
    local account shim
    account="$(getent passwd "$(id -u)" 2>/dev/null | cut -d: -f6 || true)"
    shim="$(command -v python3 || true)"
    printf '%s\n' "${PYENV_ROOT:-}" "$(pyenv root 2>/dev/null || true)" "${HOME:-}/.pyenv" "$account/.pyenv"
    case "$shim" in */shims/python3) dirname "$(dirname "$shim")" ;; esac
}

# Every Python worth a try, the best first, one a line.
candidates() {
    local minor folder
    if [ -n "${HEADRACE_PYTHON:-}" ]; then printf '%s\n' "$HEADRACE_PYTHON"; fi
    for minor in 13 12; do
        command -v "python3.$minor" || true
        while IFS= read -r folder; do
            compgen -G "$folder/versions/3.$minor.*/bin/python3" | sort -V -r || true
        done < <(pyenv_roots)
    done
    for minor in 14 15; do command -v "python3.$minor" || true; done
    command -v python3 || true
}

find_python() {
    local candidate
    while IFS= read -r candidate; do
        if suits "$candidate"; then
            # A shim's answer depends on the folder that it is called from; the real program's does not.
            "$candidate" -c 'import sys; print(sys.executable)'
            return
        fi
    done < <(candidates)
    return 1
}

# Installs uv from the configured package index with the given Python, and prints where it went.
install_uv() {
    local python="$1"
    echo "uv is not on PATH: installing it below .headrace/bootstrap" >&2
    rm -rf "$bootstrap"
    if "$python" -m venv "$bootstrap" >/dev/null 2>&1; then
        "$bootstrap/bin/python" -m pip install --quiet --disable-pip-version-check uv >&2
    elif "$python" -m pip --version >/dev/null 2>&1; then
        # Debian splits venv off; pip alone will do.
        rm -rf "$bootstrap"
        "$python" -m pip install --quiet --disable-pip-version-check --target "$bootstrap" uv >&2
    else
        echo "$python has neither venv nor pip; install one of them (on Debian: python3-venv), or uv." >&2
        exit 1
    fi
    printf '%s\n' "$bootstrap/bin/uv"
}

find_uv() {
    local found
    found="$(command -v uv || true)"
    if [ -n "$found" ] && "$found" --version >/dev/null 2>&1; then
        printf '%s\n' "$found"
    else
        install_uv "$1"
    fi
}

works() {
    [ -x "$bin/uv" ] && suits "$bin/python" && "$bin/uv" --version >/dev/null 2>&1
}

main() {
    local python uv
    if works; then return; fi
    mkdir -p "$bin"
    if python="$(find_python)"; then
        uv="$(find_uv "$python")"
    else
        # Any Python can carry uv, and uv can bring the right Python.
        if ! command -v python3 >/dev/null && ! command -v uv >/dev/null; then
            echo "Python 3.12 or later is needed and none was found; install it, or set HEADRACE_PYTHON." >&2
            exit 1
        fi
        uv="$(find_uv python3)"
        echo "No Python 3.12 or later was found: uv brings one" >&2
        if ! "$uv" python install 3.13 >&2; then
            echo "uv cannot bring one: install Python 3.12 or later yourself, or set HEADRACE_PYTHON to one." >&2
            exit 1
        fi
        python="$("$uv" python find 3.13)"
    fi
    ln -sfn "$uv" "$bin/uv"
    ln -sfn "$python" "$bin/python"
}

main "$@"
