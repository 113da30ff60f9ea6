"""What the scores of every segment mean: observed shares beside the scores."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from balframe.api.metric_selection import Adjust
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import beginnings
from balframe.core.probability_scores import Probabilities
from balframe.core.safe_divide import ratio
from balframe.errors import InvalidInputError
from balframe.frames.adapter import Name
from balframe.frames.scores import Scored
from balframe.methods.calibration.kuiper import kuiper
from balframe.methods.calibration.observed_expected import limits_of_oe
from balframe.methods.calibration.recalibration import intercept, score_test, slope
from balframe.metrics.definitions.probability import (
    brier_score,
    discrimination,
    log_loss,
    miscalibration,
    oe_ratio,
    uncertainty,
)
from balframe.stats.isotonic import isotonic
from balframe.stats.multiple_testing import adjusted_within
from balframe.stats.proportions import wilson

_FEW = 20  # distinct scores, each of which is a bin


def calibration_in_rows(scored: Scored, level: float, adjust: Adjust) -> dict[Name, Any]:
    """Describe and test the calibration of every segment."""
    _check_probabilities(scored)
    p = Probabilities.of(scored.ties)
    statistic, kuiper_p = kuiper(p)
    p_value = score_test(p)
    adjusted, n_tests = adjusted_within(p_value, scored.reading.margin_of_segments(), adjust)
    return {
        "n": p.n_rows,
        "n_positive": p.n_positive,
        "observed": ratio(p.n_positive.astype(float), p.n_rows.astype(float)),
        "mean_score": ratio(p.expected, p.n_rows.astype(float)),
        **_with_limits("oe_ratio", oe_ratio(p), *limits_of_oe(p, level)),
        **_with_limits("intercept", *intercept(p, level)),
        **_with_limits("slope", *slope(p, level)),
        "brier_score": brier_score(p),
        "miscalibration": miscalibration(p),
        "discrimination": discrimination(p),
        "uncertainty": uncertainty(p),
        "log_loss": log_loss(p),
        "kuiper": statistic,
        "kuiper_p_value": kuiper_p,
        "p_value": p_value,
        "p_adjusted": adjusted,
        "n_tests": n_tests,
    }


def _with_limits(
    name: str, estimate: FloatArray, lower: FloatArray, upper: FloatArray
) -> Mapping[Name, FloatArray]:
    return {name: estimate, f"{name}_lower": lower, f"{name}_upper": upper}


def _check_probabilities(scored: Scored) -> None:
    """Raise where a score is not a probability."""
    ties = scored.ties
    is_outside = (ties.score < 0) | (ties.score > 1)
    if not is_outside.any():
        return
    finest = scored.reading.margin_codes()[ties.segment] == 0
    models = scored.reading.model_codes()[ties.segment]
    model = models[is_outside].min()
    n = int(ties.n[is_outside & finest & (models == model)].sum())
    name = scored.reading.query.y_pred[model]
    raise InvalidInputError(
        f"column {name!r} has {n} score{'s' * (n != 1)} outside [0, 1], but calibration is about "
        "probabilities. Give predicted probabilities, or call calibration_gaps, which compares "
        "segments at the same scores, whatever these are."
    )


def curve_in_rows(scored: Scored, bins: int, level: float) -> tuple[Int64Array, dict[Name, Any]]:
    """Count the rows of every segment by bins of scores; and give the segment of each row."""
    p = Probabilities.of(scored.ties)
    bin_of_tie = _bins(p, bins)
    starts = np.flatnonzero(beginnings((p.segment, bin_of_tie), len(p.segment)))

    def added(values: FloatArray | Int64Array) -> Any:  # noqa: ANN401 (of the same dtype)
        return np.add.reduceat(values, starts) if len(starts) else values

    segment, n, k = p.segment[starts], added(p.n), added(p.k)
    last = np.append(starts, len(p.segment))[1:] - 1
    lower, upper = wilson(k.astype(float), n.astype(float), level)
    columns: dict[Name, Any] = {
        "bin": np.arange(len(segment)) - np.searchsorted(segment, segment) + 1,
        "score_low": p.score[starts],
        "score_high": p.score[last],
        "n": n,
        "n_positive": k,
        "mean_score": ratio(added(p.n * p.score), n.astype(float)),
        "observed": ratio(k.astype(float), n.astype(float)),
        "lower": lower,
        "upper": upper,
        "isotonic": ratio(added(p.n * isotonic(p)), n.astype(float)),
    }
    return segment, columns


def _bins(p: Probabilities, bins: int) -> Int64Array:
    """Cut the ties of each segment into about equally large bins; few distinct scores are bins."""
    before = np.cumsum(p.n) - p.n - (np.cumsum(p.n_rows) - p.n_rows)[p.segment]
    middle = 2 * before + p.n  # twice the rows of the segment up to the middle of the tie
    quantile = np.minimum(middle * bins // (2 * p.n_rows[p.segment]), bins - 1)
    own = np.arange(len(p.segment)) - p.bounds[p.segment]
    is_few = np.diff(p.bounds)[p.segment] <= _FEW
    return np.asarray(np.where(is_few, own, quantile), np.int64)
