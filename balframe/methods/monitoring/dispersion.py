"""How much scores vary between the periods of a baseline, and how much neighbours resemble."""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.methods.monitoring.stream import Stream
from balframe.metrics.registry import Metric
from balframe.stats.homogeneity_tests import score_homogeneity_test
from balframe.stats.lazy_scipy import special

MIN_PERIODS = 13  # of a baseline, from which the variance between periods is estimated
_MAX_AUTOCORRELATION = 0.95
_MIN_SHARE = 0.2  # of the variance of independent periods that those of a baseline show
_MAX_STEPS, _TOLERANCE = 1_000, 1e-14
_SCORE_TOLERANCE = 1e-11  # scores closer than this are equal


@dataclass(frozen=True, slots=True)
class BaselineDispersion:
    """How the score of each segment varies between the periods of its baseline.

    `variance` is that of the mean of recalls, and `autocorrelation` that of periods in a row. Both
    are 0 in segments whose baseline has too few periods. The p-values are those of the tests that
    all periods have the same score, and that neighbouring periods are independent.
    """

    variance: FloatArray
    autocorrelation: FloatArray
    n_periods: Int64Array
    p_value: FloatArray
    autocorrelation_p_value: FloatArray

    @property
    def is_estimated(self) -> BoolArray:
        """Whether the baseline of each segment has enough periods."""
        return np.asarray(self.n_periods >= MIN_PERIODS)

    def of_difference(
        self, n_now: Int64Array, n_before: Int64Array, segment: Int64Array
    ) -> FloatArray:
        """Return the variance of differences between the means of periods now and before.

        tau^2 (g(w) / w + g(m) / m) for w periods now and m before; `mean_variance_factor` is g.
        """
        rho, total = self.autocorrelation[segment], np.zeros(len(segment))
        for n in (n_now, np.maximum(n_before, 1)):
            total += mean_variance_factor(n, rho) / n
        return np.asarray(self.variance[segment] * total)


def baseline_dispersion(stream: Stream, metric: Metric) -> BaselineDispersion:
    """Return how the score of each segment varies between the periods of its baseline."""
    counts, segment_of = stream.baseline_periods
    n_segments = stream.n_segments
    variance, autocorrelation = np.zeros((2, n_segments))
    p_value, autocorrelation_p = np.full((2, n_segments), np.nan)
    n = np.zeros(n_segments, np.int64)
    r = metric.interval.linear_recalls(counts)
    assert r is not None, "the metric is linear in recalls"
    order = np.lexsort((r.label, r.segment))
    recalls = r.at(order)
    x, rows, weight = recalls.effective_counts()
    n_labels = np.bincount(recalls.segment, minlength=counts.n_segments)
    first = np.cumsum(n_labels) - n_labels  # entry of each period
    ends = np.cumsum(np.bincount(segment_of, minlength=n_segments))
    for segment, periods in enumerate(np.split(np.argsort(segment_of, kind="stable"), ends[:-1])):
        most_labels = n_labels[periods].max(initial=0)
        if not most_labels:
            continue
        complete = periods[n_labels[periods] == most_labels]
        at = first[complete][:, None] + np.arange(most_labels)
        n[segment] = len(complete)
        if len(complete) < 2:
            continue
        p = (x[at] + 0.5) / (rows[at] + 1)
        scores = (weight[at] * x[at] / rows[at]).sum(axis=1)
        within = (weight[at] ** 2 * p * (1 - p) / rows[at]).sum(axis=1)
        p_value[segment] = score_homogeneity_test(x[at], rows[at], weight[at])[1]
        autocorrelation_p[segment] = autocorrelation_p_value(scores, within)
        if len(complete) >= MIN_PERIODS:
            variance[segment], autocorrelation[segment] = period_dispersion(scores, within)
    return BaselineDispersion(variance, autocorrelation, n, p_value, autocorrelation_p)


def between_period_variance(scores: FloatArray, variances: FloatArray) -> float:
    """Return the variance between periods, by the method of moments; 0 if there is none.

    Parameters
    ----------
    scores, variances : float arrays, shape (periods,)
        The score of each period, and its variance given the true score of that period.

    References
    ----------
    R. DerSimonian and N. Laird, "Meta-analysis in clinical trials", Controlled Clinical Trials
    1986.
    """
    weight = 1 / variances
    mean = (weight * scores).sum() / weight.sum()
    statistic = (weight * (scores - mean) ** 2).sum()
    scale = weight.sum() - (weight**2).sum() / weight.sum()
    return float(max(0.0, (statistic - (len(scores) - 1)) / scale))


def period_dispersion(scores: FloatArray, variances: FloatArray) -> tuple[float, float]:
    """Return the variance between periods, and the autocorrelation of periods in a row.

    The periods of a baseline share its mean. So their covariance is too low by the variance of
    that mean, and their variance by a factor. Both are corrected for this, in turn.

    Parameters
    ----------
    scores, variances : float arrays, shape (periods,)
        The score of each period in order, and its variance given the true score of that period.
    """
    observed, m = between_period_variance(scores, variances), len(scores)
    residuals = scores - scores.mean()
    covariance = float((residuals[:-1] * residuals[1:]).sum() / (m - 1))
    if observed == 0 or covariance <= 0:
        return observed, 0.0
    ratio = covariance / observed
    rho = min(_MAX_AUTOCORRELATION, ratio)
    for _ in range(_MAX_STEPS):
        factor = float(mean_variance_factor(m, rho))
        previous = rho
        rho = ratio * (m - factor) / (m - 1) + factor / m
        rho = min(_MAX_AUTOCORRELATION, max(0.0, rho))
        if abs(rho - previous) <= _TOLERANCE:
            break
    share = (m - float(mean_variance_factor(m, rho))) / (m - 1)
    return observed / max(share, _MIN_SHARE), rho


def mean_variance_factor(
    n_periods: Int64Array | int, autocorrelation: FloatArray | float
) -> FloatArray:
    """Return n times the variance of the mean of n consecutive periods, over that of one period.

    1 + 2 rho / (1 - rho) - 2 rho (1 - rho^n) / (n (1 - rho)^2), with autocorrelations rho^k.
    """
    rest = 1 - autocorrelation
    decay = (1 - autocorrelation**n_periods) / (n_periods * rest)
    return np.asarray(1 + 2 * autocorrelation / rest * (1 - decay))


def autocorrelation_p_value(scores: FloatArray, variances: FloatArray) -> float:
    """Return the p-value of the one-sided test that neighbouring periods are independent.

    The autocorrelation of residuals over their standard errors is about normal, with a mean of
    -1/m and a variance of (1 - 1/m) / m for m periods. The p-value is 1 if all scores are the same.

    Parameters
    ----------
    scores, variances : float arrays, shape (periods,)
        As in `period_dispersion`.
    """
    if np.ptp(scores) <= _SCORE_TOLERANCE:
        return 1.0
    weight, m = 1 / variances, len(scores)
    residuals = (scores - (weight * scores).sum() / weight.sum()) * np.sqrt(weight)
    r = float((residuals[:-1] * residuals[1:]).sum() / (residuals**2).sum())
    return float(special.ndtr(-(r + 1 / m) * np.sqrt(m / (1 - 1 / m))))
