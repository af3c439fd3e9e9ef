"""The application that answers exactly `/metrics`, `/healthz` and `/readyz`."""

from collections.abc import Callable, Sequence
from http import HTTPStatus

from fastapi import FastAPI, Response
from fastapi.responses import JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest

type Problems = Callable[[], Sequence[str]]
"""Tells what is wrong in one sentence each, empty for nothing; from memory only, for a probe must not wait on I/O."""


def create_probe_app(*, registry: CollectorRegistry, health: Problems, ready: Problems) -> FastAPI:
    """An application with the three routes and no documentation routes.

    Args:
        registry: What `/metrics` shows.
        health: What `/healthz` answers: 200, or 503 with the problems.
        ready: The same for `/readyz`.
    """
    app = FastAPI(title="headrace", docs_url=None, redoc_url=None, openapi_url=None)

    async def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    async def healthz() -> Response:
        return _verdict(health())

    async def readyz() -> Response:
        return _verdict(ready())

    for path, answer in (("/metrics", metrics), ("/healthz", healthz), ("/readyz", readyz)):
        app.add_api_route(path, answer, methods=["GET"], response_model=None)
    return app


def _verdict(problems: Sequence[str]) -> Response:
    if not problems:
        return JSONResponse({"status": "ok"})
    return JSONResponse({"status": "unavailable", "problems": list(problems)}, HTTPStatus.SERVICE_UNAVAILABLE)
