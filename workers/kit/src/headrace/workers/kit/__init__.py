"""The work loop that every worker role shares: claim, run, renew, settle, sweep, drain."""
