"""The examples of `docs/testing-your-handlers.md`: its blocks are this module."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "testing-your-handlers.md"


def code_of(page: Path) -> str:
    """Return the page's blocks at the lines where they stand, so that a failure points into the page."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * text.count("\n")
    for block in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, block.start(1))
        code = block[1].splitlines()
        lines[first : first + len(code)] = code
    return "\n".join(lines)


# The page's tests and fixtures are collected from here like any others.
exec(compile(code_of(PAGE), str(PAGE), "exec"))  # noqa: S102 - a page of this repository
