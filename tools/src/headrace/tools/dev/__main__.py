"""Runs the command line of the local stack."""

from headrace.tools.dev.commands import app
from headrace.tools.dev.run import register

register(app)

if __name__ == "__main__":
    app(prog_name="python -m headrace.tools.dev")
