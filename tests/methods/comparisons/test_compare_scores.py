"""Differences of two models' scores, against all pairs of rows, loops and repeated rows."""

import warnings

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats
from sklearn import metrics as sk

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

METRICS = ["roc_auc", "average_precision", "roc_auc(max_fpr=0.2)", "brier_score", "log_loss"]
TESTED = ["difference", "lower", "upper", "p_value"]
SCORES = {"y_score": ["s", "t"], "baseline": "t"}


def draw(n=240, levels=12, seed=0):
    """Draw two scores of the same rows in segments, one of which is null; few levels tie."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    common, *own = rng.random((3, n))
    scores = [(common + e + y * shift) / (2 + shift) for e, shift in zip(own, (0.9, 0.6))]  # noqa: B905
    return {
        "g": rng.choice(["a", "b", None], n).tolist(),
        "y": y.tolist(),
        **{
            name: ((1 + np.floor(score * levels)) / (levels + 2)).tolist()
            for name, score in zip("st", scores, strict=True)
        },
        "c": rng.integers(0, 40, n).tolist(),
        "w": rng.uniform(0.2, 3, n).tolist(),
        "k": rng.integers(0, 4, n).tolist(),
    }


def delong(y, s, t):
    """Give the difference of two areas, its limits and p-value, from every pair of rows.

    Its degrees of freedom are Satterthwaite's, as in Welch's test of two means.
    """
    placed = []
    for score in (s, t):
        positives, negatives = score[y == 1], score[y == 0]
        above = np.sign(positives[:, None] - negatives) / 2 + 0.5
        placed.append((above.mean(axis=1), above.mean(axis=0)))
    (p_first, n_first), (p_second, n_second) = placed
    sides = p_first - p_second, n_first - n_second
    variances = [np.var(side, ddof=1) / len(side) for side in sides]
    difference, error = p_first.mean() - p_second.mean(), np.sqrt(sum(variances))
    parts = [v**2 / (len(side) - 1) for v, side in zip(variances, sides, strict=True)]
    t = stats.t(sum(variances) ** 2 / sum(parts))
    half = t.ppf(0.975) * error
    p = 2 * t.sf(abs(difference) / error)
    return difference, difference - half, difference + half, p


@cases("levels", [4, 12, 10**9])
@each_constructor
def test_areas_are_compared_by_delongs_test(constructor, levels):
    data = draw(levels=levels)
    out = plain(bf.compare(constructor(data), "y", **SCORES, by="g", metrics="auc", detail=True))
    assert out["g"] == ["a", "b", None]
    for at, group in enumerate(out["g"]):
        rows = np.array([g == group for g in data["g"]])
        y, s, t = (np.array(data[name])[rows] for name in "yst")
        assert [out[name][at] for name in TESTED] == pytest.approx(delong(y, s, t), rel=1e-9)
        assert out["estimate"][at] == pytest.approx(sk.roc_auc_score(y, s))
        assert out["baseline_estimate"][at] == pytest.approx(sk.roc_auc_score(y, t))


@cases("levels", [12, 10**9])
def test_brier_scores_and_log_losses_are_compared_by_paired_means(levels):
    data = draw(levels=levels)
    y, s, t = (np.array(data[name]) for name in "yst")
    out = bf.compare(pl.DataFrame(data), "y", **SCORES, metrics=["brier", "log_loss"], detail=True)
    losses = (
        (s - y) ** 2 - (t - y) ** 2,
        -np.log(np.where(y, s, 1 - s)) + np.log(np.where(y, t, 1 - t)),
    )
    for row, loss in zip(out.to_dicts(), losses, strict=True):
        error = np.std(loss, ddof=1) / np.sqrt(len(y))
        t = stats.t(len(y) - 1)
        half, p = t.ppf(0.975) * error, 2 * t.sf(abs(loss.mean()) / error)
        expected = (loss.mean(), loss.mean() - half, loss.mean() + half, p)
        assert [row[name] for name in TESTED] == pytest.approx(expected, rel=1e-9)


def test_average_precisions_are_compared_by_the_jackknife_of_their_difference():
    data = draw(400, 10**9)
    y, s, t = (np.array(data[name]) for name in "yst")
    n, out = (
        len(y),
        bf.compare(pl.DataFrame(data), "y", **SCORES, metrics="average_precision", detail=True),
    )
    values = []
    for row in range(n):
        rows = np.delete(np.arange(n), row)
        first, second = (sk.average_precision_score(y[rows], v[rows]) for v in (s, t))
        values.append(first - second)
    error = np.sqrt((n - 1) ** 2 / n * np.var(values, ddof=1))
    half = (out["upper"] - out["lower"]).item() / 2
    assert half == pytest.approx(1.959964 * error, rel=0.03)  # terms of order 1 / n


@cases("level", [0.8, 0.95, 0.999])
@cases("options", [{}, {"cluster": "c"}, {"sample_weight": "w"}])
def test_p_is_below_1_minus_level_exactly_where_the_limits_exclude_0(level, options):
    found = set()
    for seed in range(12):
        frame = pl.DataFrame(draw(80, seed=seed))
        names = {
            "metrics": [*METRICS[:2], "roc_auc(max_fpr=0.5)", *METRICS[3:]],
            "level": level,
            "detail": True,
        }
        out = bf.compare(frame, "y", **SCORES, **names, **options)
        for row in out.to_dicts():
            excludes = row["lower"] > 0 or row["upper"] < 0
            assert excludes == (row["p_value"] < 1 - level)
            found.add(excludes)
    assert found == {True, False}


def test_two_scores_that_rank_alike_have_no_limits_and_no_p_value():
    frame = pl.DataFrame(draw()).with_columns(t=pl.col("s") * 2)
    out = bf.compare(frame, "y", **SCORES, detail=True)
    assert out["difference"].to_list() == [0, 0]
    assert out.select(TESTED[1:]).row(0) == (None, None, None)
    assert out["n_tests"].to_list() == [0, 0]


@each_constructor
def test_counts_are_repeated_rows_and_weights_of_1_are_none(constructor):
    data = draw()
    repeated = {
        name: np.repeat(np.array(v, object), data["k"]).tolist() for name, v in data.items()
    }
    options = {**SCORES, "by": "g", "metrics": METRICS, "detail": True}
    counted = plain(bf.compare(constructor(data), "y", counts="k", **options))
    rows = plain(bf.compare(constructor(repeated), "y", **options))
    assert counted == rows
    plain_rows = plain(bf.compare(constructor(data), "y", **options))
    ones = constructor(data | {"w": [1.0] * len(data["y"])})
    assert plain(bf.compare(ones, "y", sample_weight="w", **options)) == plain_rows


def test_estimates_of_weighted_rows_equal_scikit_learn():
    data = draw()
    y, s, t, w = (np.array(data[name]) for name in "ystw")
    out = bf.compare(pl.DataFrame(data), "y", **SCORES, metrics=METRICS[:2], sample_weight="w")
    peers = (sk.roc_auc_score, sk.average_precision_score)
    for row, peer in zip(out.to_dicts(), peers, strict=True):
        assert row["estimate"] == pytest.approx(peer(y, s, sample_weight=w))
        assert row["baseline_estimate"] == pytest.approx(peer(y, t, sample_weight=w))


@each_constructor
def test_clusters_of_one_row_are_independent_rows(constructor):
    data = draw() | {"c": list(range(240))}
    options = {**SCORES, "by": "g", "metrics": METRICS, "detail": True}
    rows = plain(bf.compare(constructor(data), "y", **options))
    clustered = plain(bf.compare(constructor(data), "y", cluster="c", **options))
    assert {name: clustered[name] for name in rows} == rows


def test_clusters_have_obuchowskis_variance_with_the_factor_of_cr2():
    data = draw()
    y, s, t, c = (np.array(data[name]) for name in "ystc")
    out = bf.compare(pl.DataFrame(data), "y", **SCORES, metrics="auc", cluster="c", detail=True)
    influence = np.zeros(len(y))
    for score, sign in ((s, 1), (t, -1)):
        positives, negatives = score[y == 1], score[y == 0]
        above = np.sign(positives[:, None] - negatives) / 2 + 0.5
        influence[y == 1] += sign * (above.mean(axis=1) - above.mean()) / len(positives)
        influence[y == 0] += sign * (above.mean(axis=0) - above.mean()) / len(negatives)
    u = np.zeros(c.max() + 1)
    for label in (0, 1):
        sums = np.bincount(c[y == label], influence[y == label], len(u))
        share = np.bincount(c[y == label], minlength=len(u)) / (y == label).sum()
        u += sums / np.sqrt(1 - share)
    t_ratio = out["difference"].item() / np.sqrt((u**2).sum())
    half = (out["upper"] - out["lower"]).item() / 2
    quantile = half / np.sqrt((u**2).sum())
    df = optimize.brentq(lambda df: stats.t.ppf(0.975, df) - quantile, 1, 1000)
    assert 5 < df < 39  # at most the number of clusters less 1
    assert out["p_value"].item() == pytest.approx(2 * stats.t.sf(abs(t_ratio), df))
    assert out["n_clusters"].item() == 40


def test_margins_models_and_families():
    frame = pl.DataFrame(draw())
    out = bf.compare(
        frame, "y", y_score=["s", "t", "w"], by="g", margins="overall", metrics="auc", detail=True
    )
    pairs = [("t", "s"), ("w", "s")]
    assert out.select("model", "baseline").rows() == pairs * 4
    assert out["n_tests"].to_list() == [6] * 6 + [2] * 2
    whole = bf.compare(frame, "y", y_score=["s", "w"], metrics="auc", detail=True)
    assert out.row(7, named=True)["p_value"] == whole["p_value"].item()


def test_a_segment_with_one_label_has_no_area_and_a_dropped_null_leaves_the_pair():
    frame = pl.DataFrame(
        {"g": [*"aaabb"], "y": [0, 1, 1, 1, 1], "s": [0.1, 0.7, None, 0.3, 0.6], "t": [0.5] * 5}
    )
    with pytest.raises(bf.InvalidInputError, match="'s' has 1 null value"):
        bf.compare(frame, "y", **SCORES)
    with pytest.warns(bf.BalframeWarning, match="1 of 2 comparisons of roc_auc have neither"):
        out = bf.compare(frame, "y", **SCORES, by="g", metrics="auc", missing="drop", detail=True)
    assert out["n"].to_list() == [2, 2]
    assert out["estimate"].to_list() == [1, None]
    assert out.select(TESTED).row(1) == (None,) * 4


ROWS = {"y": [1] * 5 + [0] * 20, "s": [0.9, 0.6, 0.8, 0.5, 0.7], "t": [0.4, 0.7, 0.6, 0.8, 0.3]}
ROWS |= {name: [*ROWS[name], *np.linspace(low, 0.75, 20)] for name, low in (("s", 0), ("t", 0.2))}


@cases(
    ("metric", "n_left_out", "has_test"),
    [
        ("roc_auc", 0, True),
        ("roc_auc", 1, False),
        ("average_precision", 1, False),
        ("roc_auc(max_fpr=0.25)", 0, True),  # 5 of the 20 negatives
        ("roc_auc(max_fpr=0.2)", 0, False),
        ("brier_score", 15, True),
        ("log_loss", 16, False),
    ],
)
@cases("is_reversed", [False, True])
def test_too_few_rows_have_neither_limits_nor_a_p_value_and_join_no_family(
    metric, n_left_out, has_test, is_reversed
):
    """Positives are left out for metrics of the ranking, and rows at the end for means of rows."""
    frame = pl.DataFrame(ROWS)
    frame = frame.tail(25 - n_left_out) if n_left_out < 10 else frame.head(25 - n_left_out)
    if is_reversed and metric == "roc_auc":
        frame = frame.select(y=1 - pl.col("y"), s=1 - pl.col("s"), t=1 - pl.col("t"))
    many = pl.DataFrame(draw()).select("y", "s", "t", g=pl.lit("many"))
    both = pl.concat([frame.select(*many.columns[:3], g=pl.lit("few")), many])
    options = {**SCORES, "by": "g", "metrics": metric, "detail": True}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        few, other = bf.compare(both, "y", **options).to_dicts()
    assert len(caught) == (not has_test)
    assert [few[name] is not None for name in (*TESTED, "verdict")] == [True, *[has_test] * 4]
    assert few["n_tests"] == other["n_tests"] == 1 + has_test
    if not has_test:
        assert other["p_adjusted"] == other["p_value"]


def test_equal_differences_of_losses_have_no_variance_up_to_rounding():
    """Each of ten rows loses .05 more by one score: (x + .05) - x is not exactly .05."""
    squares = np.linspace(0.1, 0.5, 10)
    frame = pl.DataFrame({"y": [0] * 10, "s": np.sqrt(squares + 0.05), "t": np.sqrt(squares)})
    with pytest.warns(bf.BalframeWarning, match="1 of 1 .* whose variance is then 0"):
        out = bf.compare(frame, "y", **SCORES, metrics="brier_score", detail=True)
    assert out["difference"].item() == pytest.approx(0.05)
    assert out.select(TESTED[1:]).row(0) == (None, None, None)


def test_clusters_of_a_class_are_as_few_as_rows():
    """Four clusters have all 20 positives, so that there are four of them to learn from."""
    data = draw(200, 10**9) | {"y": [1] * 20 + [0] * 180}
    clusters = [*range(4)] * 5 + [*range(90)] * 2
    frame = pl.DataFrame(data).with_columns(c=pl.Series(clusters))
    options = {**SCORES, "metrics": "roc_auc", "cluster": "c", "detail": True}
    with pytest.warns(bf.BalframeWarning, match="fewer than 5 effective rows or clusters of each"):
        out = bf.compare(frame, "y", **options)
    assert out.select(TESTED[1:]).row(0) == (None, None, None)


def test_ks_has_a_difference_without_limits():
    out = bf.compare(pl.DataFrame(draw()), "y", **SCORES, metrics="ks")
    assert out["difference"].item() is not None
    assert out.select("lower", "upper", "p_adjusted").row(0) == (None,) * 3


WRONG = {
    "neither": ({}, r"takes either y_pred or y_score, and both are missing"),
    "both": ({"y_pred": ["y", "c"], **SCORES}, r"and both are given"),
    "one score": ({"y_score": "s"}, r"y_score=.*names one model.*two or more columns of scores"),
    "metric of labels": ({**SCORES, "metrics": "recall"}, r"'recall' is computed from labels"),
    "preset": ({**SCORES, "metrics": "all"}, "'all' names metrics of labels, not of scores; name "),
    "unknown": ({**SCORES, "metrics": "acu"}, r"metric of scores 'acu' not found.*'auc'"),
    "twice": ({**SCORES, "metrics": ["auc", "auc"]}, r"names a metric twice"),
    "empty": ({**SCORES, "metrics": []}, r"metrics.*is empty.*roc_auc"),
    "of calibration": ({**SCORES, "metrics": "oe_ratio"}, r"call calibration, which returns"),
    "class_weight": ({**SCORES, "class_weight": "balanced"}, r"class_weight.*predicted labels"),
    "scores of labels": ({"y_pred": ["y", "c"], "metrics": "auc"}, r"computed from scores"),
    "infinite": ({"y_score": ["s", "inf"]}, r"'inf' has 240 infinite values"),
}


@cases(("options", "says"), WRONG.values())
def test_wrong_uses_are_refused(options, says):
    frame = pl.DataFrame(draw()).with_columns(inf=pl.lit(float("inf")))
    with pytest.raises(bf.BalframeError, match=says):
        bf.compare(frame, "y", **options)


@cases("method", ["compare", "ranking"])
def test_weighted_clusters_of_one_row_are_independent_weighted_rows(method):
    frame = pl.DataFrame(draw() | {"c": list(range(240))})
    options = {"by": "g", "sample_weight": "w", "detail": True}
    if method == "compare":
        options |= {**SCORES, "metrics": METRICS}
    else:
        options |= {"y_score": "s", "interval": True, "metrics": "auc(max_fpr=0.2)"}
    rows = getattr(bf, method)(frame, "y", **options)
    clustered = getattr(bf, method)(frame, "y", cluster="c", **options)
    for name in rows.columns:
        if name.startswith("ks_statistic_"):  # whose limits need independent rows
            continue
        close = clustered[name].to_list()
        if rows[name].dtype.is_float():
            close = pytest.approx(close, rel=1e-12)
        assert rows[name].to_list() == close, name


def test_equal_weights_of_clusters_change_nothing():
    frame = pl.DataFrame(draw() | {"w": [4.0] * 240})
    options = {**SCORES, "metrics": METRICS, "cluster": "c", "detail": True}
    rows = bf.compare(frame, "y", **options)
    weighted = bf.compare(frame, "y", sample_weight="w", **options)
    for name in (*TESTED, "design_effect", "effective_clusters"):
        assert weighted[name].to_list() == pytest.approx(rows[name].to_list(), rel=1e-12)


def test_weights_of_whole_clusters_enter_their_influences():
    data = draw()
    y, s, t, c = (np.array(data[name]) for name in "ystc")
    w = np.where(c % 3 == 0, 5.0, 1.0)
    out = bf.compare(
        pl.DataFrame(data | {"w": w.tolist()}), "y", **SCORES, metrics="brier", cluster="c",
        sample_weight="w", detail=True,
    )  # fmt: skip
    losses = (s - y) ** 2 - (t - y) ** 2
    mean = w @ losses / w.sum()
    sums = np.bincount(c, w * (losses - mean)) / w.sum()
    u = sums / np.sqrt(1 - np.bincount(c, w) / w.sum())
    half = (out["upper"] - out["lower"]).item() / 2
    quantile = half / np.sqrt((u**2).sum())
    df = optimize.brentq(lambda df: stats.t.ppf(0.975, df) - quantile, 1, 1000)
    p = 2 * stats.t.sf(abs(mean) / np.sqrt((u**2).sum()), df)
    assert out["p_value"].item() == pytest.approx(p, rel=1e-6)
