"""The worker that delivers webhooks."""
