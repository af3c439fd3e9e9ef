"""The port that a name leads to."""

import tomllib
from pathlib import Path

import pytest

from headrace.tools.new_worker.exceptions import TreeError
from headrace.tools.new_worker.ports import FIRST_PORT, NUM_PORTS, choose_port

ROOT = Path(__file__).parents[3]


def test_port_is_the_same_whatever_else_there_is() -> None:
    assert choose_port("shipment-notifier", ()) == choose_port("shipment-notifier", {9101, 9102})


def test_port_is_in_the_range_for_any_name() -> None:
    ports = {choose_port(f"worker-{number}", ()) for number in range(500)}
    assert min(ports) >= FIRST_PORT
    assert max(ports) < FIRST_PORT + NUM_PORTS
    assert len(ports) > 300


def test_port_is_another_when_the_first_is_taken() -> None:
    first = choose_port("shipment-notifier", ())
    second = choose_port("shipment-notifier", {first})
    assert second != first
    assert second == choose_port("shipment-notifier", {first, second + 1})


def test_port_is_refused_when_none_is_left() -> None:
    with pytest.raises(TreeError, match="No metrics port"):
        choose_port("shipment-notifier", range(FIRST_PORT, FIRST_PORT + NUM_PORTS))


def test_no_two_workers_of_this_tree_have_one_port() -> None:
    projects = [tomllib.loads(file.read_text()) for file in ROOT.glob("workers/*/pyproject.toml")]
    tables = [project["tool"]["headrace"]["worker"] for project in projects if "headrace" in project["tool"]]
    ports = [table["metrics_port"] for table in tables if "metrics_port" in table]
    assert len(ports) >= 2
    assert len(set(ports)) == len(ports)
