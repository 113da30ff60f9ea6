"""Limits of shares and recalls of all rows, if only some have a true label.

In a segment, rows with the same prediction and verdict form a stratum v, with N_v rows, of which
n_v have a true label and x_v are right. Within a stratum, rows with a true label are taken to be
like those without. With W_v = N_v / N, the share of right rows is theta = sum_v W_v p_v, estimated
by x_v / n_v (post-stratification).

The score test of theta has the variance sum_v W_v^2 p_v (1 - p_v) / n_v of the labels, and
sum_v W_v (p_v - theta)^2 / N of the sample of rows, at the p_v of largest likelihood for that
theta. If all rows have a label, its limits are Wilson's of the right rows.

References
----------
D. Holt and T. M. F. Smith, "Post stratification", Journal of the Royal Statistical Society A 1979.
C. B. Begg and R. A. Greenes, "Assessment of diagnostic tests when disease verification is subject
to selection bias", Biometrics 1983.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.core.strata import Strata
from balframe.stats.constrained_mle import (
    Statistic,
    WeightedBinomials,
    correct_for_skewness,
    lower_limit,
)
from balframe.stats.proportions import Limits, clopper_pearson, normal_quantile, wilson

_MIN_ROWS_FOR_SCORE = 5  # labels of a stratum: with fewer, score limits alone decide too often
_STEPS = 60  # halvings of the interval that holds a limit


@dataclass(frozen=True)
class _StratifiedBinomials(WeightedBinomials):
    """Counts of strata, one row for each and one column for each segment.

    `n_rows` are all rows of each segment, and `labelled_share` n_v / N_v.
    """

    n_rows: FloatArray = field(kw_only=True)
    labelled_share: FloatArray = field(kw_only=True)

    @classmethod
    def of_strata(cls, s: Strata, right: FloatArray) -> "_StratifiedBinomials":
        """Return the counts of strata; those without a label are all wrong."""
        base = WeightedBinomials.of(right, np.where(s.labelled > 0, s.labelled, 1), s.share)
        labelled_share = np.nan_to_num(ratio(s.labelled.T, s.rows.T))
        return cls(base.x, base.n, base.a, n_rows=s.n, labelled_share=labelled_share)

    def at(self, segments: Int64Array) -> "_StratifiedBinomials":
        """Take the segments at these positions."""
        base = super().at(segments)
        return _StratifiedBinomials(
            base.x,
            base.n,
            base.a,
            n_rows=self.n_rows[segments],
            labelled_share=self.labelled_share[:, segments],
        )


def _score(c: WeightedBinomials, multiplier: FloatArray, p: FloatArray) -> FloatArray:
    """Return the score statistic: the observed share less theta, over its standard error."""
    theta, error, _ = _moments(c, p)
    return np.asarray((c.score - theta) / error)


def _skewness_corrected(c: WeightedBinomials, multiplier: FloatArray, p: FloatArray) -> FloatArray:
    """Return the score statistic corrected for skewness."""
    theta, error, third = _moments(c, p)
    return correct_for_skewness((c.score - theta) / error, third / error**3)


def _moments(c: WeightedBinomials, p: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return theta, its standard error and its third central moment, of labels and of rows."""
    assert isinstance(c, _StratifiedBinomials)
    pq, theta, n = p * (1 - p), (c.a * p).sum(axis=0), c.n_rows
    of_labels = c.variance_factor * pq
    variance = of_labels.sum(axis=0) + (c.a * (p - theta) ** 2).sum(axis=0) / n
    third = (
        (c.third_moment_factor * pq * (1 - 2 * p)).sum(axis=0)
        + 3 * (of_labels * (p - theta)).sum(axis=0) / n
        + (c.a * (p - theta) ** 3).sum(axis=0) / n**2
    )
    return theta, np.sqrt(np.where(variance > 0, variance, np.inf)), third


def _doubtful_share(doubt: float) -> Callable[[WeightedBinomials, FloatArray], FloatArray]:
    """Return the lowest share of right rows if the odds of unlabelled rows are lower by `doubt`."""

    def share(c: WeightedBinomials, p: FloatArray) -> FloatArray:
        assert isinstance(c, _StratifiedBinomials)
        unlabelled = p / (p + doubt * (1 - p))
        mixed = c.labelled_share * p + (1 - c.labelled_share) * unlabelled
        return np.asarray((c.a * mixed).sum(axis=0))

    return share


def share_limits(s: Strata, level: float, *, skewness: bool = False, doubt: float = 1.0) -> Limits:
    """Return limits of the share of right rows among all rows.

    Parameters
    ----------
    s : Strata
        Strata without rows are ignored.
    level : float
        Confidence level, between 0 and 1.
    skewness : bool, default False
        Correct the test for skewness.
    doubt : float, default 1
        By how much the odds of being right may differ between rows with and without a label.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
    """
    return _share_limits(s, level, (_skewness_corrected if skewness else _score,), doubt)


def _share_limits(
    s: Strata, level: float, statistics: tuple[Statistic, ...], doubt: float
) -> Limits:
    z, value = normal_quantile(level), _doubtful_share(doubt)
    lower, mirrored = (
        lower_limit(_StratifiedBinomials.of_strata(s, right), z, *statistics, value=value)
        for right in (s.right, s.labelled - s.right)
    )
    return lower, 1 - mirrored


def share_gate_limits(s: Strata, level: float, *, doubt: float = 1.0) -> Limits:
    """Return the limits that decide: each the wider of two tests, and of MOVER if labels are few.

    Few are under five of a stratum. MOVER is on Clopper-Pearson's limits of strata.
    """
    lower, upper = _share_limits(s, level, (_score, _skewness_corrected), doubt)
    few = np.flatnonzero(((s.labelled < _MIN_ROWS_FOR_SCORE) & (s.rows > 0)).any(axis=1))
    if doubt == 1 and len(few):
        low, high = _mover_limits(s.at(few), level)
        lower[few], upper[few] = np.minimum(lower[few], low), np.maximum(upper[few], high)
    return lower, upper


def _mover_limits(s: Strata, level: float) -> Limits:
    is_labelled = s.labelled > 0
    n = np.where(is_labelled, s.labelled, 1)
    low, high = clopper_pearson(s.right, n, level)
    low, high = np.where(is_labelled, low, 0), np.where(is_labelled, high, 1)
    p, w, z = s.right / n, s.share, normal_quantile(level)
    theta = (w * p).sum(axis=1)
    of_rows = (w * (p - theta[:, None]) ** 2).sum(axis=1) / s.n
    at_most = np.where(is_labelled, p, 1)
    highest = (w * at_most).sum(axis=1)
    below = np.sqrt((w**2 * (p - low) ** 2).sum(axis=1) + z**2 * of_rows)
    above = np.sqrt((w**2 * (high - at_most) ** 2).sum(axis=1) + z**2 * of_rows)
    return np.maximum(theta - below, 0), np.minimum(highest + above, 1)


def share_bounds(s: Strata, level: float) -> Limits:
    """Return Wilson's limits of the lowest and of the highest share that labels leave possible.

    No row without a label is right, and all of them are.
    """
    right = s.right.sum(axis=1)
    lower, _ = wilson(right, s.n, level)
    _, upper = wilson(right + s.n - s.n_labelled, s.n, level)
    return lower, upper


# Recalls


@dataclass(frozen=True)
class Recall:
    """A recall R = A / (A + B), with A = sum W p over some strata, and B = sum W (1 - p).

    A is over the strata predicted to have the label, where right rows have it, and B over all
    others, whose wrong rows have it.
    """

    strata: Strata
    predicted: BoolArray

    @property
    def estimate(self) -> FloatArray:
        """The estimate; NaN where a stratum has no label, or no row has the label."""
        s = self.strata
        p = ratio(s.right, s.labelled)
        found, missed = (
            np.where(used, s.share * np.nan_to_num(share), 0).sum(axis=1)
            for used, share in ((self.predicted, p), (~self.predicted, 1 - p))
        )
        return np.where(s.lacks_labels, np.nan, ratio(found, found + missed))

    def limits(self, level: float) -> Limits:
        """Return the limits that the score test of (1 - R) A - R B = 0 does not reject."""
        z = normal_quantile(level)
        lower, _ = self._root(z, np.zeros(len(self.strata.rows)), unlabelled_right=False)
        _, upper = self._root(-z, lower, unlabelled_right=True)
        return lower, upper

    def _root(self, z: float, low: FloatArray, *, unlabelled_right: bool) -> Limits:
        """Return two near recalls, between which the falling statistic passes z."""
        high = np.ones(len(low))
        for _ in range(_STEPS):
            middle = (low + high) / 2
            statistic = self._statistic(middle, unlabelled_right=unlabelled_right)
            is_above = statistic >= z
            low, high = np.where(is_above, middle, low), np.where(is_above, high, middle)
        return low, high

    def _statistic(self, recall: FloatArray, *, unlabelled_right: bool) -> FloatArray:
        """Return the statistic of each segment at a recall; 0 where nothing varies."""
        s, r = self.strata, recall[:, None]
        is_labelled = s.labelled > 0
        n = np.where(is_labelled, s.labelled, 1)
        x = np.where(is_labelled, s.right, float(unlabelled_right))
        w = s.share
        a = np.where(self.predicted, (1 - r) * w, r * w)
        scale = np.maximum(a.sum(axis=1), np.finfo(np.float64).tiny)
        target = (recall * np.where(self.predicted, 0, w).sum(axis=1)) / scale
        c = WeightedBinomials.of(x, n, a / scale[:, None])
        _, p = c.constrained_mle(target)
        of_row = np.where(self.predicted, (1 - r) * p.T, -r * (1 - p.T)) / scale[:, None]
        variance = (c.variance_factor * p * (1 - p)).sum(axis=0)
        variance += (w * of_row**2).sum(axis=1) / s.n
        return np.asarray((c.score - target) / np.sqrt(np.where(variance > 0, variance, np.inf)))

    def derivatives(self) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of R by p and by W, at p = (x + 1/2) / (n + 1)."""
        s = self.strata
        p, w = _smoothed_shares(s), s.share
        found = np.where(self.predicted, w * p, 0).sum(axis=1)[:, None]
        missed = np.where(self.predicted, 0, w * (1 - p)).sum(axis=1)[:, None]
        total = (found + missed) ** 2
        by_p = np.where(self.predicted, w * missed, w * found) / total
        by_w = np.where(self.predicted, p * missed, -(1 - p) * found) / total
        return by_p, by_w


def _smoothed_shares(s: Strata) -> FloatArray:
    """Return the share of right rows of each stratum, (x + 1/2) / (n + 1)."""
    return np.asarray((s.right + 0.5) / (s.labelled + 1))


def mean_recall_limits(recall: Recall, specificity: Recall, level: float) -> Limits:
    """Return limits of the mean of two recalls by MOVER, with the correlation of both.

    It is positive: a share that is too high in one stratum moves both.
    """
    (by_p, by_w), (other_p, other_w) = recall.derivatives(), specificity.derivatives()
    s = recall.strata
    p, w = _smoothed_shares(s), s.share
    of_labels = p * (1 - p) / np.where(s.labelled > 0, s.labelled, np.inf)

    def covariance(
        first: tuple[FloatArray, FloatArray], second: tuple[FloatArray, FloatArray]
    ) -> FloatArray:
        labels = (first[0] * second[0] * of_labels).sum(axis=1)
        means = [(w * each[1]).sum(axis=1) for each in (first, second)]
        rows = (w * first[1] * second[1]).sum(axis=1) - means[0] * means[1]
        return np.asarray(labels + rows / s.n)

    one, two = (by_p, by_w), (other_p, other_w)
    r = ratio(covariance(one, two), np.sqrt(covariance(one, one) * covariance(two, two)))
    r = np.clip(np.nan_to_num(r), -1, 1)
    first, second = recall.estimate, specificity.estimate
    (low, high), (other_low, other_high) = recall.limits(level), specificity.limits(level)
    middle = (first + second) / 2

    def half(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.sqrt(np.maximum(a**2 + b**2 + 2 * r * a * b, 0)) / 2

    lower = middle - half(first - low, second - other_low)
    upper = middle + half(high - first, other_high - second)
    return np.maximum(lower, 0), np.minimum(upper, 1)
