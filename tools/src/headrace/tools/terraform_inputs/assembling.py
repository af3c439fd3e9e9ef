"""From declarations and settings classes to the document; pure but for importing the classes."""

import math
from collections.abc import Iterator, Mapping
from typing import Final, TypedDict

from headrace.infra.settings import ProcessSettings, SettingEntry, format_duration, settings_catalogue
from headrace.om.work.types.kinds import WorkKind
from headrace.tools.terraform_inputs.document import MAX_STOP_SECONDS, Image, Program, TerraformInputs, Worker
from headrace.tools.terraform_inputs.exceptions import TerraformInputsError
from headrace.tools.workers import ImageDeclaration, WorkerDeclaration
from headrace.tools.workers.settings_classes import settings_class
from headrace.workers.kit.relations import CLOSE_TIMEOUT, bad_pairs
from headrace.workers.kit.settings import WorkerSettings

MIGRATION: Final = "console"
"""The program whose image brings the schemas up to date."""

MIGRATION_SECRETS: Final = ("database_migration_password",)

type Digests = Mapping[str, str]


def assemble(images: tuple[ImageDeclaration, ...], digests: Digests | None) -> TerraformInputs:
    """Return the whole document.

    Args:
        images: Every program of the tree that is shipped.
        digests: Each program's image digest, by folder name; None where nothing is to be deployed.

    Raises:
        TerraformInputsError: A declaration and its settings class disagree, a stop takes longer than the platform
            grants, a digest is missing, or the tree has no console.
    """
    workers = {image.name: _worker(image, image.worker, digests) for image in images if image.worker is not None}
    migration = next((image for image in images if image.name == MIGRATION), None)
    if migration is None:
        raise TerraformInputsError(f"workers/{MIGRATION} is missing; its image brings the schemas up to date")
    return TerraformInputs(workers=workers, migration=_migration(migration, digests))


def _worker(image: ImageDeclaration, declared: WorkerDeclaration, digests: Digests | None) -> Worker:
    cls = _settings_of(image.name)
    if not issubclass(cls, WorkerSettings):
        raise TerraformInputsError(f"{_file(image.name)}: expected {cls.__name__} to be a WorkerSettings")
    defaults = _defaults(cls)
    _refuse_problems(declared, defaults)
    return Worker(
        **_told(cls, declared.secrets, image.name),
        image=_image(image, digests),
        entrypoint=(declared.program,),
        command=("serve",),
        kind=declared.kind,
        lane=declared.lane,
        metrics_port=declared.metrics_port,
        cpu=declared.cpu,
        memory=declared.memory,
        health_check=("CMD", declared.program, "healthcheck"),
        drain_seconds=math.ceil((defaults.shutdown_timeout + CLOSE_TIMEOUT).total_seconds()),
        stop_timeout_seconds=math.ceil(defaults.stop_window.total_seconds()),
    )


def _migration(image: ImageDeclaration, digests: Digests | None) -> Program:
    cls = _settings_of(image.name)
    return Program(
        **_told(cls, MIGRATION_SECRETS, image.name),
        image=_image(image, digests),
        entrypoint=(image.program,),
        command=("migrate",),
    )


def _image(image: ImageDeclaration, digests: Digests | None) -> Image:
    if digests is not None and image.name not in digests:
        raise TerraformInputsError(f"the images have no digest for {image.name}; expected one for each program")
    return Image(name=image.image, digest=digests[image.name] if digests is not None else None)


def _settings_of(name: str) -> type[ProcessSettings]:
    try:
        return settings_class(name)
    except (ImportError, ValueError) as error:
        raise TerraformInputsError(
            f"{_file(name)}: expected one settings class that can be imported: {error}"
        ) from None


def _defaults(cls: type[WorkerSettings]) -> WorkerSettings:
    """Return the settings with every default, whatever the environment says; what is required is left out."""
    values = {
        name: info.get_default(call_default_factory=True)
        for name, info in cls.model_fields.items()
        if not info.is_required()
    }
    return cls.model_construct(**values)


class _Told(TypedDict):
    settings: dict[str, str]
    required_variables: tuple[str, ...]
    secrets: dict[str, str]
    optional_secrets: dict[str, str]


def _told(cls: type[ProcessSettings], secrets: tuple[str, ...], name: str) -> _Told:
    """Return what a program is told, sorted into plain settings, required ones, secrets and optional secrets."""
    entries = settings_catalogue(cls)
    _refuse_unknown_secrets(entries, secrets, name)
    needed = [each for each in entries if each.is_secret and (each.is_required or each.field in secrets)]
    return {
        "settings": {each.variable: each.default or "" for each in entries if not (each.is_secret or each.is_required)},
        "required_variables": tuple(each.variable for each in entries if each.is_required and not each.is_secret),
        "secrets": {each.variable: each.field for each in needed},
        "optional_secrets": {each.variable: each.field for each in entries if each.is_secret and each not in needed},
    }


def _refuse_unknown_secrets(entries: tuple[SettingEntry, ...], secrets: tuple[str, ...], name: str) -> None:
    known = {each.field for each in entries if each.is_secret}
    for each in secrets:
        if each not in known:
            raise TerraformInputsError(
                f"{_file(name)}: the settings class has no secret {each}; expected one of {', '.join(sorted(known))}"
            )


def _refuse_problems(declared: WorkerDeclaration, defaults: WorkerSettings) -> None:
    if problems := tuple(_problems(declared, defaults)):
        raise TerraformInputsError(f"{_file(declared.name)}: {'; '.join(problems)}")


def _problems(declared: WorkerDeclaration, defaults: WorkerSettings) -> Iterator[str]:
    if declared.kind not in WorkKind.__members__:
        yield f"kind is {declared.kind}; expected one of {', '.join(WorkKind.__members__)}"
    for key in ("lane", "metrics_port"):
        told, default = getattr(declared, key), getattr(defaults, key)
        if told != default:
            yield f"{key} is {told}; expected {default}, the default of {type(defaults).__name__}"
    if defaults.stop_window.total_seconds() > MAX_STOP_SECONDS:
        yield f"stop_window is {format_duration(defaults.stop_window)}; expected at most {MAX_STOP_SECONDS}s"
    yield from bad_pairs(defaults)


def _file(name: str) -> str:
    return f"workers/{name}/pyproject.toml"
