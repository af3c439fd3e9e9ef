"""The options that choose work items, and the filter that they make."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

import typer

from headrace.workers.console.cli.options import one_of, read_id, read_instant

if TYPE_CHECKING:
    from headrace.om.work.types.kinds import WorkKind
    from headrace.om.work.types.queries import WorkFilter

Lane = Annotated[str | None, typer.Option(help="The lane.")]
StatusFilter = Annotated[str | None, typer.Option("--status", help="Only items of this status.")]
KindFilter = Annotated[str | None, typer.Option("--kind", help="Only items of this kind.")]
OriginFilter = Annotated[str | None, typer.Option("--origin", help="Only items of this origin.")]
BundleFilterOption = Annotated[str | None, typer.Option("--bundle", metavar="ID", help="Only items of this bundle.")]
StartedBefore = Annotated[str | None, typer.Option(metavar="INSTANT", help="Only items first claimed before this.")]
HasError = Annotated[bool | None, typer.Option("--with-error/--without-error", help="Only items with, or without.")]

_KIND: Final = re.compile(r"[A-Z][A-Z0-9_]+")


@dataclass(frozen=True, slots=True)
class FilterWords:
    """What a command line says of a filter; None where it says nothing."""

    status: str | None = None
    kind: str | None = None
    lane: str | None = None
    origin: str | None = None
    bundle: str | None = None
    started_before: str | None = None
    has_error: bool | None = None

    def read(self) -> "WorkFilter":
        """Return the filter.

        Raises:
            typer.BadParameter: A word makes no sense.
            pydantic.ValidationError: A text is too long.
        """
        from headrace.om.work.types.queries import WorkFilter  # noqa: PLC0415 - start-up stays fast
        from headrace.om.work.types.work_item import WorkStatus  # noqa: PLC0415 - likewise

        return WorkFilter(
            status=None if self.status is None else one_of(self.status, WorkStatus, "--status", "status"),
            kind=None if self.kind is None else read_kind(self.kind),
            lane=self.lane,
            origin=self.origin,
            bundle_id=None if self.bundle is None else read_id(self.bundle, "--bundle", "a bundle's id"),
            started_before=None
            if self.started_before is None
            else read_instant(self.started_before, "--started-before"),
            has_error=self.has_error,
        )


def read_kind(text: str) -> "WorkKind":
    """Return the kind to look for: a known one in either case, or in capitals one that only the rows know.

    Raises:
        typer.BadParameter: It is neither.
    """
    from headrace.om.work.types.kinds import WorkKind  # noqa: PLC0415 - start-up stays fast

    if _KIND.fullmatch(text):
        return WorkKind.read(text)
    return one_of(text, WorkKind, "--kind", "kind")
