"""Limits of differences from a reference that are looked at again and again over time.

A window of fixed length shares its probability of error over a number of looks. The window of all
periods so far has a boundary that holds at every look, however many there are.
"""

from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.constrained_mle import Segments, corrected
from balframe.stats.differences import stacked
from balframe.stats.lazy_scipy import special
from balframe.stats.mean_recall import not_rejected
from balframe.stats.proportions import Limits
from balframe.stats.root_finding import increasing_root

_LEAST = 1e-9  # of the margin, whose square has to be a number
_TIGHTNESS = 1.5  # over the margin squared: the boundary is narrowest at about that information


@dataclass(frozen=True, slots=True)
class Pairs:
    """A segment now beside its reference: correct rows and rows of both, and the weights.

    All have the shape (pairs, labels).
    """

    x: FloatArray
    n: FloatArray
    y: FloatArray
    m: FloatArray
    a: FloatArray

    @property
    def difference(self) -> FloatArray:
        """How much higher the score is now."""
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
        """Find the differences that the skewness-corrected score test does not reject at z."""
        recalls = stacked(self.x, self.n, self.y, self.m, self.a)
        lower, upper = not_rejected(*recalls, z, corrected)
        return 2 * lower - 1, 2 * upper - 1

    def controls(self, z: FloatArray | float) -> FloatArray:
        """Find the highest score now at which the upper limit of the difference is 0.

        The recalls fall from those of the reference as they do under a constraint. NaN where even
        a score of 0 would not be low enough.
        """
        z = np.broadcast_to(z, len(self.n))
        scores = self.reference
        found = np.full(len(self.n), np.nan)
        none_correct = replace(self, x=np.zeros_like(self.x))
        some = np.flatnonzero((scores > 0) & (none_correct._test() < -z))

        def excess(t: FloatArray, rows: Int64Array) -> FloatArray:
            at = some[rows]
            return self.at(at).fallen_to(scores[at] * special.expit(t))._test() + z[at]

        t = increasing_root(excess, np.full(len(some), 2.0))
        found[some] = scores[some] * special.expit(t)
        return found

    def fallen_to(self, scores: FloatArray) -> "Pairs":
        """Let recalls fall from those of the reference, as they do under a constraint."""
        _, p = Segments.of(self.n * self.y / self.m, self.n, self.a).held_at(scores)
        return replace(self, x=p.T * self.n)

    @property
    def reference(self) -> FloatArray:
        """The score of the reference."""
        return np.asarray((self.a * self.y / self.m).sum(axis=1))

    def mirrored(self) -> "Pairs":
        """Count wrong rows in place of correct ones."""
        return Pairs(self.n - self.x, self.n, self.m - self.y, self.m, self.a)

    def at(self, pairs: Int64Array) -> "Pairs":
        """Take some of the pairs."""
        return Pairs(*(v[pairs] for v in (self.x, self.n, self.y, self.m, self.a)))

    def _test(self) -> FloatArray:
        """Compute the statistic of no difference."""
        both = Segments.of(*stacked(self.x, self.n, self.y, self.m, self.a))
        return corrected(both, *both.held_at(np.full(len(self.n), 0.5)))


def always_valid(information: FloatArray, margin: FloatArray | float, alpha: float) -> FloatArray:
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
    rho = _TIGHTNESS / np.maximum(margin, _LEAST) ** 2
    grown = np.log1p(information / rho) - 2 * np.log(2 * alpha)
    return np.asarray(np.sqrt((1 + rho / information) * grown))


def one_sided(alpha: float) -> float:
    """Return the normal quantile that is exceeded with a probability of alpha."""
    return float(-special.ndtri(alpha))
