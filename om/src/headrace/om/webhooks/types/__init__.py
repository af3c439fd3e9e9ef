"""The shapes of webhooks: endpoints, messages, deliveries."""
