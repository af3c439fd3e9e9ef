import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from asyncpg import DuplicateDatabaseError

from headrace.tools.dev import DevServerError, PostgresServer, provide
from headrace.tools.dev.binaries import Source
from headrace.tools.dev.compose import FOLDER, SERVERS_FILE, ComposeProject, Service
from headrace.tools.dev.orphans import stop_servers
from headrace.tools.dev.privileges import server_identity
from headrace.tools.dev.providers import Wishes
from headrace.tools.dev.resetting import remove_containers
from headrace.tools.dev.state import servers_directory
from headrace.tools.dev.urls import where_all_is
from tests.fixtures.servers import NewServerFolder
from tools.tests.dev.stand_in_docker import StandInDocker

NO_PORTS: dict[Service, int | None] = {}


@pytest.fixture
def project(new_server_folder: NewServerFolder) -> ComposeProject:
    """The project of a working tree that has a compose file."""
    root = new_server_folder("tree")
    (root / FOLDER).mkdir(parents=True)
    (root / FOLDER / SERVERS_FILE).touch()
    state = root / ".headrace"
    state.mkdir()
    return ComposeProject(root=root, state=state)


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandInDocker:
    """A docker whose engine answers and runs nothing yet."""
    stand_in = StandInDocker(tmp_path, {"version --format": (0, "28.0.0\n", "")})
    stand_in.install()
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return stand_in


@pytest.fixture
def container(project: ComposeProject, docker: StandInDocker, postgres_server: PostgresServer) -> PostgresServer:
    """A server of ours that docker says is the container's."""
    server = postgres_server
    with suppress(DuplicateDatabaseError):
        server.create_database("headrace")
    (project.state / "compose-password").write_text(server.password, encoding="ascii")
    docker.answer(
        {"port postgres 5432": (0, f"127.0.0.1:{server.port}\n", ""), "port redis 6379": (0, "127.0.0.1:7\n", "")}
    )
    return server


def test_no_engine_is_told_apart_from_no_docker(
    project: ComposeProject, docker: StandInDocker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert project.problem() is None
    docker.answer({"compose version": (1, "", "unknown command")})
    assert project.problem() == "docker has no compose"
    docker.answer({"version --format": (1, "", "Cannot connect")})
    assert project.problem() == "no Docker engine answers"
    monkeypatch.setenv("PATH", str(project.state))
    assert project.problem() == "there is no docker on PATH"


def test_an_engine_that_does_not_answer_is_seen_by_the_real_program(
    project: ComposeProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{project.state}/none.sock")
    expected = "no Docker engine answers" if shutil.which("docker") else "there is no docker on PATH"
    assert project.problem() == expected


def test_a_tree_without_a_compose_file_takes_no_containers(tmp_path: Path, docker: StandInDocker) -> None:
    assert ComposeProject(root=tmp_path, state=tmp_path).problem() == f"the working tree has no {FOLDER / SERVERS_FILE}"
    assert docker.calls == []


def test_servers_are_started_by_name_and_waited_for(project: ComposeProject, docker: StandInDocker) -> None:
    project.start({Service.REDIS, Service.POSTGRES}, {Service.POSTGRES: 15432})
    ((arguments, variables),) = docker.calls
    file = str(project.root / FOLDER / SERVERS_FILE)
    assert arguments[:5] == ["compose", "--project-name", project.name, "--file", file]
    assert arguments[5:] == ["up", "--detach", "--wait", "--wait-timeout", "600", "postgres", "redis"]
    assert variables["HEADRACE_LOCAL_DATABASE_PORT"] == "15432"
    assert variables["HEADRACE_LOCAL_REDIS_PORT"] == ""
    assert variables["HEADRACE_LOCAL_PASSWORD"] == project.password
    assert len(variables["HEADRACE_DATABASE_RUNTIME_PASSWORD"]) == 40


def test_a_password_is_made_once_and_closed_to_others(project: ComposeProject) -> None:
    assert project.password == project.password
    assert (project.state / "compose-password").stat().st_mode & 0o777 == 0o600


def test_two_clones_have_projects_of_their_own(project: ComposeProject, tmp_path: Path) -> None:
    assert project.name != ComposeProject(root=tmp_path, state=tmp_path).name


def test_what_docker_says_is_in_the_sentence(project: ComposeProject, docker: StandInDocker) -> None:
    docker.answer({"up": (1, "", "pull access denied\n")})
    with pytest.raises(DevServerError, match="`docker compose up` failed: pull access denied"):
        project.start({Service.POSTGRES}, NO_PORTS)


@pytest.mark.servers
@pytest.mark.usefixtures("container")
class TestProviding:
    def test_containers_come_before_programs(self, project: ComposeProject, docker: StandInDocker) -> None:
        with provide(project.state, {}) as servers:
            assert servers.descriptions[0].startswith("PostgreSQL (container) on 127.0.0.1:")
            assert servers.redis_url == f"redis://:{project.password}@127.0.0.1:7/0"
        assert docker.called("up")[0][-2:] == ["postgres", "redis"]
        assert docker.called("stop") == [["postgres", "redis"]]

    def test_containers_stay_when_they_are_to_stay(self, project: ComposeProject, docker: StandInDocker) -> None:
        with provide(project.state, {}, Wishes(is_persistent=True)):
            pass
        assert docker.called("stop") == []

    def test_containers_that_ran_before_are_left_alone(self, project: ComposeProject, docker: StandInDocker) -> None:
        docker.answer({"ps --services": (0, "postgres\nredis\n", "")})
        with provide(project.state, {}):
            pass
        assert docker.called("up") == docker.called("stop") == []

    def test_only_what_the_environment_does_not_name_is_started(
        self, project: ComposeProject, docker: StandInDocker, container: PostgresServer
    ) -> None:
        with provide(project.state, {"HEADRACE_DATABASE_URL": container.dsn("headrace")}):
            pass
        assert docker.called("up")[0][-1] == "redis"

    def test_a_running_one_is_asked_for_and_there_is_none(self, project: ComposeProject, docker: StandInDocker) -> None:
        with pytest.raises(DevServerError, match="make up"), provide(project.state, {}, Wishes(is_running=True)):
            pass
        assert docker.called("up") == []

    def test_the_urls_of_containers_are_told_without_secrets(
        self, project: ComposeProject, docker: StandInDocker, container: PostgresServer
    ) -> None:
        docker.answer({"ps --services": (0, "postgres\n", "")})
        (first, *_) = where_all_is(project, {})
        assert first.split() == ["PostgreSQL", f"postgresql://127.0.0.1:{container.port}/headrace"]


@pytest.mark.servers
def test_programs_serve_when_containers_do_not_come_up(project: ComposeProject, docker: StandInDocker) -> None:
    docker.answer({"up --detach": (1, "", "no space left on device")})
    with provide(project.state, {}) as servers:
        assert "container" not in servers.descriptions[0]
        assert servers.descriptions[-1].endswith("no space left on device")
    assert docker.called("stop") == [["postgres", "redis"]]


@pytest.mark.servers
def test_programs_that_run_already_keep_their_data_when_an_engine_comes_up(
    project: ComposeProject, docker: StandInDocker
) -> None:
    with provide(project.state, {}, Wishes(sources=(Source.MACHINE, Source.WHEEL), is_persistent=True)) as first:
        pass
    try:
        with provide(project.state, {}) as servers:
            assert servers.database_url == first.database_url
    finally:
        stop_servers(servers_directory(project.state, server_identity()))
    assert docker.called("up") == []


def test_down_removes_containers_and_reset_their_data_too(project: ComposeProject, docker: StandInDocker) -> None:
    docker.answer({"ps --services": (0, "postgres\n", "")})
    assert remove_containers(project, data=False) == ["postgres (container)"]
    remove_containers(project, data=True)
    assert docker.called("down") == [["--remove-orphans"], ["--remove-orphans", "--volumes"]]


def test_nothing_is_removed_where_no_engine_answers(project: ComposeProject, docker: StandInDocker) -> None:
    docker.answer({"version --format": (1, "", "")})
    assert remove_containers(project, data=True) == []
    assert docker.called("down") == []
