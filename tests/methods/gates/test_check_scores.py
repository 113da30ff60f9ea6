"""Rules on metrics of scores: limits that decide, baselines, what is refused."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

import balframe as bf
from tests.methods.comparisons.test_compare_scores import draw
from tests.support.cases import cases
from tests.support.constructors import each_constructor, plain
from tests.support.oracles.roc_areas import area

RULES = ["roc_auc >= 0.5", "average_precision >= 0.2", "brier <= 0.5", "ks >= 0.1", "n >= 3"]


@each_constructor
def test_rules_on_scores_and_counts_are_judged_in_every_segment(constructor):
    frame = constructor(draw(900))
    out = plain(bf.check(frame, "y", y_score="s", by="g", rules=RULES))
    ranked = plain(bf.ranking(frame, "y", "s", by="g", interval=True, detail=True))
    assert out["rule"] == RULES * 3
    assert out["g"] == [group for group in ("a", "b", None) for _ in RULES]
    assert set(out["status"]) == {"pass"}
    for at in range(3):
        names = ("roc_auc", "average_precision", "brier_score", "ks_statistic")
        estimates = [ranked[name][at] for name in names]
        assert out["estimate"][5 * at : 5 * at + 4] == estimates
        for position, name in enumerate(names):
            lower, upper = out["lower"][5 * at + position], out["upper"][5 * at + position]
            assert lower <= ranked[f"{name}_lower"][at]
            assert upper >= ranked[f"{name}_upper"][at]


@cases("sign", [1, -1])
@cases("negatives", [5, 200])
def test_an_area_is_decided_by_the_effective_rows_beside_one_more_of_each_class(negatives, sign):
    y = np.array([0] * negatives + [1] * 5)
    s = sign * np.r_[np.arange(negatives), negatives - 2.5, negatives + np.arange(4)]
    out = bf.check(pl.DataFrame({"y": y, "s": s}), "y", y_score="s", rules="auc >= 0", adjust=None)
    auc, limits = area(y, s)[0], []
    for end in (-1, 1):  # where the added positive is, opposite the added negative
        found, variance, _ = area(np.append(y, [1, 0]), np.append(s, [end * 1e9, -end * 1e9]))
        n = found * (1 - found) / variance - 1
        x = auc * n
        limits.append(
            stats.beta.ppf(0.025, x, n - x + 1) if end < 0 else stats.beta.ppf(0.975, x + 1, n - x)
        )
    assert out.select("lower", "upper").row(0) == pytest.approx(tuple(limits))


@cases("sign", [1, -1])
def test_a_perfect_or_reversed_ranking_has_one_limit_inside(sign):
    frame = pl.DataFrame({"y": [0] * 200 + [1] * 5, "s": [sign * i for i in range(205)]})
    lower, upper = (
        bf.check(frame, "y", y_score="s", rules="auc >= 0").select("lower", "upper").row(0)
    )
    assert (upper == 1) == (sign == 1)
    assert (lower == 0) == (sign == -1)
    # at most Clopper-Pearson's limit of 5 of 5, as if only the positives were drawn
    assert max(lower, 1 - upper) < stats.beta.ppf(0.025, 5, 1)


def test_the_brier_score_is_decided_by_the_effective_rows_beside_one_more():
    y, s = np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.6, 0.9])
    errors = (y - s) ** 2
    out = bf.check(
        pl.DataFrame({"y": y, "s": s}), "y", y_score="s", rules="brier <= 0.5", adjust=None
    )
    sizes = []
    for value in (0, 1):
        added = np.append(errors, value)
        mean, variance = added.mean(), ((added - added.mean()) ** 2).sum() / 25
        sizes.append(mean * (1 - mean) / variance - 1)
    x, n = errors.mean() * sizes[0], sizes[0]
    assert out["lower"].item() == pytest.approx(stats.beta.ppf(0.025, x, n - x + 1))
    x, n = errors.mean() * sizes[1], sizes[1]
    assert out["upper"].item() == pytest.approx(stats.beta.ppf(0.975, x + 1, n - x))


def test_limits_hold_simultaneously_over_segments():
    frame = pl.DataFrame(draw(900))
    together = bf.check(frame, "y", y_score="s", by="g", rules="auc >= 0.5")
    alone = bf.check(
        frame, "y", y_score="s", by="g", rules="auc >= 0.5", adjust=None, level=1 - 0.05 / 3
    )
    assert together.equals(alone)


def baseline_rule(n, level=0.95, metrics="auc", **columns):
    frame = pl.DataFrame(draw(n) | columns)
    rule = f"{metrics} >= baseline - 0.05"
    options = {"y_score": "s", "rules": rule, "baseline": "t", "level": level, "adjust": None}
    return bf.check(frame, "y", detail=True, **options).row(0, named=True)


def test_a_baseline_is_another_score_of_the_same_rows():
    frame = pl.DataFrame(draw(900))
    compared = bf.compare(frame, "y", y_score="s", baseline="t", metrics="auc").row(0, named=True)
    row = baseline_rule(900)
    assert row["estimate"] == compared["difference"]
    assert (row["score"], row["baseline_score"]) == (
        compared["estimate"],
        compared["baseline_estimate"],
    )
    assert (row["n"], row["baseline_n"], row["n_labels"]) == (900, 900, 2)
    assert row["lower"] < compared["lower"] < compared["upper"] < row["upper"]
    assert row["bound"] == -0.05


def test_equal_scores_pass_once_there_are_enough_rows_to_exclude_others():
    # an error rate of .025 leaves log(1 / .025) = 3.69 rows of a class that none is in the data
    limits = []
    for n in (200, 20_000):
        frame = pl.DataFrame(draw(n))
        row = bf.check(
            frame.with_columns(t="s"), "y", y_score="s", baseline="t", adjust=None, detail=True,
            rules="auc >= baseline - 0.01",
        ).row(0, named=True)  # fmt: skip
        positives = int(frame["y"].sum())
        rows, area = -np.log(0.025), row["score"]
        changes = [
            # the new model ranks them at the wrong end, the old one at the right end
            rows / (size + rows) for size in (positives, n - positives)
        ]  # fmt: skip
        assert row["lower"] == pytest.approx(-np.hypot(*changes), rel=1e-9)
        assert 0 < area < 1
        limits.append((row["status"], row["lower"] == pytest.approx(-row["upper"])))
    assert limits == [("inconclusive", True), ("pass", True)]


def test_a_baseline_of_a_brier_score_is_better_if_lower():
    frame = pl.DataFrame(draw(2000)).with_columns(u=1 - pl.col("s"))
    rule = "brier <= baseline + 0.01"
    good = bf.check(frame, "y", y_score="s", baseline="u", rules=rule)
    bad = bf.check(frame, "y", y_score="u", baseline="s", rules=rule)
    assert (good["status"].item(), bad["status"].item()) == ("pass", "fail")
    assert good["estimate"].item() == pytest.approx(-bad["estimate"].item())
    assert good["lower"].item() == pytest.approx(-bad["upper"].item())


@each_constructor
def test_models_margins_expected_segments_and_counts(constructor):
    frame = constructor(draw(300))
    out = plain(
        bf.check(
            frame,
            "y",
            y_score=["s", "t"],
            by="g",
            counts="k",
            margins="overall",
            rules=["auc >= 0.2", "n_segments >= 4"],
            expect={"g": ["a", "b", None, "z"]},
        )
    )
    segments = [(out["g"][i], out["grouped_by"][i], out["model"][i]) for i in range(len(out["g"]))]
    of_auc = [one for one, rule in zip(segments, out["rule"], strict=True) if "auc" in rule]
    groups = ["a", "b", "z", None]
    expected = [(group, "g", model) for group in groups for model in "st"]
    assert of_auc == [*expected, (None, "overall", "s"), (None, "overall", "t")]
    absent = [i for i, group in enumerate(out["g"]) if group == "z"]
    assert {out["status"][i] for i in absent} == {"inconclusive"}
    assert {out["note"][i] for i in absent} == {"expected, but without rows"}
    over = [i for i, rule in enumerate(out["rule"]) if "n_segments" in rule]
    assert [out["estimate"][i] for i in over] == [3, 3]


def test_min_support_is_that_of_the_rarer_class_and_of_all_rows_for_means():
    frame = pl.DataFrame({"y": [1] * 4 + [0] * 30, "s": [0.9] * 4 + [0.1] * 30})
    out = bf.check(frame, "y", y_score="s", rules=["auc >= 0", "brier <= 1"], min_support=5)
    assert out["status"].to_list() == ["inconclusive", "pass"]


def test_the_estimate_alone_decides_what_has_no_limits():
    frame = pl.DataFrame(draw())
    rules = ["log_loss <= 0.9", "ks >= baseline - 0.5", "log_loss <= baseline + 0.5"]
    out = bf.check(
        frame, "y", y_score="s", baseline="t", rules=rules, cluster="c", detail=True, level=None
    )
    assert out["status"].to_list() == ["pass"] * 3
    assert out["lower"].to_list() == [None] * 3
    assert out["n_clusters"].to_list() == [40] * 3
    assert out["design_effect"].is_not_null().to_list() == [True, False, True]


def test_require_judges_scores():
    frame = pl.DataFrame(draw(900))
    assert bf.require(frame, "y", y_score="s", rules="roc_auc >= 0.5") is frame
    with pytest.raises(bf.CheckFailed, match=r"fail: auc >= baseline \+ 0.2: auc 0\.\d+, baseline"):
        bf.require(frame, "y", y_score="s", baseline="t", rules="auc >= baseline + 0.2")


FRAME = bf.confusion(pl.DataFrame(draw()), "y", "c", labels=list(range(40)))
WRONG = {
    "neither": ({"rules": "auc >= 0.5"}, "takes either y_pred or y_score, and both are missing"),
    "both": ({"y_pred": "c", "y_score": "s"}, "and both are given"),
    "of labels": ({"y_score": "s", "rules": "recall >= 0.5"}, "is on a metric of predicted labels"),
    "labels": ({"y_pred": "c", "rules": "auc >= 0.5"}, "is on a metric of scores.*y_score"),
    "unbounded": ({"y_score": "s", "rules": "log_loss <= 1"}, "the loss of a row has no upper"),
    "unbounded difference": (
        {"y_score": "s", "baseline": "t", "rules": "ks >= baseline"},
        "difference between two models.*largest of many",
    ),
    "clusters": ({"y_score": "s", "cluster": "c"}, "for rows in clusters to decide.*level=None"),
    "difference": ({"y_score": "s", "rules": "difference(auc) <= 0.1"}, "on a difference of"),
    "class_weight": ({"y_score": "s", "class_weight": "balanced"}, "weights predicted labels"),
    "stored cells": (
        {"y_score": "s", "baseline": FRAME, "rules": "auc >= baseline"},
        "cells have no scores",
    ),
    "percent": ({"y_score": "s", "rules": "auc >= 80"}, "roc_auc is between 0 and 1.*0.8"),
    "rate": ({"y_score": "s", "rules": "auc(max_fpr=2) >= 0.8"}, "above 0 and at most 1"),
    "of calibration": ({"y_score": "s", "rules": "oe_ratio >= 0.8"}, "call calibration"),
    "no baseline": ({"y_score": "s", "rules": "auc >= baseline"}, "baseline= is missing"),
}


@cases(("options", "says"), WRONG.values())
@pytest.mark.filterwarnings("ignore::balframe.BalframeWarning")
def test_wrong_uses_are_refused(options, says):
    with pytest.raises(bf.BalframeError, match=f"(?s){says}"):
        bf.check(pl.DataFrame(draw()), "y", **{"rules": "auc >= 0.5", **options})


def test_power_leaves_rules_on_scores_out():
    with pytest.raises(bf.InvalidInputError, match=r"'auc >= 0.5' \(auc is computed from scores\)"):
        bf.power(pl.DataFrame(draw()), "y", "y", rules="auc >= 0.5")
