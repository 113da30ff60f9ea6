"""The area under the ROC curve of the complement of each segment: all segments but one.

The scores of a group of segments are sorted once. At each score the complement has the rows of the
group less those of the segment, which change only at the segment's own scores. So sums between two
of these are differences of prefix sums, and all complements together take time and memory in
proportion to the ties of the group. For a segment with more than half of a class, the complement is
ranked on its own, since differences of large sums would lose digits.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.counting_strategy import blocks
from balframe.core.operating_points import OperatingPoints
from balframe.core.prefix_sums import PrefixSums
from balframe.core.ranking import Ranking
from balframe.core.safe_divide import ratio
from balframe.core.score_ties import Ties
from balframe.core.threads import run_on_all_cores
from balframe.methods.thresholds.auc import RocAucs
from balframe.stats.effective_sample_size import kish_effective_size

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
