"""What the audit namespace holds."""
