"""The test of equal scores and the limits of a comparison, compared with plain searches."""

import numpy as np
import pytest

from balframe.methods.monitoring.recall_comparison import RecallComparison
from tests.support.cases import cases
from tests.support.oracles import monitor as monitor_by_loops

CLOSE = 1e-8


def draw_comparison(n_labels, size, n=60):
    """Draw counts with recalls of 0, of 1, and between; the weights are equal."""
    random = np.random.default_rng([n_labels, size])
    shape = n, n_labels
    rows, rows_before = (random.poisson(one, shape) + 1 for one in (size, 4 * size))
    recall = random.choice([0.0, 0.2, 0.85, 0.99, 1.0], shape)
    correct = random.binomial(rows, recall * random.choice([0, 0.5, 0.9, 1], (n, 1)))
    before = random.binomial(rows_before, recall)
    values = (correct, rows, before, rows_before, np.full(shape, 1 / n_labels))
    return RecallComparison(*(np.asarray(value, float) for value in values))


@cases("n_labels", [1, 2, 3])
@cases("size", [1, 6, 300])
def test_statistics_equal_those_of_loops(n_labels, size):
    comparison = draw_comparison(n_labels, size)

    statistic = comparison.statistic

    sides = (comparison.x, comparison.n, comparison.y, comparison.m, comparison.a)
    rows = [tuple(map(tuple, row)) for row in zip(*(side.tolist() for side in sides), strict=True)]
    expected = [monitor_by_loops.test_statistic(*row) for row in rows]
    assert statistic.tolist() == pytest.approx(expected, abs=CLOSE)
    assert min(expected) < 0
    variances = [monitor_by_loops.pooled_variance(*row) for row in rows]
    assert comparison.variance.tolist() == pytest.approx(variances)


def test_the_search_takes_over_where_newtons_method_does_not_converge(monkeypatch):
    comparison = draw_comparison(2, 20)
    expected = comparison.statistic

    monkeypatch.setattr("balframe.methods.monitoring.recall_comparison._NEWTON_STEPS", 1)

    assert comparison.statistic.tolist() == pytest.approx(expected.tolist(), abs=CLOSE)
