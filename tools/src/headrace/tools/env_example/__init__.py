"""Writes `.env.example` from the settings classes, so that it cannot drift from what the processes read."""
