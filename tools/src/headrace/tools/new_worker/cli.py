"""The command lines `new-worker` and `remove-worker`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from headrace.tools.new_worker.advice import after_making, after_removing
from headrace.tools.new_worker.command import Intention, Options, Run
from headrace.tools.new_worker.exceptions import UsageError
from headrace.tools.new_worker.manifest import WorkerArguments
from headrace.tools.new_worker.removal_plan import plan_removal
from headrace.tools.new_worker.report import ExitCode, Report
from headrace.tools.new_worker.tree import Tree
from headrace.tools.new_worker.worker_plan import plan_worker

_CODES = "Exit codes: 0 done or nothing to do; 2 refused; 3 written, but a check failed; 4 failed and taken back."


def new_worker(argv: Sequence[str] | None = None) -> int:
    """Add a worker to a tree.

    Args:
        argv: Arguments without the program's name; None for the process's own.

    Returns:
        An `ExitCode`.
    """
    given = _maker().parse_args(argv)
    report = Report(as_json=given.json)
    try:
        arguments = WorkerArguments(
            worker_name=_positional(given, "worker_name", "the worker's name, kebab case (shipment-notifier)"),
            kind=_positional(given, "kind", "the work kind, upper snake case (NOTIFY_SHIPMENT)"),
            lane=given.lane,
            container=given.container,
            payload=tuple(given.payload),
        )
    except UsageError as error:
        return report.end(ExitCode.REFUSED, str(error))

    def intend(tree: Tree) -> Intention:
        planned = plan_worker(tree, arguments)
        report.request({**arguments.model_dump(mode="json"), "metrics_port": planned.request.metrics_port})
        return Intention(arguments.worker_name, planned.plan, after_making(planned.request))

    return Run(_options(given), report).carry_out(intend)


def remove_worker(argv: Sequence[str] | None = None) -> int:
    """Take a worker that `new_worker` made out of its tree.

    Args:
        argv: Arguments without the program's name; None for the process's own.

    Returns:
        An `ExitCode`.
    """
    given = _remover().parse_args(argv)
    report = Report(as_json=given.json)
    try:
        name = _positional(given, "worker_name", "the worker's name")
    except UsageError as error:
        return report.end(ExitCode.REFUSED, str(error))

    def intend(tree: Tree) -> Intention:
        report.request({"worker_name": name, "force": given.force})
        planned = plan_removal(tree, name, force=given.force)
        return Intention(name, planned.plan, after_removing(planned.manifest))

    return Run(_options(given), report).carry_out(intend)


def _maker() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="new-worker", description="Adds a worker to a tree.", epilog=_CODES)
    parser.add_argument("worker_name", nargs="?", metavar="WORKER", help="kebab case: shipment-notifier")
    parser.add_argument("kind", nargs="?", metavar="KIND", help="the kind it handles, upper snake: NOTIFY_SHIPMENT")
    parser.add_argument("--lane", default="default", help="the lane that it claims from (default: default)")
    parser.add_argument("--container", action="store_true", help="add it to the full compose file")
    parser.add_argument(
        "--payload",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME:TYPE",
        help="a field of the kind's payload: order_id:uuid carrier:str weight:decimal 'note:str?'",
    )
    _add_shared(parser)
    return parser


def _remover() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="remove-worker", description="Takes a worker that new-worker made out of its tree.", epilog=_CODES
    )
    parser.add_argument("worker_name", nargs="?", metavar="WORKER", help="the worker's folder below workers/")
    parser.add_argument("--force", action="store_true", help="remove edited and added files too")
    _add_shared(parser)
    return parser


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="print the plan as a patch and write nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    parser.add_argument("--no-verify", action="store_true", help="leave out the fast gate (`make check`) at the end")
    parser.add_argument("--root", type=Path, help="the working tree (default: the one around here)")


def _options(given: argparse.Namespace) -> Options:
    return Options(root=given.root or Tree.around(Path.cwd()), is_dry_run=given.dry_run, verify=not given.no_verify)


def _positional(given: argparse.Namespace, name: str, told: str, ask: Callable[[str], str] = input) -> str:
    """Return a positional argument, asking for it where somebody is there to answer.

    Raises:
        UsageError: It is missing and nobody is there, or they have no answer.
    """
    value: str | None = getattr(given, name)
    if value is not None:
        return value
    if given.json or not sys.stdin.isatty():
        raise UsageError(f"Missing: {told}. See --help.")
    try:
        return ask(f"{told[0].upper()}{told[1:]}: ").strip()
    except (EOFError, KeyboardInterrupt):
        raise UsageError(f"Missing: {told}.") from None
