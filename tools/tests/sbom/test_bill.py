"""Bills of made-up closures and of this very environment, held to the published schema of CycloneDX 1.6."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from headrace.tools.sbom.__main__ import main

ROOT: Final = Path(__file__).parents[3]
VALIDATOR: Final = JsonStrictValidator(SchemaVersion.V1_6)
LOCK: Final = """
[[package]]
name = "app"
version = "0.1.0"
source = { editable = "workers/app" }
dependencies = [{ name = "leaf" }, { name = "elsewhere", marker = "sys_platform == 'win32'" }]

[[package]]
name = "leaf"
version = "2.0"
source = { registry = "pypi" }
wheels = [
    { url = "ab/leaf-2.0-cp313-cp313-win_amd64.whl", hash = "sha256:WINDOWS" },
    { url = "cd/leaf-2.0-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", hash = "sha256:LINUX" },
]
""".replace("WINDOWS", "1" * 64).replace("LINUX", "2" * 64)
LINUX: Final = ("cp313-cp313-manylinux_2_17_x86_64", "cp313-cp313-manylinux2014_x86_64")


class Store:
    """A store whose paths the test makes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = folder / "lock.toml"
        self.lock.write_text(LOCK, encoding="utf-8")
        self._registration: list[str] = []

    def path(self, label: str, *references: Path) -> Path:
        path = self.folder / f"{len(self._registration):032d}-{label}"
        path.mkdir()
        lines = [str(path), "sha256:00", "10", "", str(len(references)), *map(str, references)]
        self._registration.append("\n".join(lines))
        return path

    def distribution(
        self, name: str, version: str, *references: Path, metadata: str = "", tags: Sequence[str] = ()
    ) -> Path:
        path = self.path(f"{name}-{version}", *references)
        info = path / f"lib/python3.13/site-packages/{name}-{version}.dist-info"
        info.mkdir(parents=True)
        head = f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{metadata}"
        (info / "METADATA").write_text(f"{head}\nThe text.\n", encoding="utf-8")
        (info / "WHEEL").write_text("Wheel-Version: 1.0\n" + "".join(f"Tag: {tag}\n" for tag in tags), encoding="utf-8")
        return path

    def bill(self) -> dict[str, Any]:
        registration, output = self.folder / "registration", self.folder / "bill.json"
        registration.write_text("\n".join(self._registration) + "\n", encoding="utf-8")
        subject = ["--name", "image", "--version", "abc", "--source", "https://forge.invalid/headrace"]
        given = ["--closure", str(registration), "--lock", str(self.lock), "--output", str(output)]
        assert main([*subject, *given]) == 0
        document: dict[str, Any] = json.loads(output.read_text(encoding="ascii"))
        return document


def problems(document: object) -> str | None:
    found = VALIDATOR.validate_str(json.dumps(document))
    return None if found is None else repr(found)


def component(bill: dict[str, Any], name: str) -> dict[str, Any]:
    found = [each for each in bill["components"] if each["name"] == name]
    # A path of the store may have the name of a distribution, which comes first then.
    return dict(min(found, key=lambda each: str(each["bom-ref"]).startswith("nix:")))


def needs(bill: dict[str, Any], reference: str) -> list[str]:
    (found,) = (each for each in bill["dependencies"] if each["ref"] == reference)
    return list(found["dependsOn"])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture
def bill(store: Store) -> dict[str, Any]:
    """The bill of an image with an interpreter, a wheel, our own distribution and the environment of all three."""
    libc = store.path("glibc-2.40-66")
    python = store.path("python3-3.13.0", libc)
    licence = "License-Expression: MIT\nSummary: A leaf\n"
    leaf = store.distribution("leaf", "2.0", metadata=licence, tags=LINUX)
    app = store.distribution("app", "0.1.0", metadata="Classifier: License :: OSI Approved :: MIT License\n")
    environment = store.path("leaf-0", python, leaf, app)
    for one in (leaf, app):
        for info in one.glob("lib/python3.13/site-packages/*.dist-info"):
            place = environment / info.relative_to(one)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(info)
    return store.bill()


def test_the_bill_holds_to_the_schema_when_it_is_of_a_closure(bill: dict[str, Any]) -> None:
    assert problems(bill) is None
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)


def test_the_schema_refuses_when_a_bill_is_broken(bill: dict[str, Any]) -> None:
    del bill["components"][0]["name"]
    assert problems(bill) is not None


def test_a_wheel_has_the_hash_of_its_own_platform_when_the_lock_has_several(bill: dict[str, Any]) -> None:
    leaf = component(bill, "leaf")
    assert leaf["hashes"] == [{"alg": "SHA-256", "content": "2" * 64}]
    assert leaf["purl"] == "pkg:pypi/leaf@2.0"
    assert leaf["licenses"] == [{"expression": "MIT"}]
    assert leaf["description"] == "A leaf"


def test_no_package_url_leads_to_strangers_when_a_distribution_is_ours(bill: dict[str, Any]) -> None:
    app = component(bill, "app")
    assert (app["bom-ref"], "purl" in app) == ("headrace:app", False)
    assert app["licenses"] == [{"license": {"name": "MIT License"}}]


def test_other_paths_of_the_store_are_listed_when_they_hold_no_distribution(bill: dict[str, Any]) -> None:
    glibc = component(bill, "glibc")
    assert (glibc["version"], glibc["purl"]) == ("2.40-66", "pkg:generic/glibc@2.40-66")
    assert glibc["properties"][1] == {"name": "nix:narHash", "value": "sha256:00"}


def test_needs_come_from_the_lock_and_from_references_when_both_are_there(bill: dict[str, Any]) -> None:
    assert needs(bill, "headrace:app") == ["pkg:pypi/leaf@2.0"]
    assert needs(bill, component(bill, "python3")["bom-ref"]) == [component(bill, "glibc")["bom-ref"]]
    (environment,) = needs(bill, "image:image")
    assert len(needs(bill, environment)) == 3


def test_the_bill_is_the_same_when_it_is_made_again(store: Store, bill: dict[str, Any]) -> None:
    assert store.bill() == bill
    store.path("more-1")
    assert store.bill()["serialNumber"] != bill["serialNumber"]


def test_this_environment_has_a_valid_bill_when_it_is_listed(tmp_path: Path) -> None:
    output = tmp_path / "bill.json"
    locks = [f"--lock={file}" for file in (ROOT / "nix/uv.lock", *ROOT.glob("workers/*/lock.toml"))]
    given = ["--name", "development", "--version", "abc", "--environment", sys.prefix, "--output", str(output)]
    assert main([*given, *locks]) == 0
    bill = json.loads(output.read_text(encoding="ascii"))
    assert problems(bill) is None
    assert len(component(bill, "pydantic-core")["hashes"]) == 1
    assert "pkg:pypi/sqlalchemy" in " ".join(needs(bill, "headrace:headrace-om"))


@pytest.mark.parametrize(("registration", "sentence"), [("", "holds nothing"), ("/a\nb\n", "is no registration")])
def test_one_sentence_is_told_when_the_closure_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], registration: str, sentence: str
) -> None:
    file = tmp_path / "registration"
    file.write_text(registration, encoding="ascii")
    given = ["--name", "x", "--version", "y", "--closure", str(file), "--output", str(tmp_path / "out")]
    assert main(given) == 1
    assert sentence in capsys.readouterr().err
