"""Which interval a metric has: declared with the metric, computed elsewhere.

Each kind says how to read the counts that the interval needs. Sums of weights and, from the same
functions applied to `ClassCounts.squared`, sums of squared weights give Kish's effective sizes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from balframe.core.arrays import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts

Parts = tuple[FloatArray, FloatArray]
Image = Callable[[ClassCounts, FloatArray], FloatArray]


def identity(c: ClassCounts, value: FloatArray) -> FloatArray:
    """Take a value as it is."""
    return value


def f1_of_jaccard(c: ClassCounts, jaccard: FloatArray) -> FloatArray:
    """Map the Jaccard index to f1: 2J / (1 + J)."""
    return 2 * jaccard / (1 + jaccard)


@dataclass(frozen=True, slots=True)
class Proportion:
    """An increasing image of x / n; `parts` gives x and n for each segment."""

    parts: Callable[[ClassCounts], Parts]
    image: Image = identity
    is_linear: bool = True


@dataclass(frozen=True, slots=True)
class Recalls:
    """Recalls with their weights, flat over all segments; `whole` is each segment's divisor.

    Entries are sorted by label, then segment, or by segment, then label.
    """

    segment: Int64Array
    label: Int64Array
    correct: FloatArray
    support: FloatArray
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
            self.support_sq[entries],
            self.weight[entries],
            self.whole,
        )


@dataclass(frozen=True, slots=True)
class MeanOfRecalls:
    """An increasing image of a weighted mean of recalls."""

    recalls: Callable[[ClassCounts], Recalls]
    image: Image = identity


@dataclass(frozen=True, slots=True)
class GeometricMeanOfRecalls:
    """The geometric mean of the recalls of the labels present."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A coefficient of the whole confusion matrix."""

    coefficient: Literal["kappa", "correlation"]


Interval = Proportion | MeanOfRecalls | GeometricMeanOfRecalls | Delta


def recalls_of_labels(c: ClassCounts) -> Recalls:
    """Weigh the labels alike."""
    return _recalls(c, np.ones(len(c.label)), np.full(c.n_segments, float(c.n_labels)))


def recalls_under_class_weight(c: ClassCounts) -> Recalls:
    """Weigh the labels as `class_weight` says."""
    if isinstance(c.class_weight, np.ndarray):
        whole = np.full(c.n_segments, c.class_weight.sum())
        return _recalls(c, c.class_weight[c.label], whole)
    return (
        _recalls(c, c.support, c.total) if c.class_weight == "prevalence" else recalls_of_labels(c)
    )


def _recalls(c: ClassCounts, weight: FloatArray, whole: FloatArray) -> Recalls:
    used = c.present & (weight > 0)
    if c.absent != "zero":
        whole = c.sum(np.where(used, weight, 0))
    return Recalls(
        c.segment[used],
        c.label[used],
        c.correct[used],
        c.support[used],
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
        np.concatenate([squared.tp + squared.fn, squared.tn + squared.fp])[used],
        np.ones(used.sum()),
        np.full(c.n_segments, 2.0),
    )


def linear_recalls(interval: Interval | None, c: ClassCounts) -> Recalls | None:
    """Read the recalls of which a metric is a linear image; None where it is of none.

    A proportion counts as one recall, and so does the accuracy that a mean weighted by prevalence
    is: its weights differ from segment to segment.
    """
    if isinstance(interval, Proportion):
        return _one_recall(c, interval.parts) if interval.is_linear else None
    if not isinstance(interval, MeanOfRecalls):
        return None
    return (
        _one_recall(c, _hits_of_labels_present)
        if is_share_of_rows(interval, c)
        else interval.recalls(c)
    )


def is_share_of_rows(interval: Interval | None, c: ClassCounts) -> bool:
    """Tell whether a metric is a proportion, as a mean of recalls weighted by prevalence is."""
    if isinstance(interval, MeanOfRecalls):
        weights = c.class_weight if isinstance(c.class_weight, str) else ""
        return interval.recalls is recalls_under_class_weight and weights == "prevalence"
    return isinstance(interval, Proportion) and interval.is_linear


def _hits_of_labels_present(c: ClassCounts) -> Parts:
    return c.sum(np.where(c.present, c.correct, 0)), c.sum(np.where(c.present, c.support, 0))


def _one_recall(c: ClassCounts, parts: Callable[[ClassCounts], Parts]) -> Recalls:
    x, n = parts(c)
    used = n > 0
    segment = np.flatnonzero(used)
    label, one = np.zeros_like(segment), np.ones(c.n_segments)
    return Recalls(segment, label, x[used], n[used], parts(c.squared)[1][used], one[used], one)
