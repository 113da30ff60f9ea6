"""Thresholds and edges reach scores of 16 and 32 bits where `score >= 0.7` does in NumPy."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain

pytestmark = pytest.mark.any_version

SCORES = [i / 100 for i in range(100)]
TRUTH = [0, 1] * 50
THRESHOLDS = [i / 20 for i in range(1, 20)]
SHORT = {"float32": np.float32, "float16": np.float16}
FORMS = {
    "polars": pl.from_arrow,
    "polars, lazy": lambda table: pl.from_arrow(table).lazy(),
    "PyArrow": lambda table: table,
    "dataset": pa.dataset.dataset,
    "pandas": lambda table: table.to_pandas(),
    "pandas on Arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "DuckDB": duckdb.from_arrow,
}


def rows(form, kind):
    table = pa.table({"y": TRUTH, "s": np.array(SCORES, SHORT[kind]), "wide": SCORES})
    return FORMS[form](table)


def reached(scores, thresholds):
    return [int((scores >= threshold).sum()) for threshold in thresholds]


@cases("kind", SHORT)
@cases("form", FORMS)
@cases("thresholds", [THRESHOLDS, 21])
def test_curve_counts_scores_as_numpy_compares_them(form, kind, thresholds):
    if form == "DuckDB" and kind == "float16":
        return  # which it has not
    values = THRESHOLDS if thresholds == THRESHOLDS else [i / 20 for i in range(21)]
    result = plain(bf.curve(rows(form, kind), "y", ["s", "wide"], thresholds=thresholds))
    short, wide = np.array(SCORES, SHORT[kind]), np.array(SCORES)
    assert result["predicted_positive"] == reached(short, values) + reached(wide, values)
    assert result["threshold"] == values * 2


@cases("form", FORMS)
def test_bins_cut_short_floats_at_their_edges(form):
    bins = plain(bf.ranking(rows(form, "float32"), "y", "wide", by=bf.bins("s", [0.3, 0.7])))
    assert dict(zip(bins["s"], bins["n"], strict=True)) == {
        "under 0.3": 30,
        "0.3 to 0.7": 40,
        "0.7 or more": 30,
    }


@cases("form", FORMS)
def test_slices_name_and_filter_bins_of_short_floats(form):
    columns = {"y": [1] * 20, "p": [1] * 10 + [0] * 10, "s": np.array([0.1] * 10 + [0.7] * 10)}
    table = pa.table(columns | {"s": columns["s"].astype(np.float32)})
    frame = FORMS[form](table)
    cut = {"over": ["s"], "min_support": 2, "metrics": "accuracy", "backend": "polars"}
    by_edge = bf.slices(frame, "y", "p", bins={"s": [0.7]}, **cut)
    by_value = bf.slices(frame, "y", "p", bins=None, **cut)
    assert (by_edge["slice"].to_list(), by_edge["n"].to_list()) == (["s 0.7 or more"], [10])
    assert (by_value["slice"].to_list(), by_value["n"].to_list()) == (["s = 0.7"], [10])


@cases("form", FORMS)
@cases("dtype", [pa.float32(), pa.decimal128(5, 2)])
def test_values_that_are_given_are_those_that_the_column_shows(form, dtype):
    frame = FORMS[form](
        pa.table({"y": [1, 1, 1], "p": [1, 0, 1], "g": pa.array([0.1, 0.7, 0.7]).cast(dtype)})
    )
    options = {"by": "g", "backend": "polars"}
    gaps = bf.gaps(frame, "y", "p", reference=0.7, metrics="accuracy", **options)
    assert gaps["difference"].to_list() == [1 / 2, 0]
    rule = {"rule": "accuracy >= 0.9", "where": {"g": 0.1}}
    assert bf.check(frame, "y", "p", rules=rule, **options)["estimate"].to_list() == [1]
    expected = {"expect": {"g": [0.1, 0.7, 0.9]}, "rules": "n >= 1"}
    checked = bf.check(frame, "y", "p", **expected, **options)
    assert checked["status"].to_list() == ["pass", "pass", "fail"]


def test_the_threshold_of_a_command_reaches_short_scores(run, tmp_path):
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(rows("PyArrow", "float32"), path)
    out = run("confusion", path, "--y-true", "y", "--y-pred", "s", "--threshold", "0.7").out
    assert out.splitlines() == ["y,s,n", "0,0,35", "0,1,15", "1,0,35", "1,1,15"]


@cases("form", [form for form in FORMS if form != "DuckDB"])
def test_counts_weights_and_scores_may_have_16_bits(form):
    short = np.array([1000, 2, 3, 4], np.float16)
    frame = FORMS[form](
        pa.table({"y": [1, 0, 1, 0], "p": [1, 1, 1, 0], "s": short / np.float16(1000), "c": short})
    )
    for roles in ({"counts": "c"}, {"sample_weight": "c"}):
        result = plain(bf.report(frame, "y", "p", metrics="accuracy", **roles))
        assert result["accuracy"] == [pytest.approx(1007 / 1009)]
    # the positives are the first and third highest; rows of a pair count 1,000 and 3 by 2 and 4
    ranked = plain(bf.ranking(frame, "y", "s", counts="c"))
    assert ranked["roc_auc"] == [pytest.approx((1000 * 6 + 3 * 2) / (1003 * 6))]
