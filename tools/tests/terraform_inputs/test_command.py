import json
from pathlib import Path

import pytest

from headrace.tools.terraform_inputs.__main__ import SCHEMA, main
from headrace.tools.terraform_inputs.document import TerraformInputs

REPOSITORY = Path(__file__).parents[3]
DIGEST = f"sha256:{'ab' * 32}"
PROGRAMS = ("console", "maintenance", "webhook-dispatcher")


def made(tmp_path: Path, *more: str) -> str:
    output = tmp_path / "out" / "workers.auto.tfvars.json"
    assert main(["--root", str(REPOSITORY), "--output", str(output), *more]) == 0
    return output.read_text(encoding="utf-8")


def images(tmp_path: Path, document: object) -> str:
    file = tmp_path / "digests.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return str(file)


def test_the_file_says_of_each_image_which_digest_is_run(tmp_path: Path) -> None:
    text = made(tmp_path, "--images", images(tmp_path, dict.fromkeys(PROGRAMS, DIGEST)))
    inputs = TerraformInputs.model_validate_json(text)
    assert {each.image.digest for each in inputs.workers.values()} == {DIGEST}
    assert inputs.migration.image.digest == DIGEST


def test_the_same_tree_gives_the_same_bytes(tmp_path: Path) -> None:
    assert made(tmp_path) == made(tmp_path)


@pytest.mark.parametrize("document", [{"maintenance": "latest"}, {"maintenance": None}, ["maintenance"]])
def test_something_else_than_digests_is_refused(
    tmp_path: Path, document: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--root", str(REPOSITORY), "--images", images(tmp_path, document)]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "expected a JSON object" in shown.err


def test_a_file_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--root", str(REPOSITORY), "--images", "nowhere.json"]) == 1
    assert "nowhere.json: cannot be read" in capsys.readouterr().err


def test_the_kept_schema_is_the_inputs_own() -> None:
    assert main(["--root", str(REPOSITORY), "--check"]) == 0


def test_a_schema_that_has_drifted_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "workers").symlink_to(REPOSITORY / "workers")
    assert main(["--root", str(tmp_path), "--write-schema"]) == 0
    assert main(["--root", str(tmp_path), "--check"]) == 0
    (tmp_path / SCHEMA).write_text("{}", encoding="utf-8")
    assert main(["--root", str(tmp_path), "--check"]) == 1
    assert "make terraform-schema" in capsys.readouterr().err
