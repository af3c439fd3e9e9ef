from pathlib import Path
from typing import Any

import pytest

from headrace.tools.image_smoke.exceptions import SmokeError
from headrace.tools.image_smoke.image import Image

PROGRAM = "#!/opt/headrace/bin/python\nprint()\n"


def document(*entrypoint: str) -> dict[str, Any]:
    """What the engine tells of an image."""
    return {"Id": "1", "Size": 1, "Config": {"Entrypoint": list(entrypoint)}}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The files of an image with one program."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/headrace-maintenance").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("target", ["headrace-maintenance", "/bin/headrace-maintenance", "../bin/headrace-maintenance"])
def test_the_program_is_what_the_entrypoint_leads_to_when_it_is_a_link(root: Path, target: str) -> None:
    (root / "bin/worker").symlink_to(target)
    image = Image.read(document("/bin/worker"), root)
    assert (image.program, image.interpreter) == ("headrace-maintenance", "/opt/headrace/bin/python")


def test_the_program_is_the_entrypoint_when_it_is_a_file(root: Path) -> None:
    assert Image.read(document("/bin/headrace-maintenance"), root).program == "headrace-maintenance"


@pytest.mark.parametrize(
    ("entrypoint", "said"),
    [
        (["worker"], "expected a program by its absolute path"),
        ([], "expected a program by its absolute path"),
        (["/bin/other"], "is not in the image"),
        (["/bin/circle"], "go in a circle"),
        (["/bin/shell"], "does not name a Python"),
    ],
)
def test_the_sentence_says_what_is_wrong_when_the_entrypoint_is_no_program(
    root: Path, entrypoint: list[str], said: str
) -> None:
    (root / "bin/circle").symlink_to("circle")
    (root / "bin/shell").write_text("#!/bin/sh\n", encoding="utf-8")
    with pytest.raises(SmokeError, match=said):
        Image.read(document(*entrypoint), root)
