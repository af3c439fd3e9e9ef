"""The command line of the check."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from headrace.tools.arch_check.engine import check
from headrace.tools.arch_check.problems import ArchCheckUsageError, Finding
from headrace.tools.arch_check.repository import Repository
from headrace.tools.arch_check.rules import RULES

_CLEAN, _FINDINGS, _USAGE = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the check and print what it found.

    Args:
        argv: Arguments without the program's name; None for the process's own.

    Returns:
        0 for a clean tree, 1 when there are findings, 2 when the check could not run.
    """
    arguments = _parser().parse_args(argv)
    if arguments.list:
        return _print_rules(as_json=arguments.json)
    try:
        repository = Repository.load(arguments.root.resolve())
    except ArchCheckUsageError as error:
        sys.stderr.write(f"arch-check: {error}\n")
        return _USAGE
    findings = check(repository)
    sys.stdout.write(_as_json(findings) if arguments.json else _as_lines(repository, findings))
    return _FINDINGS if findings else _CLEAN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="arch-check", description="Checks a source tree against its architecture.")
    parser.add_argument("--root", type=Path, default=Path(), help="folder of the root pyproject.toml (default: here)")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    parser.add_argument("--list", action="store_true", help="print the rules with their reasons and check nothing")
    return parser


def _as_lines(repository: Repository, findings: Sequence[Finding]) -> str:
    outcome = f"{len(findings)} findings" if findings else "clean"
    summary = f"arch-check: {len(RULES)} rules, {len(repository.modules)} modules: {outcome}"
    return "\n".join([*map(str, findings), summary]) + "\n"


def _as_json(findings: Sequence[Finding]) -> str:
    report = {"clean": not findings, "findings": [asdict(finding) for finding in findings]}
    return json.dumps(report, indent=2) + "\n"


def _print_rules(*, as_json: bool) -> int:
    rules = [{"id": rule.id, "title": rule.title, "reason": rule.reason} for rule in RULES]
    lines = "\n".join(f"{rule['id']:<7} {rule['title']}\n        {rule['reason']}" for rule in rules)
    sys.stdout.write((json.dumps(rules, indent=2) if as_json else lines) + "\n")
    return _CLEAN
