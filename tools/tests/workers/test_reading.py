from pathlib import Path

import pytest

from headrace.tools.workers import (
    ImageDeclaration,
    WorkerDeclaration,
    WorkerDeclarationError,
    read_images,
    read_workers,
)
from tools.tests.workers.projects import write_project, write_worker

REPOSITORY = Path(__file__).parents[3]


def refused(root: Path) -> str:
    with pytest.raises(WorkerDeclarationError) as caught:
        read_workers(root)
    return str(caught.value)


def test_a_declaration_is_read_when_it_is_whole(tmp_path: Path) -> None:
    (worker,) = read_workers(write_worker(tmp_path))
    assert worker == WorkerDeclaration(
        name="shipment-notifier",
        program="headrace-shipment-notifier",
        kind="NOTIFY_SHIPMENT",
        lane="default",
        metrics_port=9103,
        cpu=256,
        memory=512,
        secrets=("database_runtime_password",),
    )
    assert (worker.package, worker.image) == ("shipment_notifier", "headrace-shipment-notifier")


def test_workers_come_by_name(tmp_path: Path) -> None:
    for number, name in enumerate(("b", "a-b", "a")):
        write_worker(tmp_path, name, metrics_port=str(9200 + number))
    assert [each.name for each in read_workers(tmp_path)] == ["a", "a-b", "b"]


def test_a_program_without_the_table_is_an_image_and_no_worker(tmp_path: Path) -> None:
    write_project(tmp_path, "console", '[project.scripts]\nheadrace = "x:main"\n')
    write_project(tmp_path, "kit", "")
    assert read_workers(tmp_path) == ()
    assert read_images(tmp_path) == (ImageDeclaration("console", "headrace", "headrace-console", None),)


@pytest.mark.parametrize("key", ["kind", "lane", "metrics_port", "cpu", "memory", "secrets"])
def test_a_missing_key_is_named_with_its_file(tmp_path: Path, key: str) -> None:
    sentence = refused(write_worker(tmp_path, without=key))
    assert f"workers/shipment-notifier/pyproject.toml: tool.headrace.worker.{key} is missing; expected" in sentence


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kind", '"notifyShipment"'),
        ("kind", "7"),
        ("lane", '""'),
        ("lane", f'"{"x" * 101}"'),
        ("metrics_port", "80"),
        ("metrics_port", "65536"),
        ("metrics_port", "true"),
        ("cpu", "300"),
        ("memory", "0"),
        ("memory", '"512"'),
        ("secrets", '"database_url"'),
        ("secrets", '["a", "a"]'),
        ("secrets", '["DATABASE_URL"]'),
    ],
)
def test_a_wrong_value_is_told_with_what_was_expected(tmp_path: Path, key: str, value: str) -> None:
    sentence = refused(write_worker(tmp_path, **{key: value}))
    assert f"workers/shipment-notifier/pyproject.toml: tool.headrace.worker.{key} is " in sentence
    assert "; expected " in sentence


def test_an_unknown_key_is_refused(tmp_path: Path) -> None:
    assert "tool.headrace.worker.colour is unknown" in refused(write_worker(tmp_path, colour="512"))


def test_memory_that_the_platform_does_not_sell_with_the_cpu_is_refused(tmp_path: Path) -> None:
    assert "memory is 512; expected one of 1024, 2048" in refused(write_worker(tmp_path, cpu="512", memory="512"))


def test_every_problem_of_a_table_is_told_at_once(tmp_path: Path) -> None:
    sentence = refused(write_worker(tmp_path, without="lane", cpu="300"))
    assert "lane is missing" in sentence
    assert "cpu is 300" in sentence


def test_a_port_of_two_workers_is_refused(tmp_path: Path) -> None:
    write_worker(tmp_path, "a")
    assert "workers/b/pyproject.toml: tool.headrace.worker.metrics_port is 9103, which is a's" in refused(
        write_worker(tmp_path, "b")
    )


def test_a_worker_without_a_program_is_refused(tmp_path: Path) -> None:
    write_project(tmp_path, "mute", "[tool.headrace.worker]\n")
    assert "workers/mute/pyproject.toml: project.scripts has 0 programs; expected exactly one" in refused(tmp_path)


@pytest.mark.parametrize("name", ["Loud", "two_words", "-a", "9lives"])
def test_a_folder_that_cannot_name_an_image_is_refused(tmp_path: Path, name: str) -> None:
    assert f"the folder's name is {name!r}" in refused(write_worker(tmp_path, name))


def test_a_project_that_is_no_toml_is_named(tmp_path: Path) -> None:
    write_project(tmp_path, "broken", "[tool")
    assert "workers/broken/pyproject.toml: cannot be read as TOML" in refused(tmp_path)


def test_a_table_that_is_none_is_refused(tmp_path: Path) -> None:
    write_project(tmp_path, "odd", '[project.scripts]\nodd = "x:main"\n[tool.headrace]\nworker = 3\n')
    assert "tool.headrace.worker is 3; expected a table" in refused(tmp_path)


def test_this_repository_declares_its_workers() -> None:
    assert {"maintenance", "webhook-dispatcher"} <= {each.name for each in read_workers(REPOSITORY)}
