"""Every engine gives to any method_request the result that an eager frame gives."""

from random import Random

import polars as pl
import pytest
from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

import balframe as bf
from tests.properties.test_invariance import assert_same
from tests.support.strategies.requests import METHOD_CASES, method_requests
from tests.support.strategies.transformations import (
    LAST,
    TRANSFORMATIONS,
    beside_names_in_the_other_case,
    under_odd_names,
)

pytestmark = [
    pytest.mark.any_version,
    pytest.mark.filterwarnings("ignore::balframe.BalframeWarning"),  # labels are drawn at random
]

OF_SQL = {"duckdb", "ibis", "sqlframe", "spark", "postgres", "sqlite"}
IGNORING_CASE = {"ibis", "spark"}
LOSING_ZONES = {"duckdb", "sqlframe"}  # and so in UTC, as is the session of Spark
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
    if name in ("duckdb", "sqlframe", "sqlite"):  # which rename or refuse them in the first place
        changes = [change for change in changes if change is not beside_names_in_the_other_case]
    note(str([change.__name__ for change in changes]))
    expected = method_request.result()
    for change in changes:
        method_request = change(method_request, random)
    if name in OF_SQL and "" in method_request.frame.columns:
        event("SQL has no such name")
        return
    frame = engine(as_it_is_held(method_request.frame, name).to_arrow())
    asked = method_request.having(frame)
    if name in IGNORING_CASE and has_names_in_two_cases(method_request) and is_refused(asked):
        event("names in two cases are refused")
        return
    assert_same(asked, expected)


def has_names_in_two_cases(method_request):
    names = [one.lower() for one in method_request.frame.columns]
    return len({*names}) < len(names)


def is_refused(method_request):
    """Tell whether names in two cases are refused, and nothing else."""
    try:
        method_request.function_result()
    except bf.BalframeError as error:
        return "does not distinguish upper and lower case" in str(error)
    return False


def as_it_is_held(frame, name):
    """Leave out types that an engine does not have.

    Those of nulls alone, unsigned ones, Decimals, and the booleans with nulls that Dask refuses.
    """
    if name in LOSING_ZONES | {"spark"}:
        frame = frame.with_columns(
            one.dt.replace_time_zone(None).dt.replace_time_zone("UTC")
            for one in frame
            if isinstance(one.dtype, pl.Datetime) and one.dtype.time_zone is not None
        )
    if name == "sqlite":
        frame = frame.with_columns(
            one.dt.replace_time_zone(None) for one in frame if isinstance(one.dtype, pl.Datetime)
        )
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
