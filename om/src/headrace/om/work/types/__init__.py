"""What the work queue deals in."""
