"""Whether and since when scores are worse than before, and the status of every period."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.api.interval_estimates import metric_limits
from balframe.api.metric_selection import metric_values
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.methods.comparisons.segments import recall_pairs, restrict_to_shared_labels
from balframe.methods.monitoring.detector import Candidates, detect, log_likelihood_ratio
from balframe.methods.monitoring.dispersion import BaselineDispersion, baseline_dispersion
from balframe.methods.monitoring.recall_comparison import RecallComparison
from balframe.methods.monitoring.stream import Stream
from balframe.metrics.registry import Metric
from balframe.stats.base import Interval, IntervalRequest
from balframe.stats.lazy_scipy import special
from balframe.stats.mean_recall import Recalls
from balframe.stats.proportions import Limits, normal_quantile


@dataclass(frozen=True, slots=True)
class PeriodRecalls:
    """Correct rows and rows of labels, in the baseline and summed over the periods.

    There is one row for each segment and label that both have, sorted by segment, then by the first
    period with rows of the label. A segment has the label as of that period.

    Parameters
    ----------
    x, n : float arrays, shape (rows, periods + 1)
        Correct rows and rows before each period, and at the end.
    y, m : float arrays, shape (rows,)
        Correct rows and rows of the baseline.
    a : float array, shape (rows, periods)
        Weight of the label among those that the segment has in a period; 0 before.
    first_row : int64 array, shape (segments,)
        Position of the first row of each segment.
    n_labels : int64 array, shape (segments, periods)
        Number of labels that the segment has in a period.
    """

    x: FloatArray
    n: FloatArray
    y: FloatArray
    m: FloatArray
    a: FloatArray
    first_row: Int64Array
    n_labels: Int64Array

    @classmethod
    def of(cls, stream: Stream, metric: Metric) -> "PeriodRecalls":
        """Return the recalls of a metric; of one of which lower is better, those of errors."""
        current, baseline = restrict_to_shared_labels(
            stream.counts(None), stream.baseline_at_periods
        )
        scores = metric_values(metric, current), metric_values(metric, baseline)
        is_comparable = np.isfinite(scores[0] - scores[1])
        now, before = (_recalls(metric.interval, c) for c in (current, baseline))
        n_labels = 1 + int(now.label.max(initial=0))
        segment, period = np.divmod(now.segment, stream.n_periods)
        key = segment * n_labels + now.label
        key_before = before.segment // stream.n_periods * n_labels + before.label
        used = is_comparable[now.segment]
        keys, first = np.unique(key[used], return_index=True)  # entries are sorted by period
        order = np.lexsort((keys, period[used][first], keys // n_labels))
        row_of = np.empty(len(keys), np.int64)
        row_of[order] = np.arange(len(keys))
        n_rows = np.bincount(keys // n_labels, minlength=stream.n_segments)

        x, n = np.zeros((2, len(keys), stream.n_periods + 1))
        a = np.zeros((len(keys), stream.n_periods))
        y, m = np.zeros((2, len(keys)))
        is_row = np.isin(key, keys)
        row = row_of[np.searchsorted(keys, key[is_row])]
        correct, support, weight = now.effective_counts()
        x[row, period[is_row] + 1] = correct[is_row]
        n[row, period[is_row] + 1] = support[is_row]
        a[row_of[np.searchsorted(keys, key[used])], period[used]] = weight[used]
        used_before = is_comparable[before.segment]
        row = row_of[np.searchsorted(keys, key_before[used_before])]
        correct, support, _ = before.effective_counts()
        y[row], m[row] = correct[used_before], support[used_before]
        if metric.better == "lower":
            x, y = n - x, m - y
        counts = np.bincount(now.segment[used], minlength=stream.n_segments * stream.n_periods)
        shape = stream.n_segments, stream.n_periods
        return cls(x, n, y, m, a, np.cumsum(n_rows) - n_rows, counts.reshape(shape))

    @property
    def has_rows(self) -> BoolArray:
        """Whether each segment has rows in each period, shape (segments, periods)."""
        in_period = np.diff(self.n, axis=1) > 0
        total = np.pad(np.cumsum(in_period, axis=0), ((1, 0), (0, 0)))
        ends = np.append(self.first_row[1:], len(in_period))
        return np.asarray(total[ends] > total[self.first_row]) & (self.n_labels > 0)

    def comparisons(
        self, segment: Int64Array, start: Int64Array, end: Int64Array
    ) -> Iterator[tuple[Int64Array, RecallComparison]]:
        """Yield comparisons of the periods from start to end with everything before.

        Those with equally many labels come together, with their positions. Periods that lack one of
        the labels that the segment has are left out.
        """
        n_labels = self.n_labels[segment, end]
        for size in np.unique(n_labels[n_labels > 0]):
            at = np.flatnonzero(n_labels == size)
            rows = self.first_row[segment[at]][:, None] + np.arange(size)
            in_window = self.n[rows, end[at][:, None] + 1] - self.n[rows, start[at][:, None]]
            has_all = (in_window > 0).all(axis=1)
            at, rows, n = at[has_all], rows[has_all], in_window[has_all]
            before, after = start[at][:, None], end[at][:, None] + 1
            x_before = self.x[rows, before]
            comparison = RecallComparison(
                self.x[rows, after] - x_before,
                n,
                self.y[rows] + x_before,
                self.m[rows] + self.n[rows, before],
                self.a[rows, after - 1],
            )
            yield at, comparison


def _recalls(interval: Interval, c: ClassCounts) -> Recalls:
    """Return the recalls of a metric, sorted by segment and label."""
    recalls = interval.linear_recalls(c)
    assert recalls is not None, "the metric is linear in recalls"
    return recalls.at(np.lexsort((recalls.label, recalls.segment)))


ALARM, OK, INCONCLUSIVE = "alarm", "ok", "inconclusive"
_LONG, _SHORT = 13, 4  # periods that must not be worse for a period to be ok
_OF_ALARM = ("status", "since", "window_n", "window_difference", "window_lower", "window_upper")


@dataclass(frozen=True, slots=True)
class MonitorRequest:
    """The options of monitoring: how much worse matters, and how often an alarm may be false.

    `level` is that of all limits, and of no false alarm in all `looks`, segments and metrics.
    """

    tolerance: float
    level: float
    looks: int
    adjust: bool
    estimates_dispersion: bool

    @property
    def alpha(self) -> float:
        """The probability of any false alarm."""
        return 1 - self.level

    @property
    def z(self) -> float:
        """The quantile of the normal distribution of the limits of differences."""
        return normal_quantile(self.level)


@dataclass(frozen=True, slots=True)
class PeriodResults:
    """The results of a metric in every segment and period.

    `since` is the position of a period, or that past the last where there is none.
    """

    n: Int64Array
    n_labels: Int64Array
    min_support: Int64Array
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    baseline_estimate: FloatArray
    control_limit: FloatArray
    difference: FloatArray
    since: Int64Array
    window_n: Int64Array
    window_difference: FloatArray
    window_lower: FloatArray
    window_upper: FloatArray
    dispersion_p_value: FloatArray
    autocorrelation_p_value: FloatArray
    status: npt.NDArray[np.str_]


@dataclass(frozen=True)
class _Test:
    """The test of a metric of a stream, whose evidence in all periods may reach a threshold.

    `slope` is how much the metric changes with the mean of recalls, in every segment and period.
    """

    stream: Stream
    metric: Metric
    request: MonitorRequest
    dispersion: BaselineDispersion
    recalls: PeriodRecalls
    slope: FloatArray
    tail: float

    @classmethod
    def of(cls, stream: Stream, metric: Metric, request: MonitorRequest, n_metrics: int) -> "_Test":
        """Return the test, with the share of alpha of a segment and metric."""
        n_questions = max(int(stream.has_baseline.sum()), 1) * n_metrics if request.adjust else 1
        current, _ = restrict_to_shared_labels(stream.counts(None), stream.baseline_at_periods)
        return cls(
            stream,
            metric,
            request,
            baseline_dispersion(stream, metric),
            PeriodRecalls.of(stream, metric),
            _slope(metric, current).reshape(stream.n_segments, stream.n_periods),
            request.alpha / request.looks / n_questions,
        )

    @property
    def sign(self) -> int:
        """Return -1 if lower is better, otherwise 1."""
        return -1 if self.metric.better == "lower" else 1

    @property
    def log_threshold(self) -> float:
        """The logarithm of the threshold of the detector: looks x questions / alpha."""
        return -float(np.log(self.tail))

    def log_terms(self, candidates: Candidates) -> FloatArray:
        """Return the logarithms of the evidence of candidates, -inf where a label is missing."""
        out = np.full(len(candidates.start), -np.inf)
        for at, comparison in self._comparisons(candidates):
            out[at] = self._log_evidence(comparison, candidates.at(at))
        return out

    def control_limits(self, candidates: Candidates) -> FloatArray:
        """Return the scores of single periods at which their own evidence reaches the threshold."""
        out = np.full(len(candidates.start), np.nan)
        for at, comparison in self._comparisons(candidates):

            def excess(
                comparison: RecallComparison, rows: Int64Array, at: Int64Array = at
            ) -> FloatArray:
                return self.log_threshold - self._log_evidence(comparison, candidates.at(at[rows]))

            out[at] = comparison.lowest_accepted_scores(excess)
        return out

    def window_differences(self, candidates: Candidates) -> FloatArray:
        """Return differences between the periods of candidates and those before, with limits.

        The array has the rows difference, lower limit and upper limit.
        """
        out = np.full((3, len(candidates.start)), np.nan)
        for at, comparison in self._comparisons(candidates):
            window = candidates.at(at)
            limits = self._difference_limits(comparison, self._between(window), window.segment)
            slope = self.slope[window.segment, window.end]
            out[:, at] = slope * np.stack([comparison.difference, *limits])
        return out if self.sign > 0 else -out[[0, 2, 1]]

    def _comparisons(self, candidates: Candidates) -> Iterator[tuple[Int64Array, RecallComparison]]:
        return self.recalls.comparisons(candidates.segment, candidates.start, candidates.end)

    def _log_evidence(self, comparison: RecallComparison, candidates: Candidates) -> FloatArray:
        """Return the logarithms of the evidence, with the variance between periods if estimated."""
        variance, z = comparison.variance, comparison.statistic
        tolerance = self.request.tolerance / self.slope[candidates.segment, candidates.end]
        if self.request.estimates_dispersion:
            inflation = self._inflation[candidates.segment]
            total = inflation * (variance + self._between(candidates))
            z, variance = z * np.sqrt(variance / total), total
        return log_likelihood_ratio(z, variance, tolerance)

    def _between(self, candidates: Candidates) -> FloatArray | float:
        """Return the variance between periods of the differences."""
        if not self.request.estimates_dispersion:
            return 0.0
        segment = candidates.segment
        before = self.dispersion.n_periods[segment] + candidates.n_before
        return self.dispersion.of_difference(candidates.n_window, before, segment)

    @cached_property
    def _inflation(self) -> FloatArray:
        """The squared ratio of the quantiles of t and of the normal distribution, by segment.

        The variance between periods is estimated with one degree of freedom less than periods.
        """
        df = np.maximum(self.dispersion.n_periods - 1, 1)
        ratio = special.stdtrit(df, self.tail) / special.ndtri(self.tail)
        return np.where(self.dispersion.is_estimated, ratio**2, 1.0)

    def _difference_limits(
        self, comparison: RecallComparison, between: FloatArray | float, segment: Int64Array
    ) -> Limits:
        """Return limits of the differences, wider if scores vary between periods."""
        normal = self.request.z
        lower, upper = comparison.limits(normal)
        if not self.request.estimates_dispersion:
            return lower, upper
        df = np.maximum(self.dispersion.n_periods[segment] - 1, 1)
        t = -special.stdtrit(df, special.ndtr(-normal))
        z = np.where(self.dispersion.is_estimated[segment], t, normal)
        difference = comparison.difference
        below, above = (
            z * np.sqrt(((limit - difference) / normal) ** 2 + between) for limit in (lower, upper)
        )
        return np.maximum(difference - below, -1), np.minimum(difference + above, 1)

    def is_ok(self) -> BoolArray:
        """Return whether the last periods are not worse than the baseline by the tolerance.

        The lower limit of the difference of the last 13 is above -tolerance, and so is the
        difference of the last 4. Positions are those of segments and periods.
        """
        tolerance = self.request.tolerance
        current, baseline, improvement = self._improvement(_LONG)
        lower = np.full(len(improvement), np.nan)
        slope = _slope(self.metric, current)
        interval, is_finite = self.metric.interval, np.isfinite(improvement)
        for at, values in recall_pairs(interval, current, baseline, is_finite):
            comparison = RecallComparison(*values)
            segment = at // self.stream.n_periods
            between: FloatArray | float = 0.0
            if self.request.estimates_dispersion:
                now, before = self.stream.periods_with_rows(_LONG)[at], self.dispersion.n_periods
                between = self.dispersion.of_difference(now, before[segment], segment)
            limits = self._difference_limits(
                comparison if self.sign > 0 else comparison.mirrored(), between, segment
            )
            lower[at] = slope[at] * limits[0]
        return np.asarray((lower > -tolerance) & (self._improvement(_SHORT)[2] > -tolerance))

    def _improvement(self, width: int) -> tuple[ClassCounts, ClassCounts, FloatArray]:
        """Return the counts of the last periods and the baseline, and how much better it got."""
        current, baseline = restrict_to_shared_labels(
            self.stream.counts(width), self.stream.baseline_at_periods
        )
        difference = metric_values(self.metric, current) - metric_values(self.metric, baseline)
        return current, baseline, self.sign * difference


def _slope(metric: Metric, counts: ClassCounts) -> FloatArray:
    """Return how much the metric changes with the mean of recalls."""
    zero = np.zeros(counts.n_segments)
    rescaled = metric.interval.rescaled
    return np.asarray(rescaled(counts, zero + 1) - rescaled(counts, zero))


def monitor_metric(
    stream: Stream, metric: Metric, request: MonitorRequest, n_metrics: int
) -> tuple[PeriodResults, BaselineDispersion]:
    """Return since when a metric may be worse, and whether that is shown, at every period.

    The second result says how the scores of the baseline vary.
    """
    test = _Test.of(stream, metric, request, n_metrics)
    has_rows = test.recalls.has_rows
    log_sum, best = detect(has_rows, test.log_terms)
    n_cells = has_rows.size
    at = best.segment * stream.n_periods + best.end
    since, window_n = np.full(n_cells, stream.n_periods), np.zeros(n_cells, np.int64)
    since[at] = best.start
    n_before = np.pad(stream.counts(None).n.reshape(has_rows.shape), ((0, 0), (1, 0)))
    window_n[at] = n_before[best.segment, best.end + 1] - n_before[best.segment, best.start]
    window = np.full((3, n_cells), np.nan)
    window[:, at] = test.window_differences(best)

    current, baseline = restrict_to_shared_labels(stream.period_counts, stream.baseline_at_periods)
    estimate, baseline_estimate = metric_values(metric, current), metric_values(metric, baseline)
    sample = Sample(current, stream.period_cells)
    lower, upper = metric_limits(metric, sample, estimate, IntervalRequest(None, request.level))
    is_alarm = log_sum.ravel() >= test.log_threshold
    status = np.where(is_alarm, ALARM, np.where(test.is_ok(), OK, INCONCLUSIVE))
    results = PeriodResults(
        n=current.n,
        n_labels=current.n_present,
        min_support=current.min_support,
        estimate=estimate,
        lower=lower,
        upper=upper,
        baseline_estimate=baseline_estimate,
        control_limit=_control_limits(test, current, has_rows),
        difference=estimate - baseline_estimate,
        since=since,
        window_n=window_n,
        window_difference=window[0],
        window_lower=window[1],
        window_upper=window[2],
        dispersion_p_value=np.repeat(test.dispersion.p_value, stream.n_periods),
        autocorrelation_p_value=np.repeat(
            test.dispersion.autocorrelation_p_value, stream.n_periods
        ),
        status=np.where(has_rows.ravel(), status, INCONCLUSIVE),
    )
    return _keep_alarms(results, has_rows), test.dispersion


def _keep_alarms(results: PeriodResults, has_rows: BoolArray) -> PeriodResults:
    """Keep an alarm, with what it is about, while the segment has no rows at all.

    `has_rows` is whether segments were tested in periods.
    """
    shape = has_rows.shape
    tested = np.where(has_rows, np.arange(has_rows.size).reshape(shape), -1)
    latest = np.maximum.accumulate(tested, axis=1).ravel()
    is_silent = (results.n == 0) & (latest >= 0)
    kept = np.flatnonzero(is_silent & (results.status[latest] == ALARM))

    def carry(values: Any) -> Any:  # noqa: ANN401 (an array of any type)
        carried = values.copy()
        carried[kept] = values[latest[kept]]
        return carried

    return replace(results, **{name: carry(getattr(results, name)) for name in _OF_ALARM})


def _control_limits(test: _Test, counts: ClassCounts, has_rows: BoolArray) -> FloatArray:
    """Return the score of every segment and period at which that period alone would alarm."""
    segment, period = np.nonzero(has_rows)
    n_before = (np.cumsum(has_rows, axis=1) - 1)[segment, period]
    single = Candidates(segment, period, period, np.ones_like(period), n_before)
    limit = np.full(has_rows.size, np.nan)
    limit[np.flatnonzero(has_rows.ravel())] = test.control_limits(single)
    return test.metric.interval.rescaled(counts, limit if test.sign > 0 else 1 - limit)
