"""Each fault turns `nix flake check` red: the check that has to find it fails, and says what it found."""

import os

import pytest

from tests.flake.tree import MAX_SECONDS, TreeCopy

pytestmark = [pytest.mark.flake, pytest.mark.timeout(MAX_SECONDS)]

SYSTEM = f"{os.uname().machine}-{os.uname().sysname.lower()}"
STORAGE = "om/src/headrace/om/work/storage/impl/memory.py"
POLICIES = "om/migrations/sql/queue/202611301200_work_items.up.sql"


def check(tree: TreeCopy, name: str) -> str:
    """Builds one check, which must fail, and returns what it printed."""
    done = tree.build(f"checks.{SYSTEM}.{name}")
    assert done.returncode != 0, done.stdout[-2000:]
    return done.stdout


def test_the_unit_tests_fail_when_a_case_of_a_contract_does(tree: TreeCopy) -> None:
    tree.replace(
        "om/tests/contracts/work_creating.py", "        assert read == item\n", "        assert read != item\n"
    )
    printed = check(tree, "unit")
    assert "FAILED om/tests/unit/" in printed
    assert "test_an_item_reads_back_as_written" in printed


def test_the_integration_tests_fail_when_a_policy_is_off(tree: TreeCopy) -> None:
    sql = (tree.root / POLICIES).read_text()
    assert "ENABLE ROW LEVEL SECURITY" in sql
    (tree.root / POLICIES).write_text(sql.replace("ENABLE ROW LEVEL SECURITY", "DISABLE ROW LEVEL SECURITY"))
    assert "FAILED om/tests/integration/" in check(tree, "integration")


def test_the_nix_tests_fail_when_a_function_is_misspelt(tree: TreeCopy) -> None:
    tree.replace("nix/workers.nix", "distribution = project.project.name", "distribution = proiect.project.name")
    assert "undefined variable 'proiect'" in check(tree, "nix-unit")


def test_nothing_evaluates_when_the_lock_names_a_host(tree: TreeCopy) -> None:
    lock = tree.root / "nix" / "uv.lock"
    lock.write_text(lock.read_text().replace('url = "', 'url = "https://files.example/packages/', 1))
    assert "nix/uv.lock names an address in" in check(tree, "contracts")


def test_a_page_for_readers_rebuilds_nothing_when_it_changes(tree: TreeCopy) -> None:
    before = derivation(tree)
    for page in ("README.md", "om/README.md", "workers/maintenance/README.md", "om/src/headrace/om/work/README.md"):
        (tree.root / page).write_text("Changed.\n")
    assert derivation(tree) == before


def test_one_worker_alone_is_built_anew_when_its_code_changes(tree: TreeCopy) -> None:
    before = {name: derivation(tree, name) for name in ("maintenance", "webhook-dispatcher")}
    module = tree.root / "workers/maintenance/src/headrace/workers/maintenance/main.py"
    module.write_text(f"{module.read_text()}# changed\n")
    after = {name: derivation(tree, name) for name in ("maintenance", "webhook-dispatcher")}
    assert after["maintenance"] != before["maintenance"]
    assert after["webhook-dispatcher"] == before["webhook-dispatcher"]


def derivation(tree: TreeCopy, output: str = "maintenance") -> str:
    """Returns what an output would be built by; the same derivation means that nothing is built."""
    tree.run("git", "add", "--all")
    done = tree.run("scripts/nix.sh", "eval", "--raw", f".#{output}.drvPath")
    assert done.returncode == 0, done.stdout
    return next(line for line in done.stdout.splitlines() if line.startswith("/nix/store/"))
