"""How often limits of the bootstrap hold the truth: of accuracy exactly, of MCC by simulation.

`bf.metric_from` registers the metrics, so that the limits are those that `report` returns.
"""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import balframe as bf

pytestmark = pytest.mark.simulation


def share_correct(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def correlation(y_true, y_pred, n):
    """Matthews' correlation of labels 0 and 1, each pair of which stands for n rows."""
    n_true, n_predicted = (n @ labels for labels in (y_true, y_pred))
    total, n_both = n.sum(), n @ (y_true * y_pred)
    spread = n_true * (total - n_true) * n_predicted * (total - n_predicted)
    if spread == 0:
        return np.nan
    return (total * n_both - n_true * n_predicted) / np.sqrt(float(spread))


def limits_of(cells, by, metric):
    out = bf.report(cells, "y", "p", by=by, counts="n", metrics=metric, interval=True)
    limits = out.select(pl.col(f"^{metric}_(lower|upper)$").fill_null(np.nan)).to_numpy().T
    return limits[0], limits[1]


def accuracy_coverage(n, accuracies):
    """Add up the probabilities of the numbers of correct rows whose limits hold the accuracy."""
    bf.metric_from(share_correct, range=(0, 1))
    correct = np.arange(n + 1)
    cells = pl.DataFrame(
        {
            "x": np.repeat(correct, 2),
            "y": 1,
            "p": np.tile([1, 0], n + 1),
            "n": np.column_stack([correct, n - correct]).ravel(),
        }
    )
    lower, upper = limits_of(cells, "x", "share_correct")
    return np.array([binom.pmf(correct, n, a) @ ((lower <= a) & (a <= upper)) for a in accuracies])


def test_coverage_of_accuracy_with_200_rows_is_near_nominal():
    coverage = accuracy_coverage(200, np.linspace(0.5, 0.9, 401))

    assert 0.94 < coverage.mean() < 0.955
    assert coverage.min() > 0.93


def test_limits_are_too_narrow_where_errors_are_few():
    """As the docs say; so no rule is decided by them."""
    assert accuracy_coverage(20, np.linspace(0.95, 0.99, 41)).mean() < 0.5
    assert 0.9 < accuracy_coverage(200, np.linspace(0.95, 0.99, 41)).mean() < 0.94


def test_coverage_of_a_correlation_with_200_rows_is_near_nominal():
    """With a prevalence of .4, recall .8 and specificity .7, in 800 samples."""
    bf.metric_from(correlation, range=(-1, 1), counts="n", n_resamples=400)
    y, p, shares = [1, 1, 0, 0], [1, 0, 1, 0], np.array([0.32, 0.08, 0.18, 0.42])
    draws = np.random.default_rng(11).multinomial(200, shares, size=800)
    cells = pl.DataFrame(
        {
            "x": np.repeat(np.arange(800), 4),
            "y": np.tile(y, 800),
            "p": np.tile(p, 800),
            "n": draws.ravel(),
        }
    )
    truth = (0.32 * 0.42 - 0.08 * 0.18) / np.sqrt(0.4 * 0.6 * 0.5 * 0.5)

    lower, upper = limits_of(cells, "x", "correlation")

    assert 0.93 < np.mean((lower <= truth) & (truth <= upper)) < 0.97
