"""What a run finds, one line for each check as it is made."""

import sys
from dataclasses import dataclass, field


@dataclass(slots=True)
class Report:
    """Collects verdicts and writes each at once."""

    num_failed: int = 0
    lines: list[str] = field(default_factory=list)

    def judge(self, what: str, problem: str | None) -> None:
        """Write down that a check passed, or what is wrong.

        Args:
            what: What was checked, as a sentence that is true when it passed.
            problem: None when it passed.
        """
        self.num_failed += problem is not None
        line = f"ok    {what}" if problem is None else f"FAIL  {what}: {problem}"
        self.lines.append(line)
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    def expect(self, what: str, found: object, expected: object) -> None:
        """Judge whether two values are equal."""
        self.judge(what, None if found == expected else f"expected {expected!r}, found {found!r}")

    def remark(self, text: str) -> None:
        """Write something that is neither right nor wrong."""
        self.lines.append(text)
        sys.stdout.write(f"      {text}\n")
