"""Every engine gives to any method_request the result that an eager frame gives."""

from random import Random

import polars as pl
import pytest
from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

from tests.properties.test_invariance import assert_same
from tests.support.strategies.requests import METHOD_CASES, method_requests
from tests.support.strategies.transformations import LAST, TRANSFORMATIONS, under_odd_names

pytestmark = [
    pytest.mark.any_version,
    pytest.mark.filterwarnings("ignore::balframe.BalframeWarning"),  # labels are drawn at random
]

OF_SQL = {"duckdb", "ibis", "sqlframe", "spark", "postgres", "sqlite"}
SIGNED = {"postgres", "spark", "sqlframe", "sqlite"}


@settings(  # engines take long, and fixtures make frames
    max_examples=settings().max_examples * 3 // 5, suppress_health_check=[*HealthCheck]
)
@given(data=st.data())
def test_random_requests_on_an_engine_equal_those_on_an_eager_frame(engine, request, data):
    name = request.node.callspec.params["engine"]
    method_request = data.draw(
        method_requests(METHOD_CASES[data.draw(st.sampled_from(sorted(METHOD_CASES)))])
    )
    random = Random(data.draw(st.integers(0, 2**32)))
    changes = random.sample(TRANSFORMATIONS, random.randint(0, 3))
    changes += [change for change in LAST if random.random() < 0.5]
    if name == "sqlframe":  # which misreads such names itself
        changes = [change for change in changes if change is not under_odd_names]
    note(str([change.__name__ for change in changes]))
    expected = method_request.result()
    for change in changes:
        method_request = change(method_request, random)
    if name in OF_SQL and "" in method_request.frame.columns:
        event("SQL has no such name")
        return
    frame = engine(as_it_is_held(method_request.frame, name).to_arrow())
    assert_same(method_request.having(frame), expected)


def as_it_is_held(frame, name):
    """Leave out types that an engine does not have.

    Those of nulls alone, unsigned ones, Decimals, and the booleans with nulls that Dask refuses.
    """
    columns = frame.get_columns()  # selectors of polars read some names as patterns
    if name in OF_SQL:
        columns = [one for one in columns if one.dtype != pl.Null]
    if name in SIGNED:
        columns = [
            one.cast(pl.Int64) if one.dtype.is_unsigned_integer() else one for one in columns
        ]
    if name in ("sqlite", "dask"):
        columns = [one.cast(pl.Float64) if one.dtype.is_decimal() else one for one in columns]
    if name == "dask":
        columns = [
            one.cast(pl.Float64) if one.dtype == pl.Boolean and one.has_nulls() else one
            for one in columns
        ]
    return pl.DataFrame({one.name: one for one in columns})
