"""The kinds of confidence interval of ratios of two proportions of independent rows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.stats.base import GATE, Interval, IntervalRequest
from balframe.stats.constrained_mle import correct_for_skewness
from balframe.stats.effective_sample_size import RowsBySide, effective_rows
from balframe.stats.pairwise_ratios import risk_ratio_limits
from balframe.stats.proportions import Limits, Rows, normal_quantile
from balframe.stats.root_finding import increasing_root

# The odds ratio of two proportions: limits by its score test, corrected for skewness.
#
# Of P rows x_1 are selected, of N rows x_2, and s = x_1 + x_2 of all M. If the odds ratio is psi,
# the
# likelihood is largest where e of the P rows and s - e of the N rows are expected:
#
#     e (N - s + e) = psi (P - e) (s - e).
#
# With V_i = n_i p_i q_i and V = 1 / (1 / V_1 + 1 / V_2), the statistic is
# T = (x_1 - e) / sqrt(V M / (M - 1)), and its third central moment is
# k3 = V^3 [(1 - 2 p_1) / V_1^2 - (1 - 2 p_2) / V_2^2].
#
# References
# J. Cornfield, "A statistical problem arising from retrospective studies", Proceedings of the Third
# Berkeley Symposium 1956, for limits by the score test. J. J. Gart and J. Nam, "Approximate
# interval
# estimation of the ratio of binomial parameters: a review and corrections for skewness", Biometrics
# 1988, for the correction.


_LARGEST_LOG = 40.0  # of an odds ratio; limits beyond it are 0 or infinite


def odds_ratio_limits(
    first: Rows, second: Rows, upper_rows: tuple[Rows, Rows], z: float, *, wider: bool = False
) -> Limits:
    """Return the limits of the odds ratio of two proportions.

    Parameters
    ----------
    first, second : two float arrays, shape (pairs,)
        Selected rows and all rows of both proportions, for the lower limit.
    upper_rows : two pairs of float arrays
        The same for the upper limit.
    z : float
        Normal quantile, above 0.
    wider : bool, default False
        Whether to return the wider of these limits and those without the correction for skewness.

    Returns
    -------
    lower, upper : float arrays, shape (pairs,)
        0, and infinite, where no odds ratio is rejected on that side.
    """
    # the odds ratio of unselected rows is the inverse one
    (x, n), (y, m) = upper_rows
    x, n, y, m = np.hstack([(*first, *second), (n - x, n, m - y, m)])
    limits = [
        _lower_limit(x, n, y, m, z, corrected=corrected)
        for corrected in ((True, False) if wider else (True,))
    ]
    lower, inverse = np.split(np.min(limits, axis=0), 2)
    with np.errstate(divide="ignore"):
        return lower, 1 / inverse


def _lower_limit(
    x: FloatArray, n: FloatArray, y: FloatArray, m: FloatArray, z: float, *, corrected: bool
) -> FloatArray:
    """Return the odds ratio at which the statistic is z; 0 where it is below z everywhere."""
    lowest = np.full(len(x), -_LARGEST_LOG)
    rows = np.flatnonzero(_statistic(x, n, y, m, lowest, corrected=corrected) > z)
    x, n, y, m = (values[rows] for values in (x, n, y, m))

    def excess(t: FloatArray, at: Int64Array) -> FloatArray:
        """Return z less the statistic, which falls as the odds ratio grows."""
        return z - _statistic(x[at], n[at], y[at], m[at], t, corrected=corrected)

    above, below = (x + 0.5) * (m - y + 0.5), (n - x + 0.5) * (y + 0.5)
    spread = np.sqrt(sum(1 / (v + 0.5) for v in (x, n - x, y, m - y)))
    guess = np.log(above / below) - z * spread
    limit = np.zeros(len(lowest))
    limit[rows] = np.exp(increasing_root(excess, guess))
    return limit


def _statistic(
    x: FloatArray,
    n: FloatArray,
    y: FloatArray,
    m: FloatArray,
    log_ratio: FloatArray,
    *,
    corrected: bool,
) -> FloatArray:
    """Return the statistic at a logarithm of the odds ratio."""
    selected, total = x + y, n + m
    unselected = total - selected
    share, rest = 1 / (1 + np.exp(-log_ratio)), 1 / (1 + np.exp(log_ratio))
    e = _expected(n, m, selected, share, rest)
    not_e = _expected(n, m, unselected, rest, share)
    f = _expected(m, n, selected, rest, share)
    not_f = _expected(m, n, unselected, share, rest)
    variance_1, variance_2 = e * not_e / n, f * not_f / m
    both = np.where(variance_1 + variance_2 > 0, variance_1 + variance_2, 1)
    of_first, of_second = variance_2 / both, variance_1 / both  # V / V_1 and V / V_2
    variance = variance_1 * of_first
    error = np.sqrt(np.where(variance > 0, variance * total / (total - 1), np.inf))
    score = (x - e) / error
    if not corrected:
        return score
    third = variance * (of_first**2 * (not_e - e) / n - of_second**2 * (not_f - f) / m)
    return correct_for_skewness(score, third / error**3)


def _expected(
    n: FloatArray, m: FloatArray, s: FloatArray, w: FloatArray, v: FloatArray
) -> FloatArray:
    """Return how many of s selected rows are expected among n, beside m, with odds w / v.

    The root of (v - w) e^2 + [v (m - s) + w (n + s)] e - w n s = 0, without cancellation.
    """
    b = v * (m - s) + w * (n + s)
    root = np.sqrt(b * b + 4 * (v - w) * w * n * s)
    is_positive = b >= 0
    below = np.where(is_positive, b + root, 1)
    above = np.where(is_positive, 1, 2 * (v - w))
    direct = 2 * w * n * s / np.where(below > 0, below, 1)
    return np.where(is_positive, direct, (root - b) / above)


_Parts = tuple[FloatArray, FloatArray]
PartsOfBoth = Callable[[ClassCounts], tuple[_Parts, _Parts]]


@dataclass(frozen=True, slots=True)
class RatioOfProportions(Interval):
    """A proportion, or its odds, divided by another one of other rows.

    Parameters
    ----------
    parts : function of ClassCounts
        Returns x and n of the proportion above, and of the one below, as for `Proportion`.
    is_of_odds : bool, default False
        Whether it is an odds ratio.
    """

    parts: PartsOfBoth
    is_of_odds: bool = False

    @property
    def kind(self) -> str:
        """What kind of interval it is."""
        return "odds ratio" if self.is_of_odds else "ratio of proportions"

    def method_of(self, requested: str | None) -> str:
        """Return the only method; limits for gates are the wider of two."""
        return GATE if requested == GATE else "scas"

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Invert the score test, corrected for skewness, with both proportions' effective rows."""
        limits_of = odds_ratio_limits if self.is_of_odds else risk_ratio_limits
        lower, upper = np.full((2, len(estimate)), np.nan)
        at, first, second = _defined_rows(self.parts, sample.counts, estimate)
        lower[at], upper[at] = limits_of(
            first.lower,
            second.for_upper,
            (first.for_upper, second.lower),
            normal_quantile(request.level),
            wider=request.method == GATE,
        )
        return lower, upper

    def smallest_denominator(self, c: ClassCounts) -> Int64Array:
        """Count the rows of the smaller of both denominators."""
        (_, n), (_, m) = self.parts(c.in_rows)
        return np.minimum(n, m).astype(np.int64)


def _defined_rows(
    parts: PartsOfBoth, c: ClassCounts, estimate: FloatArray
) -> tuple[Int64Array, RowsBySide, RowsBySide]:
    """Return where the metric is defined, and the effective rows of both proportions there."""
    largest = (None, None) if c.largest is None else [part[1] for part in parts(c.largest)]
    first, second = (
        effective_rows(*own, *squared, None if most is None else np.asarray(most))
        for own, squared, most in zip(parts(c), parts(c.squared), largest, strict=True)
    )
    sizes: list[Rows] = [first.lower, first.for_upper, second.lower, second.for_upper]
    is_defined = np.isfinite(estimate) & np.all([np.isfinite(n) for _, n in sizes], axis=0)
    at = np.flatnonzero(is_defined)
    return at, first.at(at), second.at(at)
