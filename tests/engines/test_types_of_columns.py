"""A column counts on every engine as the ranks of its values do, whatever its type and its role."""

import polars as pl
import pytest

from tests.properties.test_types_of_columns import ROLES, tables, unnamed
from tests.support.cases import cases

pytestmark = [
    pytest.mark.any_version,
    pytest.mark.filterwarnings("ignore::balframe.BalframeWarning"),  # of labels drawn at random
]

KINDS = [
    "texts",
    "large texts",
    "small integers",
    "whole floats",
    "floats",
    "dates",
    "microseconds",
]
NOT_SO_IN = {"sqlite": ("dates", "microseconds")}  # which has no such types


@cases("kind", KINDS)
@cases("role", ["by", "by, with margins", "by of gaps", "cluster", "labels"])
def test_a_column_counts_as_the_ranks_of_its_values(engine, request, kind, role):
    name = request.node.callspec.params["engine"]
    if kind in NOT_SO_IN.get(name, ()) or (kind, role) == ("floats", "labels"):
        return
    typed, ranks = tables(kind, role)
    expected = unnamed(ROLES[role](pl.from_arrow(ranks)))

    result = unnamed(ROLES[role](engine(typed)))

    assert list(result) == list(expected)
    for column, values in expected.items():
        assert result[column] == pytest.approx(values, rel=1e-9), column
