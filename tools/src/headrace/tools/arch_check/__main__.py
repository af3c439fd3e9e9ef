"""Runs the check as `python -m headrace.tools.arch_check`."""

import sys

from headrace.tools.arch_check.cli import main

if __name__ == "__main__":
    sys.exit(main())
