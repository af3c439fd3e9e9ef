"""The implementations of the webhooks storage."""
