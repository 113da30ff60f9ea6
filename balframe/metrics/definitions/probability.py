"""Scores as forecasts: how far they are the probabilities that they claim to be.

O is the number of positive rows and E the sum of the scores. The isotonic regression of y on s is
the increasing function of the score that has the smallest Brier score in the segment.
"""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.metrics.score_intervals import OwnInterval
from balframe.metrics.score_metrics import score_metric
from balframe.stats.isotonic import isotonic_regression

_METHOD, _CORP = "calibration", "Dimitriadis, Gneiting and Jordan 2021"


@score_metric(
    range=(0, np.inf),
    better=None,
    aliases=("observed_over_expected",),
    method=_METHOD,
    interval=OwnInterval("ratio to an expected number"),
)
def oe_ratio(p: ProbabilityScores) -> FloatArray:
    """Observed over expected number of positive rows: O / E."""
    with np.errstate(over="ignore"):
        quotient = ratio(p.n_positive, p.expected)
    return _if_probabilities(p, np.where(np.isfinite(quotient), quotient, np.nan))


def brier_score(p: ProbabilityScores) -> FloatArray:
    """Mean of (s - y)^2: miscalibration - discrimination + uncertainty (Brier 1950)."""
    errors = p.k * (1 - p.score) ** 2 + (p.n - p.k) * p.score**2
    return _mean(p, errors)


@score_metric(range=(0, 1), better="lower", method=_METHOD, source=_CORP)
def miscalibration(p: ProbabilityScores) -> FloatArray:
    """Brier score lost to miscalibrated scores: brier(s) - brier(isotonic regression of y on s)."""
    fitted = isotonic_regression(p)
    lost = (p.score - fitted) * (p.n * (p.score + fitted) - 2 * p.k)
    return np.maximum(_mean(p, lost), 0)


@score_metric(range=(0, 0.25), method=_METHOD, source=_CORP)
def discrimination(p: ProbabilityScores) -> FloatArray:
    """Brier score gained by scores: brier(O / n) - brier(isotonic regression of y on s)."""
    return _mean(p, p.n * (isotonic_regression(p) - p.spread(ratio(p.n_positive, p.n_rows))) ** 2)


@score_metric(range=(0, 0.25), better=None, method=_METHOD, source=_CORP)
def uncertainty(p: ProbabilityScores) -> FloatArray:
    """Brier score of the observed share of positive rows: O (n - O) / n^2."""
    share = ratio(p.n_positive, p.n_rows)
    return _if_probabilities(p, share * ratio(p.n_rows - p.n_positive, p.n_rows))


def log_loss(p: ProbabilityScores) -> FloatArray:
    """Mean negative log-likelihood of the labels, undefined where a score of 0 or 1 is wrong."""
    with np.errstate(divide="ignore", invalid="ignore"):
        of_positives = np.where(p.k > 0, p.k * np.log(p.score), 0)
        of_negatives = np.where(p.k < p.n, (p.n - p.k) * np.log1p(-p.score), 0)
    loss = _mean(p, 0 - of_positives - of_negatives)
    return np.where(np.isfinite(loss), loss, np.nan)


def _mean(p: ProbabilityScores, values: FloatArray) -> FloatArray:
    """Average over the rows of each segment."""
    return _if_probabilities(p, ratio(p.sum(values), p.n_rows))


def _if_probabilities(p: ProbabilityScores, values: FloatArray) -> FloatArray:
    return np.where(p.is_outside, np.nan, values)
