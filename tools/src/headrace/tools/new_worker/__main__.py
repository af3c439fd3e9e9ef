"""Runs the generator as `python -m headrace.tools.new_worker`."""

import sys

from headrace.tools.new_worker.cli import new_worker

if __name__ == "__main__":
    sys.exit(new_worker())
