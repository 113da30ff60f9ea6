"""Every decision that a method states is measured in designs in which nothing differs."""

import pytest

from balframe.api.columns import Role
from balframe.methods import declarations
from benchmarks.decisions import DECISIONS, measure

NOT_DECISIONS = {  # of listed slices, all of which are decided by p_adjusted
    ("slices", "p_value"),
    ("diff_slices", "p_value"),
}


def test_every_test_and_status_has_its_row_in_the_suite():
    stated = {
        (name, column.name)
        for name, method in declarations().items()
        for columns in method.layouts.values()
        for column in columns
        if column.role in (Role.TEST, Role.STATUS)
    }
    measured = {(decision.method, decision.column) for decision in DECISIONS}
    assert len(stated) > 15
    assert stated - measured == NOT_DECISIONS


@pytest.mark.thorough
@pytest.mark.parametrize("decision", DECISIONS, ids=lambda d: f"{d.method} {d.column} {d.of}")
def test_every_decision_can_be_measured(decision):
    measured = measure(decision, [(3, 2), (2, 2)], 2)
    assert 0 <= measured.worst <= 1
    assert measured.design
