"""The power of rules on means of recalls and on differences, from three moments of the score.

The limits of a score decide, so a rule fails if the score is below a critical value. The
probability of that is computed under the truth, from the first three moments of the score. Arrays
have one value for each segment.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.methods.gates.power_designs import StudyDesign, ratio_or_zero
from balframe.methods.gates.power_of_proportions import RandomRows
from balframe.stats.constrained_mle import correct_for_skewness
from balframe.stats.lazy_scipy import special
from balframe.stats.root_finding import increasing_root

_MIN_SHARE = 1e-9  # the share of a score that remains after the largest decrease
_MIN_REACH = 0.1  # standard errors, where the search for the sample size begins
_MIN_LOG_FACTOR = -12.0  # logarithm of the smallest factor of the rows that is tried

_Function = Callable[[FloatArray, Int64Array], FloatArray]


def skewness_corrected_critical_value(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the critical value of limits that are corrected for skewness.

    That is, how many standard deviations above its bound a score fails.
    """
    return np.asarray(skewness * (z * z - 1) / 6 - z)


def wider_critical_value(z: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the critical value of the wider of the limits with and without the correction."""
    return np.minimum(-z, skewness_corrected_critical_value(z, skewness))


@dataclass(frozen=True, slots=True)
class ScorePower:
    """The power of rules on scores with lower bounds, by the wider of two limits.

    `z` is the normal quantile of the limits. With `sampling`, the rows of the labels are those of a
    random sample; otherwise they are fixed.

    References
    ----------
    P. Hall, "On the removal of skewness by transformation", JRSS B 1992, for probabilities from
    three moments; C. P. Farrington and G. Manning, "Test statistics and sample size formulae for
    comparative binomial trials with null hypothesis of non-zero risk difference or non-unity
    relative risk", Statistics in Medicine 1990, for variances under the constraint.
    """

    design: StudyDesign
    bound: FloatArray
    z: FloatArray
    sampling: RandomRows | None = None

    @classmethod
    def of(
        cls,
        design: StudyDesign,
        bound: FloatArray,
        z: FloatArray,
        sampling: RandomRows | None = None,
    ) -> "ScorePower":
        """Clip the bounds to the range of the score."""
        inside = np.clip(bound, design.lowest + _MIN_SHARE, 1 - _MIN_SHARE)
        return cls(design, inside, z, sampling=sampling)

    def at(self, segments: Int64Array) -> "ScorePower":
        """Return these segments."""
        return replace(
            self,
            design=self.design.at(segments),
            bound=self.bound[segments],
            z=self.z[segments],
            sampling=None if self.sampling is None else self.sampling.at(segments),
        )

    def scaled(self, factor: FloatArray) -> "ScorePower":
        """Multiply the rows by a factor; the rates stay the same."""
        return replace(
            self,
            design=self.design.with_supports(self.design.supports * factor[:, None]),
            sampling=None if self.sampling is None else self.sampling.scaled(factor),
        )

    def fail_probability(self, score: FloatArray) -> FloatArray:
        """Return the probability that the upper limit is below the bound, at a true score."""
        truth = self.design.constrained_to(score)
        if self.sampling is None:
            return self._fail_probability_of(np.arange(len(score)), truth, score)
        segments, supports, probability = self.sampling.supports(truth.supports)
        drawn = truth.at(segments).with_supports(supports)
        fails = self._fail_probability_of(segments, drawn, score)
        mean = np.bincount(segments, weights=probability * fails, minlength=len(score))
        return np.asarray(mean, np.float64)

    def _fail_probability_of(
        self, segments: Int64Array, truth: StudyDesign, score: FloatArray
    ) -> FloatArray:
        """Return the probability for designs that belong to these segments."""
        bound, z, score = self.bound[segments], self.z[segments], score[segments]
        sd, skewness = truth.moments()
        sd_at_bound, skewness_at_bound = truth.constrained_to(bound).moments()
        reach = bound + sd_at_bound * wider_critical_value(z, skewness_at_bound)
        return _probability_below(reach - score, sd, skewness)

    @property
    def mirrored(self) -> "ScorePower":
        """The power with pass and fail exchanged."""
        design = self.design.mirrored()
        bound = -self.bound if design.lowest < 0 else 1 - self.bound
        return replace(self, design=design, bound=bound)

    def pass_probability(self) -> FloatArray:
        """Return the probability that the lower limit is above the bound, at the observed score."""
        mirrored = self.mirrored
        return mirrored.fail_probability(mirrored.design.score)

    def detectable_difference(self, power: FloatArray | float) -> FloatArray:
        """Return the smallest decrease of the score at which it fails with this probability.

        0 if it does so without a decrease, NaN if it never does.
        """
        power = np.broadcast_to(power, len(self.bound))
        max_decrease = self.design.score - self.design.lowest
        decrease = np.full(len(max_decrease), np.nan)
        decrease[self.fail_probability(self.design.score) >= power] = 0
        at_end = self.fail_probability(self.design.score - max_decrease * (1 - _MIN_SHARE))
        rows = np.flatnonzero(np.isnan(decrease) & (at_end > power) & (max_decrease > 0))
        selected = self.at(rows)

        def excess(t: FloatArray, at: Int64Array) -> FloatArray:
            part = selected.at(at)
            return (
                part.fail_probability(part.design.score - max_decrease[rows][at] * _to_share(t))
                - power[rows][at]
            )

        decrease[rows] = max_decrease[rows] * _to_share(
            increasing_root(excess, np.zeros(len(rows)))
        )
        return decrease

    def sample_size_factor(self, power: FloatArray | float) -> FloatArray:
        """Return the factor of the rows with which the score passes with this probability.

        The largest such factor if there are several; NaN if the score is not above its bound.
        """
        mirrored, is_above = self.mirrored, self.design.score > self.bound + 2 * _MIN_SHARE
        factor = np.full(len(is_above), np.nan)
        rows = np.flatnonzero(is_above)
        selected = mirrored.at(rows)
        power = np.broadcast_to(power, len(is_above))[rows]

        def excess(t: FloatArray, at: Int64Array) -> FloatArray:
            part = selected.at(at)
            return part.scaled(np.exp(t)).fail_probability(part.design.score) - power[at]

        moments = (
            selected.design.moments()[0],
            selected.design.constrained_to(selected.bound).moments()[0],
        )
        reach = np.maximum(selected.z + special.ndtri(power), _MIN_REACH) * np.maximum(*moments)
        guess = 2 * np.log(reach / (selected.bound - selected.design.score))
        factor[rows] = np.exp(_last_upward_root(excess, guess))
        return factor


def _probability_below(distance: FloatArray, sd: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the probability that a score is no more than this above its expectation."""
    z = correct_for_skewness(ratio_or_zero(distance, sd), skewness)
    return np.where(sd > 0, special.ndtr(z), distance >= 0)


def _to_share(t: FloatArray) -> FloatArray:
    """Map any number to a share between 0 and 1."""
    return np.asarray(special.expit(np.clip(t, -30, 21)))


def _last_upward_root(function: _Function, guess: FloatArray) -> FloatArray:
    """Return where functions become positive for the last time; they stay so from some point on.

    The lower end of the range that is searched if they are positive in all of it.
    """
    t = guess + 4
    rows = np.arange(len(t))
    for step in (1.0, -1.0):
        going = rows
        while len(going):
            going = going[step * function(t[going], going) < 0]
            going = going[t[going] > _MIN_LOG_FACTOR]
            t[going] += step
    inside = np.flatnonzero(t > _MIN_LOG_FACTOR)
    t[inside] = increasing_root(lambda value, at: function(value, inside[at]), t[inside] + 0.5)
    return np.maximum(t, _MIN_LOG_FACTOR)
