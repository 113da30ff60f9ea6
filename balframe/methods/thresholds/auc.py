"""Areas under the ROC curves of segments, with what their confidence limits need."""

from dataclasses import dataclass, fields

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.methods.thresholds.curve import effective_class_sizes
from balframe.metrics.definitions.ranking import Ranking, roc_auc
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import Limits, normal_quantile
from balframe.stats.root_finding import increasing_root

# Confidence limits of the area under the ROC curve.


_EQUAL_WEIGHT_ROWS = 50  # rows of the smaller side, but one, at which both variances count as much
_ONE_ROW = 1 + 1e-9  # effective rows up to which a side has one row and its spread no digits
_QUANTILE_RANGE = (1e-50, 1e50)  # so that levels next to 0 and 1 have limits too


def delong_variance(
    positive_spread: FloatArray,
    negative_spread: FloatArray,
    n_positive: FloatArray,
    n_negative: FloatArray,
) -> FloatArray:
    """Estimate the variance of the area: S10 / P + S01 / N.

    S10 is the sample variance of the shares of negatives that lie below the positives, and S01 that
    of the shares of positives above the negatives. A side with one row adds nothing.

    Parameters
    ----------
    spread_of_positives, spread_of_negatives : float arrays, shape (segments,)
        Mean squared deviations of these shares from the area.
    n_positive, n_negative : float arrays, shape (segments,)
        Rows of either side, or effective rows.

    References
    ----------
    E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more
    correlated receiver operating characteristic curves: a nonparametric approach", Biometrics 1988.
    """
    sides = ((positive_spread, n_positive), (negative_spread, n_negative))
    of_positives, of_negatives = (
        np.where(n <= _ONE_ROW, 0, ratio(spread, n - 1)) for spread, n in sides
    )
    return of_positives + of_negatives


def auc_limits(
    auc: FloatArray,
    variance: FloatArray,
    n_positive: FloatArray,
    n_negative: FloatArray,
    level: float,
) -> Limits:
    """Find the areas t that the observed one is z standard errors away from.

    |AUC - t| = z sqrt(s V(t)). V is the variance that holds for exponential distributions of the
    scores of either side, in its brackets with M = (P + N) / 2 rows of each:
    V(t) = t (1 - t) [1 + (M - 1) ((1 - t)/(2 - t) + t/(1 + t))] / (P N).
    The more rows the smaller side has, the more s turns it into the variance estimated from the
    data: s = (m r + 50 max(r, 1)) / (m + 50) with m = min(P, N) - 1 and r = variance / V(AUC),
    which is 1 where the area is 0 or 1. So a perfect ranking has limits, and the shape of the curve
    counts where there are rows enough to know it.

    Parameters
    ----------
    auc : float array, shape (segments,)
        NaN where it is undefined, as its limits are then.
    variance : float array, shape (segments,)
        DeLong's, as `delong_variance` gives it.
    n_positive, n_negative : float arrays, shape (segments,)
        Rows of either side, at least 1, or effective rows.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)

    References
    ----------
    R. G. Newcombe, "Confidence intervals for an effect size measure based on the Mann-Whitney
    statistic. Part 2: asymptotic methods and evaluation", Statistics in Medicine 2006 (method 5).
    """
    lower, upper = (np.full(len(auc), np.nan) for _ in range(2))
    given = (auc, variance, n_positive, n_negative)
    rows = np.flatnonzero(np.isfinite(given).all(axis=0))
    area, observed, positives, negatives = (values[rows] for values in given)
    beyond, mean, pairs = 1 - area, (positives + negatives) / 2, positives * negatives
    expected = area * beyond * _variance_factor(area, beyond, mean) / pairs
    relative = np.where(expected > 0, ratio(observed, expected), 1)
    fewer = np.minimum(positives, negatives) - 1
    scale = (fewer * relative + _EQUAL_WEIGHT_ROWS * np.maximum(relative, 1)) / (
        fewer + _EQUAL_WEIGHT_ROWS
    )
    z = np.clip(normal_quantile(level), *_QUANTILE_RANGE)
    factor = 2 * np.log(z) + np.log(scale / pairs)
    lower[rows], _ = _lower_limit(area, beyond, mean, factor)
    _, upper[rows] = _lower_limit(beyond, area, mean, factor)
    return lower, upper


def logit_limits(auc: FloatArray, variance: FloatArray, quantile: FloatArray) -> Limits:
    """Find limits on the scale of log(t / (1 - t)); NaN where the area is 0 or 1.

    Shapes as in `auc_limits`, with a quantile for each segment.
    """
    inside = (auc > 0) & (auc < 1)
    area = np.where(inside, auc, np.nan)
    half = quantile * np.sqrt(variance) / (area * (1 - area))
    centre = special.logit(area)
    return special.expit(centre - half), special.expit(centre + half)


def _variance_factor(t: FloatArray, beyond: FloatArray, mean: FloatArray) -> FloatArray:
    """Give P N V(t) / (t (1 - t)), `beyond` being 1 - t."""
    return 1 + (mean - 1) * (beyond / (1 + beyond) + t / (1 + t))


def _lower_limit(
    area: FloatArray, beyond: FloatArray, mean: FloatArray, factor: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Find the limit below an area, and what it lacks to 1.

    The limit is the area times a share, so that neither it nor its distances from the area and
    from 1 are differences of larger numbers: `beyond` is 1 - area. `factor` is log(z^2 s / (P N)).
    """
    limit, rest = np.zeros(len(area)), np.ones(len(area))
    rows = np.flatnonzero(area > 0)
    area, beyond, mean, factor = (values[rows] for values in (area, beyond, mean, factor))

    def split(logit: FloatArray, at: Int64Array) -> tuple[FloatArray, FloatArray]:
        return area[at] * special.expit(logit), beyond[at] + area[at] * special.expit(-logit)

    def excess(logit: FloatArray, at: Int64Array) -> FloatArray:
        """Compare z^2 s V(t) with (AUC - t)^2, as logarithms: positive above the limit."""
        t, lacking = split(logit, at)
        logs = special.log_expit(logit) - 2 * special.log_expit(-logit) - np.log(area[at])
        value: FloatArray = (
            factor[at] + logs + np.log(lacking * _variance_factor(t, lacking, mean[at]))
        )
        return value

    if len(rows):
        root = increasing_root(excess, np.zeros(len(rows)))
        limit[rows], rest[rows] = split(root, np.arange(len(rows)))
    return limit, rest


@dataclass(frozen=True, slots=True)
class RocAucs:
    """Areas, the spreads of the placements of either side, and its effective rows.

    What is undefined is NaN.
    """

    auc: FloatArray
    positive_spread: FloatArray
    negative_spread: FloatArray
    n_positive: FloatArray
    n_negative: FloatArray

    @classmethod
    def of(cls, ranking: Ranking) -> "RocAucs":
        """Take those of all segments."""
        auc = roc_auc(ranking)
        return cls(auc, *ranking.placement_variances(auc), *effective_class_sizes(ranking.points))

    @classmethod
    def undefined(cls, n_segments: int) -> "RocAucs":
        """Know nothing of so many segments."""
        return cls(*np.full((len(fields(cls)), n_segments), np.nan))

    def at(self, segments: Int64Array) -> "RocAucs":
        """Take the segments at these positions, in this order and as often as they are given."""
        return RocAucs(*(getattr(self, one.name)[segments] for one in fields(self)))

    def replace_segment(self, segment: int, other: "RocAucs") -> None:
        """Replace what is known of a segment by that of the only one of others."""
        for one in fields(self):
            getattr(self, one.name)[segment] = getattr(other, one.name).item()

    def variance(self) -> FloatArray:
        """Estimate the variance of the areas if rows are independent."""
        return delong_variance(
            self.positive_spread, self.negative_spread, self.n_positive, self.n_negative
        )

    def limits(self, level: float) -> Limits:
        """Find the confidence limits of the areas."""
        sizes = (self.n_positive, self.n_negative)
        return auc_limits(self.auc, self.variance(), *sizes, level)
