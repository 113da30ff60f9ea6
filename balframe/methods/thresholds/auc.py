"""Areas under the ROC curves of segments, and their confidence limits."""

from dataclasses import dataclass, fields

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array, IntegerArray
from balframe.core.cluster_ties import cluster_segments, matching_ties
from balframe.core.counting_strategy import blocks
from balframe.core.operating_points import OperatingPoints
from balframe.core.prefix_sums import PrefixSums
from balframe.core.ranking import Ranking
from balframe.core.safe_divide import ratio
from balframe.core.score_ties import Ties
from balframe.core.threads import run_on_all_cores
from balframe.methods.thresholds.curve import effective_class_sizes
from balframe.metrics.clustered_scores import weights_and_squares
from balframe.metrics.definitions.ranking import roc_auc
from balframe.stats.cluster_influence import Influence, cr2_influence
from balframe.stats.effective_sample_size import kish_effective_size
from balframe.stats.proportions import Limits
from balframe.stats.roc_auc_limits import auc_limits, delong_variance, logit_limits


@dataclass(frozen=True, slots=True)
class RocAucs:
    """Areas, the spreads of the placements of each class, and its effective rows.

    Undefined values are NaN.
    """

    auc: FloatArray
    positive_spread: FloatArray
    negative_spread: FloatArray
    n_positive: FloatArray
    n_negative: FloatArray

    @classmethod
    def of(cls, ranking: Ranking) -> "RocAucs":
        """Return the areas of all segments of a ranking."""
        auc = roc_auc(ranking)
        return cls(auc, *ranking.placement_variances(auc), *effective_class_sizes(ranking.points))

    @classmethod
    def undefined(cls, n_segments: int) -> "RocAucs":
        """Return undefined areas."""
        return cls(*np.full((len(fields(cls)), n_segments), np.nan))

    def at(self, segments: Int64Array) -> "RocAucs":
        """Return the segments at these positions, which may repeat."""
        return RocAucs(*(getattr(self, field.name)[segments] for field in fields(self)))

    def replace_segment(self, segment: int, other: "RocAucs") -> None:
        """Overwrite a segment with the only segment of other areas."""
        for field in fields(self):
            getattr(self, field.name)[segment] = getattr(other, field.name).item()

    def variance(self) -> FloatArray:
        """Return DeLong's variance of the areas, for independent rows."""
        return delong_variance(
            self.positive_spread, self.negative_spread, self.n_positive, self.n_negative
        )

    def limits(self, level: float) -> Limits:
        """Return the confidence limits of the areas, for independent rows."""
        sizes = (self.n_positive, self.n_negative)
        return auc_limits(self.auc, self.variance(), *sizes, level)


@dataclass(frozen=True)
class ClusteredRocAucs:
    """Areas, the influence of clusters on them, and their number.

    `are_single` is whether each row is its own cluster.
    """

    aucs: RocAucs
    influence: Influence
    n_clusters: Int64Array
    are_single: BoolArray

    @property
    def auc(self) -> FloatArray:
        """The areas."""
        return self.aucs.auc

    @classmethod
    def of(cls, ranking: Ranking, aucs: RocAucs, cluster_ties: Ties) -> "ClusteredRocAucs":
        """Return the areas of all segments; clusters are the last by-column of their ties."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return cls._of(ranking, aucs, cluster_ties)

    @classmethod
    def _of(cls, ranking: Ranking, aucs: RocAucs, cluster_ties: Ties) -> "ClusteredRocAucs":
        segment = cluster_segments(cluster_ties)
        at = matching_ties(ranking.ties, segment[cluster_ties.segment], cluster_ties.score)
        expected = aucs.auc[ranking.ties.segment[at]]
        n_clusters = cluster_ties.n_segments
        value, variance = np.zeros((2, n_clusters))
        n_rows, n_effective = np.zeros((2, n_clusters))
        classes = zip(
            (cluster_ties.positive, cluster_ties.negative),
            (ranking.positive_placements[at], ranking.negative_placements[at]),
            (aucs.n_positive, aucs.n_negative),
            (aucs.positive_spread, aucs.negative_spread),
            strict=True,
        )
        for side, placement, n, spread in classes:
            rows = np.asarray(side.row_counts, np.float64)
            weight, weight_sq = weights_and_squares(side)
            distance = np.where(rows > 0, weight * (placement - expected), 0)
            sums, cluster_weight, cluster_sq, cluster_rows = (
                _grouped(values, cluster_ties.segment, n_clusters)
                for values in (distance, weight, weight_sq, rows)
            )
            total, total_sq = (
                _grouped(values, segment, len(aucs.auc))[segment]
                for values in (cluster_weight, cluster_sq)
            )
            value += cr2_influence(sums, total, ratio(cluster_weight, total))
            variance += (spread / n)[segment] * ratio(cluster_sq, total_sq)
            n_rows += cluster_rows
            n_effective += np.nan_to_num(kish_effective_size(cluster_weight, cluster_sq))
        used = np.flatnonzero(n_effective)
        influence = Influence(
            segment[used],
            cluster_ties.by[-1][used],
            np.ones(len(used), np.int64),
            value[used],
            variance[used],
            n_effective[used],
            aucs.variance(),
        )
        counts, several = (
            np.bincount(segment[n_rows >= least], minlength=len(aucs.auc)) for least in (1, 2)
        )
        return cls(aucs, influence, counts, several == 0)

    def at(self, segments: Int64Array) -> "ClusteredRocAucs":
        """Return the segments at these positions, which may repeat."""
        return ClusteredRocAucs(
            self.aucs.at(segments),
            self.influence.at(segments),
            self.n_clusters[segments],
            self.are_single[segments],
        )

    def limits(self, level: float) -> Limits:
        """Return the confidence limits, for independent rows if each is its own cluster."""
        influence = self.influence
        with np.errstate(invalid="ignore", divide="ignore"):
            limits = logit_limits(
                self.aucs.auc, influence.conservative_variance, influence.quantile(level)
            )
        lower, upper = (
            np.where(self.are_single, independent_limit, limit)
            for independent_limit, limit in zip(self.aucs.limits(level), limits, strict=True)
        )
        return lower, upper


def clustered_complement_aucs(ties: Ties, cluster_ties: Ties) -> ClusteredRocAucs:
    """Return the areas of the complement of each segment, which is all other segments.

    Time is in proportion to the ties times the segments, since every complement has an influence
    of all its clusters.
    """
    cluster_segment, segments = cluster_segments(cluster_ties), np.arange(ties.n_segments)
    overall: list[int | None] = [0] * len(ties.by)
    parts = []
    for segment in segments:
        complement = Ranking.of(ties.at(np.delete(segments, segment)).rolled_up((), overall))
        others = np.flatnonzero(cluster_segment != segment)
        clusters = cluster_ties.at(others).rolled_up((), [*overall, None])
        parts.append(ClusteredRocAucs.of(complement, RocAucs.of(complement), clusters))
    return ClusteredRocAucs(
        complement_aucs(ties),
        Influence.concat([part.influence for part in parts]),
        np.concatenate([part.n_clusters for part in parts]),
        np.concatenate([part.are_single for part in parts]),
    )


def _grouped(values: FloatArray, group: IntegerArray, n_groups: int) -> FloatArray:
    """Add up the values of each group."""
    return np.asarray(np.bincount(group, values, n_groups), np.float64)


_BLOCK_SIZE = 65_536  # ranges of scores at once, so that intermediate arrays stay in the cache


def complement_aucs(ties: Ties) -> RocAucs:
    """Return the areas of the complements of all segments, undefined for a single segment."""
    segments = np.arange(ties.n_segments)
    if not len(ties.score) or len(segments) < 2:
        return RocAucs.undefined(len(segments))
    in_common = ties.in_common_units()
    own = Ranking(in_common, OperatingPoints.exact(in_common))
    positives, negatives = (
        _accumulate_others(np.add, n, 0) for n in (own.n_positive, own.n_negative)
    )
    aucs = _aucs_by_subtraction(own, positives, negatives)
    for segment in np.flatnonzero((own.n_positive > positives) | (own.n_negative > negatives)):
        others = ties.at(np.delete(segments, segment)).rolled_up((), [0] * len(ties.by))
        aucs.replace_segment(int(segment), RocAucs.of(Ranking.of(others)))
    return aucs


def _accumulate_others(operation: np.ufunc, values: FloatArray, identity: float) -> FloatArray:
    """Return the sum, minimum or maximum over all other segments, for each segment."""
    before = operation.accumulate(np.append(identity, values[:-1]))
    after = operation.accumulate(np.append(identity, values[:0:-1]))[::-1]
    return np.asarray(operation(before, after), np.float64)


def _aucs_by_subtraction(own: Ranking, n_positive: FloatArray, n_negative: FloatArray) -> RocAucs:
    """Return areas from sums over the rows of the group less those of each segment."""
    scores = _ScoreOrder.of(own.ties)
    positives, negatives = _class_placements(own, scores)
    twice = own.positive * (positives.placement[scores.position] - positives.own_placement)
    twice += own.negative * negatives.placement[scores.position]
    pairs = np.sum(positives.weight * positives.placement) - own.sum(lambda ties: twice[ties.rows])
    auc = np.clip(ratio(pairs, n_positive * n_negative), 0, 1)
    is_perfect, is_reversed = _perfect_separation(own)
    is_mixed = ~(is_perfect | is_reversed)
    auc = np.where(is_mixed | np.isnan(auc), auc, is_perfect)
    positive_spread, negative_spread = (
        np.where(
            is_mixed, ratio(placements.squared_deviations(scores, auc * others), n * others**2), 0
        )
        for placements, n, others in (
            (positives, n_positive, n_negative),
            (negatives, n_negative, n_positive),
        )
    )
    weight_sums = zip((n_positive, n_negative), own.points.class_weight_sums(), strict=True)
    sizes = (
        kish_effective_size(n, _accumulate_others(np.add, n_sq, 0)) for n, (_, n_sq) in weight_sums
    )
    return RocAucs(auc, positive_spread, negative_spread, *sizes)


@dataclass(frozen=True, slots=True)
class _ScoreOrder:
    """The distinct scores of a group, and the positions of the segments' ties among them.

    Ranges of successive scores without a row of the segment begin at `low` and end before `high`:
    one before each tie, then for each segment the range after its last tie.
    """

    n: int
    position: Int64Array
    segment: Int64Array
    low: Int64Array
    high: Int64Array

    @classmethod
    def of(cls, ties: Ties) -> "_ScoreOrder":
        """Sort the scores of all segments."""
        score, position = np.unique(ties.score, return_inverse=True)
        segments = np.arange(ties.n_segments)
        low = np.append(0, position[:-1] + 1)
        low[1:][ties.segment[1:] != ties.segment[:-1]] = 0
        after = np.zeros(len(segments), np.int64)
        after[ties.segment] = position + 1  # that of the last tie of a segment stays
        return cls(
            len(score),
            position,
            np.append(ties.segment, segments),
            np.append(low, after),
            np.append(position, np.full(len(segments), len(score))),
        )

    def sum(self, values: FloatArray) -> FloatArray:
        """Return the sum of the ties' values at each score."""
        return np.asarray(np.bincount(self.position, values, self.n), np.float64)


@dataclass(frozen=True, slots=True)
class _ClassPlacements:
    """The positives or the negatives of a group at each score, and their placements there.

    A placement is the weight of the other class beyond the score, plus half of that at the score.
    `own_weight` and `own_placement` are those of each tie within its segment, and `own_between` is
    the placement within the segment in each range without its rows.
    """

    weight: FloatArray
    placement: FloatArray
    own_weight: FloatArray
    own_placement: FloatArray
    own_between: FloatArray

    def squared_deviations(self, scores: _ScoreOrder, expected: FloatArray) -> FloatArray:
        """Return the sum of squared distances from a mean, over the complement of each segment."""
        total = np.sum(self.weight * self.placement)
        middle = self.placement[np.abs(np.sum(self.weight) * self.placement - total).argmin()]
        placement = self.placement - middle  # small numbers, which keep their digits when squared
        powers = [self.weight * placement**power for power in range(3)]
        sums, expected = PrefixSums.of(np.column_stack(powers)), expected - middle
        squares = np.empty(len(scores.segment))

        def work(block: slice) -> None:
            weight, first, second = sums.between(scores.low[block], scores.high[block]).T
            origin = self.own_between[block] + expected[scores.segment[block]]
            squares[block] = second - 2 * origin * first + origin**2 * weight
            at = scores.position[block]
            ties = slice(block.start, block.start + len(at))
            others = self.weight[at] - self.own_weight[ties]
            origin = self.own_placement[ties] + expected[scores.segment[ties]]
            squares[ties] += others * (placement[at] - origin) ** 2

        run_on_all_cores(work, blocks(slice(0, len(squares)), _BLOCK_SIZE))
        totals = np.bincount(scores.segment, squares, len(expected))
        return np.asarray(np.maximum(totals, 0), np.float64)


def _class_placements(
    own: Ranking, scores: _ScoreOrder
) -> tuple[_ClassPlacements, _ClassPlacements]:
    """Return the placements of positives above negatives, and of negatives below positives."""
    positive, negative = scores.sum(own.positive), scores.sum(own.negative)
    start, every, end = np.zeros(scores.n, np.int64), np.arange(scores.n), scores.n
    below = PrefixSums.of(negative).between(start, every) + negative / 2
    above = PrefixSums.of(positive).between(every + 1, start + end) + positive / 2
    own_below, own_above = own.reaching.tn, own.reaching.tp
    return (
        _ClassPlacements(
            positive,
            below,
            own.positive,
            own_below + own.negative / 2,
            np.append(own_below, own.n_negative),
        ),
        _ClassPlacements(
            negative,
            above,
            own.negative,
            own_above - own.positive / 2,
            np.append(own_above, np.zeros_like(own.n_positive)),
        ),
    )


def _perfect_separation(own: Ranking) -> tuple[BoolArray, BoolArray]:
    """Return where the complement has all positives above all negatives, and where below."""
    ties, lowest, highest = own.ties, [], []
    for weight in (own.positive, own.negative):
        used = np.flatnonzero(weight > 0)
        low, high = (np.full(ties.n_segments, end) for end in (np.inf, -np.inf))
        np.minimum.at(low, ties.segment[used], ties.score[used])
        np.maximum.at(high, ties.segment[used], ties.score[used])
        lowest.append(_accumulate_others(np.minimum, low, np.inf))
        highest.append(_accumulate_others(np.maximum, high, -np.inf))
    return lowest[0] > highest[1], highest[0] < lowest[1]
