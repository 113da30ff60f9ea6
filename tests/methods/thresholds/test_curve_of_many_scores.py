"""At most 1,000 operating points a segment: which points of a long curve are kept."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from sklearn import metrics as sk

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import plain

MAX_POINTS = 1_000
RATES = ["false_positive_rate", "recall"]
COSTS = {"class_weight": {0: 1, 1: 3}}
WEIGHTS = [{}, {"sample_weight": "w"}, {"counts": "k"}, {"sample_weight": "w", **COSTS}]


def draw(sizes, seed=3):
    """Draw segments: distinct scores `s`, which tell less in g1, and scores `t` in ties."""
    rng = np.random.default_rng(seed)
    parts = []
    for number, size in enumerate(sizes):
        y = (rng.random(size) < 0.3).astype(int)
        columns = {
            "y": y,
            "s": rng.normal((1.5, 0.5)[number % 2] * y),
            "t": rng.normal(0.7 * y).round(2),
            "w": rng.uniform(0.1, 5, size),
            "k": rng.integers(0, 4, size),
        }
        parts.append(pl.DataFrame({"g": [f"g{number}"] * size, **columns}))
    return pl.concat(parts)


LONG = draw([10_000, 3_000, 999, 1_000])


def area(out):
    """Return the area under the points by the trapezoidal rule."""
    x, y = (np.asarray(out[name])[::-1] for name in ("false_positive_rate", "recall"))
    return float((np.diff(x) * (y[1:] + y[:-1]) / 2).sum())


def upper_hull(out):
    """Find the vertices of the upper hull of the points, from left to right (monotone chain)."""
    hull = []
    for x, y in sorted(set(out.select(RATES).rows())):
        while len(hull) > 1:
            (ax, ay), (bx, by) = hull[-2:]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) < -1e-12:
                break
            hull.pop()
        hull.append((x, y))
    return hull


def envelope(hull):
    """Return the height of a hull at each of many places."""
    return np.interp(np.linspace(0, 1, 100_001), *np.transpose(hull))


@cases("options", WEIGHTS)
def test_rows_are_rows_of_the_whole_curve(options):
    metrics = [*RATES, "precision", *["weighted_balanced_accuracy"] * ("class_weight" in options)]
    options = {"by": "g", "metrics": metrics, "interval": True, "band": True, **options}
    scores = ["s", "t"]

    whole = bf.curve(LONG, "y", scores, thresholds="all", **options)
    kept = bf.curve(LONG, "y", scores, **options)

    at = (
        whole.select("g", "model", "threshold")
        .with_row_index()
        .join(
            kept.select("g", "model", "threshold"),
            on=["g", "model", "threshold"],
            maintain_order="left",
        )
    )
    assert_frame_equal(kept, whole[at["index"].to_list()], check_exact=True)
    sizes = (
        whole.group_by("g", "model")
        .len("whole")
        .join(kept.group_by("g", "model").len("kept"), on=["g", "model"])
    )
    assert sizes.filter(pl.col("whole") > MAX_POINTS).height >= 2
    for n_whole, n_kept in sizes.select("whole", "kept").rows():
        assert n_kept == n_whole if n_whole <= MAX_POINTS else 600 < n_kept <= MAX_POINTS


def test_a_segment_with_exactly_1000_points_is_whole_and_with_1001_is_not():
    sizes = bf.curve(LONG, "y", "s", by="g").group_by("g", maintain_order=True).len()["len"]

    # 999 distinct scores and infinity are 1,000 thresholds
    assert sizes[2] == MAX_POINTS
    assert 600 < sizes[3] <= MAX_POINTS


@cases("options", WEIGHTS)
@cases("segment", ["g0", "g1"])
def test_the_hull_and_the_ends_are_those_of_all_points(options, segment):
    frame = LONG.filter(g=segment)
    metrics = [*RATES, *["weighted_balanced_accuracy"] * ("class_weight" in options)]

    whole = bf.curve(frame, "y", "s", metrics=metrics, thresholds="all", **options)
    kept = bf.curve(frame, "y", "s", metrics=metrics, **options)

    ends = [0, -1]
    assert kept["threshold"][ends].to_list() == whole["threshold"][ends].to_list()
    vertices = upper_hull(whole)
    assert len(vertices) > 5
    rows = np.array(kept.select(RATES).rows())
    for vertex in vertices:
        assert np.abs(rows - vertex).max(axis=1).min() < 1e-12
    np.testing.assert_allclose(envelope(upper_hull(kept)), envelope(vertices), rtol=0, atol=1e-12)


DIRECTED = ["accuracy", "uar", "f1", "recall", "specificity", "hamming_loss", "mcc", "precision"]


@cases("options", WEIGHTS)
@cases("y_score", ["s", "t"])
def test_the_best_points_are_those_of_best_threshold(options, y_score):
    names = [*DIRECTED, *["weighted_balanced_accuracy"] * ("class_weight" in options)]
    whole = bf.curve(LONG, "y", y_score, by="g", metrics=names, thresholds="all", **options)
    kept = bf.curve(LONG, "y", y_score, by="g", metrics=names, **options)

    unweighted = {name: value for name, value in options.items() if name != "class_weight"}
    for name in names:
        own = options if name == "weighted_balanced_accuracy" else unweighted
        best = bf.best_threshold(LONG, "y", y_score, by="g", metrics=name, **own)
        at_best = kept.join(best.select("g", "threshold"), on=["g", "threshold"])
        assert at_best.height == 4
        assert at_best[name].to_list() == best["estimate"].to_list()
        optimum = pl.col(name).min() if name == "hamming_loss" else pl.col(name).max()
        extremes = (x.group_by("g").agg(optimum).sort("g")[name] for x in (whole, kept))
        assert len({tuple(values) for values in extremes}) == 1


def test_accuracy_is_best_at_a_kept_point_if_other_metrics_are_returned():
    whole = bf.curve(LONG, "y", "s", by="g", metrics=["accuracy"], thresholds="all")
    kept = bf.curve(LONG, "y", "s", by="g", metrics=["selection_rate"])

    best = whole.group_by("g").agg(pl.col("accuracy").max())
    at_kept = kept.join(whole, on=["g", "threshold"]).group_by("g").agg(pl.col("accuracy").max())
    assert_frame_equal(at_kept, best, check_row_order=False, check_exact=True)


@cases("options", WEIGHTS[:3])
@cases("segment", ["g0", "g1"])
def test_the_area_under_the_kept_points_is_within_a_thousandth(options, segment):
    frame = LONG.filter(g=segment)

    kept = bf.curve(frame, "y", "s", metrics=RATES, **options)

    (auc,) = bf.ranking(frame, "y", "s", **options)["roc_auc"]
    assert area(kept) == pytest.approx(auc, abs=1e-3)
    rates = frame.filter(pl.col("k") > 0) if "counts" in options else frame
    weight = rates["w" if "sample_weight" in options else "k"] if options else None
    assert auc == pytest.approx(sk.roc_auc_score(rates["y"], rates["s"], sample_weight=weight))


def test_no_stretch_of_the_curve_is_left_out():
    kept = bf.curve(LONG.filter(g="g0"), "y", "s", metrics=RATES)

    # each of 10,000 rows is one step, of which about 3,000 are positive
    steps = np.abs(np.diff(np.array(kept.select(RATES).rows()), axis=0)).sum(axis=1)
    assert steps.max() < 2 / 900 + 1 / 2_900


def test_all_thresholds_equal_roc_curve_of_scikit_learn():
    for segment in ("g0", "g1"):
        frame = LONG.filter(g=segment)

        out = bf.curve(frame, "y", "s", metrics=RATES, thresholds="all")

        roc = sk.roc_curve(frame["y"], frame["s"], drop_intermediate=False)
        for name, values in zip([*RATES, "threshold"], roc, strict=True):
            np.testing.assert_allclose(out[name], values[::-1], rtol=0, atol=1e-12)


@pytest.mark.thorough
@cases("options", WEIGHTS)
def test_every_library_keeps_the_same_points(options):
    metrics = [*RATES, *["weighted_balanced_accuracy"] * ("class_weight" in options)]
    request = {"by": "g", "metrics": metrics, **options}
    expected = plain(bf.curve(LONG, "y", ["s", "t"], **request))

    shuffled = LONG.sample(fraction=1, shuffle=True, seed=1)
    for frame in (
        pd.DataFrame(LONG.to_dict(as_series=False)),
        LONG.lazy(),
        shuffled,
        shuffled.lazy(),
        shuffled.to_arrow(),
    ):
        out = plain(bf.curve(frame, "y", ["s", "t"], **request))
        for name in ("g", "model", "threshold", "predicted_positive"):
            assert out[name] == expected[name]
        for name in metrics:
            assert out[name] == pytest.approx(expected[name], rel=1e-9, nan_ok=True)


def test_given_thresholds_are_all_returned():
    frame = LONG.filter(g="g0")
    grid = np.linspace(-3, 3, 2_000)

    assert bf.curve(frame, "y", "s", thresholds=grid)["threshold"].to_list() == grid.tolist()
    assert len(bf.curve(frame, "y", "s", thresholds=("quantiles", 2_000))) == 2_000
    unit = frame.with_columns(pl.col("s").rank() / 10_001)
    assert len(bf.curve(unit, "y", "s", thresholds=1_500)) == 1_500


def test_a_hull_of_more_than_1000_vertices_is_thinned_to_a_close_one():
    # each score is right as often as it says, so that every point is a vertex
    p = np.sort(np.random.default_rng(5).random(5_000))
    frame = pl.DataFrame(
        {"y": [1, 0] * 5_000, "s": np.repeat(p, 2), "w": np.column_stack([p, 1 - p]).ravel()}
    )
    options = {"metrics": [*RATES, "uar"], "sample_weight": "w"}

    whole = bf.curve(frame, "y", "s", thresholds="all", **options)
    kept = bf.curve(frame, "y", "s", **options)

    assert len(upper_hull(whole)) > 4_000
    assert len(kept) == MAX_POINTS
    assert np.abs(envelope(upper_hull(kept)) - envelope(upper_hull(whole))).max() < 1e-4
    assert area(kept) == pytest.approx(area(whole), abs=1e-5)
    assert kept["uar"].max() == whole["uar"].max()


@cases("y", [0, 1])
def test_a_long_segment_with_one_label_keeps_its_ends(y):
    frame = pl.DataFrame({"y": [y] * 5_000, "s": range(5_000)})

    out = bf.curve(frame, "y", "s", metrics=["selection_rate", "f1"], pos_label=1)

    assert 900 < len(out) <= MAX_POINTS
    assert out["threshold"][[0, -1]].to_list() == [0, float("inf")]
    assert out["selection_rate"].to_list() == sorted(out["selection_rate"], reverse=True)
    assert -np.diff(out["selection_rate"]).min() < 1 / 900 + 1 / 5_000


def test_rows_of_weight_zero_do_not_take_the_place_of_others():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 4_000)
    frame = pl.DataFrame({"y": y, "s": rng.normal(y), "w": np.where(np.arange(4_000) < 500, 1, 0)})

    out = bf.curve(frame, "y", "s", metrics=RATES, sample_weight="w")

    (auc,) = bf.ranking(frame, "y", "s", sample_weight="w")["roc_auc"]
    assert len(out) <= MAX_POINTS
    assert area(out) == pytest.approx(auc, abs=1e-12)  # the 500 points with weight are all kept


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.floats(-3, 3), st.floats(0.01, 0.99))
def test_any_curve_keeps_its_hull_its_area_and_its_best_points(seed, block, shift, prevalence):
    rng = np.random.default_rng(seed)
    y = (np.repeat(rng.random(2_000 // block + 1), block)[:2_000] < prevalence).astype(int)
    score = rng.normal(shift * y)
    frame = pl.DataFrame({"y": y, "s": np.sort(score) if block > 1 else score})
    request = {"metrics": [*RATES, "uar", "accuracy", "f1"], "pos_label": 1}

    whole = bf.curve(frame, "y", "s", thresholds="all", **request)
    kept = bf.curve(frame, "y", "s", **request)

    assert len(kept) <= MAX_POINTS
    assert kept.join(whole, on=whole.columns, nulls_equal=True).height == len(kept)
    for name in ("uar", "accuracy", "f1"):
        assert kept[name].max() == whole[name].max()
    if whole["recall"].null_count() or whole["false_positive_rate"].null_count():
        return
    assert {*upper_hull(kept)} == {*upper_hull(whole)}
    assert area(kept) == pytest.approx(area(whole), abs=1e-3)
