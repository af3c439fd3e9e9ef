"""Webhooks: where a tenant wants to hear of events, and the messages that say them."""

from headrace.om.webhooks.manager import WebhooksManagerInterface

__all__ = ["WebhooksManagerInterface"]
