import logging
import sys

import pytest
from pydantic import SecretStr

from headrace.infra.boot.errors import report_errors
from headrace.infra.boot.log_context import log_context
from headrace.infra.exceptions import ConfigurationInvalid
from infra.tests.boot.conftest import Collector


def fail_and_log() -> None:
    personal = f"someone{chr(64)}example.org"  # the source line may be sent, its value not
    try:
        int(personal[:1])
    except ValueError:
        logging.getLogger("headrace.tests").exception("a run failed")


def test_a_logged_error_is_reported_with_its_identifiers_and_without_local_values(collector: Collector) -> None:
    dsn = SecretStr(f"http://key@{collector.address}/1")
    reporting = report_errors(dsn, environment="test", release="r1")
    try:
        with log_context(org_id="the-org"):
            fail_and_log()
    finally:
        reporting.close()
    _path, body = collector.posts.get(timeout=20)
    assert b"a run failed" in body
    assert b'"org_id":"the-org"' in body
    assert b"someone@example.org" not in body
    assert b'"vars"' not in body
    assert "key" not in reporting.description


def test_closing_twice_is_safe(collector: Collector) -> None:
    reporting = report_errors(SecretStr(f"http://key@{collector.address}/1"), environment="test", release="r1")
    reporting.close()
    reporting.close()


def test_nothing_is_reported_without_a_dsn() -> None:
    reporting = report_errors(None, environment="test", release="r1")
    reporting.close()
    assert reporting.description == "off"


def test_what_is_no_dsn_is_refused_and_not_shown() -> None:
    with pytest.raises(ConfigurationInvalid, match="HEADRACE_SENTRY_DSN is no Sentry DSN") as caught:
        report_errors(SecretStr("hunter2"), environment="test", release="r1")
    assert "hunter2" not in str(caught.value)


def test_a_dsn_without_the_extra_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentry_sdk", None)
    with pytest.raises(ConfigurationInvalid, match=r"HEADRACE_SENTRY_DSN is set.*headrace-infra\[errors\]"):
        report_errors(SecretStr("https://key@127.0.0.1/1"), environment="test", release="r1")
