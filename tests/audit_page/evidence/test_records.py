"""Values of the evidence as JSON has them, and the names of figures."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import polars as pl

import balframe as bf
from balframe.audit_page.evidence.records import json_value, number
from tests.support.cases import cases

INFINITE = float("inf")


@cases(
    ("value", "expected"),
    [
        (None, None),
        ("a", "a"),
        (True, True),
        (3, 3),
        (3.0, 3),
        (0.5, 0.5),
        (2.0**60, 2.0**60),
        (INFINITE, "inf"),
        (date(2026, 5, 1), "2026-05-01"),
        (datetime(2026, 5, 1, 12, 30), "2026-05-01T12:30:00"),
        (timedelta(days=1), "1 day, 0:00:00"),
        (Decimal("1.10"), "1.10"),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
    ],
)
def test_values_are_as_json_has_them(value, expected):
    result = json_value(value)
    assert result == expected
    assert type(result) is type(expected)


@cases(("value", "expected"), [(None, None), (INFINITE, None), (float("nan"), None), (0.1, 0.1)])
def test_undefined_numbers_are_null(value, expected):
    assert number(value) == expected


def ids(frame, **options):
    return [one["id"] for one in bf.audit(frame, "y", "p", **options).evidence()["figures"]]


def test_ids_name_section_model_metric_and_group():
    frame = pl.DataFrame({"y": [0, 1] * 20, "p": [0, 1, 1, 1] * 10, "a/b": ["x=1", None] * 20})
    named = ids(frame, by="a/b")

    assert named[0] == "right/p/accuracy:1"
    assert "errors/p/false_positive_rate:1/a%2Fb=x%3D1" in named
    assert "errors/p/false_positive_rate:1/a%2Fb" in named  # of those without a value
    assert len(set(named)) == len(named)


def test_ids_stay_the_same_when_groups_and_rows_are_added():
    frame = pl.DataFrame({"y": [0, 1] * 20, "p": [0, 1, 1, 1] * 10, "g": list("ab") * 20})
    more = pl.concat([frame, frame.with_columns(g=pl.lit("A"))])

    assert set(ids(frame, by="g")) < set(ids(more, by="g"))


def test_values_of_two_columns_with_one_text_have_distinct_ids():
    columns = {"y": [0, 1] * 20, "p": [0, 1, 1, 1] * 10, "c": ["d/e"] * 40, "c=d": ["e"] * 40}
    named = ids(pl.DataFrame(columns), by=["c", "c=d"])
    assert len(set(named)) == len(named)
