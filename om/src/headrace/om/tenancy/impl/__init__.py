"""The tenancy manager's implementation."""
