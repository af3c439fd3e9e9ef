"""The shipment notifier worker."""
