"""The rows of a model are counted once, and its labels are found."""

import polars as pl
import pytest

from balframe.audit_page.queries import count_model
from tests.support.audits.small_audits import make_request
from tests.support.cases import cases

pytestmark = pytest.mark.usefixtures("within_a_call")


def cells_of(frame, **changes):
    request = make_request(**changes)
    return count_model(frame, request, request.models[0])


def test_missing_rows_are_counted():
    data = pl.DataFrame(
        {"g": [*"ab", None, *"abab"], "y": [0, 1, 1, None, 0, 1, 0], "p": [0, 1, 0, 1, None, 1, 1]}
    )
    cells = cells_of(data, options={"missing": "drop"})
    assert cells.n_missing == 2
    assert cells.frame["n"].sum() == 5
    assert cells.n_true == {0: 2, 1: 3}


@cases(
    ("values", "labels", "positive"),
    [
        ([0, 0], (0, 1), 1),
        ([-1, -1], (-1, 1), 1),
        ([True, True], (False, True), True),
        ([False, True], (False, True), True),
        (["a", "b", "c"], ("a", "b", "c"), None),
        (["a", "a"], ("a",), None),
    ],
)
def test_labels_and_positive_label_are_inferred_from_values(values, labels, positive):
    data = pl.DataFrame({"g": ["a"] * len(values), "y": values, "p": values})
    cells = cells_of(data)
    assert [(type(one), one) for one in cells.labels] == [(type(one), one) for one in labels]
    assert cells.positive == positive
    assert type(cells.positive) is type(positive)
