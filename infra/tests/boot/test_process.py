import logging
import ssl
import subprocess
import sys

import pytest
import truststore
from prometheus_client import generate_latest

from headrace.infra.boot import boot
from headrace.infra.boot.trust import use_system_trust_store
from headrace.infra.exceptions import ConfigurationInvalid
from headrace.infra.settings import ProcessSettings


class Backend:
    def describe(self) -> str:
        return "memory"


def settings(**given: object) -> ProcessSettings:
    return ProcessSettings(**{"service": "tested", "environment": "test", **given})  # type: ignore[arg-type]  # any field


def test_one_line_names_every_backend(caplog: pytest.LogCaptureFixture) -> None:
    with boot(settings()) as process:
        process.announce(cache=Backend(), topics=Backend())
    assert "backends: cache=memory, topics=memory, logs=human, trust=system, errors=off, tracing=off" in caplog.messages


def test_the_registry_tells_what_runs() -> None:
    with boot(settings(release="r7")) as process:
        exposed = generate_latest(process.registry).decode()
    assert 'headrace_process_info{environment="test",release="r7",service="tested"} 1.0' in exposed
    assert "process_resident_memory_bytes" in exposed


def test_a_misspelt_variable_is_warned_about(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("HEADRACE_LOG_LEVLE", "DEBUG")
    with boot(settings()):
        pass
    assert "HEADRACE_LOG_LEVLE is read by nothing; was HEADRACE_LOG_LEVEL meant?" in caplog.messages


def test_production_refuses_local_backends_before_anything_is_changed() -> None:
    before = list(logging.getLogger().handlers)
    with pytest.raises(ConfigurationInvalid, match="HEADRACE_CACHE_BACKEND"):
        boot(settings(environment="production"))
    assert logging.getLogger().handlers == before


def test_what_was_set_up_is_undone_when_the_rest_fails() -> None:
    before = list(logging.getLogger().handlers)
    with pytest.raises(ConfigurationInvalid, match="no Sentry DSN"):
        boot(settings(sentry_dsn="nonsense"))
    assert logging.getLogger().handlers == before
    assert ssl.SSLContext is not truststore.SSLContext


def test_closing_takes_everything_back_and_is_safe_twice() -> None:
    before = list(logging.getLogger().handlers)
    process = boot(settings())
    assert ssl.SSLContext is truststore.SSLContext
    process.close()
    process.close()
    assert logging.getLogger().handlers == before
    assert ssl.SSLContext is not truststore.SSLContext


def test_openssl_s_files_are_used_where_there_is_no_system_store(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "truststore", None)
    description, undo = use_system_trust_store()
    undo()
    assert description.startswith("OpenSSL")
    assert "cannot be used" in caplog.text


def test_importing_boot_loads_nothing_slow() -> None:
    slow = "'pydantic', 'prometheus_client', 'opentelemetry', 'sentry_sdk', 'fastapi', 'uvicorn'"
    program = (
        f"import sys, headrace.infra.boot, headrace.infra.background.runtime; print({{{slow}}} & set(sys.modules))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603 - our own program
    assert ran.stdout.strip() == "set()"
