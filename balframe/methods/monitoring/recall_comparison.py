"""Comparisons of recalls now with those before: difference, variance, test of equality, limits."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.constrained_mle import WeightedBinomials, skewness_corrected_statistic
from balframe.stats.differences import difference_as_mean_recall
from balframe.stats.lazy_scipy import special
from balframe.stats.mean_recall import invert_score_test
from balframe.stats.proportions import Limits
from balframe.stats.root_finding import increasing_root

_NEWTON_STEPS, _NEWTON_TOLERANCE = 8, 1e-14


@dataclass(frozen=True, slots=True)
class RecallComparison:
    """Recalls of segments now (x / n) and before (y / m), with weights `a` of the labels.

    All arrays have the shape (comparisons, labels).
    """

    x: FloatArray
    n: FloatArray
    y: FloatArray
    m: FloatArray
    a: FloatArray

    @property
    def difference(self) -> FloatArray:
        """The score now minus the score before."""
        return np.asarray((self.a * (self.x / self.n - self.y / self.m)).sum(axis=1))

    @property
    def variance(self) -> FloatArray:
        """The variance of the difference if both have the same recalls, with half an error added.

        sum_k a_k^2 p_k (1 - p_k) (1/n_k + 1/m_k), p_k = (x_k + y_k + 1/2) / (n_k + m_k + 1).
        """
        p = (self.x + self.y + 0.5) / (self.n + self.m + 1)
        return np.asarray((self.a**2 * p * (1 - p) * (1 / self.n + 1 / self.m)).sum(axis=1))

    @property
    def statistic(self) -> FloatArray:
        """The statistic of the test of equal scores, negative where the score got worse.

        There it is the score statistic with a correction for skewness; elsewhere it is the
        difference over the root of its variance.
        """
        difference = self.difference
        z = difference / np.sqrt(self.variance)
        worse = np.flatnonzero(difference < 0)
        z[worse] = self.at(worse)._corrected_statistic()
        return z

    def _corrected_statistic(self) -> FloatArray:
        """Return the statistic of comparisons whose score got worse."""
        both = WeightedBinomials.of(
            *difference_as_mean_recall(self.x, self.n, self.y, self.m, self.a)
        )
        guess = -2 * self.difference / self.variance
        return skewness_corrected_statistic(both, *_equal_score_mle(both, guess))

    def limits(self, z: float) -> Limits:
        """Return the limits of the differences that the corrected score test accepts at z."""
        recalls = difference_as_mean_recall(self.x, self.n, self.y, self.m, self.a)
        lower, upper = invert_score_test(*recalls, z, skewness_corrected_statistic)
        return 2 * lower - 1, 2 * upper - 1

    def lowest_accepted_scores(
        self, excess: Callable[["RecallComparison", Int64Array], FloatArray]
    ) -> FloatArray:
        """Return the scores now at which a function of the comparisons changes its sign.

        Parameters
        ----------
        excess : function of some of the comparisons and their positions
            Increases with the score now; a comparison is accepted where it is above 0.

        Returns
        -------
        float array, shape (comparisons,)
            The recalls now are those of largest likelihood at that score, given the recalls before.
            NaN if a score of 0 is accepted, too.
        """
        scores = self.score_before
        out = np.full(len(scores), np.nan)
        none_correct = replace(self, x=np.zeros_like(self.x))
        is_rejected = excess(none_correct, np.arange(len(scores))) < 0
        positions = np.flatnonzero((scores > 0) & is_rejected)

        def at_logits(t: FloatArray, rows: Int64Array) -> FloatArray:
            at = positions[rows]
            return excess(self.at(at)._constrained_to(scores[at] * special.expit(t)), at)

        t = increasing_root(at_logits, np.full(len(positions), 2.0))
        out[positions] = scores[positions] * special.expit(t)
        return out

    def _constrained_to(self, scores: FloatArray) -> "RecallComparison":
        """Replace the recalls by those of largest likelihood at these scores."""
        _, p = WeightedBinomials.of(self.n * self.y / self.m, self.n, self.a).constrained_mle(
            scores
        )
        return replace(self, x=p.T * self.n)

    @property
    def score_before(self) -> FloatArray:
        """The score before."""
        return np.asarray((self.a * self.y / self.m).sum(axis=1))

    def mirrored(self) -> "RecallComparison":
        """Exchange correct and incorrect rows."""
        return RecallComparison(self.n - self.x, self.n, self.m - self.y, self.m, self.a)

    def at(self, comparisons: Int64Array) -> "RecallComparison":
        """Return these comparisons."""
        return RecallComparison(
            *(values[comparisons] for values in (self.x, self.n, self.y, self.m, self.a))
        )


def _equal_score_mle(c: WeightedBinomials, guess: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the multipliers and the estimates p_k for a score of 1/2, from observed ones below.

    Newton's method, which takes few steps from the multipliers of recalls that are pooled; where it
    does not converge, the search of `constrained_mle`.
    """
    x, n, a = c.n - c.x, c.n, c.a
    size = guess
    with np.errstate(all="ignore"):
        for _ in range(_NEWTON_STEPS):
            la = size * a
            root = np.sqrt((n - la) ** 2 + 4 * la * c.x)
            p = 2 * x / (n + la + root)
            excess = (a * p).sum(axis=0) - 0.5
            if (np.abs(excess) <= _NEWTON_TOLERANCE).all():
                break
            size = size + excess / (a * a * p * (1 - p) / root).sum(axis=0)
    multiplier, recalls = -size, 1 - p
    failed = np.flatnonzero(~((np.abs(excess) <= _NEWTON_TOLERANCE) & (size > 0)))
    if len(failed):
        half = np.full(len(failed), 0.5)
        multiplier[failed], recalls[:, failed] = c.at(failed).constrained_mle(half)
    return multiplier, recalls
