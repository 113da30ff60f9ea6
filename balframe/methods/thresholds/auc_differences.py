"""Differences of areas under ROC curves between segments and their references."""

from typing import Any

import numpy as np

from balframe.api.interval_estimates import clip_limits
from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts, segments_at
from balframe.core.cluster_ties import cluster_segments
from balframe.core.ranking import Ranking
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
from balframe.methods.thresholds.auc_clustered import ClusteredRocAucs, clustered_complement_aucs
from balframe.methods.thresholds.auc_leave_one_out import complement_aucs
from balframe.stats.base import IntervalRequest
from balframe.stats.cluster_influence import influence_correlation
from balframe.stats.differences import mover_difference

AnyRocAucs = RocAucs | ClusteredRocAucs

_COLUMNS = (
    *("reference_roc_auc", "roc_auc_difference"),
    *("roc_auc_difference_lower", "roc_auc_difference_upper"),
)


def auc_difference_columns(
    option: object, scored: ScoredFrame, aucs: AnyRocAucs, c: ClassCounts, level: float
) -> dict[Name, Any]:
    """Return the columns that compare the segments of each group with a reference."""
    counted_frame = scored.counted_frame
    check_unambiguous(option, counted_frame)
    values = np.full((len(_COLUMNS), c.n_segments), np.nan)
    names, name_codes = [], np.zeros(c.n_segments, np.int64)
    for code, group in enumerate(counted_frame.groups()):
        group_aucs, group_counts = aucs.at(group.segments), segments_at(c, group.segments)
        reference = find_reference(
            option, group_aucs.auc, "higher", group, group_counts, counted_frame
        )
        request = IntervalRequest(None, level).bonferroni(n_candidates(option, group_counts))
        ties, cluster_ties = scored.ties.at(group.segments), scored.clusters
        if cluster_ties is not None:
            is_member = np.isin(cluster_segments(cluster_ties), group.segments)
            cluster_ties = cluster_ties.at(np.flatnonzero(is_member))
        values[:, group.segments] = _compare(
            group_aucs, reference, (ties, cluster_ties), request.level
        )
        name_codes[group.segments] = code
        names.append(reference.name)
    reference_column = {"reference": counted_frame.text_column(names, name_codes)}
    return reference_column | dict(zip(_COLUMNS, values, strict=True))


def _compare(
    aucs: AnyRocAucs, reference: SegmentReference, ties: tuple[Ties, Ties | None], level: float
) -> tuple[FloatArray, ...]:
    """Return the reference's areas, the differences and their limits.

    A segment that shares rows with the reference has no limits.
    """
    reference_aucs = _reference_aucs(aucs, reference, *ties)
    difference = aucs.auc - reference_aucs.auc
    r: FloatArray | float = 0
    if isinstance(aucs, ClusteredRocAucs) and isinstance(reference_aucs, ClusteredRocAucs):
        r = influence_correlation(aucs.influence, reference_aucs.influence)
    limits = mover_difference(
        aucs.auc, aucs.limits(level), reference_aucs.auc, reference_aucs.limits(level), r
    )
    lower, upper = clip_limits(*limits, difference, (-1, 1), around_estimate=True)
    shares_rows = reference.shares_rows(np.arange(len(difference)))
    lower, upper = (np.where(shares_rows, np.nan, limit) for limit in (lower, upper))
    return reference_aucs.auc, difference, lower, upper


def _reference_aucs(
    aucs: AnyRocAucs, reference: SegmentReference, ties: Ties, cluster_ties: Ties | None
) -> AnyRocAucs:
    """Return the area of the reference for each segment of a group."""
    zeros = np.zeros(ties.n_segments, np.int64)
    if reference.position is not None:
        return aucs.at(zeros + reference.position)
    if reference.name == "rest" and cluster_ties is not None and len(zeros) > 1:
        return clustered_complement_aucs(ties, cluster_ties)
    if reference.name == "rest" or not len(zeros):
        return complement_aucs(ties)
    return RocAucs.of(Ranking.of(ties.rolled_up((), [0] * len(ties.by)))).at(zeros)
