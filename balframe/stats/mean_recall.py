"""Confidence limits of means of recalls, one row for each segment and one column for each label.

With x_k of n_k rows of label k correct, p_k = x_k / n_k, and weights a_k that sum to 1, the score
is theta = sum_k a_k p_k. Counts need not be whole.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.stats.constrained_mle import Segments, Statistic, corrected, lower_limit, standardised
from balframe.stats.effective_sample_size import effective
from balframe.stats.proportions import Limits, exact, jeffreys, normal_quantile

# The recalls that a metric averages, read from class counts.


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


_FEW = 5  # rows of a label under which score limits alone decide wrongly too often


def score(x: FloatArray, n: FloatArray, a: FloatArray, level: float) -> Limits:
    """Return the limits that the score test of theta does not reject.

    The weighted mean's counterpart of Wilson's interval, to which it reduces with one label; with
    two of equal support it is that of Miettinen and Nurminen.

    Parameters
    ----------
    x, n, a : float arrays, shape (segments, labels)
        Correct rows, rows and weights of the labels present; every n and a is above 0.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)

    References
    ----------
    O. Miettinen and M. Nurminen, "Comparative analysis of two rates", Statistics in Medicine 1985.
    """
    return not_rejected(x, n, a, normal_quantile(level), standardised)


def scas(x: FloatArray, n: FloatArray, a: FloatArray, level: float) -> Limits:
    """Return the limits of the score test with a correction for skewness.

    Parameters and shapes as in `score`. The misses above and below the limits are closer to equal
    than those of `score`.

    References
    ----------
    J. J. Gart and J. Nam, "Approximate interval estimation of the ratio of binomial parameters: a
    review and corrections for skewness", Biometrics 1988; P. J. Laud, "Equal-tailed confidence
    intervals for comparison of rates", Pharmaceutical Statistics 2017, for differences; here for
    weighted means.
    """
    return not_rejected(x, n, a, normal_quantile(level), corrected)


def scas_of_proportion(x: FloatArray, n: FloatArray, level: float) -> Limits:
    """Return the limits of `scas` for proportions, of the shape (segments,)."""
    return scas(x[:, None], n[:, None], np.ones((len(x), 1)), level)


def not_rejected(
    x: FloatArray,
    n: FloatArray,
    a: FloatArray,
    z: FloatArray | float,
    *statistics: Statistic,
) -> Limits:
    """Find the limits that one of the statistics, at least, does not reject.

    Shapes as in `score`; `z` is the quantile, one for all or one for each segment.
    """
    both = np.tile(np.broadcast_to(z, len(x)), 2)
    limits = lower_limit(Segments.of(x, n, a).and_mirrored(), both, *statistics)
    return limits[: len(x)], 1 - limits[len(x) :]


def wider(x: FloatArray, n: FloatArray, a: FloatArray, level: float) -> Limits:
    """Return the wider of the limits of `score` and `scas`, each of the two on its own.

    Parameters and shapes as in `score`.
    """
    return not_rejected(x, n, a, normal_quantile(level), standardised, corrected)


def gate(x: FloatArray, n: FloatArray, a: FloatArray, level: float) -> Limits:
    """Return the limits that decide, made for rare errors and many segments.

    Parameters and shapes as in `score`. Those of Clopper and Pearson with one label. With more
    the wider of `score` and `scas`, limit by limit; where a label has under five rows also of
    `mover` on Clopper-Pearson limits of the recalls.
    """
    if x.shape[1] == 1:
        return exact(x[:, 0], n[:, 0], level)
    lower, upper = wider(x, n, a, level)
    few = np.flatnonzero((n < _FEW).any(axis=1))
    low, high = mover(x[few], n[few], a[few], level, exact)
    lower[few], upper[few] = np.minimum(lower[few], low), np.maximum(upper[few], high)
    return lower, upper


def mover(
    x: FloatArray,
    n: FloatArray,
    a: FloatArray,
    level: float,
    limits: Callable[[FloatArray, FloatArray, float], Limits] = jeffreys,
) -> Limits:
    """Recover variances from the limits of each recall, by default those of Jeffreys.

    Shapes as in `score`. theta -+ sqrt(sum_k a_k^2 (p_k - limit_k)^2).

    References
    ----------
    G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general
    approach", Statistics in Medicine 2008.
    """
    p = x / n
    low, high = limits(x, n, level)
    theta = (a * p).sum(axis=1)
    lower = theta - np.sqrt((a * a * (p - low) ** 2).sum(axis=1))
    upper = theta + np.sqrt((a * a * (high - p) ** 2).sum(axis=1))
    return np.maximum(lower, 0), np.minimum(upper, 1)
