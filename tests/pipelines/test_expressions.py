"""The interpreter of expressions agrees with what GitHub documents."""

import pytest

from tests.support.cases import cases
from tests.support.workflows.expressions import ExpressionError, evaluate, interpolate, is_met
from tests.support.workflows.runner import read_outputs

CONTEXTS = {"inputs": {"a-b": "x", "empty": ""}, "github": {"event": {"number": 5}}}


@cases(
    ("text", "value"),
    [
        ("'it''s'", "it's"),
        ("inputs.a-b", "x"),
        ("inputs['a-b']", "x"),
        ("github.event.number", 5),
        ("github.event.pull_request.number", None),
        ("inputs.a-b == 'X'", True),  # whatever the case
        ("inputs.empty == 0", True),  # empty text is 0 as a number
        ("null == 0", True),
        ("'a' == 0", False),
        ("true == 'true'", False),  # the text is no number
        ("1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3", True),
        ("inputs.empty || 'default'", "default"),
        ("inputs.a-b && 'chosen'", "chosen"),
        ("!inputs.empty", True),
        ("false || true && false", False),  # && binds more tightly
        ("(true || true) && false", False),
        ("!(1 == 1)", False),
        ("format('refs/heads/{0}', 'main')", "refs/heads/main"),
        ("contains('Hello', 'ELL')", True),
        ("contains(fromJSON('[1, 2]'), 2)", True),
        ("startsWith('refs/tags/v1', 'refs/tags/')", True),
    ],
)
def test_expressions_have_their_values(text, value):
    assert evaluate(text, CONTEXTS) == value


@cases("text", ["1 +", "'open", "inputs.", "hashFiles('x')", "secrets.TOKEN", "1 2", "(1", ""])
def test_what_is_not_interpreted_is_an_error(text):
    with pytest.raises((ExpressionError, IndexError)):
        evaluate(text, CONTEXTS)


@cases(
    ("text", "written"),
    [
        ("a ${{ inputs.a-b }} b ${{ github.event.number }}", "a x b 5"),
        ("${{ null }}|${{ true }}|${{ 1.5 }}", "|true|1.5"),
        ("$(x) ${y}", "$(x) ${y}"),
        (True, "true"),
    ],
)
def test_texts_have_the_values_of_their_expressions(text, written):
    assert interpolate(text, CONTEXTS) == written


@cases(
    ("condition", "has_failed", "met"),
    [
        (None, False, True),
        (None, True, False),
        ("inputs.a-b == 'x'", True, False),  # success() is implied
        ("${{ always() }}", True, True),
        ("failure() && inputs.empty", True, False),
        ("${{ !cancelled() }}", True, True),
        ("success() || failure()", True, True),
    ],
)
def test_conditions_need_success_unless_they_name_a_status(condition, has_failed, met):
    status = {
        "success": lambda: not has_failed,
        "failure": lambda: has_failed,
        "always": lambda: True,
        "cancelled": lambda: False,
    }

    assert is_met(condition, CONTEXTS, status) == met


def test_outputs_of_one_line_and_of_several_are_read():
    text = "a=1=2\nb<<END\nx=1\ny\nEND\nc=\n"

    assert read_outputs(text) == {"a": "1=2", "b": "x=1\ny", "c": ""}
