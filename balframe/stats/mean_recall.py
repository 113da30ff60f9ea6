"""Confidence limits of means of recalls, one row for each segment and one column for each label.

With x_k of n_k rows of label k correct, p_k = x_k / n_k, and weights a_k that sum to 1, the score
is theta = sum_k a_k p_k. Counts need not be whole. Where rows have weights, `upper_rows` are x and
n for the upper limit, which may be others.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.stats.constrained_mle import (
    Statistic,
    WeightedBinomials,
    lower_limit,
    score_statistic,
    skewness_corrected_statistic,
)
from balframe.stats.effective_sample_size import RowsBySide, effective_rows
from balframe.stats.proportions import Limits, Rows, clopper_pearson, jeffreys, normal_quantile

# The recalls that a metric averages


@dataclass(frozen=True, slots=True)
class Recalls:
    """Recalls with their weights, flat over all segments; `divisor` is the weight sum of a segment.

    That sum includes absent labels if these count as 0. Entries are sorted by label, then segment,
    or by segment, then label. `largest` are the largest weights of a row, None without weights.
    """

    segment: Int64Array
    label: Int64Array
    correct: FloatArray
    support: FloatArray
    correct_sq: FloatArray
    support_sq: FloatArray
    weight: FloatArray
    divisor: FloatArray
    largest: FloatArray | None = None

    def at(self, entries: Int64Array) -> "Recalls":
        """Take the entries at these positions, in this order."""
        return Recalls(
            self.segment[entries],
            self.label[entries],
            self.correct[entries],
            self.support[entries],
            self.correct_sq[entries],
            self.support_sq[entries],
            self.weight[entries],
            self.divisor,
            None if self.largest is None else self.largest[entries],
        )

    @property
    def share(self) -> FloatArray:
        """The weights, so that they sum to 1 in each segment."""
        total = np.bincount(self.segment, weights=self.weight, minlength=len(self.divisor))
        return self.weight / total[self.segment]

    def effective_rows(self) -> RowsBySide:
        """Return effective correct rows and rows, for lower and for upper limits."""
        return effective_rows(
            self.correct, self.support, self.correct_sq, self.support_sq, self.largest
        )

    def effective_counts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return effective correct rows and rows, the fewer of both limits, and `share`."""
        return *self.effective_rows().fewer, self.share


def recalls_of_labels(c: ClassCounts) -> Recalls:
    """Return the recalls of all labels, with equal weights."""
    return _recalls(c, np.ones(len(c.label)), np.full(c.n_segments, float(c.n_labels)))


def recalls_under_class_weight(c: ClassCounts) -> Recalls:
    """Return the recalls of all labels, with the weights of `class_weight`."""
    if isinstance(c.class_weight, np.ndarray):
        divisor = np.full(c.n_segments, c.class_weight.sum())
        return _recalls(c, c.class_weight[c.label], divisor)
    return _recalls(c, c.support, c.total) if is_by_prevalence(c) else recalls_of_labels(c)


def is_by_prevalence(c: ClassCounts) -> bool:
    """Return whether the weight of each label is its share of the segment's rows."""
    return isinstance(c.class_weight, str) and c.class_weight == "prevalence"


def _recalls(c: ClassCounts, weight: FloatArray, divisor: FloatArray) -> Recalls:
    used = c.present & (weight > 0)
    if c.absent != "zero":
        divisor = c.sum(np.where(used, weight, 0))
    return Recalls(
        c.segment[used],
        c.label[used],
        c.correct[used],
        c.support[used],
        c.squared.correct[used],
        c.squared.support[used],
        weight[used],
        divisor,
        None if c.largest is None else np.asarray(c.largest.support[used]),
    )


def binary_recalls(c: ClassCounts) -> Recalls:
    """Return sensitivity and specificity: the recalls of the positive label and of all others."""
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
        None if c.largest is None else _largest_of_binary(c.largest)[used],
    )


def _largest_of_binary(largest: ClassCounts) -> FloatArray:
    """Return the largest weights of positives, then of negatives."""
    p = largest.positive
    return np.concatenate([np.asarray(p.tp + p.fn), np.asarray(p.tn + p.fp)])


def precisions_of_labels(c: ClassCounts) -> Recalls:
    """Return the precisions of all labels predicted, with equal weights, as if they were recalls.

    The rows of a label are those predicted to have it. Labels of the truth that are never predicted
    count as 0.
    """
    averaged = (c.support > 0) | (c.predicted > 0)
    if c.compared is not None:
        averaged = averaged & c.compared
    used = averaged & (c.predicted > 0)
    n_averaged = c.sum(averaged.astype(np.float64))
    return Recalls(
        c.segment[used],
        c.label[used],
        c.correct[used],
        c.predicted[used],
        c.squared.correct[used],
        c.squared.predicted[used],
        np.ones(used.sum()),
        np.where(n_averaged > 0, c.n_labels, 0.0) if c.absent == "zero" else n_averaged,
        None if c.largest is None else np.asarray(c.largest.predicted[used]),
    )


def single_recall(
    c: ClassCounts,
    x: FloatArray,
    n: FloatArray,
    x_sq: FloatArray,
    n_sq: FloatArray,
    largest: FloatArray | None,
) -> Recalls:
    """Return a proportion x / n of each segment as the recall of a single label."""
    used = n > 0
    segment = np.flatnonzero(used)
    label, weight = np.zeros_like(segment), np.ones(c.n_segments)
    return Recalls(
        segment,
        label,
        x[used],
        n[used],
        x_sq[used],
        n_sq[used],
        weight[used],
        weight,
        None if largest is None else np.asarray(largest)[used],
    )


# Confidence limits

MIN_ROWS_FOR_SCORE = 5  # of a label: with fewer, score limits alone decide wrongly too often


def score_limits(
    x: FloatArray, n: FloatArray, a: FloatArray, level: float, upper_rows: Rows | None = None
) -> Limits:
    """Return the limits that the score test of theta does not reject.

    This generalises Wilson's interval to a weighted mean. With one label it is Wilson's interval;
    with two labels of equal support it is that of Miettinen and Nurminen.

    Parameters
    ----------
    x, n, a : float arrays, shape (segments, labels)
        Correct rows, rows and weights of the labels present; every n and a is above 0.
    level : float
        Confidence level, between 0 and 1.
    upper_rows : two float arrays of the same shape, optional
        x and n for the upper limit; by default the same.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)

    References
    ----------
    O. Miettinen and M. Nurminen, "Comparative analysis of two rates", Statistics in Medicine 1985.
    """
    z = normal_quantile(level)
    return invert_score_test(x, n, a, z, score_statistic, upper_rows=upper_rows)


def scas_limits(
    x: FloatArray, n: FloatArray, a: FloatArray, level: float, upper_rows: Rows | None = None
) -> Limits:
    """Return the limits of the score test with a correction for skewness.

    Parameters and shapes as in `score_limits`. The error rates of the two limits are closer to
    equal than those of `score_limits`.

    References
    ----------
    J. J. Gart and J. Nam, "Approximate interval estimation of the ratio of binomial parameters: a
    review and corrections for skewness", Biometrics 1988; P. J. Laud, "Equal-tailed confidence
    intervals for comparison of rates", Pharmaceutical Statistics 2017, for differences; here for
    weighted means.
    """
    z = normal_quantile(level)
    return invert_score_test(x, n, a, z, skewness_corrected_statistic, upper_rows=upper_rows)


def scas_proportion_limits(
    x: FloatArray, n: FloatArray, level: float, upper_rows: Rows | None = None
) -> Limits:
    """Return the limits of `scas_limits` for proportions, of the shape (segments,)."""
    if upper_rows is not None:
        upper_rows = upper_rows[0][:, None], upper_rows[1][:, None]
    return scas_limits(x[:, None], n[:, None], np.ones((len(x), 1)), level, upper_rows)


def invert_score_test(
    x: FloatArray,
    n: FloatArray,
    a: FloatArray,
    z: FloatArray | float,
    *statistics: Statistic,
    upper_rows: Rows | None = None,
) -> Limits:
    """Return the limits of the scores that at least one of the statistics does not reject.

    Shapes as in `score_limits`; `z` is one quantile for all segments, or one for each.
    """
    quantiles = np.tile(np.broadcast_to(z, len(x)), 2)
    c = WeightedBinomials.of(x, n, a)
    mirrored = (c if upper_rows is None else WeightedBinomials.of(*upper_rows, a)).mirror()
    limits = lower_limit(c.followed_by(mirrored), quantiles, *statistics)
    return limits[: len(x)], 1 - limits[len(x) :]


def wider_limits(
    x: FloatArray, n: FloatArray, a: FloatArray, z: float, upper_rows: Rows | None = None
) -> Limits:
    """Return the wider of `score_limits` and `scas_limits`, for the lower and upper limit each.

    Parameters and shapes as there, but for the normal quantile `z` instead of the level.
    """
    statistics = (score_statistic, skewness_corrected_statistic)
    return invert_score_test(x, n, a, z, *statistics, upper_rows=upper_rows)


def gate_limits(
    x: FloatArray, n: FloatArray, a: FloatArray, level: float, upper_rows: Rows | None = None
) -> Limits:
    """Return the limits that decide, made for rare errors and many segments.

    Parameters and shapes as in `score_limits`. With one label they are those of Clopper and
    Pearson. With more they are `wider_limits`; where a label has under five rows, the wider of
    these and `mover_limits` on Clopper-Pearson limits of the recalls.
    """
    if x.shape[1] == 1:
        single = None if upper_rows is None else (upper_rows[0][:, 0], upper_rows[1][:, 0])
        return clopper_pearson(x[:, 0], n[:, 0], level, single)
    lower, upper = wider_limits(x, n, a, normal_quantile(level), upper_rows)
    fewest = n if upper_rows is None else np.minimum(n, upper_rows[1])
    few = np.flatnonzero((fewest < MIN_ROWS_FOR_SCORE).any(axis=1))
    few_upper = None if upper_rows is None else (upper_rows[0][few], upper_rows[1][few])
    low, high = mover_limits(x[few], n[few], a[few], level, clopper_pearson, few_upper)
    lower[few], upper[few] = np.minimum(lower[few], low), np.maximum(upper[few], high)
    return lower, upper


def mover_limits(
    x: FloatArray,
    n: FloatArray,
    a: FloatArray,
    level: float,
    limits: Callable[..., Limits] = jeffreys,
    upper_rows: Rows | None = None,
) -> Limits:
    """Return MOVER limits: variances recovered from limits of each recall, by default Jeffreys'.

    Shapes as in `score_limits`. theta -+ sqrt(sum_k a_k^2 (p_k - limit_k)^2).

    References
    ----------
    G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general
    approach", Statistics in Medicine 2008.
    """
    p = x / n
    low, high = limits(x, n, level, upper_rows=upper_rows)
    theta = (a * p).sum(axis=1)
    lower = theta - np.sqrt((a * a * (p - low) ** 2).sum(axis=1))
    upper = theta + np.sqrt((a * a * (high - p) ** 2).sum(axis=1))
    return np.maximum(lower, 0), np.minimum(upper, 1)
