"""What the scenario's steps work with: one org on one machine, its workers and its receiver."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from .machine import POSTGRES, RECEIVER, REDIS, Answer, MachineInterface, ScenarioError, expect, until

SETUP: Final[Mapping[str, Any]] = json.loads(Path(__file__).with_name("workers.json").read_text(encoding="utf-8"))
"""Which org, workers and settings the machine has; the NixOS test reads the same file."""

ORG: Final[Mapping[str, str]] = SETUP["org"]
SECRET_NAME: Final = "org_" + ORG["id"].replace("-", "") + "_scenario"
"""The file in which the workers find the secret that signs the org's webhooks."""

MAINTENANCE: Final = "maintenance"
DISPATCHERS: Final = ("dispatcher-a", "dispatcher-b")
WORKERS: Final = (MAINTENANCE, *DISPATCHERS)
MAX_LISTED: Final = 500
UNAVAILABLE: Final = 3
"""The exit code of the command line when a backend is away."""

OK: Final = 200
NOT_WELL: Final = 503


@dataclass(frozen=True, slots=True)
class Site:
    """The org on its machine.

    Attributes:
        machine: Where everything runs.
        api_key: Signs in to the org as its owner.
        stop_window_seconds: How long a platform waits for a worker to end.
    """

    machine: MachineInterface
    api_key: str
    stop_window_seconds: float

    @classmethod
    def prepare(cls, machine: MachineInterface) -> Self:
        """Bring everything up, seed the org and return it."""
        bring_up(machine)
        api_key = seeded_key(machine, ORG["name"])
        return cls(machine, api_key, float(SETUP["settings"]["stop_window"].removesuffix("s")))

    def ask(self, *arguments: str) -> dict[str, Any]:
        """Run the command line as the org; return its document."""
        return self.machine.headrace(*arguments, "--json", api_key=self.api_key).document()

    def listen(self, event: str, path: str) -> None:
        """Have the receiver get an event of the org at a path."""
        url = f"{self.machine.url(RECEIVER)}/{path}/{event}"
        self.ask("webhooks", "endpoint", "add", url, "--event", event, "--secret-reference", f"file:{SECRET_NAME}")

    def publish(self, event: str) -> tuple[str, ...]:
        """Publish a message; return the ids of its deliveries, one for each endpoint that listens."""
        document = self.ask("webhooks", "publish", "--event", event, "--data", "{}")
        return tuple(each["idempotency_key"] for each in document["deliveries"])

    def publish_until_taken(self, event: str, message_id: str) -> tuple[str, ...]:
        """Publish a message under an id, again and again while the database is away; return its deliveries' ids."""
        taken: list[str] = []

        def is_taken() -> bool:
            arguments = ("--event", event, "--data", "{}", "--message-id", message_id)
            done = self.machine.headrace("webhooks", "publish", *arguments, "--json", api_key=self.api_key)
            if done.exit_code == UNAVAILABLE:
                return False
            taken.extend(each["idempotency_key"] for each in done.document()["deliveries"])
            return True

        until(is_taken, f"message {message_id} is taken")
        return tuple(taken)

    def items(self, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return the work items of these deliveries that are in the queue by now, by the deliveries' ids."""
        listed = self.ask("work", "list", "--kind", "DELIVER_WEBHOOK", "--limit", str(MAX_LISTED))["items"]
        return {item["idempotency_key"]: item for item in listed if item["idempotency_key"] in keys}

    def item(self, item_id: str) -> dict[str, Any]:
        """Return a work item as it stands."""
        item: dict[str, Any] = self.ask("work", "show", item_id)["item"]
        return item

    def until_item(self, item_id: str, status: str) -> None:
        """Wait until a work item has a status."""
        self._until(lambda: self.item(item_id)["status"] == status, f"item {item_id} is {status}")

    def statuses(self, keys: Sequence[str]) -> dict[str, int]:
        """Return how many of these deliveries stand where; one that is not in the queue yet stands at `outbox`."""
        items = self.items(keys)
        found = [items[key]["status"] if key in items else "outbox" for key in keys]
        return {status: found.count(status) for status in sorted(set(found))}

    def until_done(self, keys: Sequence[str]) -> None:
        """Wait until all of these deliveries are done, and see that none is in the queue twice."""
        expect(len(set(keys)) == len(keys), "every delivery to have an id of its own")
        self._until(lambda: self.statuses(keys) == {"done": len(keys)}, f"{len(keys)} deliveries are done")

    def posts(self, event: str) -> list[dict[str, Any]]:
        """Return the posts of an event that the receiver saw, in order."""
        answer = self.machine.http(RECEIVER, "GET", "/control/posts")
        if answer is None or answer.status != OK:
            raise ScenarioError("the receiver does not answer")
        return [post for post in json.loads(answer.body)["posts"] if post["path"].endswith(f"/{event}")]

    def until_held(self, event: str, num: int) -> None:
        """Wait until so many posts of an event wait for the gate."""
        self._until(lambda: sum(not post["answered"] for post in self.posts(event)) >= num, f"{num} posts are held")

    def move_gate(self, how: str) -> None:
        """Let held posts go with `open`, hold those that come with `shut`."""
        expect(self.machine.http(RECEIVER, "PUT", f"/control/{how}") is not None, "the receiver to answer")

    def until_health(self, worker: str, status: int) -> Answer:
        """Wait until a worker's `/healthz` answers with a status; return the answer."""
        answers: list[Answer] = []

        def is_there() -> bool:
            answer = self.machine.http(worker, "GET", "/healthz")
            answers.extend([] if answer is None else [answer])
            return answer is not None and answer.status == status

        self._until(is_there, f"{worker} answers /healthz with {status}")
        return answers[-1]

    def stop_in_time(self, worker: str) -> None:
        """Stop a worker and see that it ends by itself, cleanly."""
        code = self.machine.stop(worker)
        expect(code == 0, f"{worker} to stop with 0, not with {code}: {self.machine.log(worker)}")

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        try:
            until(condition, what)
        except ScenarioError as error:
            logs = "\n".join(f"== {worker}\n{self.machine.log(worker)}" for worker in WORKERS)
            raise ScenarioError(f"{error}\n{logs}") from None


def bring_up(machine: MachineInterface) -> None:
    """Have every server and worker run, and the receiver's gate open."""
    for unit in (POSTGRES, REDIS, RECEIVER, *WORKERS):
        machine.start(unit)
    machine.http(RECEIVER, "PUT", "/control/open")


def seeded_key(machine: MachineInterface, org: str) -> str:
    """Make an org with an owner, where there is none, and a new API key for it; return the key."""
    document = machine.headrace("seed", "--org", org, "--owner", f"{org}-owner", "--json").document()
    key: str = document["token"]
    return key
