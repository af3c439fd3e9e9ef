"""The queue's storage over memory and over PostgreSQL."""
