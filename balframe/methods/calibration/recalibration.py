"""Logistic recalibration of scores: intercept, slope and O/E with limits, and a test of both.

The log odds of a positive row are a + b l with l = log(s / (1 - s)). Scores of 0 and 1 that are
right add nothing. A segment where one of them is wrong has no recalibration.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.probability_scores import ProbabilityScores
from balframe.methods.calibration.logistic_fit import fit_offset, labels_overlap, logits
from balframe.methods.calibration.observed_expected import intercept_limits, oe_ratio_limits
from balframe.methods.calibration.recalibration_test import recalibration_p_value
from balframe.methods.calibration.slope_limits import SlopeFit


@dataclass(frozen=True)
class Recalibration:
    """Recalibration of segments, with arrays of the shape (segments,).

    Parameters
    ----------
    intercept, intercept_lower, intercept_upper : float arrays
        The intercept of the recalibration whose slope is 1, which solves sum n expit(a + l) = O.
        NaN without scores between 0 and 1. Of a segment where these rows are all negative, the
        estimate and the lower limit are NaN, and where they are all positive, the upper one.
    slope, slope_lower, slope_upper : float arrays
        NaN where maximum likelihood has no finite slope: all rows are positive or all negative, or
        no positive row scores lower than a negative one, or none scores higher. NaN too where 100
        Newton steps do not converge.
    oe_ratio_lower, oe_ratio_upper : float arrays
        Limits of O / E, NaN where E is 0.
    p_value : float array
        Of the test that intercept and slope are 0 and 1. NaN without scores between 0 and 1.
    """

    intercept: FloatArray
    intercept_lower: FloatArray
    intercept_upper: FloatArray
    slope: FloatArray
    slope_lower: FloatArray
    slope_upper: FloatArray
    oe_ratio_lower: FloatArray
    oe_ratio_upper: FloatArray
    p_value: FloatArray


def recalibrate(p: ProbabilityScores, level: float) -> Recalibration:
    """Recalibrate the scores of every segment, with limits of this confidence level."""
    return Recalibration(*p.by_blocks(partial(_recalibrate_block, level=level)))


def _recalibrate_block(p: ProbabilityScores, level: float) -> tuple[FloatArray, ...]:
    uncertain = _finite_logits(p)
    has_both = (uncertain.n_positive > 0) & (uncertain.n_positive < uncertain.n_rows)
    intercept = fit_offset(uncertain, uncertain.n_positive.astype(np.float64), has_both)
    lower, upper = intercept_limits(uncertain, intercept, level)
    logit = replace(uncertain, score=logits(uncertain))
    overlap = labels_overlap(logit)
    fit = SlopeFit.of(logit.of_segments(overlap), intercept[overlap])
    slopes = np.full((3, p.n_segments), np.nan)
    slopes[:, overlap] = fit.slope, *fit.limits(level)
    return (
        intercept,
        lower,
        upper,
        *slopes,
        *oe_ratio_limits(p, uncertain, (lower, upper), level),
        recalibration_p_value(uncertain, logit.score, intercept, overlap, fit),
    )


def _finite_logits(p: ProbabilityScores) -> ProbabilityScores:
    """Keep the scores between 0 and 1, of segments whose scores of 0 and 1 are all right."""
    is_invalid = p.is_refuted | p.is_outside
    ties = p.uncertain
    return ties.where(~is_invalid[ties.segment]) if is_invalid.any() else ties
