"""The operators' console: the command line `headrace` over the managers."""
