"""One run, whichever way the change goes: plan, tell, and, unless it is a dry run, apply, lock and check."""

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.tools.new_worker.change import Change, exclusive, recover, refuse_unfinished
from headrace.tools.new_worker.exceptions import (
    ConflictError,
    GeneratorError,
    StepFailedError,
    TreeError,
    UsageError,
    WrongNameError,
)
from headrace.tools.new_worker.locks import has_lock, lock_files
from headrace.tools.new_worker.plan import Plan, PlannedFile
from headrace.tools.new_worker.report import ExitCode, Report
from headrace.tools.new_worker.signals import ending_signals
from headrace.tools.new_worker.steps import check_steps, lock_step, run_step
from headrace.tools.new_worker.tree import Tree

_REFUSALS = (UsageError, WrongNameError, TreeError, ConflictError)


@dataclass(frozen=True, slots=True)
class Options:
    """How a run goes about it, beside what it changes.

    Attributes:
        root: The tree.
        is_dry_run: Tell the plan as a patch and write nothing.
        verify: Run the tree's fast gate at the end.
    """

    root: Path
    is_dry_run: bool
    verify: bool


@dataclass(frozen=True, slots=True)
class Intention:
    """What a run is to change.

    Attributes:
        worker_name: The worker that it is about.
        plan: What it takes.
        advice: What the developer does next, once it is done.
    """

    worker_name: str
    plan: Plan
    advice: Sequence[str]


class Run:
    """One run of the generator.

    Args:
        options: How it goes about it.
        report: Where it tells what it does.
        on_written: Told of each file once it is in place.
    """

    def __init__(
        self, options: Options, report: Report, on_written: Callable[[PlannedFile], None] | None = None
    ) -> None:
        self._options = options
        self._report = report
        self._on_written = on_written or _nothing
        self._has_changed = False

    def carry_out(self, intend: Callable[[Tree], Intention]) -> ExitCode:
        """Do it.

        Args:
            intend: From the tree to what is to change; only reads.

        Returns:
            How it ended; everything has been told by then.
        """
        try:
            with ending_signals():
                return self._dry(intend) if self._options.is_dry_run else self._change(intend)
        except _REFUSALS as error:
            return self._report.end(ExitCode.REFUSED, str(error))
        except (GeneratorError, OSError) as error:
            return self._report.end(ExitCode.ROLLED_BACK, f"{error}\nThe tree is as it was before.")
        except (KeyboardInterrupt, SystemExit):
            return self._interrupted()
        except Exception:  # noqa: BLE001 - a fault of the generator's own; the tree has been put back all the same
            return self._report.end(ExitCode.ROLLED_BACK, f"{traceback.format_exc()}\nThe tree is as it was before.")

    def _dry(self, intend: Callable[[Tree], Intention]) -> ExitCode:
        tree = Tree.open(self._options.root)
        refuse_unfinished(tree.root)
        plan = intend(tree).plan
        self._report.plan(plan, with_patch=True)
        return self._refusal(plan) or self._report.end(ExitCode.DONE, "This was a dry run: nothing has been written.")

    def _change(self, intend: Callable[[Tree], Intention]) -> ExitCode:
        tree = Tree.open(self._options.root)
        with exclusive(tree.root) as lock:
            if recover(tree.root):
                self._report.recovered()
            intention = intend(tree)
            self._report.plan(intention.plan, with_patch=False)
            if refusal := self._refusal(intention.plan):
                return refusal
            if not intention.plan.changes:
                return self._report.end(ExitCode.DONE, "Everything is there already; nothing has been touched.")
            self._apply(tree, intention, lock)
        return self._check(tree, intention)

    def _refusal(self, plan: Plan) -> ExitCode | None:
        if not plan.conflicts:
            return None
        return self._report.end(ExitCode.REFUSED, "Nothing has been written.")

    def _apply(self, tree: Tree, intention: Intention, lock: int) -> None:
        try:
            change = Change(tree.root, intention.plan, tuple(lock_files(tree, intention.worker_name)))
            with change.applied(self._on_written):
                if has_lock(tree):
                    self._resolve(tree, lock)
        finally:
            recover(tree.root)
        self._has_changed = True

    def _resolve(self, tree: Tree, lock: int) -> None:
        outcome = run_step(lock_step(tree.root), tree.root, (lock,))
        self._report.step(outcome)
        if not outcome.is_ok:
            raise StepFailedError("The dependencies could not be locked, so the change has been taken back.")

    def _check(self, tree: Tree, intention: Intention) -> ExitCode:
        written = tuple(file.path for file in intention.plan.changes if file.after is not None)
        outcomes = []
        for step in check_steps(written, verify=self._options.verify):
            outcomes.append(run_step(step, tree.root))
            self._report.step(outcomes[-1])
        self._report.advise(intention.advice)
        if all(outcome.is_ok for outcome in outcomes):
            return self._report.end(ExitCode.DONE, "Done.")
        return self._report.end(ExitCode.UNVERIFIED, "The change is in the tree, and a check of it failed (see above).")

    def _interrupted(self) -> ExitCode:
        if self._has_changed:
            return self._report.end(
                ExitCode.UNVERIFIED, "Stopped before the checks were through; the change is in the tree."
            )
        return self._report.end(ExitCode.ROLLED_BACK, "Stopped; the tree is as it was before.")


def _nothing(_: PlannedFile) -> None:
    """Take no notice of a file that is in place."""
