"""The shape of `workers.auto.tfvars.json`; its JSON schema is made from these classes."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

MAX_STOP_SECONDS: Final = 120
"""The longest stop timeout that Fargate grants."""

type Variable = Annotated[str, Field(pattern=r"^HEADRACE_[A-Z0-9_]+$")]
type SettingName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
type Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Image(_Part):
    """An image of the environment's registry."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", description="The repository in the registry.")]
    digest: Annotated[
        Digest | None, Field(description="What is run; null where the inputs were made without images to deploy.")
    ]


class Program(_Part):
    """A program of the tree with everything that its process must or may be told."""

    image: Image
    entrypoint: Annotated[tuple[str, ...], Field(min_length=1, description="The program, found on the image's PATH.")]
    command: Annotated[tuple[str, ...], Field(min_length=1, description="The program's arguments.")]
    settings: Annotated[
        dict[Variable, str],
        Field(description="Every setting that need not be given, with its default; empty where it is not set."),
    ]
    required_variables: Annotated[
        tuple[Variable, ...], Field(description="Settings without a default that are no secrets.")
    ]
    secrets: Annotated[
        dict[Variable, SettingName], Field(description="Secrets that the process cannot start without, by setting.")
    ]
    optional_secrets: Annotated[
        dict[Variable, SettingName], Field(description="Secrets that the process also reads, by setting.")
    ]


class Worker(Program):
    """A worker role."""

    kind: Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]*$", description="The work kind that it handles.")]
    lane: Annotated[str, Field(min_length=1, max_length=100, description="The lane that it claims from.")]
    metrics_port: Annotated[int, Field(ge=1024, le=65535, description="Where it serves metrics and probes.")]
    cpu: Annotated[int, Field(ge=256, le=16384, description="CPU shares; 1024 is one core.")]
    memory: Annotated[int, Field(ge=512, description="Memory in MiB.")]
    health_check: Annotated[
        tuple[str, ...], Field(min_length=2, description="The command that exits 0 while the worker is well.")
    ]
    drain_seconds: Annotated[int, Field(ge=0, description="How long the worker takes at most to stop in good order.")]
    stop_timeout_seconds: Annotated[
        int, Field(ge=2, le=MAX_STOP_SECONDS, description="How long the platform waits before it kills the worker.")
    ]


class TerraformInputs(_Part):
    """What an environment is deployed from."""

    workers: Annotated[
        dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")], Worker],
        Field(description="Every worker role, by name."),
    ]
    migration: Annotated[Program, Field(description="What brings the database's schemas up to date.")]
