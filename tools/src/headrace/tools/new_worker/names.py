"""Which names a worker, a kind and a lane may have; every refusal has a sentence of its own.

Names are judged in order: first what is written (a path, upper case), then what it would mean (a keyword, somebody
else's name), so that a name with two faults is told the one to mend first.
"""

import keyword
import re
import sys
from collections.abc import Callable, Iterable
from typing import Final

from headrace.tools.new_worker.exceptions import WrongNameError
from headrace.tools.new_worker.inventory import Inventory

MIN_LENGTH: Final = 2
MAX_WORKER_LENGTH: Final = 40
MAX_KIND_LENGTH: Final = 50
"""A member of the enumeration, with the kind as name and as value, fits into a line."""
MAX_LANE_LENGTH: Final = 100
# Folders of these names mean something to the tools that look through the tree.
_RESERVED: Final = frozenset({"src", "test", "tests"})
_LANE: Final = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*")

type _Rule = Callable[[str, Inventory], str | None]


def check_worker_name(name: str, inventory: Inventory, *, is_generated: bool) -> None:
    """Refuse a name that no new worker can have.

    Args:
        name: As given on the command line.
        inventory: What the tree has.
        is_generated: Whether a worker of this very name is there and was generated; making it again is no clash.

    Raises:
        WrongNameError: What is wrong with it, and where one can be derived, what to write instead.
    """
    others = (each for each in inventory.workers if not (is_generated and each == name))
    _judge(name, inventory, (*_WORKER_SHAPE, *_WORKER_MEANING))
    _refuse_clash(name, others, f"the worker in workers/{{other}} ({name} would be its double)")
    if not is_generated and name.replace("-", "_") in inventory.packages:
        raise WrongNameError(
            f"{name!r} would be the package {name.replace('-', '_')}, and this tree has or uses one of that name."
        )


def check_kind(kind: str, worker_name: str, inventory: Inventory) -> None:
    """Refuse a kind that the worker cannot have.

    Args:
        kind: As given on the command line.
        worker_name: The worker that is to handle it.
        inventory: What the tree has; a kind that is declared there and that no worker handles is welcome.

    Raises:
        WrongNameError: What is wrong with it.
    """
    _judge(kind, inventory, _KIND_RULES)
    handler = inventory.kinds.get(kind)
    if handler not in {None, worker_name}:
        raise WrongNameError(f"The kind {kind} exists and the worker {handler} handles it; a kind has one worker.")
    _refuse_clash(kind, (each for each in inventory.kinds if each != kind), "the kind {other}")


def check_lane(lane: str) -> None:
    """Refuse a lane that could not be written into settings and command lines as it is.

    Raises:
        WrongNameError: What a lane looks like.
    """
    if not _LANE.fullmatch(lane) or len(lane) > MAX_LANE_LENGTH:
        raise WrongNameError(
            f"{lane!r} is no name for a lane: it has lower-case letters and digits, with single dots, hyphens or "
            f"underscores between them, and at most {MAX_LANE_LENGTH} characters."
        )


def _judge(name: str, inventory: Inventory, rules: Iterable[_Rule]) -> None:
    for rule in rules:
        if sentence := rule(name, inventory):
            raise WrongNameError(sentence)


def _fold(name: str) -> str:
    """Reduce a name to what a hurried reader and a file system that ignores case tell apart."""
    return re.sub(r"[-_]", "", name).casefold()


def _refuse_clash(name: str, others: Iterable[str], told: str) -> None:
    for other in others:
        if other == name:
            raise WrongNameError(f"A worker {name} exists in workers/{name}, and this program has not made it.")
        if _fold(other) == _fold(name):
            raise WrongNameError(
                f"{name!r} differs only in case, hyphens or underscores from {told.format(other=other)}."
            )


def _counted(num_characters: int) -> str:
    return "one character long" if num_characters == 1 else f"{num_characters} characters long"


def _worker_path(name: str, _: Inventory) -> str | None:
    return f"{name!r} is a path: give the worker's name alone." if _is_path(name) else None


def _is_path(name: str) -> bool:
    return "/" in name or "\\" in name or name.startswith((".", "~"))


def _worker_empty(name: str, _: Inventory) -> str | None:
    return None if name else "The worker's name is empty: expected kebab case, such as shipment-notifier."


def _worker_upper(name: str, _: Inventory) -> str | None:
    return f"{name!r} has upper-case letters: a worker's name is lower case." if name != name.lower() else None


def _worker_underscore(name: str, _: Inventory) -> str | None:
    if "_" not in name:
        return None
    return f"{name!r} has an underscore: a worker's name is kebab case, {name.replace('_', '-')!r} for instance."


def _worker_digit(name: str, _: Inventory) -> str | None:
    return f"{name!r} begins with a digit: a package of that name could not be imported." if name[0].isdigit() else None


def _worker_letters(name: str, _: Inventory) -> str | None:
    wrong = re.search(r"[^a-z0-9-]", name)
    return f"{name!r} has {wrong.group()!r} in it: expected letters a-z, digits and hyphens." if wrong else None


def _worker_hyphens(name: str, _: Inventory) -> str | None:
    if name.strip("-") == name and "--" not in name:
        return None
    return f"{name!r} has a hyphen too many: hyphens stand one at a time, between words."


def _worker_length(name: str, _: Inventory) -> str | None:
    if MIN_LENGTH <= len(name) <= MAX_WORKER_LENGTH:
        return None
    return f"{name!r} is {_counted(len(name))}: a worker's name has {MIN_LENGTH} to {MAX_WORKER_LENGTH}."


def _worker_kit(name: str, _: Inventory) -> str | None:
    if name != "kit":
        return None
    return "'kit' is the library that every worker is built on, so no worker can have its name."


def _worker_base(name: str, _: Inventory) -> str | None:
    if name != "worker":
        return None
    return "'worker' would hide WorkerSettings, which every worker's settings are built on."


def _worker_reserved(name: str, _: Inventory) -> str | None:
    if name not in _RESERVED:
        return None
    return f"{name!r} is a folder name that the tools read a meaning into: choose another."


def _worker_keyword(name: str, _: Inventory) -> str | None:
    if not _is_keyword(name.replace("-", "_")):
        return None
    return f"{name!r} is a keyword of Python: a package of that name could not be imported."


def _is_keyword(word: str) -> bool:
    return keyword.iskeyword(word) or keyword.issoftkeyword(word)


def _worker_stdlib(name: str, _: Inventory) -> str | None:
    module = name.replace("-", "_")
    return f"{name!r} is the name of Python's own module {module}." if module in sys.stdlib_module_names else None


_WORKER_SHAPE: Final[tuple[_Rule, ...]] = (
    _worker_empty,
    _worker_path,
    _worker_upper,
    _worker_underscore,
    _worker_digit,
    _worker_letters,
    _worker_hyphens,
    _worker_length,
)
_WORKER_MEANING: Final[tuple[_Rule, ...]] = (
    _worker_kit,
    _worker_base,
    _worker_reserved,
    _worker_keyword,
    _worker_stdlib,
)


def _kind_empty(kind: str, _: Inventory) -> str | None:
    return None if kind else "The kind is empty: expected upper snake case, such as NOTIFY_SHIPMENT."


def _kind_path(kind: str, _: Inventory) -> str | None:
    return f"{kind!r} is a path: give the kind's name alone." if _is_path(kind) else None


def _kind_lower(kind: str, _: Inventory) -> str | None:
    if kind == kind.upper():
        return None
    return f"{kind!r} has lower-case letters: a kind is upper snake case, such as NOTIFY_SHIPMENT."


def _kind_digit(kind: str, _: Inventory) -> str | None:
    return f"{kind!r} begins with a digit: no class could be named after it." if kind[0].isdigit() else None


def _kind_letters(kind: str, _: Inventory) -> str | None:
    wrong = re.search(r"[^A-Z0-9_]", kind)
    return f"{kind!r} has {wrong.group()!r} in it: expected letters A-Z, digits and underscores." if wrong else None


def _kind_underscores(kind: str, _: Inventory) -> str | None:
    if kind.strip("_") == kind and "__" not in kind:
        return None
    return f"{kind!r} has an underscore too many: underscores stand one at a time, between words."


def _kind_length(kind: str, _: Inventory) -> str | None:
    if MIN_LENGTH <= len(kind) <= MAX_KIND_LENGTH:
        return None
    return f"{kind!r} is {_counted(len(kind))}: a kind has {MIN_LENGTH} to {MAX_KIND_LENGTH}."


def _kind_keyword(kind: str, _: Inventory) -> str | None:
    if not _is_keyword(kind.lower()):
        return None
    return f"{kind!r} in lower case is a keyword of Python: the module of its payload could not be imported."


def _kind_base(kind: str, _: Inventory) -> str | None:
    if kind != "WORK":
        return None
    return "'WORK' would hide WorkPayload, which every kind's payload is built on."


_KIND_RULES: Final[tuple[_Rule, ...]] = (
    _kind_empty,
    _kind_path,
    _kind_lower,
    _kind_digit,
    _kind_letters,
    _kind_underscores,
    _kind_length,
    _kind_keyword,
    _kind_base,
)
