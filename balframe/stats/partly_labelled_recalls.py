"""Limits of recalls of all rows, if only some have a true label.

Strata are those of `partly_labelled`, where right rows of strata that are predicted to have a label
have it, and so have wrong rows of all others.

References
----------
C. B. Begg and R. A. Greenes, "Assessment of diagnostic tests when disease verification is subject
to selection bias", Biometrics 1983.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.core.strata import Strata
from balframe.stats.constrained_mle import WeightedBinomials
from balframe.stats.proportions import Limits
from balframe.stats.root_finding import root_between

_LOWEST = 1e-9  # where the search for a limit begins; it ends as far from 1, before rounding errors


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
        detected, missed = (
            np.where(used, s.share * np.nan_to_num(share), 0).sum(axis=1)
            for used, share in ((self.predicted, p), (~self.predicted, 1 - p))
        )
        return np.where(s.lacks_labels, np.nan, ratio(detected, detected + missed))

    def at(self, segments: Int64Array | slice) -> "Recall":
        """Take the segments at these positions."""
        return Recall(self.strata.at(segments), self.predicted[segments])

    def limits(self, z: FloatArray | float) -> Limits:
        """Return the limits that the score test of (1 - R) A - R B = 0 does not reject.

        `z` is the normal quantile of all segments, or of each. Where all rows have the same kind of
        prediction, R is 1 or 0, and limits are Wilson's of the rows with a label.
        """
        z = np.broadcast_to(z, len(self.strata.rows))
        s, predicted = self.strata, self.predicted
        detected, missed = (s.only(used).n > 0 for used in (predicted, ~predicted))
        is_positive = np.where(predicted, s.right, s.labelled - s.right)
        nearest = 1 / (1 + ratio(z**2, is_positive.sum(axis=1)))
        low = np.where(missed, 0.0, np.nan_to_num(nearest))
        high = np.where(detected, 1.0, 1 - np.nan_to_num(nearest))
        at = np.flatnonzero(detected & missed)
        both, z = self.at(at), z[at]
        low[at] = both._root(z, unlabelled_right=False)
        high[at] = both._root(-z, unlabelled_right=True)
        return low, high

    def _root(self, z: FloatArray, *, unlabelled_right: bool) -> FloatArray:
        """Return the recalls at which the statistic, which falls, is z; 0 or 1 if it never is."""

        def excess(recall: FloatArray, at: Int64Array) -> FloatArray:
            return z[at] - self.at(at)._statistic(recall, unlabelled_right=unlabelled_right)

        low = np.full(len(z), _LOWEST)
        root = root_between(excess, low, 1 - low)
        return np.select([root <= low, root >= 1 - low], [0.0, 1.0], root)

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
        detected = np.where(self.predicted, w * p, 0).sum(axis=1)[:, None]
        missed = np.where(self.predicted, 0, w * (1 - p)).sum(axis=1)[:, None]
        total = (detected + missed) ** 2
        by_p = np.where(self.predicted, w * missed, w * detected) / total
        by_w = np.where(self.predicted, p * missed, -(1 - p) * detected) / total
        return by_p, by_w


def _smoothed_shares(s: Strata) -> FloatArray:
    """Return the share of right rows of each stratum, (x + 1/2) / (n + 1)."""
    return np.asarray((s.right + 0.5) / (s.labelled + 1))


def mean_recall_limits(recall: Recall, specificity: Recall, z: FloatArray | float) -> Limits:
    """Return limits of the mean of two recalls by MOVER, with the correlation of both.

    It is positive: a share that is too high in one stratum moves both. `z` is as in `Recall`.
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

    own, other = (by_p, by_w), (other_p, other_w)
    r = ratio(covariance(own, other), np.sqrt(covariance(own, own) * covariance(other, other)))
    r = np.clip(np.nan_to_num(r), -1, 1)
    first, second = recall.estimate, specificity.estimate
    (low, high), (other_low, other_high) = recall.limits(z), specificity.limits(z)
    middle = (first + second) / 2

    def half(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.sqrt(np.maximum(a**2 + b**2 + 2 * r * a * b, 0)) / 2

    lower = middle - half(first - low, second - other_low)
    upper = middle + half(high - first, other_high - second)
    return np.maximum(lower, 0), np.minimum(upper, 1)
