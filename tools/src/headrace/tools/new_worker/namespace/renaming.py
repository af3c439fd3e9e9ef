"""Says a text in another tree's words: its root package, database logins and variables for ours.

In Python the syntax says what a module path is: imports, dotted names, and paths spelled in strings and comments. The
root package's name by itself, in a sentence or as part of another word, is left alone.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final, override

import libcst as cst

_PACKAGES: Final = frozenset({"om", "infra", "tools", "workers"})
_LOGINS: Final = ("migration", "runtime", "system")


@dataclass(frozen=True)
class Renaming:
    """From one tree's words to another's.

    Attributes:
        old_package: The root package where the text comes from.
        new_package: The root package where it goes to.
        old_logins: What the database logins begin with where the text comes from.
        new_logins: What they begin with where it goes to.
        old_settings: What the variables of settings begin with where the text comes from.
        new_settings: What they begin with where it goes to.
    """

    old_package: str
    new_package: str
    old_logins: str
    new_logins: str
    old_settings: str
    new_settings: str

    @property
    def is_needed(self) -> bool:
        """Whether the trees differ in these words at all."""
        old, new = (self.old_package, self.old_logins), (self.new_package, self.new_logins)
        return (*old, self.old_settings) != (*new, self.new_settings)

    def python(self, text: str) -> str:
        """Return a Python text in the other tree's words; nothing else in it changes."""
        words = (self.old_package, self.old_logins, self.old_settings)
        if not self.is_needed or not any(word in text for word in words):
            return text
        return cst.parse_module(text).visit(_Renamer(self)).code

    def prose(self, text: str) -> str:
        """Return a text without syntax, such as SQL or a page, in the other tree's words."""
        paths = self._path.sub(self.new_package, text)
        logins = self._login.sub(lambda found: f"{self.new_logins}{found[1]}", paths)
        return self._setting.sub(self.new_settings, logins)

    def path(self, path: str) -> str:
        """Return where a file is in the other tree."""
        return re.sub(rf"(?<=/src/){re.escape(self.old_package)}(?=/)", self.new_package, path)

    @cached_property
    def _path(self) -> re.Pattern[str]:
        """The root package at the head of a module path, or as a folder below `src`."""
        old = re.escape(self.old_package)
        return re.compile(rf"\b{old}(?=\.(?:{'|'.join(sorted(_PACKAGES))})\b)|(?<=src/){old}(?=/)")

    @cached_property
    def _login(self) -> re.Pattern[str]:
        return re.compile(rf"\b{re.escape(self.old_logins)}({'|'.join(_LOGINS)})\b")

    @cached_property
    def _setting(self) -> re.Pattern[str]:
        return re.compile(rf"\b{re.escape(self.old_settings)}(?=[A-Z<])")


class _Renamer(cst.CSTTransformer):
    """Renames in one module."""

    def __init__(self, renaming: Renaming) -> None:
        super().__init__()
        self._renaming = renaming

    @override
    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> cst.ImportFrom:
        return updated_node.with_changes(module=self._top(updated_node.module))

    @override
    def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
        if updated_node.attr.value not in _PACKAGES:
            return updated_node
        return updated_node.with_changes(value=self._top(updated_node.value))

    @override
    def leave_SimpleString(self, original_node: cst.SimpleString, updated_node: cst.SimpleString) -> cst.SimpleString:
        return updated_node.with_changes(value=self._renaming.prose(updated_node.value))

    @override
    def leave_FormattedStringText(
        self, original_node: cst.FormattedStringText, updated_node: cst.FormattedStringText
    ) -> cst.FormattedStringText:
        return updated_node.with_changes(value=self._renaming.prose(updated_node.value))

    @override
    def leave_Comment(self, original_node: cst.Comment, updated_node: cst.Comment) -> cst.Comment:
        return updated_node.with_changes(value=self._renaming.prose(updated_node.value))

    def _top[Node: cst.CSTNode | None](self, node: Node) -> Node | cst.Name:
        """Return the name of the root package where it stands by itself."""
        if isinstance(node, cst.Name) and node.value == self._renaming.old_package:
            return node.with_changes(value=self._renaming.new_package)
        return node
