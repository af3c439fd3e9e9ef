"""What is asked of the generator: the worker to make, with every name that follows from its own."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrace.tools.new_worker.rendering import PayloadField


@dataclass(frozen=True, slots=True)
class WorkerRequest:
    """A worker to make; every name in it has been judged already (`names`).

    Attributes:
        root_package: The package that all of the tree's packages live in, such as `headrace`.
        worker_name: The worker, in kebab case; also its folder below `workers/`.
        kind: The work kind that it handles, in upper snake case.
        metrics_port: Where it serves metrics and health; no other worker of the tree has it.
        lane: The lane that it claims from.
        container: Whether the full compose file gets it too.
        payload: The fields of the kind's payload, in the order given; empty for a payload without fields.
    """

    root_package: str
    worker_name: str
    kind: str
    metrics_port: int
    lane: str = "default"
    container: bool = False
    payload: "tuple[PayloadField, ...]" = ()

    @property
    def worker(self) -> str:
        """The worker in snake case: the name of its package below `<root>.workers`."""
        return self.worker_name.replace("-", "_")

    @property
    def package(self) -> str:
        """The worker's package, with dots."""
        return f"{self.root_package}.workers.{self.worker}"

    @property
    def distribution(self) -> str:
        """The name that the worker is installed under; also that of its console script."""
        return f"{self.root_package.replace('_', '-')}-{self.worker_name}"

    @property
    def kind_class(self) -> str:
        """The kind in camel case: `NOTIFY_SHIPMENT` gives `NotifyShipment`."""
        return "".join(word.capitalize() for word in self.kind.split("_"))

    @property
    def kind_module(self) -> str:
        """The kind in lower snake case, as the module of its payload is called."""
        return self.kind.lower()

    @property
    def handler_class(self) -> str:
        """The class that handles the kind."""
        return f"{self.kind_class}HandlerImpl"

    @property
    def payload_class(self) -> str:
        """The model of the kind's payload."""
        return f"{self.kind_class}Payload"
