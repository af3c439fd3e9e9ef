"""The implementation of the webhooks manager."""
