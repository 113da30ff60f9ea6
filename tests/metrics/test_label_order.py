"""Metrics of distances between labels: which columns give labels an order, and what has none."""

from itertools import product

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain

# Two neurologists rated patients of Winnipeg and of New Orleans for multiple sclerosis: Westlund
# and Kurland 1953, in Landis and Koch, Biometrics 1977, p. 165; vcd's MSPatients.
RATINGS = ["Certain", "Probable", "Possible", "Doubtful"]
WINNIPEG = [[38, 5, 0, 1], [33, 11, 3, 0], [10, 14, 5, 6], [3, 7, 3, 10]]
NEW_ORLEANS = [[5, 3, 0, 0], [3, 11, 4, 0], [2, 13, 3, 4], [1, 2, 4, 14]]
LINEAR = "cohen_kappa_linear"
PAIRS = [*product(range(4), range(4))]
ROWS = [
    (town, RATINGS[i], RATINGS[j])
    for town, matrix in (("New Orleans", NEW_ORLEANS), ("Winnipeg", WINNIPEG))
    for i, j in PAIRS
    for _ in range(matrix[i][j])
]
TOWNS, FIRST, SECOND = (list(column) for column in zip(*ROWS, strict=True))
KAPPAS = pytest.approx([0.477, 0.380], abs=5e-4)  # vcd, Kappa(): weighted
TEXTS = pl.DataFrame({"town": TOWNS, "y": FIRST, "p": SECOND})
ENUM = TEXTS.cast({"y": pl.Enum(RATINGS), "p": pl.Enum(RATINGS)})


def of_pandas(*, ordered):
    dtype = pd.CategoricalDtype(RATINGS, ordered=ordered)
    categories = {name: pd.Categorical(TEXTS[name].to_list(), dtype=dtype) for name in "yp"}
    return pd.DataFrame({"town": TOWNS, **categories})


def of_arrow(*, ordered):
    codes = {name: [RATINGS.index(text) for text in TEXTS[name]] for name in "yp"}
    dictionaries = {
        name: pa.DictionaryArray.from_arrays(
            pa.array(values, pa.int8()), pa.array(RATINGS), ordered=ordered
        )
        for name, values in codes.items()
    }
    return pa.table({"town": TOWNS, **dictionaries})


def of_duckdb(columns):
    table = TEXTS.to_arrow()
    return duckdb.arrow(table).project(columns)


_ENUM_OF_DUCKDB = f"ENUM({', '.join(map(repr, RATINGS))})"
ORDERED = {
    "Enum": lambda: ENUM,
    "lazy Enum": lambda: ENUM.lazy(),
    "Enum that gained a label": lambda: ENUM.cast({"p": pl.Enum(["Sure", *RATINGS])}),
    "numbers": lambda: TEXTS.with_columns(
        pl.col("y", "p").replace_strict(RATINGS, [-7, 2, 30, 400])
    ),
    "ordered category": lambda: of_pandas(ordered=True),
    "ordered dictionary": lambda: of_arrow(ordered=True),
    "ordered dictionary of pandas": lambda: of_arrow(ordered=True).to_pandas(
        types_mapper=pd.ArrowDtype
    ),
    "stream of an ordered dictionary": lambda: of_arrow(ordered=True).to_reader(50),
    "ENUM": lambda: of_duckdb(f"town, y::{_ENUM_OF_DUCKDB} AS y, p::{_ENUM_OF_DUCKDB} AS p"),
    "cells": lambda: bf.confusion(ENUM, "y", "p", by="town"),
    "cells of two Enums": lambda: bf.confusion(
        ORDERED["Enum that gained a label"](), "y", "p", by="town"
    ),
    "Enum as pandas": lambda: bf.confusion(ENUM, "y", "p", by="town", backend="pandas"),
}
UNORDERED = {
    "text": lambda: TEXTS,
    "lazy text": lambda: TEXTS.lazy(),
    "Categorical": lambda: TEXTS.cast({"y": pl.Categorical(), "p": pl.Categorical()}),
    "text of pandas": lambda: pd.DataFrame(TEXTS.to_dict(as_series=False)),
    "category": lambda: of_pandas(ordered=False),
    "dictionary": lambda: of_arrow(ordered=False),
    "VARCHAR": lambda: of_duckdb("town, y, p"),
    "cells": lambda: bf.confusion(TEXTS, "y", "p", by="town"),
    "one column has an order": lambda: TEXTS.cast({"y": pl.Enum(RATINGS)}),
    "two orders": lambda: ENUM.cast({"p": pl.String}).cast({"p": pl.Enum(RATINGS[::-1])}),
    "category of shuffled numbers": lambda: pd.DataFrame(
        {name: pd.Categorical([1, 2, 3], [3, 1, 2]) for name in ("town", "y", "p")}
    ),
}


@cases("make", ORDERED.values())
def test_kappa_follows_the_order_that_the_columns_have(make):
    out = bf.report(make(), "y", "p", by="town", metrics=LINEAR)
    assert plain(out)[LINEAR] == KAPPAS


@cases("make", UNORDERED.values())
def test_labels_without_an_order_have_no_distances(make):
    with pytest.raises(bf.InvalidInputError, match="needs the order of the labels, which the col"):
        plain(bf.report(make(), "y", "p", by="town", metrics=LINEAR))


@cases("make", [make for name, make in UNORDERED.items() if "shuffled" not in name])
def test_labels_are_ordered_as_the_option_lists_them(make):
    out = bf.report(make(), "y", "p", by="town", metrics=LINEAR, labels=RATINGS)
    assert plain(out)[LINEAR] == KAPPAS


@cases("metric", [LINEAR, "qwk"])
@cases(
    "call",
    {
        "gaps": lambda metric: bf.gaps(TEXTS, "y", "p", by="town", metrics=metric),
        "disparity": lambda metric: bf.disparity(TEXTS, "y", "p", by="town", metrics=[metric]),
        "compare": lambda metric: bf.compare(
            TEXTS.with_columns(q="p"), "y", ["p", "q"], metrics=metric
        ),
        "diff": lambda metric: bf.diff(TEXTS, "y", "p", baseline=TEXTS, metrics=metric),
        "diff against an order": lambda metric: bf.diff(
            TEXTS, "y", "p", baseline=bf.confusion(ENUM, "y", "p"), metrics=metric
        ),
        "slices": lambda metric: bf.slices(TEXTS, "y", "p", over="town", metrics=metric),
        "check": lambda metric: bf.check(TEXTS, "y", "p", rules=[f"{metric} >= 0.2"]),
        "check against a baseline": lambda metric: bf.check(
            TEXTS, "y", "p", rules=[f"{metric} >= baseline - 0.2"], baseline=TEXTS
        ),
        "audit": lambda metric: bf.audit(TEXTS, "y", "p", rules=[f"{metric} >= 0.2"]),
        "audit against a baseline": lambda metric: bf.audit(
            ENUM, "y", "p", rules=[f"{metric} >= baseline - 0.2"], baseline=of_pandas(ordered=False)
        ),
    }.values(),
)
def test_methods_and_rules_raise_without_an_order(call, metric):
    with pytest.raises(bf.InvalidInputError, match="List the labels in order in labels="):
        call(metric)


def rule_of_audit(frame, **options):
    page = bf.audit(frame, "y", "p", by="town", rules=f"{LINEAR} >= 0.2", **options)
    return [judged["estimate"] for judged in page.evidence()["rules"]]


@cases("make", ORDERED.values())
def test_a_rule_of_an_audit_follows_the_order_that_the_columns_have(make):
    assert rule_of_audit(make()) == KAPPAS


@cases("make", [make for name, make in UNORDERED.items() if "shuffled" not in name])
def test_a_rule_of_an_audit_needs_an_order(make):
    with pytest.raises(bf.InvalidInputError, match="needs the order of the labels, which the col"):
        rule_of_audit(make())
    assert rule_of_audit(make(), labels=RATINGS) == KAPPAS


def test_an_audit_lists_unordered_categories_in_their_own_order():
    cells = bf.audit(of_pandas(ordered=False), "y", "p", by="town").evidence()["confusion"]
    assert list(dict.fromkeys(cell["y_true"] for cell in cells)) == RATINGS


def test_both_runs_have_the_order_that_one_call_gives():
    earlier = TEXTS.filter(town="New Orleans")
    options = {"metrics": LINEAR, "labels": RATINGS}
    out = bf.diff(TEXTS.filter(town="Winnipeg"), "y", "p", baseline=earlier, **options)
    assert [*out["baseline_estimate"], *out["estimate"]] == KAPPAS


def test_all_metrics_leave_out_distances_of_labels_without_an_order():
    out = bf.report(TEXTS, "y", "p", metrics="all", interval=True)
    nulls = [name for name in (LINEAR, f"{LINEAR}_lower") if out[name].is_null().all()]
    assert nulls == [LINEAR, f"{LINEAR}_lower"]
    assert out["cohen_kappa"].null_count() == 0


def test_two_texts_need_no_order():
    two = TEXTS.with_columns(pl.col("y", "p").replace(RATINGS[2:], "Probable"))
    out = bf.report(two, "y", "p", metrics=["cohen_kappa", LINEAR])
    assert out["cohen_kappa"].item() == pytest.approx(out[LINEAR].item())


def test_a_metric_of_a_user_needs_an_order_for_distances():
    @bf.metric(range=(0, 3), better="lower", interval=bf.stats.Interval())
    def mean_distance(c):
        """Mean distance: sum of |i - j| / n."""
        return c.distance(1) / c.total

    off = sum(abs(i - j) * (WINNIPEG[i][j] + NEW_ORLEANS[i][j]) for i, j in PAIRS)
    out = bf.report(ENUM, "y", "p", metrics="mean_distance")
    assert out["mean_distance"].to_list() == [off / len(ROWS)]
    with pytest.raises(bf.InvalidInputError, match="declares that it needs 'label_order'"):
        bf.report(TEXTS, "y", "p", metrics="mean_distance")
