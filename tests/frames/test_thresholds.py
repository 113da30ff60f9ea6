"""Which thresholds a score reaches: on grids, lists and quantiles, eagerly and by an engine."""

import re
import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

import balframe as bf
from balframe.frames.thresholds import Thresholds
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

INF, NAN = float("inf"), float("nan")
SIZES = [2, 3, 11, 100, 101, 255, 256, 257, 1000, 65_537]
LISTS = {
    "one": [0.5],
    "unsorted": [0.9, 0.1, 0.5],
    "twice": [0.5, 0.1, 0.5, 0.1],
    "beyond": [-3, 0.4, 7],
    "infinite": [INF, 0.25, -INF],
    "tuple": (0.2, 0.7),
    "array": np.array([0.3, 0.1]),
    "range": range(2),
    "both zeros": [0.0, -0.0],
}


def near(values):
    """Give values, and the floats just below and just above."""
    values = np.asarray(values, float)
    return np.concatenate([values, np.nextafter(values, -INF), np.nextafter(values, INF)])


def probabilities(size):
    """Give scores on, just below and just above the thresholds of an even grid."""
    random = np.random.default_rng(size).random(500)
    found = near([*(i / (size - 1) for i in range(size)), *np.linspace(0, 1, size)])
    found = np.concatenate([found, random, [0.0, -0.0, 5e-324, 1.0]])
    return found[(found >= 0) & (found <= 1)]


def by_comparison(thresholds, score):
    """Compare every score with every threshold."""
    parts = np.array_split(score, len(score) // 1000 + 1)
    return np.concatenate([(part[:, None] >= thresholds).sum(axis=1) for part in parts])


def by_engine(thresholds, score):
    frame = nw.from_native(pl.LazyFrame({"s": score}))
    s = nw.col("s")
    even = thresholds.is_even
    reached = (
        thresholds.corrected_expr(s, thresholds.guess_expr(s)) if even else thresholds.count_expr(s)
    )
    out = frame.select(r=reached).to_native().collect()
    return out["r"].to_numpy()


@cases("size", SIZES)
def test_scores_near_an_even_grid_reach_the_right_thresholds(size):
    grid = Thresholds.from_option(size)
    expected = np.array([i / (size - 1) for i in range(size)])
    score = probabilities(size)
    if size > 1000:
        score = np.random.default_rng(0).choice(score, 4000)
    assert grid.values.tolist() == expected.tolist()
    reached = by_comparison(expected, score).tolist()
    assert grid.count_reached(score).tolist() == reached
    assert by_engine(grid, score).tolist() == reached


def test_many_scores_reach_the_right_thresholds_of_an_even_grid():
    score = np.tile(probabilities(100), 200)
    reached = np.tile(by_comparison(np.arange(100) / 99, probabilities(100)), 200)
    assert len(score) > 2 * 65_536
    assert (Thresholds.from_option(100).count_reached(score) == reached).all()


@cases("asked", LISTS.values())
def test_scores_near_listed_thresholds_reach_the_right_thresholds(asked):
    grid = Thresholds.from_option(asked)
    expected = sorted({float(one) for one in asked})
    finite = [one for one in expected if abs(one) < INF]
    score = np.append(near(finite), [-0.0, 0.0, 1e300, -1e300, 0.5])
    assert grid.values.tolist() == expected
    reached = by_comparison(np.array(expected), score).tolist()
    assert grid.count_reached(score).tolist() == reached
    assert by_engine(grid, score).tolist() == reached


def rows(score):
    """Make rows of both labels with these scores."""
    y = [i * i % 3 % 2 for i in range(len(score))]
    return {"y": y, "s": [float(one) for one in score]}


def by_hand(data, thresholds):
    """Count the rows that reach each threshold, and the share of the positives that do."""
    score, y = np.array(data["s"]), np.array(data["y"])
    called = [score >= one for one in thresholds]
    return [(one, sum(c), c[y == 1].mean()) for one, c in zip(thresholds, called, strict=True)]


def counted(frame, **options):
    out = plain(bf.curve(frame, "y", "s", metrics="recall", **options))
    names = ("threshold", "predicted_positive", "recall")
    return list(zip(*(out[name] for name in names), strict=True))


@cases("size", [2, 11, 100, 101, 1000])
@each_constructor
def test_curve_on_an_even_grid_equals_direct_counts(constructor, size):
    data = rows(np.random.default_rng(1).choice(probabilities(size), 700))
    expected = by_hand(data, [i / (size - 1) for i in range(size)])
    assert counted(constructor(data), thresholds=size) == expected
    assert counted(constructor(data), thresholds=np.int64(size)) == expected


@cases("asked", LISTS.values())
@each_constructor
def test_curve_at_listed_thresholds_equals_direct_counts(constructor, asked):
    data = rows([0.5, 0.1, 0.9, 0.3, -0.0, 0.0, 0.2, 0.7, *near([0.25, 0.5, 0.9, 1.0]), 7, -3, 8])
    expected = by_hand(data, sorted({float(one) for one in asked}))
    assert counted(constructor(data), thresholds=asked) == expected


@each_constructor
def test_a_score_reaches_the_threshold_of_the_same_decimal_value(constructor):
    score = [i / 100 for i in range(101)]
    out = counted(constructor(rows(score)), thresholds=101)
    assert [n for _, n, _ in out] == list(range(101, 0, -1))


@cases("how_many", [2, 3, 5, 9, 17, 33, 65, 129])
@cases("weighted", [False, True])
@each_constructor
def test_quantile_thresholds_equal_lower_quantiles_of_numpy(constructor, how_many, weighted):
    rng = np.random.default_rng(how_many)
    data = rows(rng.integers(-5, 20, 90) / 7)
    n = rng.integers(0, 4, 90) if weighted else np.ones(90, int)
    data["n"] = n.tolist()
    steps = np.arange(how_many) / (how_many - 1)  # of a power of 2, so that no rank is rounded
    quantiles = np.quantile(np.repeat(data["s"], n), steps, method="lower")
    options = {"counts": "n"} if weighted else {}
    out = counted(constructor(data), thresholds=("quantiles", how_many), **options)
    assert [threshold for threshold, _, _ in out] == np.unique(quantiles).tolist()
    if not weighted:
        assert out == by_hand(data, np.unique(quantiles).tolist())


@each_constructor
def test_quantile_thresholds_pool_all_models_and_segments(constructor):
    data = {"g": [*"aabb"], "y": [0, 1, 0, 1], "s": [1, 2, 3, 4], "r": [50, 60, 70, 80]}
    out = bf.curve(constructor(data), "y", ["s", "r"], by="g", thresholds=("quantiles", 3))
    lower_median = np.quantile(data["s"] + data["r"], 0.5, method="lower")
    assert plain(out)["threshold"] == [1, lower_median, 80] * 4


@cases("how_many", [7, 10, 20, 100, 1000])
def test_quantile_thresholds_are_scores_of_evenly_spaced_ranks(how_many):
    score = np.random.default_rng(8).normal(size=300)
    found = Thresholds.from_option(("quantiles", how_many)).at_quantiles(
        score, np.ones(300, np.int64)
    )
    ranks = np.searchsorted(np.sort(score), found.values)
    assert np.isin(found.values, score).all()
    assert (ranks[0], ranks[-1]) == (0, 299)
    assert len(ranks) == min(how_many, 300)
    assert set(np.diff(ranks)) <= {299 // (how_many - 1), 299 // (how_many - 1) + 1}


@each_constructor
def test_rows_without_any_score_return_no_quantile_thresholds(constructor):
    data = {"y": [0.0, 1.0], "s": [NAN, NAN]}
    out = bf.curve(constructor(data), "y", "s", thresholds=("quantiles", 3), missing="drop")
    assert plain(out)["threshold"] == []


@cases("options", [{}, {"sample_weight": "w"}])
@each_constructor
def test_dropped_rows_do_not_change_quantile_thresholds(constructor, options):
    data = {"y": [0.0, 1.0, 1.0, NAN], "s": [1.0, 2.0, 3.0, 99.0], "w": [1.0, 1.0, NAN, 1.0]}
    kept = 2 if options else 3
    options = options | {"thresholds": ("quantiles", 3), "missing": "drop"}
    expected = bf.curve(constructor({k: v[:kept] for k, v in data.items()}), "y", "s", **options)
    assert plain(bf.curve(constructor(data), "y", "s", **options)) == plain(expected)


@cases("thresholds", [None, 3, [0.0, 0.9], ("quantiles", 2)])
@each_constructor
def test_all_thresholds_of_a_plateau_select_the_same_rows(constructor, thresholds):
    data = {"y": [0, 0, 0, 1, 1, 1], "s": [0.0, 0.1, 0.3, 0.4, 0.6, 0.9]}
    out = plain(
        bf.best_threshold(
            constructor(data), "y", "s", thresholds=thresholds, min_support=0, detail=True
        )
    )
    [lower], [threshold], [midpoint] = (out[n] for n in ("plateau_lower", "threshold", "midpoint"))
    reached = np.array(data["s"]) >= threshold
    for same in (*np.linspace(threshold, lower, 50, endpoint=False), midpoint):
        assert (np.array(data["s"]) >= same).tolist() == reached.tolist()


@cases("thresholds", [None, 5, [0.5], ("quantiles", 2)])
@cases("score", [INF, 2.0, NAN])
@each_constructor
def test_rows_with_a_count_of_zero_are_ignored(constructor, score, thresholds):
    data = {"y": [0, 1, 1], "s": [0.25, 0.5, score], "k": [1, 2, 0]}
    options = {"counts": "k", "thresholds": thresholds}
    with warnings.catch_warnings(action="ignore"):  # of pandas 2.2, as it converts infinities
        frame = constructor(data)
    expected = bf.curve(constructor({k: v[:2] for k, v in data.items()}), "y", "s", **options)
    assert plain(bf.curve(frame, "y", "s", **options)) == plain(expected)


@cases("method", [bf.curve, bf.best_threshold, bf.ranking])
@cases("options", [{}, {"missing": "drop"}, {"margins": "all"}])
def test_score_methods_agree_for_every_dtype_and_library(method, options):
    rng = np.random.default_rng(2)
    data = {"g": rng.integers(0, 3, 80), "y": rng.integers(0, 2, 80)}
    scores = {"s": rng.random(80).astype(np.float32), "r": rng.integers(0, 5, 80, np.int8)}
    wide = {"s": scores["s"].astype(float), "r": scores["r"].astype(float)}
    expected = plain(method(pl.DataFrame(data | wide), "y", ["s", "r"], by="g", **options))
    for frame in (
        *(make(data | scores) for make in (pl.DataFrame, pl.LazyFrame, pd.DataFrame)),
        pd.DataFrame(data | scores).convert_dtypes(dtype_backend="pyarrow"),
    ):
        found = plain(method(frame, "y", ["s", "r"], by="g", **options))
        assert list(found) == list(expected)
        for name, values in expected.items():
            same = (
                values if name in ("g", "grouped_by", "model", "metric") else pytest.approx(values)
            )
            assert found[name] == same


BAD = {
    "too few": (1, "1.*at least 2"),
    "none": (0, "0.*at least 2"),
    "below zero": (-5, "-5.*at least 2"),
    "bool": (True, "True.*is not supported; give"),
    "number": (0.5, "0.5.*is not supported; give"),
    "text": ("none", "'none'.*is not supported; give"),
    "name of a form": ("quantiles", "'quantiles'.*is not supported; give"),
    "mapping": ({0.5: 1}, 'not supported; give "all" for every score'),
    "set": ({0.5}, 'not supported; give "all" for every score'),
    "empty": ([], "thresholds=.*list of numbers"),
    "NaN": ([0.5, NAN], "NaN"),
    "texts": (["a"], "list of numbers"),
    "None in it": ([0.5, None], "list of numbers"),
    "one quantile": (("quantiles", 1), "1.*at least 2"),
    "bool of quantiles": (("quantiles", True), "True.*at least 2"),
    "list of quantiles": (("quantiles", [0.5]), "at least 2"),
    "no quantile": (("quantiles",), "list of numbers"),
    "other form": (("percentiles", 5), "list of numbers"),
}


@cases(("asked", "words"), BAD.values())
@cases("method", [bf.curve, bf.best_threshold])
@each_constructor
def test_invalid_thresholds_raise_at_once(constructor, method, asked, words):
    frame = constructor({"y": [0, 1], "s": [0.5, 0.5]})
    with pytest.raises(bf.InvalidInputError) as raised:
        method(frame, "y", "s", thresholds=asked)
    assert re.search(words, str(raised.value))
