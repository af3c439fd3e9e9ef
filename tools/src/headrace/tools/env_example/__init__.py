"""Writes the `.env.example` files from the settings classes, so that they cannot drift from what the processes read."""
