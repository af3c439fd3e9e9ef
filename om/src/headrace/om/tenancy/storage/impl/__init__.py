"""The tenancy storage over PostgreSQL and over memory."""
