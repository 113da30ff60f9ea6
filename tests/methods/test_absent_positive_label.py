"""A positive label that no row has: which data know that it is a label, and what is undefined."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain

NOW = pl.DataFrame({"g": ["a", "b"] * 20, "y": ["ok"] * 40, "p": ["ok"] * 40, "s": [0.1, 0.2] * 20})
EARLIER = NOW.with_columns(
    y=pl.Series(["ok", "fraud"] * 20), p=pl.Series(["ok", "fraud", "fraud"] * 13 + ["ok"])
)
LABELS = ["ok", "fraud"]
ENUM, CATEGORY = pl.Enum(LABELS), pd.CategoricalDtype(LABELS)
DECLARED = {
    "Enum": lambda: NOW.cast({"y": ENUM, "p": ENUM}),
    "Enum beside text": lambda: NOW.cast({"y": ENUM}),
    "lazy Enum": lambda: NOW.lazy().cast({"y": ENUM, "p": ENUM}),
    "category": lambda: NOW.to_pandas().astype({"y": CATEGORY, "p": CATEGORY}),
    "dictionary": lambda: pa.table(
        {
            **{name: pa.DictionaryArray.from_arrays([0] * 40, LABELS) for name in ("y", "p")},
            "g": NOW["g"].to_arrow(),
            "s": NOW["s"].to_arrow(),
        }
    ),
}
METHODS = {
    "report": (lambda df: bf.report(df, "y", "p", pos_label="fraud", metrics="recall"), "recall"),
    "curve": (
        lambda df: bf.curve(df, "y", "s", pos_label="fraud", thresholds=[0.5], metrics=["recall"]),
        "recall",
    ),
    "ranking": (lambda df: bf.ranking(df, "y", "s", pos_label="fraud"), "roc_auc"),
}


@cases("make", DECLARED.values())
@cases(("call", "column"), METHODS.values())
def test_a_declared_label_may_be_positive_and_absent(make, call, column):
    (value,) = plain(call(make()))[column]
    assert value is None or value != value


@cases("make", DECLARED.values())
@cases("over", [{"y_pred": "p"}, {"y_score": "s"}])
def test_rules_on_a_declared_label_without_rows_are_inconclusive(make, over):
    rule = "recall >= 0.5" if "y_pred" in over else "roc_auc >= 0.5"
    out = bf.check(make(), "y", rules=[rule], pos_label="fraud", by="g", **over)
    assert plain(out)["status"] == ["inconclusive"] * 2


@cases(
    "options",
    {
        "labels": {"labels": LABELS, "rules": ["recall >= 0.5"]},
        "rows of a baseline": {"baseline": EARLIER, "rules": ["recall >= baseline - 0.1"]},
        "cells of a baseline": {
            "baseline": bf.confusion(EARLIER, "y", "p"),
            "rules": ["recall >= baseline - 0.1"],
        },
    }.values(),
)
def test_rules_are_inconclusive_where_an_option_or_an_earlier_run_has_the_label(options):
    out = bf.check(NOW, "y", "p", pos_label="fraud", **options)
    assert out["status"].to_list() == ["inconclusive"]
    if "baseline" in options:
        with pytest.raises(bf.InvalidInputError, match="pos_label='Fraud' is not a label"):
            bf.check(NOW, "y", "p", pos_label="Fraud", **options)


@cases("call", [call for call, _ in METHODS.values()])
def test_a_label_that_nothing_declares_may_be_misspelled(call):
    with pytest.raises(bf.InvalidInputError) as raised:
        call(NOW)
    assert str(raised.value) == (
        "pos_label='fraud' is not a label; give one of 'ok', or add it to labels= if it may be "
        "absent."
    )


def test_an_audit_of_a_declared_label_is_one_of_two_labels():
    page = bf.audit(NOW.cast({"y": ENUM}), "y", "p", pos_label="fraud", by="g").html()
    assert "fraud" in page
