"""What the outbox holds and what a relay reports."""
