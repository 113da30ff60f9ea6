"""Every method returns on an engine the columns, rows and values of an eager frame."""

import random
from datetime import date, datetime, timedelta

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import assert_table, pandas_numpy, plain, polars_eager
from tests.support.method_arguments import METHODS_WITH_COLUMNS

RNG = random.Random(20)


def _drawn(values, n=400):
    return [RNG.choice(values) for _ in range(n)]


ROWS = {
    "g": _drawn(["é", "z", "Z", "", None]),
    "h": _drawn([3, -1, 0]),
    "day": _drawn([date(2024, 2, 29), date(1969, 12, 31), None]),
    "y": _drawn([0, 1]),
    "p": _drawn([0, 1]),
    "q": _drawn([0, 1, 1]),
    "r": _drawn([True, False]),
    "text": _drawn(["b", "a", "c"]),
    "text_p": _drawn(["b", "a"]),
    "holes": _drawn([0, 1, None]),
    "s": _drawn([i / 20 for i in range(21)]),
    "t": [RNG.random() for _ in range(400)],
    "w": _drawn([0.0, 0.25, 1.0, 8.0]),
    "v": [RNG.random() for _ in range(400)],
    "k": _drawn([0, 1, 7]),
    "c": _drawn([*"PpqQrst", "é", None]),
    "when": _drawn(
        [
            *(datetime(1969, 12, 31, 23, 59, 59, 999_999), datetime(1970, 1, 1)),
            *(datetime(2023, 12, 31, 23, 30), datetime(2024, 1, 1), datetime(2024, 2, 29, 12)),
            *(datetime(2024, 3, 1, 0, 0, 0, 1), datetime(2024, 3, 31, 2, 30)),
        ]
    ),
    "seen": _drawn([date(2024, 2, 26) + timedelta(i) for i in (-40, -9, 0, 3, 7, 8, 21, 29)]),
}
EARLIER = bf.confusion(pl.DataFrame(ROWS)[:300], "y", "q", by=["g", "h"])
LAUNCH = bf.confusion(pl.DataFrame(ROWS)[:300], "y", "q", by=["seen", "h"])
SMOOTH = ["accuracy", "f1_macro", "precision_macro", "kappa", "qwk", "lr_plus", "dor"]
AGAINST = ["uar >= baseline - 0.02", "recall >= 0.1", "fpr < baseline"]
CALLS = {
    "report": lambda df, **kw: bf.report(df, "y", "p", by=["g", "h"], metrics="all", **kw),
    "report by date": lambda df, **kw: bf.report(df, "text", "text_p", by="day", **kw),
    "report of months": lambda df, **kw: bf.report(
        df, "y", "p", by=["g", bf.period("day", "1mo")], margins="all", **kw
    ),
    "report of weeks of models": lambda df, **kw: bf.report(
        df, "y", ["p", "holes"], by=bf.period("when", "1w"), missing="drop", counts="k", **kw
    ),
    "report of years and weights": lambda df, **kw: bf.report(
        df, "y", "p", by=["h", bf.period("when", "1y")], sample_weight="w", interval=True, **kw
    ),
    "report of days of clusters": lambda df, **kw: bf.report(
        df, "y", "p", by=bf.period("when", "1d"), cluster="c", missing="drop", interval=True, **kw
    ),
    "report of bins": lambda df, **kw: bf.report(
        df, "y", "p", by=["g", bf.bins("t", 3), bf.bins("k", [0.5, 7])], margins="all", **kw
    ),
    "report of bins of clusters": lambda df, **kw: bf.report(
        df, "y", ["p", "q"], by=bf.bins("s", 4), cluster="c", missing="drop", counts="k", **kw
    ),
    "report long": lambda df, **kw: bf.report(
        df, "y", "p", by="g", margins="overall", layout="long", interval=True, **kw
    ),
    "report of models": lambda df, **kw: bf.report(
        df, "y", ["r", "holes", "q"], by="g", margins="all", missing="drop", **kw
    ),
    "report of many models": lambda df, **kw: bf.report(
        df, "y", ["p", "q", "r", "holes", "h", "k"], by="g", missing="drop", **kw
    ),
    "report of counts": lambda df, **kw: bf.report(df, "y", "p", by="g", counts="k", **kw),
    "report of exact weights": lambda df, **kw: bf.report(
        df, "y", "p", by="g", sample_weight="w", counts="k", interval=True, metrics=SMOOTH, **kw
    ),
    "report of weighted clusters": lambda df, **kw: bf.report(
        df,
        "y",
        ["p", "q"],
        by="g",
        cluster="c",
        missing="drop",
        interval=True,
        sample_weight="w",
        **kw,
    ),
    "classes": lambda df, **kw: bf.classes(df, "text", "text_p", by=["h", "g"], **kw),
    "confusion": lambda df, **kw: bf.confusion(
        df, "holes", "q", by="g", missing="drop", complete=True, normalize="true", **kw
    ),
    "confusion of weights": lambda df, **kw: bf.confusion(
        df, "y", "p", by="day", sample_weight="w", margins="overall", **kw
    ),
    "confusion of weighted clusters": lambda df, **kw: bf.confusion(
        df, "y", "p", by="g", cluster="c", missing="drop", counts="k", sample_weight="w", **kw
    ),
    "posterior": lambda df, **kw: bf.posterior(df, "y", "p", by="h", **kw),
    "gaps": lambda df, **kw: bf.gaps(df, "y", ["p", "q"], by="g", **kw),
    "gaps of quarters": lambda df, **kw: bf.gaps(
        df, "y", ["p", "q"], by=["g", bf.period("seen", "1q")], margins="overall", **kw
    ),
    "gaps of weighted clusters": lambda df, **kw: bf.gaps(
        df,
        "y",
        "p",
        by="g",
        cluster="day",
        missing="drop",
        metrics=["uar", "f1", "f1_macro"],
        sample_weight="w",
        **kw,
    ),
    "monitor": lambda df, **kw: bf.monitor(
        df,
        "y",
        ["q", "p"],
        by="g",
        time=bf.period("when", "1q"),
        baseline={"until": "1969-12-31"},
        missing="drop",
        metrics=["uar", "fpr"],
        counts="k",
        **kw,
    ),
    "monitor against cells": lambda df, **kw: bf.monitor(
        df,
        "y",
        "p",
        by="h",
        time=bf.period("seen", "1w"),
        baseline=LAUNCH,
        exclude="2024-03-04",
        **kw,
    ),
    "disparity": lambda df, **kw: bf.disparity(
        df, "y", "p", by="g", min_support=1, metrics=["uar", "f1_macro", "lr_plus"], **kw
    ),
    "fairness": lambda df, **kw: bf.fairness(df, "y", "p", by="h", min_support=1, **kw),
    "check": lambda df, **kw: bf.check(
        df,
        "y",
        "p",
        by="g",
        rules=["recall >= 0.5", "difference(uar) <= 0.9", "n >= 9", "qwk >= 0"],
        **kw,
    ),
    "check against another model": lambda df, **kw: bf.check(
        df, "y", ["p", "r"], by="g", baseline="q", rules=AGAINST, margins="overall", **kw
    ),
    "check against cells": lambda df, **kw: bf.check(
        df, "y", "p", by=["g", "h"], baseline=EARLIER, rules=AGAINST, counts="k", **kw
    ),
    "check of scores": lambda df, **kw: bf.check(
        df, "y", y_score=["s", "t"], by="g", rules=["auc >= 0.1", "brier <= 0.9"], **kw
    ),
    "check against another score": lambda df, **kw: bf.check(
        df, "y", y_score="s", by="g", baseline="t", rules="auc >= baseline - 0.3", counts="k", **kw
    ),
    "power": lambda df, **kw: bf.power(
        df, "y", "p", by="g", rules=["recall >= 0.5", "uar >= 0.5"], power=[0.8, 0.9], **kw
    ),
    "power against another model": lambda df, **kw: bf.power(
        df, "y", ["p", "r"], by="g", baseline="q", rules="uar >= baseline - 0.1", **kw
    ),
    "power against cells": lambda df, **kw: bf.power(
        df, "y", "p", by=["g", "h"], baseline=EARLIER, rules="recall >= baseline - 0.1", **kw
    ),
    "diff": lambda df, **kw: bf.diff(df, "y", "p", baseline="q", by="g", detail=True, **kw),
    "diff_slices": lambda df, **kw: bf.diff_slices(
        df, "y", "p", baseline="q", over=["h"], min_support=2, detail=True, **kw
    ),
    "compare": lambda df, **kw: bf.compare(df, "y", ["p", "q", "r"], by="h", **kw),
    "compare of scores": lambda df, **kw: bf.compare(
        df,
        "holes",
        y_score=["s", "t", "v"],
        by="h",
        cluster="c",
        missing="drop",
        metrics=["auc", "average_precision", "roc_auc(max_fpr=0.2)"],
        **kw,
    ),
    "compare of weighted scores": lambda df, **kw: bf.compare(
        df, "y", y_score=["s", "t"], by="g", sample_weight="w", margins="overall", **kw
    ),
    "curve on an even grid": lambda df, **kw: bf.curve(
        df, "y", "s", by="g", thresholds=21, interval=True, **kw
    ),
    "curve on a list": lambda df, **kw: bf.curve(df, "y", "t", thresholds=[0.1, 0.5, 2], **kw),
    "curve at quantiles": lambda df, **kw: bf.curve(
        df, "y", ["s", "t"], by="h", thresholds=("quantiles", 5), **kw
    ),
    "exact curve of models": lambda df, **kw: bf.curve(
        df, "y", ["s", "t"], by="h", margins="overall", sample_weight="w", **kw
    ),
    "best threshold": lambda df, **kw: bf.best_threshold(
        df, "y", ["s", "t"], by="g", thresholds=101, min_support=1, **kw
    ),
    "slices": lambda df, **kw: bf.slices(
        df, "y", "p", over=["g", "h", "s"], metrics="accuracy", min_support=5, level=1e-6, **kw
    ),
    "slices of bins and counts": lambda df, **kw: bf.slices(
        df,
        "y",
        "q",
        over=["t", "day", "s", "h"],
        metrics="precision",
        order="lower",
        counts="k",
        bins={"s": [0.25, 0.6], "h": None},
        min_support=40,
        level=1e-6,
        **kw,
    ),
    "slices by estimates of weights": lambda df, **kw: bf.slices(
        df,
        "y",
        "holes",
        over=["h", "v", "r"],
        metrics="f1",
        sample_weight="w",
        bins=3,
        missing="drop",
        min_support=5,
        order="impact",
        **kw,
    ),
    "impact": lambda df, **kw: bf.impact(
        df, ["p", "r"], favourable="selected", by=["g", "h"], min_share=0.05, counts="k", **kw
    ),
    "impact of labels": lambda df, **kw: bf.impact(
        df, "text", favourable="selected", by=["day"], pos_label="b", adjust="holm", **kw
    ),
    "impact of scores": lambda df, **kw: bf.impact(
        df, score=["s", "t"], favourable="selected", by=["g", "h"], min_share=0, counts="k", **kw
    ),
    "calibration": lambda df, **kw: bf.calibration(
        df, "holes", ["s", "t"], by="h", missing="drop", counts="k", **kw
    ),
    "calibration of rounded scores": lambda df, **kw: bf.calibration(
        df, "y", "t", by="g", resolution=100, margins="overall", **kw
    ),
    "calibration curve": lambda df, **kw: bf.calibration_curve(df, "y", "t", by="g", bins=4, **kw),
    "calibration gaps": lambda df, **kw: bf.calibration_gaps(
        df, "y", ["s", "t"], by=["g", "h"], resolution=20, **kw
    ),
    "ranking": lambda df, **kw: bf.ranking(df, "holes", "t", by="h", missing="drop", **kw),
    "ranking of clusters": lambda df, **kw: bf.ranking(
        df, "y", "s", by="h", cluster="c", missing="drop", interval=True, **kw
    ),
    "ranking by other metrics": lambda df, **kw: bf.ranking(
        df, "y", ["s", "t"], by="g", metrics="auc(max_fpr=0.1)", interval=True, detail=True, **kw
    ),
}
EACH_GROUP_BY = [
    *(
        "report of models",
        "report of exact weights",
        "report of weighted clusters",
        "report of months",
    ),
    *(
        "curve on an even grid",
        "curve at quantiles",
        "exact curve of models",
        "ranking of clusters",
    ),
    *("slices of bins and counts", "impact of scores", "compare", "monitor against cells"),
    *("compare of scores", "compare of weighted scores"),
]


def test_every_method_is_covered_by_a_case():
    assert {name for call in CALLS.values() for name in call.__code__.co_names} >= {
        *METHODS_WITH_COLUMNS
    }


@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")  # one model has other labels
@cases("name", CALLS)
def test_every_method_on_an_engine_equals_an_eager_frame(name, engine_of_every_method):
    assert_same(CALLS[name](engine_of_every_method(ROWS)), CALLS[name](pandas_numpy(ROWS)))


@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")  # one model has other labels
@cases("name", EACH_GROUP_BY)
def test_each_kind_of_group_by_on_an_engine_equals_an_eager_frame(name, engine):
    assert_same(CALLS[name](engine(ROWS)), CALLS[name](pandas_numpy(ROWS)))


@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")  # one model has other labels
@cases("name", CALLS)
def test_every_method_on_an_arrow_table_equals_an_eager_frame(name):
    result = CALLS[name](pa.table(ROWS))
    assert isinstance(result, pa.Table)
    assert_same(result, CALLS[name](polars_eager(ROWS)))


def test_check_takes_baseline_cells_from_an_engine(engine):
    expected = CALLS["check against cells"](polars_eager(ROWS))
    options = {"by": ["g", "h"], "rules": AGAINST, "counts": "k"}

    baseline = engine(EARLIER.to_dict(as_series=False))

    for frame in (pandas_numpy(ROWS), engine(ROWS)):
        assert_same(bf.check(frame, "y", "p", baseline=baseline, **options), expected)


def assert_same(result, expected):
    """Bit for bit: the sums of these weights are exact."""
    result, expected = _with_dates(plain(result)), _with_dates(plain(expected))
    assert list(result) == list(expected)
    assert result == expected


def _with_dates(table):
    """Pandas has no dates but midnights, in texts too."""
    days = {
        name: [day.date() if isinstance(day, datetime) else day for day in table[name]]
        for name in table.keys() & {"day", "highest_day", "period", "since"}
    }
    texts = [text.replace(" 00:00:00", "") for text in table.get("slice", [])]
    return table | days | ({"slice": texts} if texts else {})


@pytest.mark.parametrize("margins", [False, "all"])
def test_weighted_reports_on_engines_equal_an_eager_frame(every_engine, margins):
    def method(df):
        options = {"sample_weight": "v", "margins": margins, "interval": True}
        return bf.report(df, "y", "p", by=["g", "h"], metrics="all", **options)

    assert_table(method(every_engine(ROWS)), plain(method(pandas_numpy(ROWS))), close=1e-9)


def test_each_engine_returns_its_type_of_result(every_engine, request):
    result = bf.report(every_engine(ROWS), "y", "p", by="g")
    expected = {"dask": pd.DataFrame, "spark": pd.DataFrame, "dataset": pa.Table}
    name = request.node.callspec.params["every_engine"]
    assert isinstance(result, expected.get(name, pl.DataFrame))


@pytest.mark.parametrize(
    ("backend", "kind"),
    [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)],
)
def test_backend_sets_the_type_of_the_result(engine, backend, kind):
    for method in (CALLS["report"], CALLS["exact curve of models"]):
        result = method(engine(ROWS), backend=backend)
        assert isinstance(result, kind)
        assert_same(result, method(polars_eager(ROWS)))
