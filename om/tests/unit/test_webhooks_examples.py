"""The sample events are messages that can be published."""

import json
from pathlib import Path

import pytest

from headrace.om.webhooks.rules import check_body, check_event_type

FOLDER = Path(__file__).parents[3] / "examples" / "webhooks"
FILES = sorted(FOLDER.glob("*.json"))


def test_there_are_25_with_a_line_each_when_the_folder_is_read() -> None:
    described = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [int(file.name[:2]) for file in FILES] == list(range(1, 26))
    assert all(f"`{file.name}` | {file.stat().st_size:,} |" in described for file in FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_sample_passes_when_it_is_checked_as_a_message(file: Path) -> None:
    event_type, body = file.stem.partition("-")[2], file.read_bytes()
    check_event_type("event_type", event_type)
    check_body(body.decode())
    assert json.loads(body)["type"] == event_type
    assert len(body) < 400_000
