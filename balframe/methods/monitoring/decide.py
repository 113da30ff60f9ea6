"""Whether scores got worse than a reference, asked at every period without alarming too often."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe.api.interval_estimates import limits_of
from balframe.api.metric_selection import value_of
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.errors import InvalidInputError, parameter
from balframe.methods.comparisons.segments import on_shared_labels, pairs_of_recalls
from balframe.methods.monitoring.confidence_sequences import Pairs, always_valid, one_sided
from balframe.methods.monitoring.stream import Stream
from balframe.metrics.registry import Metric
from balframe.stats.base import IntervalRequest
from balframe.stats.homogeneity_tests import equal_scores
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import Limits

# How much scores vary between periods, beyond what their rows explain.


def variance_between(scores: FloatArray, variances: FloatArray) -> float:
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
ALL = "all"
_ROUNDS = 8  # after which a control limit changes no more
_LEVEL = 0.95  # of the limit that has to stay above the margin for a period to be ok


@dataclass(frozen=True, slots=True)
class Watch:
    """What a caller asks for: how much worse matters, and how often an alarm may be false.

    `windows` are the numbers of periods that are looked at together, ascending; all periods so far
    are one more window. `alpha` is shared by all `looks`, windows, segments and metrics.
    """

    margin: float
    alpha: float
    looks: int
    windows: tuple[int, ...]
    is_adjusted: bool
    level: float
    estimates_dispersion: bool

    def share(self, n_questions: int) -> float:
        """Give each window of each segment and metric its share of alpha."""
        return self.alpha / ((len(self.windows) + 1) * (n_questions if self.is_adjusted else 1))


@dataclass(frozen=True, slots=True)
class Dispersion:
    """How much the score of each segment varies between the periods of its reference.

    `variance` is that of the mean of recalls, `n` the number of periods. `p_value` is that of the
    test that the periods differ no more than by chance.
    """

    variance: FloatArray
    n: Int64Array
    p_value: FloatArray


@dataclass(frozen=True, slots=True)
class Watched:
    """A metric of every segment in every period, in arrays of segments times periods."""

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
class _Window:
    """A window at each period: its rows, and how much better than the reference it scores.

    Better is higher, also for metrics of which lower is better. `control` is the score at which
    the window would alarm, in the units of the metric.
    """

    counts: ClassCounts
    better: FloatArray
    lower: FloatArray
    upper: FloatArray
    control: FloatArray


@dataclass(frozen=True)
class _Asking:
    """A metric of a stream, and the quantiles at which its questions are asked."""

    stream: Stream
    metric: Metric
    watch: Watch
    share: float
    dispersion: Dispersion

    @property
    def sign(self) -> int:
        """Give -1 where lower is better."""
        return -1 if self.metric.better == "lower" else 1

    def window(self, width: int | None) -> _Window:
        """Compare a window with the reference, at all periods."""
        interval = self.metric.interval
        counts = self.stream.counts(width)
        own, reference = on_shared_labels(counts, self.stream.reference_at_periods())
        better = self.sign * (value_of(self.metric, own) - value_of(self.metric, reference))
        zero = np.zeros(len(better))
        slope = interval.rescaled(own, zero + 1) - interval.rescaled(own, zero)
        lower, upper, control = np.full((3, len(better)), np.nan)
        for at, values in pairs_of_recalls(interval, own, reference, np.isfinite(better)):
            pairs = Pairs(*values) if self.sign > 0 else Pairs(*values).mirrored()
            z = self._quantile(width, pairs, slope[at])
            tests = self._tests(pairs, z, at, width)
            lower[at], upper[at] = (slope[at] * limit for limit in tests)
            if width == 1:
                control[at] = self._control(pairs, z, at)
        control = interval.rescaled(own, control if self.sign > 0 else 1 - control)
        return _Window(counts, better, lower, upper, control)

    def _quantile(self, width: int | None, pairs: Pairs, slope: FloatArray) -> FloatArray:
        if width is None:
            return always_valid(pairs.information, self.watch.margin / slope, self.share)
        return np.full(len(pairs.n), one_sided(self.share / self.watch.looks))

    def _tests(self, pairs: Pairs, z: FloatArray, at: Int64Array, width: int | None) -> Limits:
        """Find the limits, wider where the score varies between periods too."""
        lower, upper = pairs.limits(z)
        if not self.watch.estimates_dispersion:
            return lower, upper
        difference = pairs.difference
        below, above = (
            self._spread(np.abs(difference - limit), z, at, width) for limit in (lower, upper)
        )
        return np.maximum(difference - below, -1), np.minimum(difference + above, 1)

    def _spread(
        self, distance: FloatArray, z: FloatArray, at: Int64Array, width: int | None
    ) -> FloatArray:
        """Add the variance between periods to the distance of a limit."""
        segment = at // self.stream.n_periods
        m = self.dispersion.n[segment]
        periods = self.stream.periods_with_rows(width)[at]
        between = self.dispersion.variance[segment] * (1 / periods + 1 / m)
        quantile = -special.stdtrit(m - 1, special.ndtr(-z))
        return np.asarray(quantile * np.sqrt((distance / z) ** 2 + between))

    def _control(self, pairs: Pairs, z: FloatArray, at: Int64Array) -> FloatArray:
        found = pairs.controls(z)
        if not self.watch.estimates_dispersion:
            return found
        reference = pairs.reference
        lower = reference - self._spread(reference - found, z, at, 1)
        for _ in range(_ROUNDS):  # the distance of the limit depends little on the score
            some = np.flatnonzero(lower > 0)
            fallen = pairs.at(some).fallen_to(lower[some])
            distance = fallen.limits(z[some])[1] - fallen.difference
            lower[some] = reference[some] - self._spread(distance, z[some], at[some], 1)
        return np.where(lower < 0, np.nan, lower)


def watched(stream: Stream, name: str, metric: Metric, watch: Watch, n_metrics: int) -> Watched:
    """Ask of every segment at every period whether it got worse than the reference."""
    share = watch.share(max(int(stream.has_reference.sum()), 1) * n_metrics)
    dispersion = _dispersion(stream, metric)
    if watch.estimates_dispersion and len(dispersion.n) and dispersion.n.max() < 2:
        raise InvalidInputError(
            f"{parameter('dispersion', 'estimate')} compares periods of the reference, but it has "
            "no two of them. Give a reference that keeps its days, of about 26 periods or more."
        )
    asking = _Asking(stream, metric, watch, share, dispersion)
    widths: tuple[int | None, ...] = (*watch.windows, None)
    windows = {width: asking.window(width) for width in widths}
    single = windows.get(1) or asking.window(1)
    own, reference = on_shared_labels(single.counts, stream.reference_at_periods())
    estimate, before = value_of(metric, own), value_of(metric, reference)
    sample = Sample(own, lambda: stream.windows.last(1))
    scores = {name: estimate}
    lower, upper = limits_of({name: metric}, sample, scores, IntervalRequest(None, watch.level))[
        name
    ]
    worst, is_alarm = _worst(list(windows.values()), watch, stream.n_periods)
    chosen = [_of_window(one.better, one.lower, one.upper, asking.sign) for one in windows.values()]
    difference, window_lower, window_upper = (
        _at([values[i] for values in chosen], worst) for i in range(3)
    )
    cumulative = chosen[-1]
    return Watched(
        n=own.n,
        n_labels=own.n_present,
        min_support=own.min_support,
        estimate=estimate,
        lower=lower,
        upper=upper,
        reference_estimate=before,
        control_limit=single.control,
        difference=estimate - before,
        window=np.array([*map(str, watch.windows), ALL])[worst],
        window_n=_at([one.counts.n for one in windows.values()], worst),
        window_difference=difference,
        window_lower=window_lower,
        window_upper=window_upper,
        cumulative_difference=cumulative[0],
        cumulative_lower=cumulative[1],
        cumulative_upper=cumulative[2],
        dispersion_p_value=np.repeat(asking.dispersion.p_value, stream.n_periods),
        status=_status(asking, windows, is_alarm, own.n > 0),
    )


def _of_window(
    better: FloatArray, lower: FloatArray, upper: FloatArray, sign: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Turn how much better a score is into how much higher it is."""
    return (better, lower, upper) if sign > 0 else (-better, -upper, -lower)


def _at(values: Sequence[npt.NDArray[Any]], which: Int64Array) -> npt.NDArray[Any]:
    """Take the value of one window in every row."""
    stacked: npt.NDArray[Any] = np.stack(list(values))
    return stacked[which, np.arange(stacked.shape[1])]


def _worst(
    windows: Sequence[_Window], watch: Watch, n_periods: int
) -> tuple[Int64Array, BoolArray]:
    """Find the window with the smallest upper limit, and tell whether it alarms.

    Of windows that hold the same periods, as all do at the first, only the shortest is looked at.
    """
    uppers = np.stack([one.upper for one in windows])
    period = np.arange(uppers.shape[1]) % n_periods
    for at, shorter in enumerate(watch.windows, start=1):
        uppers[at, period < shorter] = np.inf
    known = np.where(np.isnan(uppers), np.inf, uppers)
    worst = np.argmin(known, axis=0)
    return worst, np.asarray(known.min(axis=0) < 0)


def _status(
    asking: _Asking,
    windows: Mapping[int | None, _Window],
    is_alarm: BoolArray,
    has_rows: BoolArray,
) -> npt.NDArray[np.str_]:
    """Say of every period whether it is an alarm, all right, or neither."""
    watch = asking.watch
    longest, second = watch.windows[-1], watch.windows[-2:][0]
    at_95 = replace(asking, share=(1 - _LEVEL) / 2, watch=replace(watch, looks=1))
    is_near = at_95.window(longest).lower > -watch.margin
    is_near &= windows[second].better > -watch.margin
    status = np.where(is_alarm, ALARM, np.where(is_near, OK, INCONCLUSIVE))
    return np.where(has_rows, status, INCONCLUSIVE)


def _dispersion(stream: Stream, metric: Metric) -> Dispersion:
    """Measure how much the score of each segment varies between the periods of its reference."""
    counts, segment_of = stream.reference_periods
    n_segments = stream.n_segments
    variance, p_value = np.zeros(n_segments), np.full(n_segments, np.nan)
    n = np.zeros(n_segments, np.int64)
    r = metric.interval.linear_recalls(counts)
    assert r is not None, "the metric is linear in recalls"
    order = np.lexsort((r.label, r.segment))
    own = r.at(order)
    x, rows, weight = own.in_effective_rows()
    n_labels = np.bincount(own.segment, minlength=counts.n_segments)
    for segment in range(n_segments):
        periods = np.flatnonzero((segment_of == segment) & (n_labels > 0))
        if not len(periods):
            continue
        whole = periods[n_labels[periods] == n_labels[periods].max()]
        at = np.flatnonzero(np.isin(own.segment, whole)).reshape(len(whole), -1)
        n[segment] = len(whole)
        if len(whole) > 1:
            p = (x[at] + 0.5) / (rows[at] + 1)
            scores = (weight[at] * x[at] / rows[at]).sum(axis=1)
            within = (weight[at] ** 2 * p * (1 - p) / rows[at]).sum(axis=1)
            variance[segment] = variance_between(scores, within)
            p_value[segment] = equal_scores(x[at], rows[at], weight[at])[1]
    return Dispersion(variance, n, p_value)
