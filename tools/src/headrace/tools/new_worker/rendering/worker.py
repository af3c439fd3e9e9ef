"""The texts of a worker's files, made from the templates."""

import json
from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final

from headrace.tools.new_worker.rendering.env_file import env_file
from headrace.tools.new_worker.rendering.payload_field import PayloadField
from headrace.tools.new_worker.rendering.template_files import TEMPLATES, filled
from headrace.tools.new_worker.request import WorkerRequest

_SUFFIX: Final = ".jinja"


def render_worker(request: WorkerRequest) -> Mapping[PurePosixPath, str]:
    """Return every file that belongs to the worker alone, by its path in the tree.

    Line breaks and the order of imports are the formatter's to settle afterwards; everything else is as it will be.

    Args:
        request: The worker; its names were judged before.
    """
    names, words = _names(request), _words(request)
    rendered = {
        _path(path, names): filled(template.read_text(encoding="utf-8"), words)
        for path, template in _templates(TEMPLATES / "tree", PurePosixPath())
    }
    own_env_file = PurePosixPath("workers", request.worker_name, ".env.example")
    return MappingProxyType({**rendered, own_env_file: env_file(request)})


def _templates(folder: Traversable, at: PurePosixPath) -> Iterator[tuple[PurePosixPath, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _templates(entry, at / entry.name)
        elif entry.name.endswith(_SUFFIX):
            yield at / entry.name.removesuffix(_SUFFIX), entry


def _names(request: WorkerRequest) -> Mapping[str, str]:
    """Return what stands for the upper-case words in the templates' paths; a longer word comes before its beginning."""
    return {
        "WORKER_NAME": request.worker_name,
        "WORKER": request.worker,
        "KIND_MODULE": request.kind_module,
        "ROOT": request.root_package,
    }


def _path(template: PurePosixPath, names: Mapping[str, str]) -> PurePosixPath:
    path = str(template)
    for word, name in names.items():
        path = path.replace(word, name)
    return PurePosixPath(path)


def _words(request: WorkerRequest) -> dict[str, Any]:
    root = request.root_package
    return {
        "root": root,
        "product": root.replace("_", " ").capitalize(),
        "dist_root": root.replace("_", "-"),
        "env_prefix": f"{root.upper()}_",
        "env_scope": request.worker.upper(),
        "worker": request.worker,
        "worker_name": request.worker_name,
        "worker_words": request.worker_name.replace("-", " "),
        "worker_class": "".join(word.capitalize() for word in request.worker_name.split("-")),
        "package": request.package,
        "distribution": request.distribution,
        "kind": request.kind,
        "kind_module": request.kind_module,
        "handler_class": request.handler_class,
        "payload_class": request.payload_class,
        "lane": request.lane,
        "lane_option": "" if request.lane == "default" else f" --lane {request.lane}",
        "metrics_port": request.metrics_port,
        **_payload_words(request.payload),
    }


def sample_json(fields: tuple[PayloadField, ...]) -> str:
    """Return a payload that fits, as JSON."""
    return json.dumps(json.loads(_literal(fields).replace("True", "true")))


def _literal(fields: tuple[PayloadField, ...]) -> str:
    return "{" + ", ".join(f'"{each.name}": {each.good}' for each in fields) + "}"


def _payload_words(fields: tuple[PayloadField, ...]) -> dict[str, Any]:
    required = [each.name for each in fields if not each.is_optional]
    optional = [each.name for each in fields if each.is_optional]
    return {
        "fields": fields,
        "payload_imports": _import_lines(fields),
        "payload_literal": _literal(fields),
        "payload_json": sample_json(fields),
        "required": required,
        "required_literal": json.dumps(required),
        "optional": optional,
        "optional_literal": json.dumps(optional),
    }


def _import_lines(fields: tuple[PayloadField, ...]) -> tuple[str, ...]:
    needed: dict[str, set[str]] = {"typing": {"ClassVar"}}
    for field in fields:
        for module, name in field.imports:
            needed.setdefault(module, set()).add(name)
    return tuple(f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(needed.items()))
