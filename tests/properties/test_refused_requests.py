"""What every method refuses with one error, whatever else is asked of it."""

from random import Random

import pyarrow as pa
import pyarrow.dataset
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import balframe as bf
from tests.support.strategies.frame_forms import FORMS
from tests.support.strategies.requests import METHOD_CASES, method_requests

pytestmark = [
    pytest.mark.any_version,
    pytest.mark.filterwarnings("ignore::balframe.BalframeWarning"),  # labels are drawn at random
]

FEW = settings(max_examples=max(settings().max_examples // 10, 1))
WITH_MARGINS = {name: case for name, case in METHOD_CASES.items() if case.takes_margins}


def refusal(request):
    """Return the message of the error that a request raises."""
    with pytest.raises(bf.InvalidInputError) as raised:
        request.function_result()
    return str(raised.value)


@pytest.mark.parametrize("case", WITH_MARGINS.values(), ids=WITH_MARGINS)
@FEW
@given(data=st.data())
def test_roll_ups_of_too_many_columns_are_refused(case, data):
    request = data.draw(method_requests(case))
    by = request.options["by"] or []
    names = [f"m{number}" for number in range(data.draw(st.integers(13, 40)) - len(by))]
    form = data.draw(st.sampled_from(FORMS))
    copies = [request.frame[by[0] if by else "y"].alias(name) for name in names]
    rows = form(request.frame.with_columns(copies), Random(0))

    text = refusal(request.having(rows, by=[*by, *names], margins="all"))

    n = len(by) + len(names) + ("time" in request.options)
    assert text.startswith(f'margins="all" of {n} by-columns has {2**n:,} roll-ups; it takes up to')


@pytest.mark.parametrize("case", METHOD_CASES.values(), ids=METHOD_CASES)
@FEW
@given(data=st.data())
def test_a_name_of_two_unused_columns_of_arrow_is_refused(case, data):
    request = data.draw(method_requests(case))
    assume(not isinstance(request.result(), type))  # what is wrong with options is said first
    table = request.frame.to_arrow()
    for _ in range(2):
        position = data.draw(st.integers(0, table.num_columns))
        table = table.add_column(position, "note", pa.nulls(table.num_rows, pa.string()))
    forms = [pa.Table.to_reader, pyarrow.dataset.dataset, lambda table: table]

    assert "2 columns named 'note'" in refusal(
        request.having(data.draw(st.sampled_from(forms))(table))
    )
