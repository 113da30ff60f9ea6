"""Partial areas under ROC curves against scikit-learn, and their names."""

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

import balframe as bf
from balframe.metrics.lookup import find_ranking_metric
from tests.metrics.test_row_influence import draw, rank
from tests.support.cases import cases


@cases("max_fpr", [0.001, 0.05, 0.1, 0.25, 0.5, 0.999, 1])
@cases("levels", [2, 7, 10**6])
@cases("weighted", [False, True])
def test_a_partial_area_equals_scikit_learn(max_fpr, levels, weighted):
    y, s = draw(levels, 80, seed=levels)
    w = np.random.default_rng(1).uniform(0.1, 5, 80) if weighted else np.ones(80)
    metric = find_ranking_metric(f"roc_auc(max_fpr={max_fpr})")
    value = metric.function(rank(y, s, w if weighted else None))
    expected = roc_auc_score(y, s, max_fpr=max_fpr, sample_weight=w)
    assert value == pytest.approx(expected, abs=1e-12)


def test_a_partial_area_up_to_1_is_the_area():
    y, s = draw(9)
    r = rank(y, s)
    whole, part = (find_ranking_metric(name) for name in ("roc_auc", "roc_auc(max_fpr=1)"))
    assert part.function(r) == pytest.approx(whole.function(r), abs=1e-14)
    influences = [m.interval.influence(r, m.function(r)) for m in (whole, part)]
    assert influences[1].positive == pytest.approx(influences[0].positive, abs=1e-14)
    assert influences[1].negative == pytest.approx(influences[0].negative, abs=1e-14)


def test_the_range_of_a_partial_area_is_that_of_the_worst_and_the_best_ranking():
    metric = find_ranking_metric("auc(max_fpr=0.1)")
    y = np.array([0] * 50 + [1] * 50)
    best, worst = (metric.function(rank(y, sign * np.arange(100.0)))[0] for sign in (1, -1))
    # m = 0.1^2 / 2 = 0.005: (1 + (0 - 0.005) / (0.1 - 0.005)) / 2
    assert (worst, best) == pytest.approx((9 / 19, 1))
    assert metric.range == pytest.approx((9 / 19, 1))


FRAME = pl.DataFrame({"y": [0, 0, 1, 1], "s": [0.1, 0.4, 0.4, 0.8]})


@cases("name", ["auc(max_fpr=0.5)", "roc_auc( max_fpr = .5 )", "roc_auc_score (max_fpr=5e-1)"])
def test_spellings_of_a_partial_area(name):
    out = bf.ranking(FRAME, "y", "s", metrics=name)
    assert out.columns[-4:] == [name, f"{name}_lower", f"{name}_upper", "n"]
    assert out[name].item() == pytest.approx(roc_auc_score(FRAME["y"], FRAME["s"], max_fpr=0.5))


@cases("number", ["0", "-1", "1.01", "x", "nan", "inf", ""])
def test_a_rate_outside_of_0_to_1_is_refused(number):
    says = r"takes a number above 0 and at most 1, as in 'roc_auc\(max_fpr=0.1\)'"
    with pytest.raises(bf.InvalidInputError, match=says):
        bf.ranking(FRAME, "y", "s", metrics=f"roc_auc(max_fpr={number})")


def test_a_partial_area_of_labels_is_refused():
    with pytest.raises(bf.InvalidInputError, match=r"computed from scores.*call ranking"):
        bf.report(FRAME, "y", "y", metrics="roc_auc(max_fpr=0.1)")
