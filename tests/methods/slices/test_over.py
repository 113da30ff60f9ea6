"""The columns that `slices` searches."""

import polars as pl
import polars.selectors as cs
import pytest

import balframe as bf
from tests.support.cases import cases

PEOPLE = bf.datasets.compas_by_age_and_sex().with_columns(w=pl.lit(1.0))


def searched(over, **options):
    names = {"y_true": "reoffended", "y_pred": "high_risk", "counts": "n", "sample_weight": "w"}
    out = bf.slices(PEOPLE, detail=True, **names, metrics="recall", over=over, **options)
    return [name for name in out.columns if name in PEOPLE.columns]


@cases(
    ("over", "expected"),
    [
        (None, ["race", "sex", "age"]),
        ("age", ["age"]),
        (["age", "sex"], ["age", "sex"]),
        (cs.all(), ["race", "sex", "age"]),
        (cs.exclude("race"), ["sex", "age"]),
        (cs.string(), ["race", "sex", "age"]),
    ],
)
def test_labels_counts_and_weights_are_not_searched_unless_named(over, expected):
    # the column "n" of the result is the number of rows
    assert [name for name in searched(over) if name != "n"] == expected


@cases("name", ["reoffended", "high_risk", "n", "w"])
def test_a_column_with_another_role_is_refused_by_name(name):
    with pytest.raises(bf.errors.InvalidInputError, match=f"over= has the column '{name}'"):
        searched(["age", name])
