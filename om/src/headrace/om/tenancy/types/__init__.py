"""What the tenancy namespace holds."""
