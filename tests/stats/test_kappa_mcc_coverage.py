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


def limits(name, rows, *weights, request=IntervalRequest(None, 0.95)):  # noqa: B008
    """Compute the limits of many matrices, those of undefined scores NaN.

    `weights` are the sums of weights and of squared weights, and the largest weights, of the cells.
    """
    segment, actual, outcome = (index.ravel() for index in np.indices(rows.shape))
    sums = RowSums(rows.ravel(), None, *(values.ravel() for values in weights))
    cells = Cells((segment,), actual, outcome, sums)
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


def draw_labels(rng, supports, recalls, n_matrices):
    """Draw matrices with these supports, and give the shares of all cells."""
    k = len(supports)
    confused = np.repeat((1 - np.array(recalls)) / (k - 1), k).reshape(k, k)
    np.fill_diagonal(confused, recalls)
    per_label = [
        rng.multinomial(n, row, n_matrices) for n, row in zip(supports, confused, strict=True)
    ]
    return np.stack(per_label, axis=1), confused * np.array(supports)[:, None] / sum(supports)


def false_verdicts(interval, value, n_segments):
    """Give the shares of families with a segment judged too good, and with one judged too bad."""
    low, high = interval
    return [
        is_wrong.reshape(-1, n_segments).any(axis=1).mean()
        for is_wrong in (low > value + 1e-12, high < value - 1e-12)
    ]


def check_false_verdicts(interval, value, n_segments, most=0.05):
    n_families = len(interval[0]) // n_segments
    error = np.sqrt(most * (1 - most) / n_families)
    assert max(false_verdicts(interval, value, n_segments)) <= most + 2 * error


SIDE = 0.035  # of a side whose nominal share is 0.025, in designs without few rows that decide


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize(
    ("supports", "n_segments", "families"),
    [
        ((10, 10), 1, 20_000),
        ((10, 100), 1, 20_000),
        ((15, 15), 60, 400),
        ((100, 1000), 60, 2_000),
        ((10,) * 10, 60, 100),
    ],
    ids=str,
)
def test_error_rate_of_gate_limits_is_near_nominal(supports, n_segments, families, name):
    """Of segments whose score is a bound, the chance that any is judged too good, or too bad."""
    rng, k = np.random.default_rng(3), len(supports)
    request = IntervalRequest(GATE, 0.95).bonferroni(n_segments)
    for recall in (0.5, 0.7, 0.9, 0.95):
        rows, share = draw_labels(rng, supports, [recall] * k, families * n_segments)

        interval = limits(name, rows, request=request)

        check_false_verdicts(interval, truth(name, share), n_segments, SIDE)


@cases("name", METRICS)
@cases(("n_segments", "families"), [(60, 300), (500, 40)])
@cases(
    ("supports", "recalls", "most_null"),
    [
        ((1000, 100), (0.999, 0.05), 1.0),
        ((100, 100), (0.98, 0.02), 1.0),
        ((10_000, 100), (0.999, 0.2), 0.1),
        ((5000, 500), (0.999, 0.1), 0.01),
        ((800, 200), (0.95, 0.1), 0.01),
        ((350, 350), (0.97, 0.15), 0.01),
    ],
)
def test_a_label_rarely_predicted_is_rarely_judged_wrongly(
    supports, recalls, most_null, n_segments, families, name
):
    rng = np.random.default_rng(4)
    rows, share = draw_labels(rng, supports, recalls, families * n_segments)
    request = IntervalRequest(GATE, 0.95).bonferroni(n_segments)

    interval = limits(name, rows, request=request)

    check_false_verdicts(interval, truth(name, share), n_segments)
    assert np.isnan(interval[0]).mean() <= most_null


@cases("name", METRICS)
@cases("recalls", [(0.999, 0.3), (0.99, 0.5), (0.9, 0.9)])
def test_rows_of_weight_0_are_rarely_judged_wrongly(recalls, name):
    """97% of 300 positive rows weigh 0, beside 1,000 negative rows."""
    rng, n_segments, families = np.random.default_rng(5), 60, 300
    supports, heavy = (1000, 300), 9
    weight, _ = draw_labels(rng, (supports[0], 0), recalls, families * n_segments)
    n_heavy = rng.binomial(supports[1], heavy / supports[1], len(weight))
    weight[:, 1, 1] = rng.binomial(n_heavy, recalls[1])
    weight[:, 1, 0] = n_heavy - weight[:, 1, 1]
    rows = weight.copy()
    rows[:, 1, 1] += rng.binomial(supports[1] - n_heavy, recalls[1])
    rows[:, 1, 0] = supports[1] - rows[:, 1, 1]
    share = np.array([[recalls[0], 1 - recalls[0]], [1 - recalls[1], recalls[1]]])
    share *= np.array([[supports[0]], [heavy]]) / (supports[0] + heavy)
    sums = weight.astype(float)
    request = IntervalRequest(GATE, 0.95).bonferroni(n_segments)

    interval = limits(name, rows, sums, sums, (weight > 0).astype(float), request=request)

    check_false_verdicts(interval, truth(name, share), n_segments)


@cases("name", METRICS)
@cases(("n_segments", "families"), [(1, 4_000), (60, 60)])
@cases(("heavy", "share", "recall_of_heavy"), [(10, 0.05, 0.3), (4, 0.3, 0.7)])
def test_heavy_rows_that_are_more_often_wrong_are_rarely_judged_wrongly(
    heavy, share, recall_of_heavy, n_segments, families, name
):
    rng, n_rows = np.random.default_rng(6), 600
    n_matrices = families * n_segments
    shape = (n_matrices, n_rows)
    is_heavy, is_positive = rng.random(shape) < share, rng.random(shape) < 0.3
    is_right = rng.random(shape) < np.where(is_heavy, recall_of_heavy, 0.9)
    weight = np.where(is_heavy, float(heavy), 1.0)
    cell = 4 * np.arange(n_matrices)[:, None] + 2 * is_positive + (is_positive == is_right)
    rows, sums, squares = (
        np.bincount(cell.ravel(), values.ravel(), 4 * n_matrices).reshape(-1, 2, 2)
        for values in (np.ones(shape), weight, weight**2)
    )
    largest = np.zeros(4 * n_matrices)
    np.maximum.at(largest, cell.ravel(), weight.ravel())
    wrong = (share * heavy * (1 - recall_of_heavy) + (1 - share) * 0.1) / (
        share * heavy + 1 - share
    )
    population = np.array([[1 - wrong, wrong], [wrong, 1 - wrong]]) * [[0.7], [0.3]]
    request = IntervalRequest(GATE, 0.95).bonferroni(n_segments)

    interval = limits(
        name, rows.astype(np.int64), sums, squares, largest.reshape(-1, 2, 2), request=request
    )

    check_false_verdicts(interval, truth(name, population), n_segments)
    assert np.isnan(interval[0]).mean() < 0.01
