from pathlib import Path
from typing import Annotated, ClassVar

import pytest
from pydantic import Field, SecretStr

from headrace.infra.settings import ProcessSettings, load_settings
from headrace.tools.env_example.__main__ import FILE, main
from headrace.tools.env_example.render import render_own, render_shared


class ShopSettings(ProcessSettings):
    env_scope: ClassVar[str] = "SHOP"

    num_tills: Annotated[int, Field(description="Tills that are open.")] = 4
    till_password: Annotated[SecretStr, Field(description="Opens a till.")]


def test_a_setting_stands_with_its_default_and_its_description() -> None:
    assert "# Tills that are open.\n#HEADRACE_SHOP_NUM_TILLS=4\n" in render_own("shop", ShopSettings)


def test_a_required_secret_is_marked_and_has_no_value() -> None:
    text = render_own("shop", ShopSettings)
    assert "# Opens a till (required, secret).\n#HEADRACE_SHOP_TILL_PASSWORD=\n" in text


def test_a_shared_setting_stands_with_its_meaning_in_the_working_trees_file_alone() -> None:
    shared, own = render_shared(ProcessSettings), render_own("shop", ShopSettings)
    assert "# Lines below this level are not written.\n#HEADRACE_LOG_LEVEL=INFO\n" in shared
    assert "\n#HEADRACE_SHOP_LOG_LEVEL=INFO\n" in own
    assert "HEADRACE_LOG_LEVEL" not in own
    assert "Lines below this level" not in own


def test_every_setting_stands_under_the_programs_own_name() -> None:
    assigned = [line for line in render_own("shop", ShopSettings).splitlines() if line.startswith("#HEADRACE_")]
    names = [line.removeprefix("#HEADRACE_SHOP_").partition("=")[0].lower() for line in assigned]
    assert sorted(names) == sorted(ShopSettings.model_fields)


def test_the_defaults_are_what_loading_the_file_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = render_shared(ProcessSettings).replace("\n#HEADRACE_", "\nHEADRACE_")
    Path(".env").write_text(lines, encoding="utf-8")
    assert load_settings(ProcessSettings) == ProcessSettings.model_construct()


def test_a_file_that_has_drifted_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / FILE).write_text("HEADRACE_OLD=1\n", encoding="utf-8")
    assert main(["--check", "--root", str(tmp_path)]) == 1
    assert f"{FILE} does not match the settings class: run `make env-example`\n" in capsys.readouterr().err
    assert main(["--root", str(tmp_path)]) == 0
    assert main(["--check", "--root", str(tmp_path)]) == 0


def test_a_workers_own_file_is_written_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "workers" / "maintenance"
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project.scripts]\nheadrace-maintenance = "x:y"\n', encoding="utf-8")
    assert main(["--root", str(tmp_path)]) == 0
    assert "\n#HEADRACE_MAINTENANCE_LANE=maintenance\n" in (folder / FILE).read_text(encoding="utf-8")
    (folder / FILE).unlink()
    assert main(["--check", "--root", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith(f"workers/maintenance/{FILE} does not match")
