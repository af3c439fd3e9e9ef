"""The options under `[tool.arch-check]` in the root pyproject.toml."""

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from headrace.tools.arch_check.problems import ArchCheckUsageError

type Reason = Annotated[str, StringConstraints(strip_whitespace=True, min_length=10)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TenantlessOptions(_Section):
    """CTX-12: storage methods without a tenant, as `<Interface>.<method>`."""

    tenantless: tuple[str, ...] = ()


class ContextOptions(_Section):
    """CTX-26: modules that may construct a context, by dotted name.

    Attributes:
        sites: Those that construct a stage above the request stage.
        request_sites: Those that construct the request stage.
    """

    sites: tuple[str, ...] = ()
    request_sites: tuple[str, ...] = ()


class RequireOptions(_Section):
    """CTX-30: operations that do not begin with a required permission, `<Class>.<method>` to the reason."""

    exempt: dict[str, Reason] = Field(default_factory=dict)


class Options(_Section):
    """All options; a rule without a section here has none."""

    tenantless: TenantlessOptions = Field(default_factory=TenantlessOptions, alias="CTX-12")
    contexts: ContextOptions = Field(default_factory=ContextOptions, alias="CTX-26")
    requires: RequireOptions = Field(default_factory=RequireOptions, alias="CTX-30")


class _Table(_Section):
    options: Options = Field(default_factory=Options)


class _Tools(BaseModel):
    arch_check: _Table = Field(default_factory=_Table, alias="arch-check")


class _Document(BaseModel):
    tool: _Tools = Field(default_factory=_Tools)


def read_options(pyproject: Path) -> Options:
    """Read the options of a tree.

    Args:
        pyproject: The root pyproject.toml; a file without the table gives the defaults.

    Returns:
        The options, valid.

    Raises:
        ArchCheckUsageError: The file is missing or no TOML, or an option is unknown or of the wrong shape.
    """
    try:
        document = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ArchCheckUsageError(f"{pyproject} cannot be read as TOML: {error}") from error
    try:
        return _Document.model_validate(document).tool.arch_check.options
    except ValidationError as error:
        raise ArchCheckUsageError(_sentence(error)) from error


def _sentence(error: ValidationError) -> str:
    parts = (f"pyproject.toml, {'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
    return "; ".join(parts)
