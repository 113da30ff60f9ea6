"""The rates of a page."""

import pytest

from balframe.audit_page.rates import page_rates
from balframe.audit_page.request import Words
from tests.support.audits.figures import make_cells, make_request, plain

pytestmark = pytest.mark.usefixtures("within_a_call")


def test_many_labels_have_errors_of_the_eight_most_frequent():
    labels = tuple("abcdefghij")
    request = make_request(words=Words(None, None, "row", "rows"))
    counts = {(label, label): 10 + i for i, label in enumerate(labels)}
    errors = page_rates(make_cells(counts, labels, None, request=request)).errors
    assert "".join(rate.positive for rate in errors) == "cdefghij"
    assert plain(errors[0].among) == "those labelled c"


@pytest.mark.parametrize(
    ("favourable", "harms"),
    [
        (None, []),
        ("selected", ["false_negative_rate"]),
        ("not selected", ["false_positive_rate"]),
    ],
)
def test_favourable_decides_which_error_is_a_harm(favourable, harms):
    request = make_request(favourable=favourable)
    cells = make_cells({(0, 0): 5, (0, 1): 5, (1, 1): 5}, request=request)
    assert [rate.metric for rate in page_rates(cells).all if rate.is_harm] == harms
