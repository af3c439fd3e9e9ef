"""The digest that staging recorded is the one that production's plan names, over a registry on this machine."""

import hashlib
import json
import shutil
import socket
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from headrace.tools.dev.ports import LOOPBACK, free_port
from headrace.tools.dev.waiting import holds_within
from headrace.tools.terraform_inputs.__main__ import main as write_inputs
from headrace.tools.terraform_inputs.document import TerraformInputs
from headrace.tools.workers import read_images
from tests.deployment.repository import ROOT, run
from tests.deployment.terraform_runs import copied, initialised, plans, secrets_of

pytestmark = [pytest.mark.processes, pytest.mark.registry]

PROGRAMS = [image.name for image in read_images(ROOT)]
RELEASE = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[str]:
    """A registry on the loopback interface; gives its host and port."""
    place = f"{LOOPBACK}:{free_port()}"
    settings = {
        "version": "0.1",
        "storage": {"filesystem": {"rootdirectory": str(tmp_path / "registry")}},
        "http": {"addr": place},
    }
    file = tmp_path / "registry.json"
    file.write_text(json.dumps(settings), encoding="utf-8")
    program = shutil.which("docker-registry")
    assert program is not None
    with (
        (tmp_path / "registry.log").open("wb") as log,
        subprocess.Popen([program, "serve", file], stdout=log, stderr=log) as process,  # noqa: S603 - fixed arguments
    ):
        try:
            assert holds_within(lambda: _listens(place), timedelta(seconds=20))
            yield place
        finally:
            process.terminate()


def _listens(place: str) -> bool:
    host, _, port = place.partition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0


def image(folder: Path, content: bytes) -> Path:
    """Write an OCI layout of one small image; return its folder."""
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def blob(text: bytes, kind: str) -> dict[str, object]:
        name = hashlib.sha256(text).hexdigest()
        (blobs / name).write_bytes(text)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{name}", "size": len(text)}

    layer = blob(content, "layer.v1.tar")
    rootfs = {"type": "layers", "diff_ids": [layer["digest"]]}
    config = blob(json.dumps({"architecture": "amd64", "os": "linux", "rootfs": rootfs}).encode(), "config.v1+json")
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json"}
    whole = blob(json.dumps({**manifest, "config": config, "layers": [layer]}).encode(), "manifest.v1+json")
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}', encoding="utf-8")
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [whole]}), encoding="utf-8")
    return folder


def pushed(folder: Path, place: str) -> str:
    """Push an image; return the digest that the registry gave it."""
    done = run("skopeo", "copy", "--insecure-policy", "--dest-tls-verify=false", f"oci:{folder}", f"docker://{place}")
    assert done.returncode == 0, done.stderr
    done = run("skopeo", "inspect", "--tls-verify=false", "--format", "{{.Digest}}", f"docker://{place}")
    return done.stdout.strip()


def staged(registry: str, folder: Path) -> Mapping[str, str]:
    """Build and push every program's image under the commit, as staging does; return their digests."""
    return {
        name: pushed(image(folder / name, f"{name} of {folder.name}".encode()), f"{registry}/headrace-{name}:{RELEASE}")
        for name in PROGRAMS
    }


def recorded(digests: Mapping[str, str], folder: Path, record: Path) -> tuple[int, str]:
    """Record digests as staging's workflow does; return the exit code and what was said."""
    folder.mkdir()
    for name, digest in digests.items():
        (folder / f"{name}.json").write_text(json.dumps({name: digest}), encoding="utf-8")
    done = run(ROOT / "scripts" / "record-digests.sh", folder, record, folder.with_suffix(".json"))
    return done.returncode, done.stderr


def inputs(record: Path, output: Path) -> TerraformInputs:
    """Make production's inputs from the record."""
    assert write_inputs(["--root", str(ROOT), "--images", str(record), "--output", str(output)]) == 0
    return TerraformInputs.model_validate_json(output.read_bytes())


def test_a_record_is_written_once(registry: str, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    digests = staged(registry, tmp_path / "first")
    assert recorded(digests, tmp_path / "digests", record) == (0, "")
    assert recorded(digests, tmp_path / "same", record) == (0, "")
    code, said = recorded(staged(registry, tmp_path / "rebuilt"), tmp_path / "other", record)
    assert (code, "a commit is not built twice" in said) == (1, True)
    assert json.loads(record.read_text(encoding="utf-8")) == digests


@pytest.mark.terraform
@pytest.mark.timeout(300)
def test_productions_plan_names_the_digest_that_staging_recorded(registry: str, tmp_path: Path) -> None:
    digests = staged(registry, tmp_path / "first")
    record = tmp_path / "record.json"
    recorded(digests, tmp_path / "digests", record)
    # Somebody builds the commit again, and the tag moves on: what is promoted does not.
    assert staged(registry, tmp_path / "rebuilt") != digests
    environment = copied(tmp_path / "terraform") / "environments" / "production"
    told = inputs(record, environment / "workers.auto.tfvars.json")
    given = {"registry": "222222222222.dkr.ecr.eu-central-1.amazonaws.com/headrace"}
    plan = plans(initialised(environment), {"promoted": given}, secrets_of(told))["promoted"]
    for name in PROGRAMS:
        definition = plan.program("migrate" if name == "console" else name)
        assert definition["image"] == f"{given['registry']}/headrace-{name}@{digests[name]}"
        assert pulled(registry, name, digests[name]) == digests[name]


def pulled(registry: str, name: str, digest: str) -> str:
    """Ask the registry for a manifest by digest; return the digest of what came."""
    accept = {"Accept": "application/vnd.oci.image.manifest.v1+json"}
    request = urllib.request.Request(f"http://{registry}/v2/headrace-{name}/manifests/{digest}", headers=accept)
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310 - likewise
        return f"sha256:{hashlib.sha256(answer.read()).hexdigest()}"
