"""Reports as Markdown, for docs/performance.md."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headrace.tools.bench.report import told


def tables(report: Mapping[str, Any]) -> str:
    """Return the tables of a report, as its JSON holds it: what it was made with, its bars, its measures."""
    parts = (_circumstances(report["circumstances"]), "\n".join(_bars(report["bars"])), "\n".join(_measures(report)))
    return "\n\n".join(part for part in parts if part)


def _circumstances(given: Mapping[str, Any]) -> str:
    machine, versions, postgres = given["machine"], given["versions"], given["postgres"]
    return (
        f"{machine['num_cores']} cores ({machine['processor']}), {machine['memory_mib']:,} MiB, load"
        f" {machine['load_before']:.1f} before; Python {versions['python']}, PostgreSQL {postgres['server_version']}"
        f" with fsync {postgres['fsync']} and synchronous_commit {postgres['synchronous_commit']}; commit"
        f" {versions['commit']}."
    )


def _bars(bars: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not bars:
        return
    yield "| what | measured | bar | met |"
    yield "| --- | --- | --- | --- |"
    for bar in bars:
        met = {True: "yes", False: "no", None: ""}[bar["is_met"]]
        yield f"| {bar['what']} | {told(bar['value'])} {bar['unit']} | {bar['wanted']} | {met} |"


def _measures(report: Mapping[str, Any]) -> Iterator[str]:
    yield "| what | system | median | minimum | p99 | samples | unit |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for each in report["measures"]:
        if not each["is_detail"]:
            numbers = " | ".join(told(each[name]) for name in ("median", "minimum", "p99"))
            yield f"| {each['name']} | {each['system']} | {numbers} | {len(each['samples'])} | {each['unit']} |"
