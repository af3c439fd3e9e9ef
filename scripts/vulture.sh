#!/usr/bin/env bash
# Looks for code that nothing uses, tests counted as users: vulture.sh VULTURE
# Left to ruff, which judges them better: variables (fields, enum members and parameters of abstract methods are none;
# F841, ARG) and imports (F401). What a framework finds by decorator or by name counts as used.
set -euo pipefail

decorators='@override,@pytest.fixture,@*.command,@*.callback,@*.get,@*.post,@field_validator,@model_validator'
decorators+=',@field_serializer,@model_serializer,@computed_field,@asynccontextmanager,@event.listens_for,@rule,@invariant'
decorators+=',@initialize,@precondition,@declared_attr*'
# _name_ is read by enum, for the stand-in of an unknown member.
names='_name_,test_*,Test*,pytest_*,upgrade,downgrade,model_config,__*__,do_GET,do_POST,do_PUT,linkname,should_exit,*Table'

found="$("$1" --min-confidence 60 --ignore-decorators "$decorators" --ignore-names "$names" \
    --exclude '.venv,.headrace,tools/tests/new_worker/golden' om infra tools workers nix tests conftest.py | grep -vE ': unused (variable|import) ' || true)"
if [ -n "$found" ]; then
    printf '%s\n' "$found"
    exit 1
fi
