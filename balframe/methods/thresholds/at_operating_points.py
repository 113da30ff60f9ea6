"""Metrics at every point `score >= threshold`, a part of the points at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from balframe.api.interval_estimates import limits_of
from balframe.api.metric_selection import Scoring, value_of
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.counting_strategy import blocks
from balframe.core.operating_points import OperatingPoints
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.core.threads import on_all_cores
from balframe.core.two_labels import NEGATIVE, POSITIVE
from balframe.errors import InvalidInputError, parameter
from balframe.frames.scores import Scored
from balframe.later import special
from balframe.stats.effective_sample_size import kish
from balframe.stats.proportions import Limits
from balframe.stats.request import Request

_BLOCK = 65_536  # points at work at once, so that the arrays between stay in the cache


@dataclass(frozen=True, slots=True)
class AtPoints:
    """Rows called positive, values of the metrics and their limits, one for each point."""

    predicted_positive: Int64Array
    scores: Mapping[str, FloatArray]
    limits: Mapping[str, Limits]


def class_weights(scoring: Scoring, scored: Scored) -> FloatArray | str | None:
    """Put the weights of labels in the order of the negative and the positive one."""
    weights, labels = scoring.class_weight, scored.reading.labels
    if not isinstance(weights, Mapping):
        return weights
    if len(labels) > 2:
        raise InvalidInputError(
            f"{parameter('class_weight')} has weights for single labels, but here all labels other "
            f"than the positive one count as negative, and there are {len(labels)}: {labels}. "
            'Omit it, or give "balanced" or "prevalence".'
        )
    of_labels = labels.weights(weights)
    out = np.zeros(2)
    for code, weight in enumerate(of_labels):
        out[POSITIVE if code == scored.reading.pos_label() else NEGATIVE] = weight
    return out


def at_points(
    scoring: Scoring, scored: Scored, points: OperatingPoints, request: Request | None
) -> AtPoints:
    """Compute metrics, and limits of each where they are asked for."""
    weights = class_weights(scoring, scored)
    names = list(scoring.metrics)
    predicted_positive = np.empty(len(points), np.int64)
    scores = {name: np.empty(len(points)) for name in names}
    limited = [] if request is None else names
    limits = {name: (np.empty(len(points)), np.empty(len(points))) for name in limited}

    def work(block: slice) -> None:
        c = points.class_counts(block, weights)
        predicted_positive[block] = c.n_predicted[c.label == POSITIVE]
        found = {name: value_of(metric, c) for name, metric in scoring.metrics.items()}
        for name, values in found.items():
            scores[name][block] = values
        if request is not None:
            sample = Sample(c, partial(points.cells, block))
            of_block = limits_of(scoring.metrics, sample, found, request)
            for name, (lower, upper) in of_block.items():
                limits[name][0][block], limits[name][1][block] = lower, upper

    on_all_cores(work, blocks(slice(0, len(points)), _BLOCK))
    return AtPoints(predicted_positive, scores, limits)


def effective_sides(points: OperatingPoints) -> tuple[FloatArray, FloatArray]:
    """Count the positives and negatives of each segment, in effective rows if they have weights."""
    positives, negatives = (kish(n, n_sq) for n, n_sq in sides(points))
    return positives, negatives


def sides(points: OperatingPoints) -> Sequence[tuple[FloatArray, FloatArray]]:
    """Add up the weights of the positives and of the negatives of each segment, with squares."""
    totals = points.totals()
    n, n_sq = totals.support, totals.squared.support
    return [(n[at], n_sq[at]) for at in (totals.label == one for one in (POSITIVE, NEGATIVE))]


def band_half_width(points: OperatingPoints, level: float) -> FloatArray:
    """Find the half width of the simultaneous band of balanced accuracy of each segment.

    Half of c sqrt(1/P + 1/N), c the quantile of the Kolmogorov distribution: 1.358 at 95%.
    """
    positives, negatives = effective_sides(points)
    one = np.ones(len(positives))
    spread = np.sqrt(ratio(one, positives) + ratio(one, negatives))
    return np.asarray(0.5 * special.kolmogi(1 - level) * spread)
