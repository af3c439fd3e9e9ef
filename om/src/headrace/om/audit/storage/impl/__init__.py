"""The audit storage over PostgreSQL and over memory."""
