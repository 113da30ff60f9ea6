"""Odd data through the Python functions: right on every library, or one error of the family."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain
from tests.support.method_arguments import METHODS_WITH_BY, example_arguments

pytestmark = pytest.mark.any_version

MOST = 2**63 - 1
NAMES = [
    'a"; DROP TABLE t; --',
    "SELECT 1",
    "a\nb\t",
    ".*+?[](){}|\\",
    "^[a-z]$",
    "<b>&amp;</b>",
    "{name!r}",
    "%s",
    "שלום \u202eabc",
    "x" * 10_000,
]


def in_pandas(frame):
    return pd.DataFrame(frame.to_dict(as_series=False))


def in_duckdb(frame):
    return duckdb.from_arrow(frame.to_arrow())


LIBRARIES = cases("make", [in_pandas, pl.DataFrame.clone, pl.DataFrame.lazy, in_duckdb])


def refused(call):
    """Give the message of the one error of the family that a call, or what it promised, raises."""
    with pytest.raises(bf.BalframeError) as raised:
        plain(call())
    return str(raised.value)


@LIBRARIES
@cases("name", NAMES)
def test_column_names_are_never_parsed_as_expressions(make, name):
    columns = {"g": [1, 1, 1, 1], "y": [1, 0, 1, 0], "s": [0.9, 0.8, 0.7, 0.1], "w": [1, 1, 2, 1]}
    by, y, score, weight = names = [name * times for times in range(1, 5)]
    frame = make(pl.DataFrame(dict(zip(names, columns.values(), strict=True))))

    out = bf.ranking(frame, y, score, by=by, sample_weight=weight)

    # the positives, of weights 1 and 2, are above 2 and 1 of the 2 negatives
    assert plain(out)[by] == [1]
    assert plain(out)["roc_auc"] == [pytest.approx((1 * 2 + 2 * 1) / (3 * 2))]


COUNTED = {
    "y": [1, 1, 0, 1],
    "p": [1, 1, 0, 0],
    "s": [0.5, 0.5, 0.1, 0.2],
    "g": ["a", "a", "b", "b"],
}
FITS, EXCEEDS = [2**62, 2**61, 2**61 - 2, 1], [2**62, 2**62, 1, 1]
A, B = 2**62 + 2**61, 2**61 - 1  # rows of the segments in FITS
COUNTS = {
    "report": [MOST],
    "strings": [A, B, MOST],
    "confusion": [2**61 - 2, 1, A],
    "curve": [MOST] * 4,
    "grid": [MOST] * 3,
    "ranking": [MOST],
    "gaps": [A, B],
}
METHODS = {
    "report": lambda frame, **how: bf.report(frame, "y", "p", metrics="accuracy", **how),
    "strings": lambda frame, **how: bf.report(frame, "y", "p", by="g", margins="overall", **how),
    "confusion": lambda frame, **how: bf.confusion(frame, "y", "p", **how),
    "curve": lambda frame, **how: bf.curve(frame, "y", "s", metrics="accuracy", **how),
    "grid": lambda frame, **how: bf.curve(frame, "y", "s", thresholds=3, metrics="recall", **how),
    "ranking": lambda frame, **how: bf.ranking(frame, "y", "s", **how),
    "gaps": lambda frame, **how: bf.gaps(frame, "y", "p", by="g", metrics="accuracy", **how),
}


@LIBRARIES
@cases("name", METHODS)
def test_counts_up_to_64_bits_are_exact_and_larger_sums_raise(make, name):
    method = METHODS[name]
    fits, exceeds = (make(pl.DataFrame({**COUNTED, "k": k})) for k in (FITS, EXCEEDS))

    assert plain(method(fits, counts="k"))["n"] == COUNTS[name]
    assert "64-bit integer" in refused(lambda: method(exceeds, counts="k"))


@LIBRARIES
def test_cells_up_to_64_bits_are_exact_and_larger_sums_raise(make):
    fits, exceeds = (
        make(pl.DataFrame({"day": [1, 2], "y": [1, 1], "p": [1, 1], "n": n}))
        for n in ([2**62, 2**62 - 1], [2**62, 2**62])
    )

    assert plain(bf.confusion(fits, "y", "p"))["n"] == [MOST]
    assert "64-bit integer" in refused(lambda: bf.confusion(exceeds, "y", "p"))


@pytest.mark.parametrize("make", [in_pandas, pl.DataFrame.clone, pl.DataFrame.lazy])
def test_combined_counts_raise_past_64_bits(make):
    day = make(pl.DataFrame({"y": [1], "p": [1], "n": [2**62]}))

    assert "64-bit integer" in refused(lambda: bf.combine([day, day]))


@pytest.mark.filterwarnings("ignore:column 'many' in by has 70,000 different numbers")
@cases("by", [None, "few", "many", "text"])
@cases("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_every_counting_strategy_raises_past_64_bits(make, by):
    n = 70_000
    columns = {
        "y": np.tile([0, 1], n // 2),
        "p": np.tile([0, 1], n // 2),
        "few": np.arange(n) % 7,
        "many": np.arange(n) * 10_007,
        "text": np.array(["a", "b", "c", "d"])[np.arange(n) % 4].tolist(),
    }
    fits, exceeds = (
        make({**columns, "k": np.full(n, each)}) for each in (MOST // n, MOST // n + 1)
    )

    out = plain(bf.report(fits, "y", "p", by=by, counts="k", metrics="accuracy"))

    assert sum(out["n"]) == MOST // n * n
    assert set(out["accuracy"]) == {1.0}
    assert "64-bit integer" in refused(lambda: bf.report(exceeds, "y", "p", by=by, counts="k"))


LARGE = pl.DataFrame(
    {"y": [1, 0, 1], "p": [1, 0, 0], "x": [2, 1, 3]}, schema_overrides={"x": pl.Int128}
)
LONG_INTEGERS = {
    "polars": lambda x: LARGE.with_columns(x=pl.Series(x, dtype=pl.Int128)),
    "lazy": lambda x: LARGE.with_columns(x=pl.Series(x, dtype=pl.Int128)).lazy(),
    "duckdb": lambda x: duckdb.sql(
        "SELECT y, p, x::HUGEINT AS x FROM (VALUES "
        + ", ".join(f"({y}, {p}, {one})" for y, p, one in zip((1, 0, 1), (1, 0, 0), x, strict=True))
        + ") AS given(y, p, x)"
    ),
}


@pytest.mark.parametrize("make", LONG_INTEGERS.values(), ids=LONG_INTEGERS)
def test_integers_of_128_bits_are_accepted_in_every_role(make):
    frame, large = make([2, 1, 3]), make([2, 1, 2**100])

    assert plain(bf.report(frame, "y", "p", counts="x", metrics="accuracy"))["n"] == [6]
    assert "cannot be counts" in refused(lambda: bf.report(large, "y", "p", counts="x"))
    negative = make([2, 1, -(2**100)])
    assert "cannot be counts" in refused(lambda: bf.report(negative, "y", "p", counts="x"))
    weighted = bf.report(frame, "y", "p", sample_weight="x", metrics="accuracy")
    assert plain(weighted)["accuracy"] == [(2 + 1) / 6]
    assert plain(bf.ranking(large, "y", "x"))["roc_auc"] == [1.0]
    assert plain(bf.report(large, "y", "p", by="x"))["x"] == [1, 2, 2**100]
    assert plain(bf.confusion(large, "x", "p"))["x"] == [1, 2, 2**100]


def test_sums_computed_by_duckdb_are_accepted_as_counts_of_cells():
    rows = duckdb.sql(
        "SELECT y, p, sum(k) AS n FROM (VALUES (1, 1, 3), (0, 1, 1)) AS given(y, p, k) GROUP BY ALL"
    )

    assert plain(bf.report(rows, "y", "p", metrics="accuracy"))["accuracy"] == [3 / 4]


@pytest.mark.parametrize("role", ["y", "by"])
def test_types_that_duckdb_cannot_export_are_refused(role):
    rows = duckdb.sql(
        "SELECT 1 AS y, 1 AS p, 340282366920938463463374607431768211455::UHUGEINT AS huge, "
        "INTERVAL 1 MONTH AS gap"
    )
    for name in ("huge", "gap"):
        columns = {"y_true": name} if role == "y" else {"y_true": "y", "by": name}
        assert f"column '{name}'" in refused(lambda: bf.report(rows, y_pred="p", **columns))  # noqa: B023


EXAMPLE_VALUES = {
    "generator": lambda: (name for name in "yp"),
    "Series of pandas": lambda: pd.Series(["y"]),
    "Series of polars": lambda: pl.Series(["y"]),
    "array": lambda: np.array(["y"]),
    "array of no dimension": lambda: np.array("y"),
    "expression": lambda: pl.col("y"),
    "bytes": lambda: b"y",
    "class": lambda: str,
    "frame": lambda: pd.DataFrame({"y": [1]}),
}
ROLES = ["y_true", "y_pred", "by", "sample_weight", "counts", "labels", "metrics", "class_weight"]
ROLES += ["level", "interval", "missing", "margins", "max_cells", "backend", "rules"]


@cases(
    ("library", "role"),
    [*((pl, role) for role in [*ROLES, "thresholds"]), *((pd, role) for role in ROLES[:5])],
)
@cases("given", EXAMPLE_VALUES.values())
def test_invalid_names_and_options_are_refused(library, given, role):
    method = {"rules": bf.check, "thresholds": bf.curve}.get(role, bf.report)
    scores = {"y_score": "p"} if role == "thresholds" else {"y_pred": "p"}
    frame = library.DataFrame({"y": [1, 0], "p": [1, 0]})

    assert refused(lambda: method(frame, **{"y_true": "y", **scores, role: given()}))


def test_labels_of_a_megabyte_are_counted_and_shortened_in_messages():
    labels = ["x" * 1_000_000, "y" * 1_000_000]
    for make in (pd.DataFrame, pl.DataFrame, pl.LazyFrame):
        frame = make({"y": labels, "p": labels[::-1]})
        assert plain(bf.report(frame, "y", "p", metrics="accuracy"))["accuracy"] == [0.0]
        assert len(refused(lambda: bf.report(frame, "y", "p", metrics="recall"))) < 1_000  # noqa: B023


@pytest.mark.parametrize("make", [pd.DataFrame, pl.LazyFrame])
def test_a_frame_of_ten_thousand_columns_is_read_by_name(make):
    frame = make({f"c{i}": [0, 1] for i in range(10_000)})

    assert plain(bf.report(frame, "c0", "c9999", by="c77", metrics="accuracy"))["n"] == [1, 1]
    assert "did you mean 'c10'" in refused(lambda: bf.report(frame, "cc10", "c1"))


@LIBRARIES
@pytest.mark.filterwarnings("ignore:column 'g' in by has 30,000 different numbers")
def test_segments_of_single_rows_and_of_nulls_only_are_counted(make):
    n = 30_000
    labels = [1, 0] * (n // 2)
    frame = make(pl.DataFrame({"g": np.arange(n), "h": [None] * n, "y": labels, "p": labels}))

    each = plain(bf.report(frame, "y", "p", by="g", metrics="accuracy"))
    none = plain(bf.report(frame, "y", "p", by="h", metrics="accuracy"))

    assert (each["g"], each["n"]) == (list(range(n)), [1] * n)
    assert (none["h"], none["n"], none["accuracy"]) == ([None], [n], [1.0])


SCHEMA = {"y": pl.Int64, "p": pl.Int64, "q": pl.Int64, "s": pl.Float64, "g": pl.String}
SCHEMA |= {"day": pl.Date}


@LIBRARIES
@cases("method", METHODS_WITH_BY)
def test_a_frame_without_rows_returns_no_segments(make, method):
    out = plain(getattr(bf, method)(make(pl.DataFrame(schema=SCHEMA)), **example_arguments(method)))

    assert out
    assert {len(values) for name, values in out.items()} <= {0, len(out.get("metric", []))}
    assert out.get("g", []) == []


@cases("far", ["0001-01-01", "9999-12-31"])
@LIBRARIES
def test_dates_outside_the_range_of_nanoseconds_are_accepted(make, far):
    dates = pl.Series([far, "2024-02-29"]).str.to_date()
    frame = make(pl.DataFrame({"y": dates, "p": dates, "t": dates.cast(pl.Datetime("us"))}))

    out = plain(bf.report(frame, "y", "p", by="t", metrics="accuracy"))

    assert sorted(str(one)[:10] for one in out["t"]) == sorted([far, "2024-02-29"])
    assert out["accuracy"] == [1.0, 1.0]
