"""What a caller asks of an audit is checked before a row is read."""

import pytest

from balframe.audit_page.request import check_rules
from balframe.errors import BalframeError, InvalidInputError
from balframe.methods.gates.rules import read_rules
from tests.support.audits.figures import make_request


def test_rules_that_an_audit_cannot_judge_are_refused():
    check_rules(read_rules("recall >= 0.5"), ["g"])
    with pytest.raises(BalframeError, match="is about values of 'h', which is not in by"):
        check_rules(read_rules([{"rule": "recall >= 0.5", "where": {"h": "a"}}]), ["g"])
    with pytest.raises(InvalidInputError, match="compares with a baseline"):
        check_rules(read_rules("recall >= baseline - 0.01"), ["g"])


def test_alpha_equals_one_minus_level_without_rounding_error():
    assert make_request(level=0.95).alpha == 0.05
