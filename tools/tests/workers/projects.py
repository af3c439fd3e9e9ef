"""Trees of projects to read workers from."""

from pathlib import Path

GOOD = {
    "kind": '"NOTIFY_SHIPMENT"',
    "lane": '"default"',
    "metrics_port": "9103",
    "cpu": "256",
    "memory": "512",
    "secrets": '["database_runtime_password"]',
}


def write_worker(root: Path, name: str = "shipment-notifier", *, without: str = "", **changed: str) -> Path:
    """Write a worker's project; return the tree's root.

    Args:
        root: The tree.
        name: The worker's folder.
        without: A key of the table to leave out.
        changed: Keys of the table with the TOML of their values.
    """
    table = {key: value for key, value in {**GOOD, **changed}.items() if key != without}
    lines = "\n".join(f"{key} = {value}" for key, value in table.items())
    write_project(root, name, f'[project.scripts]\nheadrace-{name} = "x:main"\n[tool.headrace.worker]\n{lines}\n')
    return root


def write_project(root: Path, name: str, text: str) -> Path:
    """Write a project below `workers/` that begins with its name; return the tree's root."""
    folder = root / "workers" / name
    folder.mkdir(parents=True)
    (folder / "pyproject.toml").write_text(f'[project]\nname = "headrace-{name}"\n{text}', encoding="utf-8")
    return root
