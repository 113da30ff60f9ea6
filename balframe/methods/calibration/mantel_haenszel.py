"""Comparison of segments at the same scores: tests of equality, and Mantel-Haenszel differences."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.methods.calibration.cmh_test import EqualityTest, cmh_tests
from balframe.methods.calibration.conditional_excess import excess_p_value
from balframe.methods.calibration.strata import ScoreStrata
from balframe.stats.proportions import Limits, normal_quantile

_LEAST_SHARE = 1e-6  # of the difference: where a limit stands that has to exclude 0


@dataclass(frozen=True)
class SameScoreComparison:
    """Tests of all segments together, and the comparison of each segment with the rest.

    Parameters
    ----------
    all_equal, crossing : EqualityTest
        Statistic, degrees of freedom and p-value of the generalised Cochran-Mantel-Haenszel test,
        and of the test that also has power if differences change sign along the scores.
    observed, expected, ratio : float arrays, shape (segments,)
        Share of positive rows, the share expected from the strata, and the first over the second.
    difference, lower, upper : float arrays, shape (segments,)
        Mantel-Haenszel difference from the rest, and its limits.
    p_value : float array, shape (segments,)
        Of the test of each segment against the rest. NaN where the variance is 0.
    """

    all_equal: EqualityTest
    crossing: EqualityTest
    observed: FloatArray
    expected: FloatArray
    ratio: FloatArray
    difference: FloatArray
    lower: FloatArray
    upper: FloatArray
    p_value: FloatArray


def compare_at_same_scores(p: ProbabilityScores, level: float) -> SameScoreComparison:
    """Compare segments that have no row in common, all together and each with the rest."""
    strata = ScoreStrata.of(p)
    compare = partial(_compare_with_rest, level=level)
    return SameScoreComparison(*cmh_tests(strata), *strata.by_blocks(compare))


def _compare_with_rest(strata: ScoreStrata, level: float) -> tuple[FloatArray, ...]:
    """Return the shares of each segment and their ratio, difference, limits and p-value."""
    rows, observed, expected = map(strata.sum, (strata.n, strata.k, strata.expected))
    difference, lower, upper = mantel_haenszel(strata, normal_quantile(level))
    alpha, p_value = 1 - level, excess_p_value(strata)
    # limits always include a difference of 0, whose mid-p-value may be a little below 1
    p_value = np.where(difference == 0, np.maximum(p_value, alpha), p_value)
    return (
        ratio(observed, rows),
        ratio(expected, rows),
        ratio(observed, expected),
        difference,
        *_agreeing_limits(difference, (lower, upper), p_value < alpha),
        p_value,
    )


def _agreeing_limits(difference: FloatArray, limits: Limits, is_significant: BoolArray) -> Limits:
    """Move the limit nearer to 0 next to it, where 0 is on the side that the p-value contradicts.

    The limits are of a normal statistic, the p-value of the distribution of the counts: they can
    disagree on 0 where few positive rows are expected. No other difference is covered more or less.
    """
    lower, upper = limits
    least = _LEAST_SHARE * np.abs(difference)

    def moved(limit: FloatArray) -> FloatArray:
        return np.where(is_significant, np.maximum(limit, least), np.minimum(limit, 0))

    return (
        np.where(difference > 0, moved(lower), lower),
        np.where(difference < 0, -moved(-upper), upper),
    )


def mantel_haenszel(strata: ScoreStrata, z: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the difference of each segment's share of positive rows from that of the rest.

    sum w (k/n - k'/n') / sum w with w = n n' / N, over the strata. The limits are the differences d
    from which it is z standard errors away. Their variance is Sato's, (d P + Q) / (sum w)^2.
    With the variance at the estimate instead, limits of few rows have too low a coverage.

    Returns
    -------
    difference, lower, upper : float arrays, shape (segments,)
        NaN for a segment that has no stratum in common with another. The limits are NaN too where
        all outcomes of these strata are the same.

    References
    ----------
    N. Mantel and W. Haenszel, "Statistical aspects of the analysis of data from retrospective
    studies of disease", Journal of the National Cancer Institute 1959; T. Sato, "On the variance
    estimator for the Mantel-Haenszel risk difference", Biometrics 1989; B. Klingenberg, "A new and
    improved confidence interval for the Mantel-Haenszel risk difference", Statistics in Medicine
    2014.
    """
    n, k = strata.n, strata.k
    total, positive = strata.n_all[strata.position], strata.k_all[strata.position]
    n_rest, k_rest = total - n, positive - k
    weight = strata.sum(n * n_rest / total)
    difference = ratio(strata.sum((k * n_rest - k_rest * n) / total), weight)
    p_terms = (n**2 * k_rest - n_rest**2 * k + n * n_rest * (n_rest - n) / 2) / total**2
    q_terms = (k * (n_rest - k_rest) + k_rest * (n - k)) / (2 * total)
    scale = np.where(
        strata.sum(strata.variance) > 0, ratio(np.full(len(weight), z), weight), np.nan
    )
    shift = scale**2 * strata.sum(p_terms) / 2
    variance = 2 * difference * shift + scale**2 * strata.sum(q_terms)
    half = np.sqrt(np.maximum(variance, 0) + shift**2)
    middle = difference + shift
    return difference, np.maximum(middle - half, -1), np.minimum(middle + half, 1)
