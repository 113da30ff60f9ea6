"""Recalls of a stream in every period: what a metric averages, summed over the periods."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from balframe.api.metric_selection import metric_values
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.methods.comparisons.segments import restrict_to_shared_labels
from balframe.methods.monitoring.recall_comparison import RecallComparison
from balframe.methods.monitoring.stream import Stream
from balframe.metrics.registry import Metric
from balframe.stats.base import Interval
from balframe.stats.mean_recall import Recalls


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
