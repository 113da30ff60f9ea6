"""Limits of each segment by itself, against roots that are searched one by one."""

from functools import partial

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.proportion import proportion_confint

import balframe as bf
from tests.support.cases import cases
from tests.support.oracles.mean_recalls import by_side, clopper_pearson, effective, scas

LABELLED = [  # right rows, all rows and weights of labels
    ([5, 5], [5, 5], [1, 1]), ([0, 9], [3, 10], [1, 1]), ([45, 33], [50, 40], [1, 3]),
    ([2, 97, 30], [3, 100, 30], [1, 1, 1]), ([0, 0], [4, 6], [2, 1]),
    ([1, 0, 2, 5], [1, 1, 2, 7], [1] * 4),
]  # fmt: skip


def limits_of(frame, metric, **options):
    out = bf.report(frame, "y", "p", metrics=metric, **options)
    return out.select(f"{metric}_lower", f"{metric}_upper").row(0)


@cases(("correct", "support", "weights"), LABELLED)
@cases("level", [0.8, 0.95, 0.9999])
def test_scas_limits_and_exact_limits_equal_a_root_search(correct, support, weights, level):
    size = len(support)
    frame = pl.DataFrame(
        {
            "y": np.repeat(np.arange(size), 2),
            "p": [one for k in range(size) for one in (k, (k + 1) % size)],
            "n": np.ravel([(x, n - x) for x, n in zip(correct, support, strict=True)]),
        }
    )
    shares = [weight / sum(weights) for weight in weights]
    options = {"counts": "n", "level": level}

    metric, weighted_labels = "weighted_balanced_accuracy", dict(enumerate(weights))
    found = limits_of(frame, metric, interval="scas", class_weight=weighted_labels, **options)

    assert found == pytest.approx(scas(correct, support, shares, level), abs=1e-9)
    x, n = sum(correct), sum(support)
    found = limits_of(frame, "accuracy", interval="scas", **options)
    assert found == pytest.approx(scas([x], [n], [1], level), abs=1e-9)
    found = limits_of(frame, "accuracy", interval="exact", **options)
    assert found == pytest.approx(clopper_pearson(x, n, level), abs=1e-9)


def weighted(right, wrong, **columns):
    w, is_right = [*right, *wrong], [1] * len(right) + [0] * len(wrong)
    return pl.DataFrame({"y": [1] * len(w), "p": is_right, "w": w, **columns})


@cases(
    ("right", "wrong"),
    [
        ([1.0] * 100, [5.0] * 4),  # heavy rows are wrong more often
        ([1.0] * 30 + [10.0] * 5, [1.0] * 15),
        ([1.0, 2.0, 3.0], [1.0, 2.0]),
        ([20.0] * 4 + [1.0] * 60, []),
        ([0.25], [4.0] * 3),
    ],
)
@cases("scale", [1.0, 1e-100, 1e100])
def test_limits_of_weighted_rows_use_the_effective_size(right, wrong, scale):
    frame = weighted(np.multiply(right, scale), np.multiply(wrong, scale))
    sides = effective(right, wrong)
    options = {"sample_weight": "w", "pos_label": 1, "labels": [0, 1]}
    expected = by_side(partial(proportion_confint, method="wilson"), *sides)
    for metric in ("recall", "accuracy"):
        found = limits_of(frame, metric, interval=True, **options)
        assert found == pytest.approx(expected, abs=1e-12)
    found = limits_of(frame, "balanced_accuracy", interval="scas", **options)
    expected = by_side(lambda x, n: scas([x], [n], [1], 0.95), *sides)
    assert found == pytest.approx(expected, abs=1e-9)


def test_weights_correlated_with_errors_reduce_the_effective_size():
    frame = weighted([1.0] * 100, [5.0] * 4)
    options = {"interval": "exact", "sample_weight": "w", "labels": [0, 1]}
    # with a row of weight 5 that is wrong, then right; the squares are 100 of either kind
    q, p = 25 / 125, 105 / 125
    n_lower = q * (1 - q) / (((1 - q) ** 2 * 125 + q**2 * 100) / 125**2) - 1
    n_upper = p * (1 - p) / (((1 - p) ** 2 * 125 + p**2 * 100) / 125**2) - 1
    assert 120 / 5 < min(n_lower, n_upper) < max(n_lower, n_upper) < 120**2 / 200
    expected = by_side(
        lambda x, n: clopper_pearson(x, n, 0.95),
        *((n * 100 / 120, n) for n in (n_lower, n_upper)),
    )
    assert limits_of(frame, "accuracy", **options) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weight", [0.5, 1.0, 3.0])
def test_equal_weights_do_not_change_limits(weight):
    frame = weighted([weight] * 40, [weight] * 7)
    for interval in (True, "scas", "exact"):
        options = {"interval": interval, "labels": [0, 1]}
        plain = limits_of(frame, "accuracy", **options)
        assert limits_of(frame, "accuracy", sample_weight="w", **options) == pytest.approx(
            plain, abs=1e-12
        )
