"""Lists of names in TOML, items of a Markdown list and settings of `.env.example` are put in and taken out in place."""

from pathlib import PurePosixPath

import pytest

from headrace.tools.new_worker.edits import AlreadyThere, Cannot, Edit
from headrace.tools.new_worker.namespace.env_edits import env_edit, settings_of
from headrace.tools.new_worker.namespace.markdown_edits import item_linking_to, markdown_edit
from headrace.tools.new_worker.namespace.toml_edits import entries_of, toml_edit
from tools.tests.new_worker.namespace_shares import text_of

PROJECT = """\
[tool.arch-check.options.CTX-12]
# Each says why.
tenantless = [
  "Audit.create",  # many tenants
  "Work.claim",
  "Work.settle",
  # The last.
  "Zoning.read",
]

[tool.arch-check.options.CTX-26]
sites = ["acme.om.tenancy", "acme.om.work.impl"]
"""

# Keys of tables, in both forms; what is left is a table that is empty.
EXEMPT = """\
[tool.arch-check.options.CTX-30]
exempt = {%s}

[tool.arch-check.options.CTX-30.more]
# Reads only what the database's clock says.
"WorkManager.now" = "no tenant's data is read" # at all
# Of another.
"AuditManager.now" = "likewise, see there"
"WorkManager.then" = "no tenant's data is read"

[project.urls]
"WorkManager.now" = "http://127.0.0.1"
"""
EMPTIED, PAIR = '"AuditManager.at" = "its reason"', '"WorkManager.at" = "its, reason"'

PAGE = """\
# Nouns

- An **org** is a tenant. A **user** is
  a person.
- A **work item** is work. See
  [work](src/acme/om/work/README.md).
- An **event** is news.

Work is never lost.
"""

SETTINGS = """\
# Every setting.
# Copy to .env.

# Where it runs.
#ACME_ENVIRONMENT=local

# How often,
# at most.
#ACME_WAKEUP_WINDOW=20ms

ACME_LANE=default
"""


def _toml(text: str = PROJECT) -> Edit:
    path = ("tool", "arch-check", "options")
    return toml_edit(PurePosixPath("p.toml"), entries_of(text, path, lambda name: "work" in name.lower()))


def _markdown() -> Edit:
    item = item_linking_to(PAGE, "src/acme/om/work/README.md")
    assert item is not None
    return markdown_edit(PurePosixPath("p.md"), item)


def _env() -> Edit:
    return env_edit(PurePosixPath(".env.example"), settings_of(SETTINGS, frozenset({"ACME_WAKEUP_WINDOW"})))


WHOLE = {"toml": (_toml, PROJECT, "ork."), "markdown": (_markdown, PAGE, "ork item"), "env": (_env, SETTINGS, "WAKEUP")}


@pytest.mark.parametrize("kind", WHOLE)
def test_a_page_is_the_same_again_when_the_share_was_taken_out_and_put_back(kind: str) -> None:
    make, page, word = WHOLE[kind]
    edit = make()
    base = text_of(edit.revert(page))
    assert word in page
    assert word not in base
    assert text_of(edit.apply(base)) == page
    assert (edit.apply(page), edit.revert(base)) == (AlreadyThere(), AlreadyThere())


@pytest.mark.parametrize("pairs", [PAIR, f" {PAIR} ", f"{EMPTIED}, {PAIR}", f" {PAIR}, {EMPTIED} "])
def test_keys_of_a_table_are_the_same_again_when_they_were_taken_out_and_put_back(pairs: str) -> None:
    page = EXEMPT % pairs
    edit = _toml(page)
    base = text_of(edit.revert(page))
    assert base.count("WorkManager") == base.count('[project.urls]\n"WorkManager.now"') == 1
    assert EMPTIED not in pairs or EMPTIED in base
    assert text_of(edit.apply(base)) == page
    assert (edit.apply(page), edit.revert(base)) == (AlreadyThere(), AlreadyThere())


def test_keys_are_put_into_a_table_that_somebody_added_to() -> None:
    edit = _toml(EXEMPT % PAIR)
    base = text_of(edit.revert(EXEMPT % PAIR)).replace("# Of another", '"Bills.at" = "mine alone"\n# Of another')
    assert text_of(edit.revert(text_of(edit.apply(base)))) == base


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [("exempt = {", "other = {", "no table in braces `tool / "), ("CTX-30.more]", "CTX-31]", "no table with a header")],
)
def test_a_table_that_is_not_there_is_named(old: str, new: str, told: str) -> None:
    page = EXEMPT % PAIR
    edit = _toml(page)
    outcome = edit.apply(text_of(edit.revert(page)).replace(old, new))
    assert isinstance(outcome, Cannot)
    assert told in outcome.help


# What somebody did to the page before: what they replaced, by what.
WORKED_ON = {
    "toml": ('  "Zoning.read",', '  "Billing.read", # new\n  "Zoning.read",'),
    "markdown": ("- An **event** is news.", "- A **bill** is due.\n- An **event** is news that matters."),
    "env": ("ACME_LANE=default", "ACME_LANE=mine\n\n# New.\n#ACME_OTHER=1"),
}


@pytest.mark.parametrize("kind", WHOLE)
def test_a_page_keeps_what_somebody_made_of_it(kind: str) -> None:
    make, page, _ = WHOLE[kind]
    edit, (old, new) = make(), WORKED_ON[kind]
    base = text_of(edit.revert(page)).replace(old, new)
    assert text_of(edit.apply(base)) == page.replace(old, new)
    assert text_of(edit.revert(page.replace(old, new))) == base


# What the page lacks, or has twice, and what the help names.
UNCLEAR = {
    "toml": [
        ('"Audit.create",', '"Audit.make",', "Audit.create"),
        ('"Audit.create",', '"Audit.create", "Audit.create",', "Audit.create"),
        ("CTX-12", "CTX-13", "tenantless"),
        ("tenantless = [", "tenantless = ", "no valid TOML"),
    ],
    "markdown": [("**org**", "**tenant**", "no list item about **org**"), ("**event**", "**org**", "more than one")],
    "env": [("ACME_ENVIRONMENT", "ACME_WHERE", "no ACME_ENVIRONMENT")],
}


@pytest.mark.parametrize(
    ("kind", "old", "new", "told"), [(kind, *case) for kind, cases in UNCLEAR.items() for case in cases]
)
def test_a_page_is_refused_and_named_when_the_place_is_not_clear(kind: str, old: str, new: str, told: str) -> None:
    make, page, _ = WHOLE[kind]
    edit = make()
    outcome = edit.apply(text_of(edit.revert(page)).replace(old, new, 1))
    assert isinstance(outcome, Cannot)
    assert str(edit.path) in outcome.help
    assert told in outcome.help


def test_a_setting_that_was_changed_since_is_not_taken_out() -> None:
    outcome = _env().revert(SETTINGS.replace("=20ms", "=40ms"))
    assert isinstance(outcome, Cannot)
    assert "ACME_WAKEUP_WINDOW" in outcome.help


def test_a_page_without_a_link_has_no_item() -> None:
    assert item_linking_to(PAGE, "src/acme/om/audit/README.md") is None
