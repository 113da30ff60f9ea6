"""Metrics at every threshold: against scikit-learn, against a loop, against `report`, by hand."""

import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.io.plugins import register_io_source
from scipy import special
from sklearn import metrics as sk

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

INF, NAN = float("inf"), float("nan")
SIDES = ["recall", "specificity", "false_positive_rate"]
CARRIED = [{}, {"sample_weight": "w"}, {"counts": "k"}, {"sample_weight": "w", "counts": "k"}]
carried = cases("options", CARRIED)


def draw(size=600, seed=1):
    """Draw rows of three segments, null one of them, with scores in many ties."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size)
    columns = {
        "g": np.array(["b", "a", None], object)[rng.integers(0, 3, size)],
        "y": y,
        "s": np.clip(rng.integers(0, 25, size) + 6 * y, 0, 29) / 29,
        "r": rng.integers(0, 8, size) / 7,
        "w": rng.uniform(0.1, 5, size),
        "k": rng.integers(0, 4, size),
    }
    return {name: values.tolist() for name, values in columns.items()}


DATA = draw()


def segments(data, options=()):
    """Yield each segment in order: y, score, rows, and the weight of each."""
    arrays = {name: np.array(values) for name, values in data.items() if name != "g"}
    n = arrays["k"] if "counts" in options else np.ones(len(data["y"]), int)
    weight = n * (arrays["w"] if "sample_weight" in options else 1)
    for key in sorted(set(data["g"]), key=lambda one: (one is None, one)):
        at = np.array([one == key for one in data["g"]]) & (n > 0)
        yield key, arrays["y"][at], arrays["s"][at], n[at], weight[at]


def of_segment(out, key):
    """Take the rows of one segment as arrays, NaN for null."""
    at = [i for i, one in enumerate(out["g"]) if one == key]
    names = [name for name in out if name not in ("g", "grouped_by", "model")]
    return {name: np.array([out[name][i] for i in at], float) for name in names}


def close(found, expected, within=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0, atol=within)


@carried
@each_constructor
def test_curve_equals_roc_curve_of_scikit_learn(constructor, options):
    out = plain(bf.curve(constructor(DATA), "y", "s", by="g", metrics=SIDES, **options))
    for key, y, s, n, weight in segments(DATA, options):
        mine = of_segment(out, key)
        roc = sk.roc_curve(y, s, sample_weight=weight, drop_intermediate=False)
        fpr, tpr, thresholds = (one[::-1] for one in roc)
        assert mine["threshold"].tolist() == thresholds.tolist()
        assert mine["predicted_positive"].tolist() == [n[s >= t].sum() for t in thresholds]
        assert set(mine["n"]) == {n.sum()}
        close(mine["recall"], tpr)
        close(mine["false_positive_rate"], fpr)
        close(mine["specificity"], 1 - fpr)
    assert list(dict.fromkeys(out["g"])) == ["a", "b", None]


@pytest.mark.skipif(
    not hasattr(sk, "confusion_matrix_at_thresholds"), reason="scikit-learn does not have it yet"
)
@carried
def test_curve_equals_confusion_matrix_at_thresholds_of_scikit_learn(options):
    out = plain(bf.curve(pl.DataFrame(DATA), "y", "s", by="g", metrics=SIDES, **options))
    for key, y, s, n, weight in segments(DATA, options):
        mine = {name: values[:-1] for name, values in of_segment(out, key).items()}
        tn, fp, fn, tp, thresholds = (
            one[::-1] for one in sk.confusion_matrix_at_thresholds(y, s, sample_weight=weight)
        )
        rows = sk.confusion_matrix_at_thresholds(y, s, sample_weight=n)
        assert mine["threshold"].tolist() == thresholds.tolist()
        assert mine["predicted_positive"].tolist() == (rows[1] + rows[3])[::-1].tolist()
        close(mine["recall"], tp / (tp + fn))
        close(mine["specificity"], tn / (tn + fp))
        if "sample_weight" not in options:
            assert mine["recall"].tolist() == (tp / (tp + fn)).tolist()


def looped(y, s, weight, threshold):
    """Add up the cells of one rule to full digits, and form metrics of them."""
    tp, fp, fn, tn = (
        math.fsum(weight[(y == true) & ((s >= threshold) == called)])
        for called, true in ((True, 1), (True, 0), (False, 1), (False, 0))
    )
    precision = tp / (tp + fp) if tp + fp else NAN
    return (tp / (tp + fn), tn / (tn + fp), precision, (tp + tn) / math.fsum([tp, fp, fn, tn]))


LOOPED = ["recall", "specificity", "precision", "accuracy"]
GRIDS = [None, 2, 11, 101, [0.5, -1.0, 0.25, INF, 0.5, 10 / 29, 2.0], ("quantiles", 9)]


@pytest.mark.thorough
@cases("thresholds", GRIDS)
@carried
@each_constructor
def test_curve_equals_a_loop_over_thresholds(constructor, thresholds, options):
    options = {"metrics": LOOPED, "thresholds": thresholds, **options}
    out = plain(bf.curve(constructor(DATA), "y", "s", by="g", **options))
    for key, y, s, n, weight in segments(DATA, options):
        mine = of_segment(out, key)
        assert mine["predicted_positive"].tolist() == [n[s >= t].sum() for t in mine["threshold"]]
        expected = [looped(y, s, weight, t) for t in mine["threshold"]]
        close(np.column_stack([mine[name] for name in LOOPED]), expected)
        assert len(expected) > 1


@cases("thresholds", [None, 30])
@each_constructor
def test_segments_with_very_different_weights_equal_a_loop(constructor, thresholds):
    rng = np.random.default_rng(4)
    size = {"a": 1e6, "b": 1e-12, None: 1e6}
    weight = [size[g] * one for g, one in zip(DATA["g"], rng.uniform(0.1, 1, 600), strict=True)]
    data = DATA | {"w": weight}
    options = {"sample_weight": "w", "thresholds": thresholds}
    out = plain(bf.curve(constructor(data), "y", "s", by="g", metrics=LOOPED, **options))
    for key, y, s, _, w in segments(data, options):
        mine = of_segment(out, key)
        expected = [looped(y, s, w, t) for t in mine["threshold"]]
        close(np.column_stack([mine[name] for name in LOOPED]), expected, within=1e-9)


WEIGHED = [
    {"class_weight": {0: 1, 1: 3}, "interval": True},
    {"class_weight": "prevalence", "interval": True, "sample_weight": "w"},
    {"class_weight": "balanced", "interval": True, "counts": "k"},
    {"class_weight": {0: 2.5, 1: 0}, "sample_weight": "w", "counts": "k"},
    {"class_weight": "balanced", "interval": "exact", "level": 0.8},
    {"class_weight": "prevalence", "interval": "mover"},
]


@cases("options", WEIGHED)
def test_metrics_at_a_threshold_equal_report_of_the_predictions(options):
    one_label = draw(9, seed=2) | {"g": ["z"] * 9, "y": [1] * 9}
    frame = pl.DataFrame(draw(150)).vstack(pl.DataFrame(one_label))
    thresholds = [0.0, 0.3, 15 / 29, 0.9, 5.0]
    out = bf.curve(frame, "y", "s", by="g", thresholds=thresholds, metrics="all", **options)
    for threshold in thresholds:
        called = frame.with_columns(called=(pl.col("s") >= threshold).cast(pl.Int64))
        expected = plain(bf.report(called, "y", "called", by="g", metrics="all", **options))
        mine = plain(out.filter(pl.col("threshold") == threshold))
        assert list(mine) == ["g", "threshold", "n", "predicted_positive", *list(expected)[2:]]
        for name, values in expected.items():
            assert mine[name] == [pytest.approx(v, abs=1e-12) if name != "g" else v for v in values]


@cases("interval", ["score", "wilson", "scas", "jeffreys", "posterior", "jeffreys_posterior"])
def test_limits_of_every_interval_equal_those_of_report(interval):
    frame = pl.DataFrame(DATA).with_columns(called=pl.col("r") >= 0.4, y=pl.col("y") == 1)
    options = {"interval": interval, "level": 0.9, "metrics": ["uar", "f1", "ppv"]}
    expected = bf.report(frame, "y", "called", **options).drop("n")
    mine = bf.curve(frame, "y", "r", thresholds=[0.4], **options)
    assert mine.select(expected.columns).row(0) == pytest.approx(expected.row(0), abs=1e-12)


@cases(("level", "width"), [(0.95, 1.358), (0.9, 1.224)])
@carried
@each_constructor
def test_the_band_has_the_width_of_kolmogorov_smirnov(constructor, options, level, width):
    options = {"band": True, "metrics": "balanced_accuracy", "level": level, **options}
    out = plain(bf.curve(constructor(DATA), "y", "s", by="g", **options))
    assert special.kolmogi(1 - level) == pytest.approx(width, abs=5e-4)
    for key, y, _, n, weight in segments(DATA, options):
        squares = weight**2 / n
        effective = [weight[y == one].sum() ** 2 / squares[y == one].sum() for one in (1, 0)]
        half = special.kolmogi(1 - level) / 2 * math.sqrt(1 / effective[0] + 1 / effective[1])
        mine = of_segment(out, key)
        value = mine["balanced_accuracy"]
        close(mine["balanced_accuracy_band_lower"], np.maximum(value - half, 0))
        close(mine["balanced_accuracy_band_upper"], np.minimum(value + half, 1))


@each_constructor
def test_a_band_is_clipped_and_null_with_one_label(constructor):
    frame = constructor({"g": [*"aabb"], "y": [0, 1, 1, 1], "s": [1, 2, 1, 2]})
    out = plain(bf.curve(frame, "y", "s", by="g", band=True, metrics="uar"))
    of_two = pytest.approx(1 - 1.358 / math.sqrt(2), abs=1e-3)
    assert out["balanced_accuracy_band_lower"] == [0, of_two, 0, None, None, None]
    assert out["balanced_accuracy_band_upper"] == [1, 1, 1, None, None, None]


@each_constructor
def test_scores_that_ignore_the_label_have_balanced_accuracy_one_half(constructor):
    shares = [1, 2, 3, 4]  # rows of each score: 3 of 8 positive in all
    data = {"y": [1, 0] * 4, "s": [i / 4 for i in range(4) for _ in "pn"]}
    data["k"] = [share * side for share in shares for side in (3, 5)]
    for thresholds in (None, 17, [0.1, 0.6]):
        options = {"counts": "k", "thresholds": thresholds, "metrics": ["uar", "informedness"]}
        out = plain(bf.curve(constructor(data), "y", "s", **options))
        assert set(out["uar"]) == {0.5}
        assert set(out["informedness"]) == {0.0}


def test_balanced_accuracy_is_half_of_1_plus_informedness():
    names = ["balanced_accuracy", "informedness", "adjusted_balanced_accuracy"]
    out = bf.curve(pl.DataFrame(DATA), "y", "s", by="g", sample_weight="w", metrics=names)
    close(out["balanced_accuracy"], (1 + out["informedness"]) / 2)
    close(out["balanced_accuracy"], (1 + out["adjusted_balanced_accuracy"]) / 2)


HOLES = {"g": [*"aaaaabb"], "y": [0, 1, None, 0, 1, 1, None], "w": [1, 1, 1, 1, None, 1, 1]}
HOLES |= {"s": [0.25, 0.5, 0.5, NAN, 0.75, None, 0.5]}


@each_constructor
def test_segments_whose_rows_are_all_dropped_stay_in_the_result(constructor):
    with warnings.catch_warnings(action="ignore"):
        frame = constructor(HOLES)
    options = {"sample_weight": "w", "missing": "drop", "metrics": ["recall", "specificity"]}
    out = plain(bf.curve(frame, "y", "s", by="g", **options))
    assert [*zip(*out.values(), strict=True)] == [
        *(("a", 0.25, 2, 2, 1, 0), ("a", 0.5, 2, 1, 1, 1), ("a", INF, 2, 0, 0, 1)),
        ("b", INF, 0, 0, None, None),
    ]
    out = plain(bf.curve(frame, "y", "s", by="g", thresholds=[0.5, 0.3], band=True, **options))
    assert [*zip(*out.values(), strict=True)][2:] == [
        *(("b", t, 0, 0, None, None, None, None) for t in (0.3, 0.5)),
    ]


KEYS = {
    "texts": ["x", "é", "x", "é", None],
    "ints": [7, -2, 7, -2, None],
    "bools": [True, False, True, False, None],
    "null only": [None] * 5,
}


@cases("keys", KEYS.values())
@each_constructor
def test_rows_are_sorted_by_margin_segment_model_and_threshold(constructor, keys):
    data = {"g": keys, "y": [0, 1, 1, 0, 1], "s": [1, 2, 2, 4, 3], "r": [5, 5, 6, 6, 6]}
    frame = constructor(data)
    out = bf.curve(frame, "y", ["s", "r"], by="g", metrics="recall", margins="all")
    expected = []
    for margin in ("g", "overall"):
        known = sorted({k for k in keys if k is not None}) + [None] * (None in keys)
        for key in known if margin == "g" else [None]:
            at = [i for i, k in enumerate(keys) if k == key or margin == "overall"]
            for model in ("s", "r"):
                for t in [*sorted({data[model][i] for i in at}), INF]:
                    called = [i for i in at if data[model][i] >= t]
                    positives = sum(data["y"][i] for i in at)
                    recall = sum(data["y"][i] for i in called) / positives if positives else None
                    expected.append((key, margin, model, t, len(at), len(called), recall))
    assert list(plain(out))[:4] == ["g", "grouped_by", "model", "threshold"]
    assert [*zip(*plain(out).values(), strict=True)] == expected


@pytest.mark.parametrize("library", ["pandas", "polars", "lazy"])
def test_categories_keep_their_order_and_dtype(library):
    keys = {"g": ["low", "high", "low"], "y": [0, 1, 1], "s": np.float32([0.1, 0.3, 0.2])}
    if library == "pandas":
        dtype = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
        frame = pd.DataFrame(keys).astype({"g": dtype})
    else:
        dtype = pl.Enum(["low", "mid", "high"])
        frame = pl.DataFrame(keys, schema_overrides={"g": dtype})
    out = bf.curve(frame.lazy() if library == "lazy" else frame, "y", "s", by="g")
    out = out.collect() if library == "lazy" else out
    assert out["g"].dtype == dtype
    assert list(out["g"]) == ["low"] * 3 + ["high"] * 2
    assert list(out["threshold"]) == [*np.float32([0.1, 0.2]), INF, np.float32(0.3), INF]


@cases("method", [bf.curve, bf.best_threshold, bf.ranking])
@cases("options", [{}, {"margins": "all", "sample_weight": "w"}])
def test_lazy_frames_are_read_at_collect(method, options):
    frame, read = pl.DataFrame(DATA), []

    def batches(columns, predicate, n_rows, batch_size):
        read.append(columns)
        yield frame.select(columns) if columns else frame

    out = method(
        register_io_source(batches, schema=frame.schema), "y", ["s", "r"], by="g", **options
    )
    assert isinstance(out, pl.LazyFrame)
    schema = out.collect_schema()
    assert read == []
    found, expected = out.collect(), method(frame, "y", ["s", "r"], by="g", **options)
    assert found.schema == schema == expected.schema
    assert found.columns == expected.columns
    close(found.select(pl.selectors.float()), expected.select(pl.selectors.float()))
    assert not any(columns is None or "k" in columns for columns in read)
