"""The scenario: what must hold of a machine on which workers run, step by step.

Each step stands on its own: it begins with everything up, and whoever runs it sees to that with `run_step`. The same
steps are played by the NixOS test on a virtual machine and by `tests/e2e` on processes.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from .machine import POSTGRES, REDIS, expect
from .site import DISPATCHERS, MAINTENANCE, NOT_WELL, OK, UNAVAILABLE, WORKERS, Site, bring_up, seeded_key

NUM_LISTENERS: Final = 3
NUM_MESSAGES: Final = 4
"""Each message is a delivery for each listener, each of which takes the receiver a moment."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the scenario.

    Attributes:
        title: What must hold.
        play: Makes it happen and raises ScenarioError where it does not hold.
    """

    title: str
    play: Callable[[Site], None]


def an_item_travels(site: Site) -> None:
    """What is enqueued is claimed, handled and settled with the handler's result."""
    enqueued = site.ask("work", "enqueue", "NOOP", "--lane", "maintenance", "--payload", '{"note": "seen"}')["item"]
    expect(enqueued["status"] == "queued", f"the new item to be queued, not {enqueued['status']}")
    site.until_item(enqueued["id"], "done")
    expect(site.item(enqueued["id"])["result"] == {"note": "seen"}, "the item to hold what its handler returned")
    event = _new_event("travels")
    site.listen(event, "ok")
    keys = site.publish(event)
    site.until_done(keys)
    expect([post["id"] for post in site.posts(event)] == list(keys), "the webhook to have arrived once")


def a_killed_workers_item_is_finished_by_another(site: Site) -> None:
    """A worker that dies with an item loses it to another once its lease has passed."""
    first, second = DISPATCHERS
    site.machine.stop(second)
    event = _new_event("killed")
    site.listen(event, "gate")
    site.move_gate("shut")
    (key,) = site.publish(event)
    site.until_held(event, 1)
    site.machine.kill(first)
    expect(site.statuses([key]) == {"claimed": 1}, "the item to be held by the dead worker still")
    site.move_gate("open")
    site.machine.start(second)
    site.until_done([key])
    expect(len(site.posts(event)) == 2, "the webhook to have been posted by both workers, under one id")  # noqa: PLR2004 - one each


def postgres_restarts_under_load(site: Site) -> None:
    """Workers outlive the database's restart; what was enqueued before, meanwhile and after is done."""
    event, keys = _loaded(site, "postgres")
    site.machine.stop(POSTGRES)
    refused = site.machine.headrace("webhooks", "publish", "--event", event, "--data", "{}", api_key=site.api_key)
    expect(refused.exit_code == UNAVAILABLE, f"a publish to say that the database is away: {refused}")
    site.machine.start(POSTGRES)
    keys += site.publish_until_taken(event, str(uuid4()))
    site.until_done(keys)
    _expect_all_arrived(site, event, keys)
    _expect_all_run(site)


def redis_goes_and_comes_back(site: Site) -> None:
    """Without the cache workers say that they are not well and pause; with it they go on, and nothing was lost."""
    event = _new_event("redis")
    site.listen(event, "ok")
    site.machine.stop(REDIS)
    for worker in DISPATCHERS:
        problems = site.until_health(worker, NOT_WELL).body
        expect("claiming is paused" in problems, f"/healthz to say that claiming is paused: {problems}")
    keys = site.publish(event)
    site.machine.start(REDIS)
    for worker in DISPATCHERS:
        site.until_health(worker, OK)
    site.until_done(keys)
    _expect_all_arrived(site, event, keys)
    _expect_all_run(site)


def a_rolling_restart_loses_nothing(site: Site) -> None:
    """Every worker is replaced, one after the other, while work comes in; all of it is done."""
    event, keys = _loaded(site, "rolling")
    for worker in DISPATCHERS:
        site.stop_in_time(worker)
        keys += site.publish(event)
        site.machine.start(worker)
    site.until_done(keys)
    _expect_all_arrived(site, event, keys)


def sigterm_drains_in_time(site: Site) -> None:
    """A worker that is asked to end while it holds an item hands it back, unspent, and ends cleanly in time."""
    first, second = DISPATCHERS
    site.machine.stop(second)
    event = _new_event("drains")
    site.listen(event, "gate")
    site.move_gate("shut")
    (key,) = site.publish(event)
    site.until_held(event, 1)
    began = time.monotonic()
    site.stop_in_time(first)
    took = time.monotonic() - began
    expect(took < site.stop_window_seconds, f"the stop to take less than {site.stop_window_seconds} s, not {took:.1f}")
    item = site.items([key])[key]
    expect((item["status"], item["attempts"]) == ("queued", 0), f"the item to be back unspent, not {item}")
    site.move_gate("open")
    site.machine.start(first)
    site.until_done([key])


def the_runtime_login_crosses_no_tenants(site: Site) -> None:
    """Sessions of the login that serves tenants see, change and add rows of the tenant that they name alone."""
    other = _org_of(site, seeded_key(site.machine, "scenario-other"))
    own = site.ask("status")["org"]["id"]
    site.ask("work", "enqueue", "NOOP", "--lane", "nobody", "--key", _new_event("tenant"))
    count, theirs = "SELECT count(*) FROM queue.work_items", f"WHERE org_id = '{own}'"
    expect(_said(site, count, own) != "0", "a tenant to see its own items")
    expect(_said(site, f"{count} {theirs}", other) == "0", "another tenant to see none of them")
    expect(_said(site, f"{count} {theirs}", None) == "0", "a session that names no tenant to see none")
    change = f"UPDATE queue.work_items SET lane = 'stolen' {theirs} RETURNING 1"  # noqa: S608 - ids that we made
    expect(_said(site, change, other) == "", "another tenant to change none of them")
    move = f"UPDATE queue.work_items SET org_id = '{other}' {theirs} RETURNING 1"  # noqa: S608 - likewise
    refused = site.machine.query(move, org_id=own)
    expect(refused.exit_code != 0, f"a tenant's row not to move to another tenant: {refused}")
    owner = site.machine.query("CREATE TABLE queue.mine (id int)", org_id=own)
    expect(owner.exit_code != 0, "the runtime login to own nothing")


def metrics_and_health_are_served(site: Site) -> None:
    """Every worker answers its probes and its metrics, nothing else, and its own healthcheck agrees."""
    for worker in WORKERS:
        for path in ("/healthz", "/readyz"):
            answer = site.machine.http(worker, "GET", path)
            expect(answer is not None and answer.status == OK, f"{worker} to be well at {path}: {answer}")
        metrics = site.machine.http(worker, "GET", "/metrics")
        body = "" if metrics is None else metrics.body
        expect("headrace_worker{" in body and "headrace_loop_lag_seconds_count" in body, f"metrics of {worker}")
        other = site.machine.http(worker, "GET", "/docs")
        expect(other is not None and other.status not in {OK, NOT_WELL}, f"{worker} to serve nothing else")
        probed = site.machine.probe(worker)
        expect(probed.exit_code == 0, f"the healthcheck of {worker} to agree: {probed}")
    site.machine.stop(MAINTENANCE)
    expect(site.machine.probe(MAINTENANCE).exit_code == 1, "the healthcheck of a stopped worker to say so")


STEPS: Final = (
    Step("an item travels from enqueue to done", an_item_travels),
    Step("a worker is killed hard and its item is finished by another", a_killed_workers_item_is_finished_by_another),
    Step("Postgres restarts under load", postgres_restarts_under_load),
    Step("Redis goes and comes back", redis_goes_and_comes_back),
    Step("a rolling restart loses nothing", a_rolling_restart_loses_nothing),
    Step("SIGTERM drains in time", sigterm_drains_in_time),
    Step("the runtime login cannot cross tenants", the_runtime_login_crosses_no_tenants),
    Step("metrics and health are served", metrics_and_health_are_served),
)


def run_step(site: Site, step: Step) -> None:
    """Bring everything up and play a step."""
    bring_up(site.machine)
    step.play(site)


def _new_event(step: str) -> str:
    """Return an event type that no other run has: receivers' paths and keys are told apart by it."""
    return f"{step}.{uuid4().hex[:8]}"


def _loaded(site: Site, step: str) -> tuple[str, tuple[str, ...]]:
    """Publish messages that take the workers a while; return their event and their deliveries' ids."""
    event = _new_event(step)
    for _ in range(NUM_LISTENERS):
        site.listen(event, "slow")
    keys = tuple(key for _ in range(NUM_MESSAGES) for key in site.publish(event))
    expect(len(keys) == NUM_LISTENERS * NUM_MESSAGES, f"every listener to be sent every message: {keys}")
    return event, keys


def _expect_all_arrived(site: Site, event: str, keys: tuple[str, ...]) -> None:
    arrived = {post["id"] for post in site.posts(event) if post["answered"]}
    expect(arrived == set(keys), f"every delivery to have arrived: {len(arrived)} of {len(keys)} have")


def _expect_all_run(site: Site) -> None:
    ended = [worker for worker in WORKERS if not site.machine.is_running(worker)]
    expect(not ended, f"every worker to have outlived it, not {ended}")


def _org_of(site: Site, api_key: str) -> str:
    document = site.machine.headrace("status", "--json", api_key=api_key).document()
    org_id: str = document["org"]["id"]
    return org_id


def _said(site: Site, statement: str, org_id: str | None) -> str:
    done = site.machine.query(statement, org_id=org_id)
    expect(done.exit_code == 0, f"the statement to be answered: {done}")
    return done.output.strip()
