"""Whether the same score means the same in every segment: tests, and differences to the rest."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.probability_scores import Probabilities
from balframe.core.safe_divide import ratio
from balframe.methods.calibration.cmh_test import Equality, equal_outcomes
from balframe.methods.calibration.strata import Strata
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import normal_quantile


@dataclass(frozen=True)
class SameScores:
    """Tests of all segments together, and each segment beside the rest of the rows.

    Parameters
    ----------
    all_equal, crossing : Equality
        Statistic, degrees of freedom and p-value of the generalised Cochran-Mantel-Haenszel test,
        and of the test that finds crossing too.
    observed, expected, ratio : float arrays, shape (segments,)
        Share of positive rows; the share expected at the same scores, which is that of the strata;
        and the first over the second.
    difference, lower, upper : float arrays, shape (segments,)
        Mantel-Haenszel difference to the rest, and its limits.
    p_value : float array, shape (segments,)
        Of the test of each segment against the rest. NaN where no row can differ from the rest.
    """

    all_equal: Equality
    crossing: Equality
    observed: FloatArray
    expected: FloatArray
    ratio: FloatArray
    difference: FloatArray
    lower: FloatArray
    upper: FloatArray
    p_value: FloatArray


def same_scores(p: Probabilities, level: float) -> SameScores:
    """Return the tests of one group of segments that have no row in common."""
    strata = Strata.of(p)
    work = partial(_beside_the_rest, z=normal_quantile(level))
    return SameScores(*equal_outcomes(strata), *strata.by_blocks(work))


def _beside_the_rest(strata: Strata, z: float) -> tuple[FloatArray, ...]:
    """Compute the shares of each segment, its difference with limits, and its p-value."""
    rows, observed, expected = map(strata.sum, (strata.n, strata.k, strata.expected))
    statistic = ratio((observed - expected) ** 2, strata.sum(strata.variance))
    return (
        ratio(observed, rows),
        ratio(expected, rows),
        ratio(observed, expected),
        *mantel_haenszel(strata, z),
        special.chdtrc(1, statistic),
    )


def mantel_haenszel(strata: Strata, z: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the difference of each segment's share of positive rows to that of the rest.

    sum w (k/n - k'/n') / sum w with w = n n' / N, over the strata. The limits are the differences d
    from which it is z standard errors away. Their variance is Sato's, (d P + Q) / (sum w)^2.
    With the variance at the estimate instead, limits of few rows hold the truth too seldom.

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
    of_p = (n**2 * k_rest - n_rest**2 * k + n * n_rest * (n_rest - n) / 2) / total**2
    of_q = (k * (n_rest - k_rest) + k_rest * (n - k)) / (2 * total)
    scale = np.where(
        strata.sum(strata.variance) > 0, ratio(np.full(len(weight), z), weight), np.nan
    )
    shift = scale**2 * strata.sum(of_p) / 2
    variance = 2 * difference * shift + scale**2 * strata.sum(of_q)
    half = np.sqrt(np.maximum(variance, 0) + shift**2)
    middle = difference + shift
    return difference, np.maximum(middle - half, -1), np.minimum(middle + half, 1)
