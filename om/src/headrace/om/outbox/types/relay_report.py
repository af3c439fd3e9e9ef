"""What a pass of the relay did, and what is left to do."""

from datetime import timedelta

from pydantic import Field

from headrace.om.base import Platform


class RelayReport(Platform):
    """What became of the rows that one pass took."""

    num_relayed: int = Field(default=0, ge=0, description="Their side effects happened and they are marked done")
    num_failed: int = Field(default=0, ge=0, description="They are tried again later")


class OutboxGauges(Platform):
    """How far the relay is behind, across tenants."""

    num_pending: int = Field(ge=0, description="Rows not done, held and waiting ones too; counted up to a bound")
    lag: timedelta = Field(default=timedelta(0), description="Age of the oldest of them on the storage's clock")
