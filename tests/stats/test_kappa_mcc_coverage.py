"""How often limits of kappa and of Matthews' correlation hold the truth, by simulation.

Rows are drawn from a matrix of shares with the same recall of every label, mistakes spread evenly
over the other labels. A share near 0.92 of 20,000 draws has a standard error of 0.002.
"""

import numpy as np
import pytest

from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.label_counts import LabelCounts
from balframe.core.row_sums import RowSums
from balframe.core.sample import Sample
from balframe.metrics.lookup import find_metric
from balframe.stats.base import GATE, IntervalRequest
from tests.support.cases import cases

pytestmark = pytest.mark.simulation

DRAWS = 20_000
RECALLS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
METRICS = ["cohen_kappa", "matthews_corrcoef"]
TWO_ERRORS = 0.004


def population(supports, recall):
    k = len(supports)
    confused = np.full((k, k), (1 - recall) / (k - 1))
    np.fill_diagonal(confused, recall)
    return confused * np.array(supports)[:, None] / sum(supports)


def truth(name, share):
    true, predicted = share.sum(axis=1), share.sum(axis=0)
    gain = np.trace(share) - true @ predicted
    if name == "cohen_kappa":
        return gain / (1 - true @ predicted)
    return gain / np.sqrt((1 - true @ true) * (1 - predicted @ predicted))


def limits(name, rows, weight=None, square=None, request=IntervalRequest(None, 0.95)):  # noqa: B008
    """Compute the limits of many matrices, those of undefined scores NaN."""
    segment, actual, outcome = (index.ravel() for index in np.indices(rows.shape))
    weights = (None, None) if weight is None else (weight.ravel(), square.ravel())
    cells = Cells((segment,), actual, outcome, RowSums(rows.ravel(), None, *weights))
    counts = ClassCounts.of(LabelCounts.of(cells, rows.shape[1]))
    estimate = find_metric(name).function(counts)
    return find_metric(name).interval.limits(Sample(counts, lambda: cells), estimate, request)


def coverage(interval, value):
    low, high = interval
    is_defined = np.isfinite(low)
    assert is_defined.mean() > 0.9
    return ((low <= value + 1e-12) & (value - 1e-12 <= high))[is_defined].mean()


@cases("name", METRICS)
@cases(("supports", "worst"), [((3, 100), 0.87), ((50, 50), 0.92), ((5,) * 5, 0.92)])
def test_coverage_of_pointwise_limits_is_near_nominal(supports, worst, name):
    rng, k = np.random.default_rng(1), len(supports)
    coverages = []
    for recall in RECALLS:
        share = population(supports, recall)
        rows = rng.multinomial(sum(supports), share.ravel(), DRAWS).reshape(DRAWS, k, k)
        coverages.append(coverage(limits(name, rows), truth(name, share)))

    assert min(coverages) >= worst - TWO_ERRORS
    assert np.mean(coverages) >= 0.92


@pytest.mark.parametrize("name", METRICS)
def test_coverage_with_exponential_weights_is_near_nominal(name):
    rng, n_rows = np.random.default_rng(2), 100
    coverages = []
    for recall in RECALLS:
        share = population((50, 50), recall)
        cell = rng.choice(4, (DRAWS, n_rows), p=share.ravel()) + 4 * np.arange(DRAWS)[:, None]
        drawn = rng.exponential(1, cell.size)
        rows, weight, square = (
            np.bincount(cell.ravel(), values, 4 * DRAWS).reshape(DRAWS, 2, 2)
            for values in (np.ones(cell.size), drawn, drawn**2)
        )
        interval = limits(name, rows.astype(np.int64), weight, square)
        coverages.append(coverage(interval, truth(name, share)))

    assert min(coverages) >= 0.92 - TWO_ERRORS


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("supports", "n_segments", "draws", "most"),
    [((10, 10), 1, 20_000, 0.042), ((10, 100), 1, 20_000, 0.042), ((100, 1000), 60, 2_000, 0.055)],
    ids=str,
)
def test_error_rate_of_gate_limits_is_near_nominal(supports, n_segments, draws, most, name):
    """Of segments whose score is a bound, the chance that any is judged too good, or too bad."""
    rng, error = np.random.default_rng(3), np.sqrt(most * (1 - most) / draws)
    request = IntervalRequest(GATE, 0.95).bonferroni(n_segments)
    for recall in (0.5, 0.7, 0.9, 0.95):
        share = population(supports, recall)
        per_label = [
            rng.multinomial(n, row / row.sum(), draws * n_segments)
            for n, row in zip(supports, share, strict=True)
        ]
        low, high = limits(name, np.stack(per_label, axis=1), request=request)
        value = truth(name, share)
        for is_wrong in (low > value + 1e-12, high < value - 1e-12):
            families = is_wrong.reshape(draws, n_segments).any(axis=1)
            assert families.mean() <= most + 2 * error
