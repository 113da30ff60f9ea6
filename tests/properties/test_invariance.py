"""Every request has one result, however its rows are written down and counted."""

import math
from random import Random

import pandas as pd
import pytest
from hypothesis import event, given, note
from hypothesis import strategies as st

from tests.support.counting_strategies import WAYS
from tests.support.method_arguments import METHODS_WITH_COLUMNS
from tests.support.strategies.frame_forms import FORMS
from tests.support.strategies.requests import METHOD_CASES, method_requests
from tests.support.strategies.transformations import LAST, TRANSFORMATIONS

pytestmark = [
    pytest.mark.any_version,
    pytest.mark.filterwarnings("ignore::balframe.BalframeWarning"),  # labels are drawn at random
]

FORCED = {"as it is": {}} | WAYS


def test_every_method_has_an_invariance_case():
    others = {*METHODS_WITH_COLUMNS} - {"diff_slices"}  # which takes neither counts nor nulls
    assert {*METHOD_CASES} == others


@pytest.mark.thorough
@pytest.mark.parametrize("method", METHOD_CASES.values(), ids=METHOD_CASES)
@given(data=st.data())
def test_equivalent_transformations_do_not_change_the_result(method, data):
    request = data.draw(method_requests(method))
    random = Random(data.draw(st.integers(0, 2**32)))  # draws its choices alike, all as often
    changes = random.sample(TRANSFORMATIONS, random.randint(0, 3))
    changes += [change for change in LAST if random.random() < 0.5]
    form, way = random.choice(FORMS), random.choice(list(FORCED))
    note(f"{[change.__name__ for change in changes]}, {form.__name__}, {way!r}")
    expected = request.result()
    event("refused" if isinstance(expected, type) else "answered")
    for change in changes:
        request = change(request, random)
    rows = form(request.frame, random)
    before = rows.copy() if isinstance(rows, pd.DataFrame) else None
    with pytest.MonkeyPatch.context() as forced:
        for name, value in FORCED[way].items():
            forced.setattr(name, value)
        assert_same(request.having(rows), expected)
    if before is not None:
        pd.testing.assert_frame_equal(rows, before)


def assert_same(request, expected):
    """Compare answers: bit for bit, or roughly where sums of weights are rounded."""
    found = request.result()
    if isinstance(found, type) or isinstance(expected, type):
        assert found is expected
        return
    found = request.restore(found)
    assert list(found) == list(expected)
    if request.is_exact:
        assert found == expected
        return
    for name, values in expected.items():
        assert len(found[name]) == len(values)
        for got, want in zip(found[name], values, strict=True):
            is_close = isinstance(got, float) and isinstance(want, float)
            assert got == want or (is_close and math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-9))
