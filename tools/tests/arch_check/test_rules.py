"""Every rule is silent about a clean tree and finds each violation planted in it."""

from pathlib import Path

import pytest

from headrace.tools.arch_check.rules import RULES
from tools.tests.arch_check.plants import PLANTS, Plant
from tools.tests.arch_check.trees import clean_tree


def test_nothing_is_found_when_the_tree_is_clean(tmp_path: Path) -> None:
    assert clean_tree(tmp_path).findings() == ()


@pytest.mark.parametrize("plant", PLANTS, ids=str)
def test_only_its_rule_is_broken_when_a_violation_is_planted(tmp_path: Path, plant: Plant) -> None:
    tree = clean_tree(tmp_path)
    if plant.old:
        tree.edit(plant.path, plant.old, plant.new)
    else:
        tree.write(plant.path, plant.new)
    findings = tree.findings()
    assert {finding.rule for finding in findings} == {plant.rule}, "\n".join(map(str, findings))
    assert any(plant.says in finding.sentence for finding in findings), "\n".join(map(str, findings))


def test_every_rule_has_a_violation() -> None:
    assert {plant.rule for plant in PLANTS} == {rule.id for rule in RULES}


def test_rules_have_ids_of_their_own_and_reasons() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert all(rule.title and rule.reason for rule in RULES)
