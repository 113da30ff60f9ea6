"""Influences of rows against the delete-one jackknife and against numerical derivatives."""

import numpy as np
import pytest
from sklearn import metrics as sk

from balframe.core.integer_codes import Codes
from balframe.core.ranking import Ranking
from balframe.core.row_sums import RowSums
from balframe.core.score_ties import group_ties, split_by_label
from balframe.metrics.lookup import find_ranking_metric
from balframe.metrics.row_influence import (
    ClassSizes,
    average_precision_bias,
    average_precision_influence,
    influence_variance,
)
from tests.support.cases import cases

PEERS = {
    "roc_auc": sk.roc_auc_score,
    "average_precision": sk.average_precision_score,
    "brier_score": sk.brier_score_loss,
    "log_loss": sk.log_loss,
    "roc_auc(max_fpr=0.3)": lambda y, s, **weights: sk.roc_auc_score(y, s, max_fpr=0.3, **weights),
}


def draw(levels, n=60, seed=0):
    """Draw labels and scores inside (0, 1), with many ties if there are few levels."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    return y, (1 + rng.integers(0, levels, n) + y * levels // 3) / (levels * 1.5 + 2)


def rank(y, s, weights=None):
    """Rank the rows of one segment."""
    rows = RowSums(np.ones(len(y), np.int64), weight=weights)
    sides = split_by_label(rows, y == 1)
    return Ranking.of(group_ties([Codes(np.zeros(len(y), int), 0, 1)], s, *sides, None, None))


def by_row(r, influence, y, s):
    """Return the influence of each row."""
    at = np.searchsorted(r.ties.score, s)
    return np.where(y == 1, influence.positive[at], influence.negative[at])


@cases("name", PEERS)
@cases("levels", [4, 10**6])
def test_an_influence_is_the_derivative_by_the_weight_of_the_row(name, levels):
    y, s = draw(levels)
    r, metric, step = rank(y, s), find_ranking_metric(name), 1e-5
    influence = by_row(r, metric.interval.influence(r, metric.function(r)), y, s)
    for row in range(0, len(y), 7):
        up, down = (1 + step * sign * (np.arange(len(y)) == row) for sign in (1, -1))
        rise = PEERS[name](y, s, sample_weight=up) - PEERS[name](y, s, sample_weight=down)
        assert influence[row] == pytest.approx(rise / 2 / step, abs=1e-7)


@cases("levels", [4, 10**6])
@cases("name", ["average_precision", "brier_score", "log_loss"])
def test_the_variance_is_that_of_the_delete_one_jackknife(name, levels):
    n = 300
    y, s = draw(levels, n)
    others = [np.delete(np.arange(n), row) for row in range(n)]
    values = [PEERS[name](y[rows], s[rows]) for rows in others]
    jackknife = (n - 1) ** 2 / n * np.var(values, ddof=1)
    r, metric = rank(y, s), find_ranking_metric(name)
    influence = metric.interval.influence(r, metric.function(r))
    variance = influence_variance(r, influence, ClassSizes.of(r))
    assert variance == pytest.approx(jackknife, rel=0.04)  # terms of order 1 / n


@cases("levels", [4, 10**6])
def test_the_bias_of_average_precision_is_half_the_sum_of_second_derivatives(levels):
    y, s = draw(levels)
    step, changes = 1e-3, []
    for row in range(len(y)):
        up, down = (1 + step * sign * (np.arange(len(y)) == row) for sign in (1, -1))
        near = sum(sk.average_precision_score(y, s, sample_weight=w) for w in (up, down))
        changes.append((near - 2 * sk.average_precision_score(y, s)) / step**2)
    r = rank(y, s)
    score = find_ranking_metric("average_precision").function(r)
    assert average_precision_bias(r, score) == pytest.approx(sum(changes) / 2, rel=1e-4)


def test_influences_of_weighted_rows_are_those_of_repeated_rows():
    y, s = draw(10)
    times = np.random.default_rng(2).integers(1, 4, len(y))
    weighted = rank(y, s, times.astype(float))
    repeated = rank(np.repeat(y, times), np.repeat(s, times))
    unit = times.sum() / (weighted.n_positive + weighted.n_negative)
    for r, expected in ((weighted, 1 / unit), (repeated, 1)):
        score = find_ranking_metric("average_precision").function(r)
        first = average_precision_influence(r, score).negative[0] * expected
        assert first == pytest.approx(
            average_precision_influence(repeated, score).negative[0], rel=1e-12
        )


@pytest.mark.parametrize(("positives", "negatives"), [(1, 3), (3, 1)])
def test_a_class_of_one_row_adds_nothing_to_the_variance_of_an_area(positives, negatives):
    y = np.array([1] * positives + [0] * negatives)
    s = np.array([2.0, 1, 3, 4])
    r, metric = rank(y, s), find_ranking_metric("roc_auc")
    influence = metric.interval.influence(r, metric.function(r))
    # the placements of three rows are 0 or 1: one of them is on the other side of the lone row
    shares = (s[y == 1][:, None] > s[y == 0]).ravel()
    expected = np.var(shares, ddof=1) / 3
    variance = influence_variance(r, influence, ClassSizes.of(r))
    assert variance == pytest.approx(expected, abs=1e-15)
