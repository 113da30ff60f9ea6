"""Limits of differences from a reference that are tested repeatedly over time.

A window of fixed length shares its probability of error among a number of looks. The window of all
periods so far has a boundary that holds at all looks, however many there are.
"""

from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.constrained_mle import WeightedBinomials, skewness_corrected_statistic
from balframe.stats.differences import difference_as_mean_recall
from balframe.stats.lazy_scipy import special
from balframe.stats.mean_recall import invert_score_test
from balframe.stats.proportions import Limits
from balframe.stats.root_finding import increasing_root

_MIN_MARGIN = 1e-9  # so that the square of the margin is not 0
_TIGHTNESS = (
    1.5  # divided by the squared margin: the information at which the boundary is about narrowest
)


@dataclass(frozen=True, slots=True)
class RecallComparison:
    """Recalls of segments now (x / n) and in the reference (y / m), with weights `a` of the labels.

    All arrays have the shape (comparisons, labels).
    """

    x: FloatArray
    n: FloatArray
    y: FloatArray
    m: FloatArray
    a: FloatArray

    @property
    def difference(self) -> FloatArray:
        """The score now minus that of the reference."""
        return np.asarray((self.a * (self.x / self.n - self.y / self.m)).sum(axis=1))

    @property
    def information(self) -> FloatArray:
        """One over the variance of the difference, with half an error added to each recall."""
        variance = sum(
            self.a**2 * p * (1 - p) / rows
            for p, rows in (
                ((self.x + 0.5) / (self.n + 1), self.n),
                ((self.y + 0.5) / (self.m + 1), self.m),
            )
        )
        return np.asarray(1 / np.sum(variance, axis=1))

    def limits(self, z: FloatArray | float) -> Limits:
        """Return the limits of the differences that the corrected score test accepts at z."""
        recalls = difference_as_mean_recall(self.x, self.n, self.y, self.m, self.a)
        lower, upper = invert_score_test(*recalls, z, skewness_corrected_statistic)
        return 2 * lower - 1, 2 * upper - 1

    def control_scores(self, z: FloatArray | float) -> FloatArray:
        """Return the highest score now at which the upper limit of the difference is 0.

        The recalls are those of largest likelihood at that score, given the reference. NaN if even
        a score of 0 would not be low enough.
        """
        z = np.broadcast_to(z, len(self.n))
        scores = self.reference_score
        control_scores = np.full(len(self.n), np.nan)
        none_correct = replace(self, x=np.zeros_like(self.x))
        positions = np.flatnonzero((scores > 0) & (none_correct._test_statistic() < -z))

        def excess(t: FloatArray, rows: Int64Array) -> FloatArray:
            at = positions[rows]
            return (
                self.at(at).constrained_to(scores[at] * special.expit(t))._test_statistic() + z[at]
            )

        t = increasing_root(excess, np.full(len(positions), 2.0))
        control_scores[positions] = scores[positions] * special.expit(t)
        return control_scores

    def constrained_to(self, scores: FloatArray) -> "RecallComparison":
        """Replace the recalls by those of largest likelihood at these scores."""
        _, p = WeightedBinomials.of(self.n * self.y / self.m, self.n, self.a).constrained_mle(
            scores
        )
        return replace(self, x=p.T * self.n)

    @property
    def reference_score(self) -> FloatArray:
        """The score of the reference."""
        return np.asarray((self.a * self.y / self.m).sum(axis=1))

    def mirrored(self) -> "RecallComparison":
        """Exchange correct and incorrect rows."""
        return RecallComparison(self.n - self.x, self.n, self.m - self.y, self.m, self.a)

    def at(self, comparisons: Int64Array) -> "RecallComparison":
        """Return these comparisons."""
        return RecallComparison(
            *(values[comparisons] for values in (self.x, self.n, self.y, self.m, self.a))
        )

    def _test_statistic(self) -> FloatArray:
        """Return the statistic of the test of no difference."""
        both = WeightedBinomials.of(
            *difference_as_mean_recall(self.x, self.n, self.y, self.m, self.a)
        )
        return skewness_corrected_statistic(both, *both.constrained_mle(np.full(len(self.n), 0.5)))


def always_valid_quantile(
    information: FloatArray, margin: FloatArray | float, alpha: float
) -> FloatArray:
    """Return the quantile of a one-sided boundary that holds at all looks together.

    sqrt((1 + r/J) (ln(1 + J/r) + 2 ln(1 / (2 alpha)))) for the information J, with
    r = 1.5 / margin^2. The boundary is that of a mixture of normal distributions, and holds as the
    number of rows grows.

    References
    ----------
    H. Robbins, "Statistical methods related to the law of the iterated logarithm", Annals of
    Mathematical Statistics 1970; S. R. Howard and others, "Time-uniform, nonparametric,
    nonasymptotic confidence sequences", Annals of Statistics 2021.
    """
    rho = _TIGHTNESS / np.maximum(margin, _MIN_MARGIN) ** 2
    log_mixture = np.log1p(information / rho) - 2 * np.log(2 * alpha)
    return np.asarray(np.sqrt((1 + rho / information) * log_mixture))


def one_sided_quantile(alpha: float) -> float:
    """Return the normal quantile that is exceeded with a probability of alpha."""
    return float(-special.ndtri(alpha))
