from pathlib import Path
from typing import Annotated, ClassVar

import pytest
from pydantic import Field, SecretStr

from headrace.infra.settings import ProcessSettings
from headrace.tools.env_example.__main__ import main
from headrace.tools.env_example.render import render


class ShopSettings(ProcessSettings):
    env_scope: ClassVar[str] = "SHOP"

    num_tills: Annotated[int, Field(description="Tills that are open.")] = 4
    till_password: Annotated[SecretStr, Field(description="Opens a till.")]


def test_a_setting_stands_with_its_default_and_its_description() -> None:
    assert "# Tills that are open.\n#HEADRACE_SHOP_NUM_TILLS=4\n" in render([("shop", ShopSettings)])


def test_a_required_secret_is_marked_and_has_no_value() -> None:
    assert "# Opens a till (required, secret).\n#HEADRACE_SHOP_TILL_PASSWORD=\n" in render([("shop", ShopSettings)])


def test_a_shared_setting_stands_once() -> None:
    text = render([("every process", ProcessSettings), ("shop", ShopSettings)])
    assert text.count("HEADRACE_LOG_LEVEL=") == 1


def test_a_file_that_has_drifted_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".env.example").write_text("HEADRACE_OLD=1\n", encoding="utf-8")
    assert main(["--check", "--root", str(tmp_path)]) == 1
    assert "make env-example" in capsys.readouterr().err
    assert main(["--root", str(tmp_path)]) == 0
    assert main(["--check", "--root", str(tmp_path)]) == 0
