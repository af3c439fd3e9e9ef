"""Tenancy: orgs, their members and API keys, and the transitions that say on whose authority something runs."""

from headrace.om.tenancy.manager import TenancyManagerInterface

__all__ = ["TenancyManagerInterface"]
