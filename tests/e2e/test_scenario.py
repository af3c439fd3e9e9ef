"""The scenario of the integration VM, step by step, over processes of this machine."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from headrace.tools.dev import PostgresServer, RedisServer
from nix.vm.scenario import STEPS, Step, run_step
from nix.vm.site import ORG, Site
from tests.e2e.local_machine import PRELOADED, LocalMachine, prepare_database
from tests.fixtures.servers import TEST_SETTINGS, folders, stopped_at_exit
from tests.fixtures.workers import Nursery, starting_workers

pytestmark = [pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def site(
    test_servers_root: Path,
    pytestconfig: pytest.Config,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Site]:
    """Servers, a migrated database, workers and the org, as the virtual machine has them."""
    folder = tmp_path_factory.mktemp("scenario")
    with ExitStack() as stack:
        new_folder = stack.enter_context(folders(test_servers_root))
        # What was committed must outlive a restart.
        settings = {**TEST_SETTINGS, "synchronous_commit": "on"}
        postgres = PostgresServer(new_folder("postgres"), settings=settings).start()
        stack.enter_context(stopped_at_exit(postgres))
        redis = RedisServer(new_folder("redis")).start()
        stack.enter_context(stopped_at_exit(redis))
        nursery = stack.enter_context(Nursery(pytestconfig.rootpath, PRELOADED))
        start = stack.enter_context(starting_workers(nursery, pytestconfig.rootpath, folder))
        machine = LocalMachine(folder, postgres, redis, prepare_database(postgres), start)
        stack.callback(machine.close)
        assert machine.headrace("migrate").exit_code == 0
        yield Site.prepare(machine)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.title)
def test_the_step_holds_when_it_is_played_over_processes(site: Site, step: Step) -> None:
    run_step(site, step)


def test_the_org_has_the_id_by_which_its_secret_is_named_when_it_is_seeded(site: Site) -> None:
    assert site.ask("status")["org"] == {"id": ORG["id"], "name": ORG["name"]}
