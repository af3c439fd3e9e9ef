"""The entrypoint of the console script `headrace`."""

from headrace.workers.console.cli.app import app


def main() -> None:
    """Run the command line and exit with its code."""
    app(prog_name="headrace")


if __name__ == "__main__":
    main()
