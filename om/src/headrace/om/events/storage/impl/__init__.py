"""The events storage over PostgreSQL and over memory."""
