"""Areas under ROC curves of segments beside the area of what they are compared with."""

from typing import Any

import numpy as np

from balframe.api.interval_estimates import clip_limits
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts, segments_at
from balframe.core.score_ties import Ties
from balframe.frames.adapter import Name
from balframe.frames.scores import ScoredFrame
from balframe.methods.comparisons.reference import (
    SegmentReference,
    check_unambiguous,
    find_reference,
    n_candidates,
)
from balframe.methods.thresholds.auc import RocAucs
from balframe.methods.thresholds.auc_clustered import (
    ClusteredRocAucs,
    cluster_segments,
    clustered_complement_aucs,
)
from balframe.methods.thresholds.auc_leave_one_out import complement_aucs
from balframe.metrics.definitions.ranking import Ranking
from balframe.stats.base import IntervalRequest
from balframe.stats.cluster_influence import correlation
from balframe.stats.differences import mover_difference

AnyRocAucs = RocAucs | ClusteredRocAucs

_COLUMNS = (
    *("reference_roc_auc", "roc_auc_difference"),
    *("roc_auc_difference_lower", "roc_auc_difference_upper"),
)


def auc_difference_columns(
    asked: object, scored: ScoredFrame, areas: AnyRocAucs, c: ClassCounts, level: float
) -> dict[Name, Any]:
    """Compare the segments of each group, whose areas and counts are given, with a reference."""
    reading = scored.counted_frame
    check_unambiguous(asked, reading)
    values = np.full((len(_COLUMNS), c.n_segments), np.nan)
    names, name_of = [], np.zeros(c.n_segments, np.int64)
    for number, group in enumerate(reading.groups()):
        own, members = areas.at(group.segments), segments_at(c, group.segments)
        one = find_reference(asked, own.auc, "higher", group, members, reading)
        request = IntervalRequest(None, level).together(n_candidates(asked, members))
        ties = scored.ties.at(group.segments)
        held = (
            None
            if scored.clusters is None
            else _select_cluster_ties(scored.clusters, group.segments)
        )
        values[:, group.segments] = _compare(one, own, (ties, held), request.level)
        name_of[group.segments] = number
        names.append(one.name)
    reference = {"reference": reading.text_column(names, name_of)}
    return reference | dict(zip(_COLUMNS, values, strict=True))


def _select_cluster_ties(held: Ties, segments: Int64Array) -> Ties:
    """Take the ties of the clusters of some segments."""
    return held.at(np.flatnonzero(np.isin(cluster_segments(held), segments)))


def _compare(
    one: SegmentReference, own: AnyRocAucs, rows: tuple[Ties, Ties | None], level: float
) -> tuple[FloatArray, ...]:
    """Give the reference's areas, the differences and their limits, where the two share no rows."""
    other = _reference_aucs(one, own, *rows)
    difference = own.auc - other.auc
    r: FloatArray | float = 0
    if isinstance(own, ClusteredRocAucs) and isinstance(other, ClusteredRocAucs):
        r = correlation(own.influence, other.influence)
    limits = mover_difference(own.auc, own.limits(level), other.auc, other.limits(level), r)
    lower, upper = clip_limits(*limits, difference, (-1, 1), around_estimate=True)
    shared = one.shares_rows(np.arange(len(difference)))
    lower, upper = (np.where(shared, np.nan, limit) for limit in (lower, upper))
    return other.auc, difference, lower, upper


def _reference_aucs(
    one: SegmentReference, own: AnyRocAucs, ties: Ties, held: Ties | None
) -> AnyRocAucs:
    """Put beside each segment of a group what it is compared with."""
    place = np.zeros(ties.n_segments, np.int64)
    if one.position is not None:
        return own.at(place + one.position)
    if one.name == "rest" and held is not None and len(place) > 1:
        return clustered_complement_aucs(ties, held)
    if one.name == "rest" or not len(place):
        return complement_aucs(ties)
    return RocAucs.of(Ranking.of(ties.rolled_up((), [0] * len(ties.by)))).at(place)
