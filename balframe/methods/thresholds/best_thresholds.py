"""The threshold at which each segment scores best, and what it gains over a common one."""

import numpy as np

from balframe.api.metric_selection import Scoring
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.operating_points import OperatingPoints
from balframe.core.score_ties import Ties
from balframe.frames.adapter import Name
from balframe.frames.scores import Scored
from balframe.methods.thresholds.at_operating_points import at_points, effective_sides
from balframe.methods.thresholds.chance import highest_by_chance
from balframe.methods.thresholds.optimum import Optimum, optimum, point_at
from balframe.metrics.definitions.ranking import Ranking, roc_auc
from balframe.metrics.registry import Metric

_SIDES = ("recall", "specificity")


def best_thresholds(scored: Scored, scoring: Scoring, metric: str) -> dict[Name, FloatArray]:
    """Find the best threshold of each segment, of all together, and how the two score."""
    chosen = scoring.metrics[metric]
    points = scored.points()
    values = at_points(scoring, scored, points, None).scores[metric]
    best = optimum(points, chosen, values, scored.ties.n_segments)
    has_none = best.point < 0
    at_best = points.one_each(np.where(has_none, points.first, best.point + points.shift))
    sides = at_points(Scoring.of(list(_SIDES), None, ()), scored, at_best, None).scores
    common = _common_threshold(scored, scoring, chosen, metric)
    common_estimate = np.where(has_none, np.nan, point_at(points, common).of(values))
    threshold, lower = best.of(points.threshold), _plateau_lower(scored, points, best)
    sign = 1 if chosen.better == "higher" else -1
    return {
        "threshold": threshold,
        "plateau_lower": lower,
        "midpoint": _midpoint(threshold, lower),
        "estimate": best.of(values),
        **{name: np.where(has_none, np.nan, sides[name]) for name in _SIDES},
        "common_threshold": np.where(has_none, np.nan, common),
        "common_estimate": common_estimate,
        "gain": np.maximum(sign * (best.of(values) - common_estimate), 0),
        "chance_maximum": np.where(has_none, np.nan, _chance_maximum(scored, points, chosen)),
        "roc_auc": roc_auc(Ranking.of(scored.ties)),
    }


def _plateau_lower(scored: Scored, points: OperatingPoints, best: Optimum) -> FloatArray:
    """Find down to where the best point stays the same: minus infinity where all rows reach it.

    That is the next lower score, or the lowest threshold of a grid that the same rows reach.
    """
    if not len(points):
        return np.full(len(best.point), np.nan)
    rows = points.counts(0, slice(None))
    reaching = rows.tp + rows.fp
    n_segments = len(best.point)
    own = reaching[np.maximum(best.point, 0)]
    more = reaching > own[points.segment]
    n_more = np.bincount(points.segment[more], minlength=n_segments)
    n_points = np.bincount(points.segment, minlength=n_segments)
    same = np.cumsum(n_points) - n_points + n_more
    below = np.maximum(same - 1, 0) if scored.thresholds.is_exact else same
    lower = points.threshold[np.minimum(below, len(points) - 1)]
    lower = np.where(own == rows.total[np.maximum(best.point, 0)], -np.inf, lower)
    return np.where(best.point < 0, np.nan, lower)


def _midpoint(threshold: FloatArray, lower: FloatArray) -> FloatArray:
    """Find the middle of a plateau; its threshold where it has no lower end."""
    finite = np.where(np.isneginf(lower), threshold, lower)
    middle = threshold / 2 + finite / 2
    return np.where((finite < middle) & (middle < threshold), middle, threshold)


def _common_threshold(scored: Scored, scoring: Scoring, chosen: Metric, metric: str) -> FloatArray:
    """Find the best threshold of all segments together, for the model of each segment."""
    ties, model = scored.of_models()
    everybody = Scored(scored.reading, ties, scored.thresholds)
    points = everybody.points()
    values = at_points(scoring, everybody, points, None).scores[metric]
    best = optimum(points, chosen, values, ties.n_segments)
    return best.of(points.threshold)[model]


def _chance_maximum(scored: Scored, points: OperatingPoints, chosen: Metric) -> FloatArray:
    """Bound the best value of scores that ignore the label: about 5% of samples exceed it."""
    positives, negatives = effective_sides(points)
    if not chosen.interval.rises_with_both_recalls:
        return np.full(len(positives), np.nan)
    highest = highest_by_chance(positives, negatives, _cuts(scored.ties), 0.95)
    return chosen.interval.rescaled(points.totals(), highest)


def _cuts(ties: Ties) -> Int64Array:
    """Count the thresholds of each segment that have scores on both sides."""
    weights = (ties.positive.weight, ties.negative.weight)
    weighted = [weight for weight in weights if weight is not None]
    counts = np.add(*weighted) > 0 if weighted else np.ones(len(ties.segment), np.bool_)
    distinct = np.bincount(ties.segment[counts], minlength=ties.n_segments)
    return np.maximum(distinct - 1, 0)
