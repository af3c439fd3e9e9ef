"""What `scripts/images.sh` says where it cannot build; that it builds is what it shows itself."""

import shutil
from pathlib import Path

from tests.deployment.repository import ROOT, run


def test_the_sentence_says_what_is_missing_when_there_is_no_podman(tmp_path: Path) -> None:
    for name in ("bash", "dirname", "id", "mktemp", "rm", "sed"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)
    done = run(ROOT / "scripts" / "images.sh", environment={"PATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("no podman on PATH, so no image was built: install it")
    assert len(done.stderr.splitlines()) == 1
