"""The detector, compared with values of independent code, and with sums over its candidates."""

import math

import numpy as np
import polars as pl
import pytest

from balframe.methods.monitoring.detector import (
    Candidates,
    candidate_starts,
    detect,
    log_likelihood_ratio,
)
from balframe.methods.monitoring.recall_comparison import RecallComparison
from tests.support.cases import cases
from tests.support.frames.weekly_cells import monitor_cells, week
from tests.support.reference_values import reference

STREAMS = reference("monitor_since")["since"]
CLOSE = 1e-9


def log_terms_of(stream):
    """Return the function of the evidence of candidates of a stream."""
    x, n, y, m = (
        np.asarray(stream[name], float) for name in ("right", "n", "baseline_right", "baseline_n")
    )
    x, n = (np.cumsum(np.vstack([0 * part[:1], part]), axis=0) for part in (x, n))
    y, m, a = y.sum(axis=0), m.sum(axis=0), np.array(stream["weights"])

    def log_terms(candidates):
        start, end = candidates.start, candidates.end + 1
        before, size = y + x[start], m + n[start]
        now = x[end] - x[start], n[end] - n[start]
        comparison = RecallComparison(*now, before, size, np.broadcast_to(a, size.shape))
        tolerance = np.full(len(start), stream["tolerance"])
        return log_likelihood_ratio(comparison.statistic, comparison.variance, tolerance)

    return log_terms


@cases("stream", STREAMS)
def test_detector_equals_the_reference(stream):
    has_rows = np.ones((1, len(stream["n"])), bool)

    log_sum, best = detect(has_rows, log_terms_of(stream))

    assert log_sum[0].tolist() == pytest.approx(stream["log_m"], abs=CLOSE)
    assert best.start.tolist() == stream["start"]
    assert best.end.tolist() == list(range(len(stream["n"])))


@cases("stream", STREAMS)
def test_monitor_alarms_where_the_detector_of_the_reference_reaches_its_threshold(stream):
    """A single label or two; three are in another test."""
    if len(stream["weights"]) > 2:
        return
    labels = range(2 - len(stream["weights"]), 2)
    parts = {
        name: [
            week(i, *zip(labels, n, x, strict=True))
            for i, (n, x) in enumerate(zip(stream[rows], stream[right], strict=True))
        ]
        for name, rows, right in (("now", "n", "right"), ("then", "baseline_n", "baseline_right"))
    }

    out = monitor_cells(
        pl.concat(parts["now"]),
        baseline=pl.concat(parts["then"]).drop("day"),
        level=1 - stream["alpha"],
        looks=stream["looks"] * stream["questions"],
        tolerance=stream["tolerance"],
    )

    starts = [out["period"][i] for i in stream["start"]]
    assert out["since"].to_list() == starts
    expected = [value >= stream["threshold"] for value in stream["log_m"]]
    assert (out["status"] == "alarm").to_list() == expected


@cases("n", [1, 5, 208])
def test_every_period_so_far_is_a_candidate_up_to_208_periods(n):
    start, end = candidate_starts(n)

    assert list(zip(start, end, strict=True)) == [(s, t) for t in range(n) for s in range(t + 1)]


def test_candidates_become_sparse_after_208_periods():
    start, end = candidate_starts(1000)

    for period in (208, 500, 999):
        widths = {round(1.3**k) for k in range(40)} | {period + 1}
        expected = {period + 1 - width for width in widths if width <= period + 1}
        assert start[end == period].tolist() == sorted(expected)
    assert 20 < (end == 999).sum() < 30


def test_detector_sums_terms_over_periods_with_rows_only():
    has_rows = np.array([[True, False, True, True], [False, False, False, False]])
    values = {(0, 0): 1.0, (0, 2): 2.0, (2, 2): -np.inf, (0, 3): 5.0, (2, 3): 4.0, (3, 3): 5.0}

    def log_terms(candidates: Candidates):
        assert candidates.segment.tolist() == [0] * 6
        assert candidates.n_window.tolist() == [1, 2, 1, 3, 2, 1]
        assert candidates.n_before.tolist() == [0, 0, 1, 0, 1, 2]
        pairs = zip(candidates.start.tolist(), candidates.end.tolist(), strict=True)
        return np.array([values[pair] for pair in pairs])

    log_sum, best = detect(has_rows, log_terms)

    total = math.log(2 * math.exp(5) + math.exp(4))
    assert log_sum.tolist() == [[1, -math.inf, 2, pytest.approx(total)], [-math.inf] * 4]
    assert best.start.tolist() == [0, 0, 3]  # the latest of equals
    assert best.end.tolist() == [0, 2, 3]


def test_blocks_of_segments_do_not_change_the_detector(monkeypatch):
    rng = np.random.default_rng(1)
    has_rows = rng.random((7, 30)) < 0.8

    def log_terms(candidates):
        return np.sin(candidates.segment + 3.0 * candidates.start + 5.0 * candidates.end)

    expected, best = detect(has_rows, log_terms)
    monkeypatch.setattr("balframe.methods.monitoring.detector._MAX_CANDIDATES", 1000)
    log_sum, best_of_blocks = detect(has_rows, log_terms)

    assert np.array_equal(log_sum, expected)
    assert np.array_equal(best.start, best_of_blocks.start)


def test_evidence_is_the_mean_likelihood_ratio_of_four_drops():
    z, variance, tolerance = -2.5, 0.03**2, 0.05

    (found,) = log_likelihood_ratio(*(np.array([value]) for value in (z, variance, tolerance)))

    difference = z * 0.03
    ratios = [
        math.exp(((difference) ** 2 - (difference + drop) ** 2) / (2 * variance))
        for drop in (0.025, 0.05, 0.1, 0.2)
    ]
    assert found == pytest.approx(math.log(sum(ratios) / 4))
    far = log_likelihood_ratio(np.array([-200.0]), np.array([1e-8]), np.array([1.0]))
    assert np.isfinite(far).all()
