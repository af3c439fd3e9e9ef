"""What the events namespace holds."""
