"""The recalls that a metric averages, read from class counts."""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.stats.effective_sample_size import effective


@dataclass(frozen=True, slots=True)
class Recalls:
    """Recalls with their weights, flat over all segments; `whole` is each segment's divisor.

    Entries are sorted by label, then segment, or by segment, then label.
    """

    segment: Int64Array
    label: Int64Array
    correct: FloatArray
    support: FloatArray
    correct_sq: FloatArray
    support_sq: FloatArray
    weight: FloatArray
    whole: FloatArray

    def at(self, entries: Int64Array) -> "Recalls":
        """Take these entries, in this order."""
        return Recalls(
            self.segment[entries],
            self.label[entries],
            self.correct[entries],
            self.support[entries],
            self.correct_sq[entries],
            self.support_sq[entries],
            self.weight[entries],
            self.whole,
        )

    def in_effective_rows(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Count correct rows and all rows; rescale the weights so that a segment's sum to 1."""
        total = np.bincount(self.segment, weights=self.weight, minlength=len(self.whole))
        x, n = effective(self.correct, self.support, self.correct_sq, self.support_sq)
        return x, n, self.weight / total[self.segment]


def recalls_of_labels(c: ClassCounts) -> Recalls:
    """Give all labels the same weight."""
    return _recalls(c, np.ones(len(c.label)), np.full(c.n_segments, float(c.n_labels)))


def recalls_under_class_weight(c: ClassCounts) -> Recalls:
    """Give each label the weight that `class_weight` says."""
    if isinstance(c.class_weight, np.ndarray):
        whole = np.full(c.n_segments, c.class_weight.sum())
        return _recalls(c, c.class_weight[c.label], whole)
    return _recalls(c, c.support, c.total) if is_by_prevalence(c) else recalls_of_labels(c)


def is_by_prevalence(c: ClassCounts) -> bool:
    """Return whether each label weighs as much as its share of the segment's rows."""
    return isinstance(c.class_weight, str) and c.class_weight == "prevalence"


def _recalls(c: ClassCounts, weight: FloatArray, whole: FloatArray) -> Recalls:
    used = c.present & (weight > 0)
    if c.absent != "zero":
        whole = c.sum(np.where(used, weight, 0))
    return Recalls(
        c.segment[used],
        c.label[used],
        c.correct[used],
        c.support[used],
        c.squared.correct[used],
        c.squared.support[used],
        weight[used],
        whole,
    )


def recalls_of_both_sides(c: ClassCounts) -> Recalls:
    """Take the recall of the positive label and that of all others."""
    p, squared = c.positive, c.squared.positive
    support = np.concatenate([p.tp + p.fn, p.tn + p.fp])
    used = support > 0
    return Recalls(
        np.tile(np.arange(c.n_segments), 2)[used],
        np.repeat(np.arange(2), c.n_segments)[used],
        np.concatenate([p.tp, p.tn])[used],
        support[used],
        np.concatenate([squared.tp, squared.tn])[used],
        np.concatenate([squared.tp + squared.fn, squared.tn + squared.fp])[used],
        np.ones(used.sum()),
        np.full(c.n_segments, 2.0),
    )


def one_recall(
    c: ClassCounts, x: FloatArray, n: FloatArray, x_sq: FloatArray, n_sq: FloatArray
) -> Recalls:
    """Read a proportion x / n of each segment as the recall of a single label."""
    used = n > 0
    segment = np.flatnonzero(used)
    label, one = np.zeros_like(segment), np.ones(c.n_segments)
    return Recalls(segment, label, x[used], n[used], x_sq[used], n_sq[used], one[used], one)
