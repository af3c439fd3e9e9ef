"""A text is said in another tree's words where its syntax says that they are meant, and nowhere else."""

import pytest

from headrace.tools.new_worker.namespace.renaming import Renaming

RENAMING = Renaming("acme", "zeta", "acme_", "z_", "ACME_", "ZETA_")

PYTHON = {
    "from acme.om.work import WorkKind\n": "from zeta.om.work import WorkKind\n",
    "from acme import om\n": "from zeta import om\n",
    "import acme.infra.topics as topics\n": "import zeta.infra.topics as topics\n",
    "x = acme.om.work.rules\n": "x = zeta.om.work.rules\n",
    'x = "acme.om.work.impl"\n': 'x = "zeta.om.work.impl"\n',
    'x = f"from acme.om.{name} import y"\n': 'x = f"from zeta.om.{name} import y"\n',
    'x = "GRANT TO acme_runtime, acme_system"  # not acme\n': 'x = "GRANT TO z_runtime, z_system"  # not acme\n',
    "x = 1  # see acme.om.work\n": "x = 1  # see zeta.om.work\n",
    'x = "set ACME_METRICS_PORT"\n': 'x = "set ZETA_METRICS_PORT"\n',
}

KEPT = (
    'x = "acme makes anvils, acme.example too"\n',
    "acme = pacme.om.work\n",
    "from acme_tools.om import x\n",
    "x = thing.acme.om\n",
    'x = "acme_runtimes and my_acme_runtime"\n',
)


@pytest.mark.parametrize(("before", "after"), PYTHON.items())
def test_python_is_renamed_where_a_module_a_login_or_a_variable_is_meant(before: str, after: str) -> None:
    assert RENAMING.python(before) == after


@pytest.mark.parametrize("text", KEPT)
def test_python_is_kept_where_the_word_means_something_else(text: str) -> None:
    assert RENAMING.python(text) == text


def test_sql_names_the_other_trees_logins() -> None:
    sql = "CREATE POLICY p ON queue.acme_items TO acme_runtime;\n"
    assert RENAMING.prose(sql) == "CREATE POLICY p ON queue.acme_items TO z_runtime;\n"


def test_nothing_is_parsed_when_both_trees_use_the_same_words() -> None:
    assert Renaming("a", "a", "a_", "a_", "A_", "A_").python("from a.om import (") == "from a.om import ("


def test_a_path_is_renamed_below_a_source_folder_only() -> None:
    assert RENAMING.path("om/src/acme/om/work/README.md") == "om/src/zeta/om/work/README.md"
    assert RENAMING.path("om/tests/acme/x.py") == "om/tests/acme/x.py"
