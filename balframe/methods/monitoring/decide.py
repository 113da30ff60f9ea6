"""Sequential tests of whether scores got worse than a reference, and their statuses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.api.interval_estimates import metric_limits
from balframe.api.metric_selection import metric_values
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.errors import InvalidInputError
from balframe.methods.comparisons.segments import recall_pairs, restrict_to_shared_labels
from balframe.methods.monitoring.confidence_sequences import (
    RecallComparison,
    always_valid_quantile,
    one_sided_quantile,
)
from balframe.methods.monitoring.stream import Stream
from balframe.metrics.registry import Metric
from balframe.stats.base import IntervalRequest
from balframe.stats.homogeneity_tests import score_homogeneity_test
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import Limits


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
    if len(scores) < 2:
        return 0.0
    weight = 1 / variances
    mean = (weight * scores).sum() / weight.sum()
    statistic = (weight * (scores - mean) ** 2).sum()
    scale = weight.sum() - (weight**2).sum() / weight.sum()
    return float(max(0.0, (statistic - (len(scores) - 1)) / scale))


ALARM, OK, INCONCLUSIVE = "alarm", "ok", "inconclusive"
ALL_PERIODS = "all"
_N_ITERATIONS = 8  # after which a control limit no longer changes
_OK_LEVEL = 0.95  # of the limit that must be above the margin for a period to be ok


@dataclass(frozen=True, slots=True)
class MonitorRequest:
    """The options of monitoring: how much worse matters, and how often an alarm may be false.

    `windows` are numbers of periods that are tested together, ascending; all periods so far are one
    more window. `alpha` is shared by all `looks`, windows, segments and metrics.
    """

    margin: float
    alpha: float
    looks: int
    windows: tuple[int, ...]
    adjust: bool
    level: float
    estimates_dispersion: bool

    def alpha_share(self, n_families: int) -> float:
        """Return the share of alpha of each window of each segment and metric."""
        return self.alpha / ((len(self.windows) + 1) * (n_families if self.adjust else 1))


@dataclass(frozen=True, slots=True)
class ReferenceDispersion:
    """How much the score of each segment varies between the periods of its reference.

    `variance` is that of the mean of recalls. `p_value` is that of the test of equal scores in all
    periods.
    """

    variance: FloatArray
    n_periods: Int64Array
    p_value: FloatArray


@dataclass(frozen=True, slots=True)
class PeriodResults:
    """The results of a metric in every segment and period."""

    n: Int64Array
    n_labels: Int64Array
    min_support: Int64Array
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    reference_estimate: FloatArray
    control_limit: FloatArray
    difference: FloatArray
    window: npt.NDArray[np.str_]
    window_n: Int64Array
    window_difference: FloatArray
    window_lower: FloatArray
    window_upper: FloatArray
    cumulative_difference: FloatArray
    cumulative_lower: FloatArray
    cumulative_upper: FloatArray
    dispersion_p_value: FloatArray
    status: npt.NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class _WindowComparison:
    """A window at each period, compared with the reference.

    `improvement`, `lower` and `upper` are positive if the score got better, also for metrics of
    which lower is better. `control_limit` is the score at which the window would alarm.
    """

    counts: ClassCounts
    improvement: FloatArray
    lower: FloatArray
    upper: FloatArray
    control_limit: FloatArray


@dataclass(frozen=True)
class _SequentialTest:
    """The tests of a metric of a stream, at a share `alpha` for each window."""

    stream: Stream
    metric: Metric
    request: MonitorRequest
    alpha: float
    dispersion: ReferenceDispersion

    @property
    def sign(self) -> int:
        """Return -1 if lower is better, otherwise 1."""
        return -1 if self.metric.better == "lower" else 1

    def compare_window(self, width: int | None) -> _WindowComparison:
        """Compare a window with the reference at all periods."""
        interval = self.metric.interval
        counts = self.stream.counts(width)
        current, reference = restrict_to_shared_labels(counts, self.stream.reference_at_periods())
        improvement = self.sign * (
            metric_values(self.metric, current) - metric_values(self.metric, reference)
        )
        zero = np.zeros(len(improvement))
        slope = interval.rescaled(current, zero + 1) - interval.rescaled(current, zero)
        lower, upper, control_limit = np.full((3, len(improvement)), np.nan)
        for at, values in recall_pairs(interval, current, reference, np.isfinite(improvement)):
            comparison = (
                RecallComparison(*values) if self.sign > 0 else RecallComparison(*values).mirrored()
            )
            z = self._quantile(width, comparison, slope[at])
            limits = self._difference_limits(comparison, z, at, width)
            lower[at], upper[at] = (slope[at] * limit for limit in limits)
            if width == 1:
                control_limit[at] = self._control_scores(comparison, z, at)
        control_limit = interval.rescaled(
            current, control_limit if self.sign > 0 else 1 - control_limit
        )
        return _WindowComparison(counts, improvement, lower, upper, control_limit)

    def _quantile(
        self, width: int | None, comparison: RecallComparison, slope: FloatArray
    ) -> FloatArray:
        if width is None:
            return always_valid_quantile(
                comparison.information, self.request.margin / slope, self.alpha
            )
        return np.full(len(comparison.n), one_sided_quantile(self.alpha / self.request.looks))

    def _difference_limits(
        self, comparison: RecallComparison, z: FloatArray, at: Int64Array, width: int | None
    ) -> Limits:
        """Return the limits of the differences, wider if scores vary between periods."""
        lower, upper = comparison.limits(z)
        if not self.request.estimates_dispersion:
            return lower, upper
        difference = comparison.difference
        below, above = (
            self._widened_distance(np.abs(difference - limit), z, at, width)
            for limit in (lower, upper)
        )
        return np.maximum(difference - below, -1), np.minimum(difference + above, 1)

    def _widened_distance(
        self, distance: FloatArray, z: FloatArray, at: Int64Array, width: int | None
    ) -> FloatArray:
        """Return the distance of a limit with the variance between periods added."""
        segment = at // self.stream.n_periods
        m = self.dispersion.n_periods[segment]
        periods = self.stream.periods_with_rows(width)[at]
        between = self.dispersion.variance[segment] * (1 / periods + 1 / m)
        quantile = -special.stdtrit(m - 1, special.ndtr(-z))
        return np.asarray(quantile * np.sqrt((distance / z) ** 2 + between))

    def _control_scores(
        self, comparison: RecallComparison, z: FloatArray, at: Int64Array
    ) -> FloatArray:
        scores = comparison.control_scores(z)
        if not self.request.estimates_dispersion:
            return scores
        reference = comparison.reference_score
        lower = reference - self._widened_distance(reference - scores, z, at, 1)
        for _ in range(_N_ITERATIONS):  # the distance of the limit depends little on the score
            positive = np.flatnonzero(lower > 0)
            constrained = comparison.at(positive).constrained_to(lower[positive])
            distance = constrained.limits(z[positive])[1] - constrained.difference
            lower[positive] = reference[positive] - self._widened_distance(
                distance, z[positive], at[positive], 1
            )
        return np.where(lower < 0, np.nan, lower)


def monitor_metric(
    stream: Stream, name: str, metric: Metric, request: MonitorRequest, n_metrics: int
) -> PeriodResults:
    """Test in every segment at every period whether a metric got worse than in the reference."""
    share = request.alpha_share(max(int(stream.has_reference.sum()), 1) * n_metrics)
    dispersion = _reference_dispersion(stream, metric)
    if (
        request.estimates_dispersion
        and len(dispersion.n_periods)
        and dispersion.n_periods.max() < 2
    ):
        raise InvalidInputError(
            "{dispersion} compares periods of the reference, but it has no two of them. Give a "
            "reference that keeps its days, of about 26 periods or more.",
            dispersion="estimate",
        )
    test = _SequentialTest(stream, metric, request, share, dispersion)
    widths: tuple[int | None, ...] = (*request.windows, None)
    windows = {width: test.compare_window(width) for width in widths}
    single = windows.get(1) or test.compare_window(1)
    current, reference = restrict_to_shared_labels(single.counts, stream.reference_at_periods())
    estimate, reference_estimate = metric_values(metric, current), metric_values(metric, reference)
    sample = Sample(current, lambda: stream.windows.window_cells(1))
    lower, upper = metric_limits(metric, sample, estimate, IntervalRequest(None, request.level))
    worst, is_alarm = _worst_window(list(windows.values()), request, stream.n_periods)
    differences = [
        _signed_difference(window.improvement, window.lower, window.upper, test.sign)
        for window in windows.values()
    ]
    difference, window_lower, window_upper = (
        _take_window([values[i] for values in differences], worst) for i in range(3)
    )
    cumulative = differences[-1]
    return PeriodResults(
        n=current.n,
        n_labels=current.n_present,
        min_support=current.min_support,
        estimate=estimate,
        lower=lower,
        upper=upper,
        reference_estimate=reference_estimate,
        control_limit=single.control_limit,
        difference=estimate - reference_estimate,
        window=np.array([*map(str, request.windows), ALL_PERIODS])[worst],
        window_n=_take_window([window.counts.n for window in windows.values()], worst),
        window_difference=difference,
        window_lower=window_lower,
        window_upper=window_upper,
        cumulative_difference=cumulative[0],
        cumulative_lower=cumulative[1],
        cumulative_upper=cumulative[2],
        dispersion_p_value=np.repeat(test.dispersion.p_value, stream.n_periods),
        status=_status(test, windows, is_alarm, current.n > 0),
    )


def _signed_difference(
    improvement: FloatArray, lower: FloatArray, upper: FloatArray, sign: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the difference and its limits from the improvement and its limits."""
    return (improvement, lower, upper) if sign > 0 else (-improvement, -upper, -lower)


def _take_window(values: Sequence[npt.NDArray[Any]], window: Int64Array) -> npt.NDArray[Any]:
    """Return the value of one window in every row."""
    stacked: npt.NDArray[Any] = np.stack(list(values))
    return stacked[window, np.arange(stacked.shape[1])]


def _worst_window(
    windows: Sequence[_WindowComparison], request: MonitorRequest, n_periods: int
) -> tuple[Int64Array, BoolArray]:
    """Return the window with the smallest upper limit, and whether it alarms.

    Of windows with the same periods, as all are at the first, only the shortest counts.
    """
    uppers = np.stack([window.upper for window in windows])
    period = np.arange(uppers.shape[1]) % n_periods
    for at, shorter in enumerate(request.windows, start=1):
        uppers[at, period < shorter] = np.inf
    defined = np.where(np.isnan(uppers), np.inf, uppers)
    worst = np.argmin(defined, axis=0)
    return worst, np.asarray(defined.min(axis=0) < 0)


def _status(
    test: _SequentialTest,
    windows: Mapping[int | None, _WindowComparison],
    is_alarm: BoolArray,
    has_rows: BoolArray,
) -> npt.NDArray[np.str_]:
    """Return the status of every segment and period."""
    request = test.request
    longest, second = request.windows[-1], request.windows[-2:][0]
    at_95 = replace(test, alpha=(1 - _OK_LEVEL) / 2, request=replace(request, looks=1))
    is_near = at_95.compare_window(longest).lower > -request.margin
    is_near &= windows[second].improvement > -request.margin
    status = np.where(is_alarm, ALARM, np.where(is_near, OK, INCONCLUSIVE))
    return np.where(has_rows, status, INCONCLUSIVE)


def _reference_dispersion(stream: Stream, metric: Metric) -> ReferenceDispersion:
    """Return how much the score of each segment varies between the periods of its reference."""
    counts, segment_of = stream.reference_periods
    n_segments = stream.n_segments
    variance, p_value = np.zeros(n_segments), np.full(n_segments, np.nan)
    n = np.zeros(n_segments, np.int64)
    r = metric.interval.linear_recalls(counts)
    assert r is not None, "the metric is linear in recalls"
    order = np.lexsort((r.label, r.segment))
    recalls = r.at(order)
    x, rows, weight = recalls.effective_counts()
    n_labels = np.bincount(recalls.segment, minlength=counts.n_segments)
    for segment in range(n_segments):
        periods = np.flatnonzero((segment_of == segment) & (n_labels > 0))
        if not len(periods):
            continue
        complete = periods[n_labels[periods] == n_labels[periods].max()]
        at = np.flatnonzero(np.isin(recalls.segment, complete)).reshape(len(complete), -1)
        n[segment] = len(complete)
        if len(complete) > 1:
            p = (x[at] + 0.5) / (rows[at] + 1)
            scores = (weight[at] * x[at] / rows[at]).sum(axis=1)
            within = (weight[at] ** 2 * p * (1 - p) / rows[at]).sum(axis=1)
            variance[segment] = between_period_variance(scores, within)
            p_value[segment] = score_homogeneity_test(x[at], rows[at], weight[at])[1]
    return ReferenceDispersion(variance, n, p_value)
