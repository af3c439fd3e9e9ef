"""Images run for real: one made of this machine's own Python, one full of faults, and those that are given.

`HEADRACE_IMAGE_ARCHIVES` names a folder of archives to run besides, each called `<worker>.tar`.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.images.host_image import ROOT, in_environment, without, worker_contents, write_archive

pytestmark = [pytest.mark.images, pytest.mark.servers, pytest.mark.processes, pytest.mark.timeout(400)]

GIVEN = sorted(Path(os.environ.get("HEADRACE_IMAGE_ARCHIVES", ROOT / "no-archives")).glob("*.tar"))


def smoke(archive: Path, worker: str) -> tuple[int, str]:
    """Run the tool; return its exit code and what it wrote."""
    argv = [sys.executable, "-m", "headrace.tools.image_smoke", "--archive", str(archive), "--worker", worker]
    done = subprocess.run(  # noqa: S603 - our own program
        argv, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=380
    )
    return done.returncode, done.stdout


def failures(output: str) -> set[str]:
    return set(re.findall(r"^FAIL  ((?:inside: )?.*?): ", output, re.MULTILINE))


def test_every_check_passes_when_the_image_is_as_it_should_be(tmp_path: Path) -> None:
    archive = tmp_path / "maintenance.tar"
    write_archive(worker_contents("maintenance"), archive)
    code, output = smoke(archive, "maintenance")
    assert (code, failures(output)) == (0, set()), output
    assert "ok    it does an item" in output


def test_each_fault_is_named_when_the_image_is_full_of_them(tmp_path: Path) -> None:
    contents = worker_contents("maintenance")
    contents.config |= {"User": "1000", "StopSignal": "SIGINT", "Cmd": [], "ExposedPorts": {}}
    in_environment(contents, {"PYTHONUTF8": "0"})
    without(contents, r"^/usr/share/zoneinfo/|/tzdata")
    contents.files["/venv/lib/python3.13/site-packages/broken.so"] = b"\x7fELF of another machine"
    archive = tmp_path / "faulty.tar"
    write_archive(contents, archive)
    code, output = smoke(archive, "maintenance")
    assert code == 1, output
    assert failures(output) == {
        "it serves where nothing else is asked",
        "it runs as an ordinary account by number",
        "it shows the metrics port alone",
        "it is asked to end by SIGTERM",
        "inside: account",
        "inside: modules",
        "inside: temporary-files",
        "inside: utf8",
        "inside: zones",
        "text comes out as UTF-8",
        "it starts against PostgreSQL",
    }, output


def test_the_sentence_says_what_is_missing_when_there_is_no_such_worker(tmp_path: Path) -> None:
    archive = tmp_path / "any.tar"
    archive.touch()
    code, output = smoke(archive, "no-such-worker")
    assert (code, "expected one of console, maintenance" in output) == (2, True), output


if GIVEN:

    @pytest.mark.parametrize("archive", GIVEN, ids=lambda archive: archive.stem)
    def test_every_check_passes_when_an_archive_is_given(archive: Path) -> None:
        code, output = smoke(archive, archive.stem)
        assert code == 0, output
