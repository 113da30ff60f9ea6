"""Differences from a baseline of metrics that are no proportions, nor means of recalls."""

import numpy as np
import pytest

import balframe as bf
from tests.support.cases import cases
from tests.support.frames.segment_counts import JUDGED, cells, check, letters, random_frame
from tests.support.oracles.mean_recalls import clopper_pearson

NOW = {"a": (60, 20, 15, 55), "b": (75, 15, 33, 47), "c": (30, 4, 9, 41)}
BEFORE = {"a": (70, 10, 15, 55), "b": (60, 30, 33, 47), "c": (28, 9, 20, 33)}


def test_informedness_differs_by_twice_as_much_as_the_mean_recall():
    rules = ["balanced_accuracy >= baseline - 0.1", "informedness >= baseline - 0.1"]

    out = check(NOW, rules, baseline=cells(BEFORE))

    mean, informedness = (out.filter(rule=rule).select(JUDGED[:3]).to_numpy() for rule in rules)
    assert informedness == pytest.approx(2 * mean, abs=1e-12)


def moved(now, before, of_now, of_before):
    """Recover the variances of a difference from the limits of each side, as Newcombe does."""
    (low, high), (was_low, was_high) = of_now, of_before
    below = np.hypot(now - low, was_high - before)
    above = np.hypot(high - now, before - was_low)
    return now - before - below, now - before + above


OTHERS = ["f1", "geometric_mean", "cohen_kappa", "mcc"]


@cases("metric", OTHERS)
@cases("adjust", ["bonferroni", None])
def test_limits_of_other_metrics_combine_the_limits_of_both_sides(metric, adjust):
    many, earlier = (
        {g: tuple(5 * count for count in counts) for g, counts in side.items()}
        for side in (NOW, BEFORE)
    )
    of_sides = [check(side, f"{metric} >= 0", adjust=adjust).to_dicts() for side in (many, earlier)]

    out = check(many, f"{metric} >= baseline - 0.1", baseline=cells(earlier), adjust=adjust)

    assert out["lower"].null_count() == 0
    for row, now, before in zip(out.to_dicts(), *of_sides, strict=True):
        assert (row["score"], row["baseline_score"]) == (now["estimate"], before["estimate"])
        ends = [(side["lower"], side["upper"]) for side in (now, before)]
        expected = moved(now["estimate"], before["estimate"], *ends)
        assert (row["lower"], row["upper"]) == pytest.approx(expected, abs=1e-12)


def test_limits_of_f1_combine_the_clopper_pearson_limits_of_jaccard():
    now, before = (60, 20, 15), (70, 10, 15)

    out = check({"a": (*now, 55)}, "f1 >= baseline - 0.1", baseline=cells({"a": (*before, 55)}))

    f1 = [2 * tp / (2 * tp + fn + fp) for tp, fn, fp in (now, before)]
    jaccard = [clopper_pearson(tp, tp + fn + fp, 0.95) for tp, fn, fp in (now, before)]
    ends = [[2 * j / (1 + j) for j in one] for one in jaccard]
    assert (out["lower"].item(), out["upper"].item()) == pytest.approx(moved(*f1, *ends), abs=1e-9)


@cases("metric", ["precision", "npv", "f1", "cohen_kappa", "geometric_mean"])
def test_two_models_are_compared_on_other_metrics_by_estimates_only(metric):
    frame = random_frame(7)
    options = {"by": "g", "baseline": "q", "rules": f"{metric} >= baseline - 0.05"}

    with pytest.raises(bf.InvalidInputError, match=f"'{metric}' has no .*Give level=None"):
        bf.check(frame, "y", "p", detail=True, **options)
    out = bf.check(frame, "y", "p", detail=True, level=None, **options)

    scores = [bf.report(frame, "y", model, by="g", metrics=metric)[metric] for model in "pq"]
    assert out["score"].to_list() == scores[0].to_list()
    assert out["baseline_score"].to_list() == scores[1].to_list()
    passes = [one - other >= -0.05 for one, other in zip(*scores, strict=True)]
    assert letters(out) == "".join("FP"[one] for one in passes)
