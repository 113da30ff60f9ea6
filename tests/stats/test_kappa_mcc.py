"""Limits of kappa and of Matthews' correlation, against the whole smoothed matrix."""

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

import balframe as bf
from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.label_counts import LabelCounts
from balframe.core.row_sums import RowSums
from balframe.core.sample import Sample
from balframe.metrics.lookup import find_metric
from balframe.stats.base import GATE, IntervalRequest
from balframe.stats.linearised_intervals import LinearisedMetric
from tests.support.cases import cases
from tests.support.oracles import delta_method
from tests.support.reference_values import reference

REFERENCE = reference("inference")["coefficients"]
METRICS = ["cohen_kappa", "matthews_corrcoef"]
GATES = [case for case in reference("delta_method")["cases"] if case["input"]["metric"] in METRICS]
Z = stats.norm.ppf(0.975)


def make_sample(matrix, squares=None, largest=None):
    """Count one segment; with squares, the matrix has sums of weights of a hundred rows each."""
    matrix = np.array(matrix)
    actual, outcome = (index.ravel() for index in np.indices(matrix.shape))
    if squares is None:
        sums = RowSums(matrix.ravel())
    else:
        rows = np.full(matrix.size, 100)
        weights = (None if of is None else np.array(of, float).ravel() for of in (squares, largest))
        sums = RowSums(rows, None, matrix.ravel(), *weights)
    cells = Cells((np.zeros_like(actual),), actual, outcome, sums).regrouped()
    return Sample(ClassCounts.of(LabelCounts.of(cells, len(matrix))), lambda: cells)


def estimate_and_limits(name, sample, request):
    estimate = find_metric(name).function(sample.counts)
    low, high = find_metric(name).interval.limits(sample, estimate, request)
    return estimate[0], low[0], high[0]


def report(frame, by=None, weight=None, **options):
    return bf.report(
        frame, "y", "p", by=by, sample_weight=weight, metrics=METRICS, interval=True, **options
    )


def limits_from_matrix(name, weight, square):
    """Compute estimate and limits with every cell of the matrix, as they are defined."""
    occurs = np.flatnonzero(weight.sum(axis=0) + weight.sum(axis=1))
    weight, square = (of[np.ix_(occurs, occurs)] for of in (weight, square))
    k = len(occurs)
    size = weight.sum() ** 2 / square.sum()
    row = square.sum() / weight.sum()
    estimate, _ = value_and_derivative(name, weight / weight.sum())
    weight, square = weight + 2 * row / k**2, square + 2 * row**2 / k**2
    share = weight / weight.sum()
    value, derivative = value_and_derivative(name, share)
    distance = derivative - (share * derivative).sum()
    variance = (square * distance**2).sum() / weight.sum() ** 2
    n = (1 - value**2) / variance * size / (size + 2)
    u = (1 + estimate) / 2
    half = Z * math.sqrt(u * (1 - u) / n + Z**2 / (4 * n * n))
    ends = [(u + Z**2 / (2 * n) + sign * half) / (1 + Z**2 / n) for sign in (-1, 1)]
    return [estimate, *(2 * end - 1 for end in ends)]


def value_and_derivative(name, share):
    true, predicted = share.sum(axis=1), share.sum(axis=0)
    t, p, hit = true[:, None], predicted[:, None], np.eye(len(share))
    gain = np.trace(share) - true @ predicted
    if name == "cohen_kappa":
        value = gain / (1 - true @ predicted)
        return value, (hit - (p + t.T) * (1 - value)) / (1 - true @ predicted)
    b, d = 1 - predicted @ predicted, 1 - true @ true
    value = gain / math.sqrt(b * d)
    return value, (hit - p - t.T) / math.sqrt(b * d) + value * (p.T / b + t / d)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("case", REFERENCE, ids=lambda case: str(case["matrix"]))
class TestReference:
    def test_pointwise_limits_equal_reference_values(self, case, name):
        sample, expected = make_sample(case["matrix"], case["squares"]), case[name]

        result = estimate_and_limits(name, sample, IntervalRequest(None, case["level"]))

        rows = linearised(name, sample).by_mean.effective_size
        assert rows == pytest.approx(expected["n_effective"], abs=1e-8)
        limits = [expected[key] for key in ("estimate", "lower", "upper")]
        assert result == pytest.approx(limits, abs=1e-8)


def weights_of(cells):
    """Return sums of weights, sums of squares and largest weights of lists of weights."""
    return [
        [[of(cell) for cell in row] for row in cells]
        for of in (sum, lambda cell: sum(w * w for w in cell), max)
    ]


def linearised(name, sample):
    return LinearisedMetric.of(find_metric(name).interval.linearise, sample)


def parts_and_limits(name, sample, level):
    """Return what gate limits are computed from, under the names of the reference values."""
    u = linearised(name, sample)
    _, low, high = estimate_and_limits(name, sample, IntervalRequest(GATE, level))
    parts = {
        "n_eff": u.by_mean.effective_size,
        "n_eff_gate": u.by_largest.effective_size,
        "bias": 2 * u.by_mean.bias,
        "bias_gate": 2 * u.by_largest.bias,
        "excess": u.by_mean.excess,
    }
    return {key: value.item() for key, value in parts.items()}, [low, high]


def check_parts_and_limits(name, sample, level, expected, tolerance=1e-9):
    parts, limits = parts_and_limits(name, sample, level)
    expected["excess"] = max(expected["skew_excess"], expected["tail_excess"])
    for key, value in parts.items():
        assert value == pytest.approx(expected[key], rel=tolerance, abs=tolerance), key
    ends = [expected[end] for end in ("gate_lower", "gate_upper")]
    if ends[0] is None:
        assert np.isnan(limits).all()
    else:
        assert limits == pytest.approx(ends, abs=tolerance)


@pytest.mark.parametrize("case", GATES, ids=lambda case: str(case["expected"]["estimate"]))
def test_gate_limits_equal_reference_values(case):
    given = case["input"]
    level = 1 - (1 - given["level"]) / given["together"]
    weights = weights_of(given["cells"]) if "cells" in given else [given["matrix"]]

    sample = make_sample(*weights)

    check_parts_and_limits(given["metric"], sample, level, dict(case["expected"]))


@cases("name", METRICS)
@cases(("n_labels", "seed"), [(2, 1), (2, 2), (2, 3), (3, 4), (3, 5), (5, 6)])
@cases("has_weights", [False, True])
def test_gate_limits_equal_difference_quotients_of_the_coefficient(
    n_labels, seed, has_weights, name
):
    rng = np.random.default_rng(seed)
    rows = rng.poisson(rng.choice([2, 6, 30], (n_labels, n_labels))) + np.diag([40] * n_labels)
    weights = [rows]
    if has_weights:
        drawn = [[[*rng.exponential(1, n), 0.0] for n in of] for of in rows]
        weights = weights_of(drawn)

    expected = delta_method.gate(getattr(delta_method, name), *weights, level=0.999)

    check_parts_and_limits(name, make_sample(*weights), 0.999, vars(expected), 1e-8)


@cases("name", METRICS)
@cases(
    "matrix",
    [
        [[999, 1], [95, 5]],  # a label is rarely predicted
        [[9000, 1], [2, 3]],  # or rare
        [[10, 45], [0, 0]],  # or absent from the truth
        [[10, 0], [45, 0]],  # or never predicted
        [[97, 3], [1, 3]],
        [[20, 2], [2, 2]],
    ],
)
def test_there_are_no_gate_limits_where_few_rows_carry_the_coefficient(matrix, name):
    assert np.isnan(
        estimate_and_limits(name, make_sample(matrix), IntervalRequest(GATE, 0.95))[1:]
    ).all()


@cases("name", METRICS)
@cases(
    "matrix",
    [
        [[15, 6], [3, 12]],
        [[20, 1, 1], [2, 30, 0], [0, 0, 0]],
        [[30, 0], [0, 30]],
        [[300, 2, 0], [3, 200, 1], [0, 1, 1]],
    ],
)
def test_no_label_needs_rows_beyond_those_that_carry_the_coefficient(matrix, name):
    request = IntervalRequest(GATE, 0.95).bonferroni(60)

    _, low, high = estimate_and_limits(name, make_sample(matrix), request)

    assert -1 <= low < high <= 1


@cases("name", METRICS)
def test_rows_of_weight_0_are_no_evidence(name):
    heavy = [[[1.0] * 95, [1.0] * 2], [[1.0], [1.0] * 3]]
    with_others = [[[*cell, *[0.0] * 400] for cell in row] for row in heavy]

    limits, expected = (
        estimate_and_limits(name, make_sample(*weights_of(of)), IntervalRequest(GATE, 0.95))
        for of in (with_others, heavy)
    )

    assert np.isnan(expected[1:]).all()
    assert limits == pytest.approx(expected, nan_ok=True)


def draw_cells(n_labels, n_rows, n_segments, seed):
    rng = np.random.default_rng(seed)
    true = (n_labels * rng.random(n_rows) ** 2).astype(int)
    predicted = np.where(rng.random(n_rows) < 0.6, true, rng.permutation(true))
    segment, weight = rng.integers(0, n_segments, n_rows), rng.exponential(1, n_rows)
    return pl.DataFrame({"g": segment, "y": true, "p": predicted, "w": weight})


@cases("weight", [None, "w"])
@cases("n_labels", [2, 3, 10, 60, 700])
def test_limits_of_many_labels_and_segments_equal_dense_matrices(n_labels, weight):
    frame = draw_cells(n_labels, 2_000, 5, n_labels)

    out = report(frame, "g", weight)

    for result in out.to_dicts():
        rows = frame.filter(pl.col("g") == result["g"])
        weights = np.ones(len(rows)) if weight is None else rows["w"].to_numpy()
        of, squared_weights = np.zeros((2, n_labels, n_labels))
        at = rows["y"].to_numpy(), rows["p"].to_numpy()
        np.add.at(of, at, weights)
        np.add.at(squared_weights, at, weights**2)
        for name in METRICS:
            values = [result[name + end] for end in ("", "_lower", "_upper")]
            assert values == pytest.approx(limits_from_matrix(name, of, squared_weights), abs=1e-12)


@pytest.mark.parametrize("name", METRICS)
def test_a_perfect_score_has_limits(name):
    assert estimate_and_limits(
        name, make_sample([[3, 0], [0, 100]]), IntervalRequest(None, 0.95)
    ) == (pytest.approx([1, 0.58, 1], abs=5e-4))


@cases("name", METRICS)
@cases("rows", [[5, 5], [1, 30], [2, 3, 4], [10**6, 10**6]])
def test_lower_limit_of_a_perfect_score_rises_with_the_rows(name, rows):
    request = IntervalRequest(None, 0.95)

    few, many = (
        estimate_and_limits(name, make_sample(np.diag(rows) * times), request) for times in (1, 10)
    )

    assert few[1] < many[1] < 1 - 1e-9
    assert [few[0], many[0], few[2], many[2]] == pytest.approx([1] * 4, abs=1e-15)


def swap(frame):
    return frame.rename({"y": "p", "p": "y"})


def relabel(frame):
    return frame.with_columns((pl.col("y", "p") * 17 + 5) % 101)


def weighted_by_three(frame):
    return frame.with_columns(pl.col("w") * 3)


def shuffle(frame):
    return frame.sample(fraction=1, shuffle=True, seed=1)


@cases("change", [swap, relabel, weighted_by_three, shuffle])
@cases("weight", [None, "w"])
def test_swapping_relabelling_scaling_and_shuffling_keep_limits(change, weight):
    frame = draw_cells(6, 500, 4, 1)

    result, expected = (report(of, "g", weight) for of in (change(frame), frame))

    for column in [name + end for name in METRICS for end in ("", "_lower", "_upper")]:
        assert result[column].to_list() == pytest.approx(expected[column].to_list(), abs=1e-12)


def test_equal_weights_have_the_limits_of_unweighted_rows():
    frame = draw_cells(4, 300, 3, 2).with_columns(w=pl.lit(0.1))

    result, expected = (report(frame, "g", weight) for weight in ("w", None))

    for column in [name + end for name in METRICS for end in ("_lower", "_upper")]:
        assert result[column].to_list() == pytest.approx(expected[column].to_list(), abs=1e-12)


def test_rows_of_no_weight_change_nothing():
    frame = draw_cells(3, 200, 2, 3)
    others = pl.DataFrame({"g": [0, 1], "y": [7, 0], "p": [8, 9], "w": [0.0, 0.0]})

    result, expected = (report(of, "g", "w") for of in (pl.concat([frame, others]), frame))

    for column in [name + end for name in METRICS for end in ("_lower", "_upper")]:
        assert result[column].to_list() == pytest.approx(expected[column].to_list(), abs=1e-12)


@pytest.mark.parametrize(
    ("matrix", "defined"),
    [([[5, 0], [0, 0]], []), ([[5, 5], [0, 0]], METRICS[:1]), ([[5, 0], [5, 0]], METRICS[:1])],
    ids=str,
)
def test_undefined_scores_have_no_limits(matrix, defined):
    cells = [(y, p, n) for y, row in enumerate(matrix) for p, n in enumerate(row)]
    frame = pl.DataFrame(cells, schema=["y", "p", "k"], orient="row")

    out = report(frame, counts="k").row(0, named=True)

    for name in METRICS:
        values = [out[name + end] for end in ("", "_lower", "_upper")]
        assert [value is not None for value in values] == [name in defined] * 3


@pytest.mark.parametrize("unit", [1e200, 1e-200, 1e-161])
def test_squares_of_weights_out_of_range_leave_no_limits(unit):
    frame = draw_cells(3, 60, 1, 4).with_columns(pl.col("w") * unit)

    out = report(frame, weight="w").row(0, named=True)

    assert [out[name] is None for name in METRICS] == [False, False]
    assert [out[name + end] for name in METRICS for end in ("_lower", "_upper")] == [None] * 4


@pytest.mark.parametrize("unit", [1e150, 1e-145])
def test_large_and_small_weights_have_the_same_limits(unit):
    frame = draw_cells(3, 60, 1, 4)

    result, expected = (
        report(frame.with_columns(pl.col("w") * by), weight="w").row(0) for by in (unit, 1)
    )

    assert result == pytest.approx(expected, abs=1e-12)


def test_the_method_is_named_in_a_long_report():
    frame = draw_cells(3, 60, 1, 5)

    out = report(frame, layout="long", detail=True)

    assert out["method"].to_list() == ["wilson", "wilson"]
