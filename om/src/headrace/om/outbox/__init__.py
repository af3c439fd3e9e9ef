"""Side effects of core writes: written with them in one transaction, carried on by the relay."""

from headrace.om.outbox.manager import OutboxRelayInterface

__all__ = ["OutboxRelayInterface"]
