"""The area under the ROC curve of all segments but one, for each of them.

The scores of a group of segments are put in order once. At each of them the rest of a segment has
the rows of the group less those of the segment, which change only at the segment's own scores. So
what lies between two of these is a difference of running sums, and all rests together take time and
memory in proportion to the ties of the group. A segment with more than half of a side is left out
of the rows instead: among its own, the sums of the others would lose their digits.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.counting_strategy import blocks
from balframe.core.operating_points import OperatingPoints
from balframe.core.prefix_sums import RunningSums
from balframe.core.safe_divide import ratio
from balframe.core.score_ties import Ties
from balframe.core.threads import on_all_cores
from balframe.methods.thresholds.auc import RocAucs
from balframe.methods.thresholds.curve import class_weight_sums
from balframe.metrics.definitions.ranking import Ranking
from balframe.stats.effective_sample_size import kish

_BLOCK_SIZE = 65_536  # stretches at work at once, so that the arrays between stay in the cache


def complement_aucs(ties: Ties) -> RocAucs:
    """Find the areas of the rests of all segments; one that is alone has none."""
    every = np.arange(ties.n_segments)
    if not len(ties.score) or len(every) < 2:
        return RocAucs.undefined(len(every))
    in_common = ties.in_common_units()
    own = Ranking(in_common, OperatingPoints.exact(in_common))
    positives, negatives = (
        _accumulate_others(np.add, n, 0) for n in (own.n_positive, own.n_negative)
    )
    rests = _aucs_by_subtraction(own, positives, negatives)
    for segment in np.flatnonzero((own.n_positive > positives) | (own.n_negative > negatives)):
        others = ties.at(np.delete(every, segment)).rolled_up((), [0] * len(ties.by))
        rests.replace_segment(int(segment), RocAucs.of(Ranking.of(others)))
    return rests


def _accumulate_others(add: np.ufunc, values: FloatArray, nothing: float) -> FloatArray:
    """Add up the values of all segments but one, for each; or take the least, or the largest."""
    before = add.accumulate(np.append(nothing, values[:-1]))
    behind = add.accumulate(np.append(nothing, values[:0:-1]))[::-1]
    return np.asarray(add(before, behind), np.float64)


def _aucs_by_subtraction(own: Ranking, n_positive: FloatArray, n_negative: FloatArray) -> RocAucs:
    """Subtract sums over the rows of each segment from those over the rows of the group."""
    scores = _ScoreOrder.of(own.ties)
    positives, negatives = _class_placements(own, scores)
    twice = own.positive * (positives.placement[scores.position] - positives.own_placement)
    twice += own.negative * negatives.placement[scores.position]
    pairs = np.sum(positives.weight * positives.placement) - own.sum(lambda ties: twice[ties.rows])
    auc = np.clip(ratio(pairs, n_positive * n_negative), 0, 1)
    is_perfect, is_reversed = _perfect_separation(own)
    is_mixed = ~(is_perfect | is_reversed)
    auc = np.where(is_mixed | np.isnan(auc), auc, is_perfect)
    spread_of_positives, spread_of_negatives = (
        np.where(is_mixed, ratio(side.squared_deviations(scores, auc * others), n * others**2), 0)
        for side, n, others in (
            (positives, n_positive, n_negative),
            (negatives, n_negative, n_positive),
        )
    )
    of_own = zip((n_positive, n_negative), class_weight_sums(own.points), strict=True)
    sizes = (kish(n, _accumulate_others(np.add, n_sq, 0)) for n, (_, n_sq) in of_own)
    return RocAucs(auc, spread_of_positives, spread_of_negatives, *sizes)


@dataclass(frozen=True, slots=True)
class _ScoreOrder:
    """The distinct scores of a group, and where the ties of its segments stand among them.

    Stretches of successive scores without a row of the segment begin at `low` and end before
    `high`: one before each tie, then for each segment the one behind its last tie.
    """

    n: int
    position: Int64Array
    segment: Int64Array
    low: Int64Array
    high: Int64Array

    @classmethod
    def of(cls, ties: Ties) -> "_ScoreOrder":
        """Put all scores in order."""
        score, at = np.unique(ties.score, return_inverse=True)
        every = np.arange(ties.n_segments)
        low = np.append(0, at[:-1] + 1)
        low[1:][ties.segment[1:] != ties.segment[:-1]] = 0
        behind = np.zeros(len(every), np.int64)
        behind[ties.segment] = at + 1  # the last tie of a segment has the last word
        return cls(
            len(score),
            at,
            np.append(ties.segment, every),
            np.append(low, behind),
            np.append(at, np.full(len(every), len(score))),
        )

    def sum(self, own: FloatArray) -> FloatArray:
        """Add up what the ties of all segments have at each score."""
        return np.asarray(np.bincount(self.position, own, self.n), np.float64)


@dataclass(frozen=True, slots=True)
class _ClassPlacements:
    """The positives or the negatives of a group at each score, and their placements there.

    A placement is the weight of the other side that lies beyond the score, half of that at it.
    `own_weight` and `own_placement` are those that each tie has within its segment, and
    `own_between` the placement within the segment in each stretch without its rows.
    """

    weight: FloatArray
    placement: FloatArray
    own_weight: FloatArray
    own_placement: FloatArray
    own_between: FloatArray

    def squared_deviations(self, scores: _ScoreOrder, expected: FloatArray) -> FloatArray:
        """Add up, over the rest of each segment, squared distances of placements from a mean."""
        sum_of_all = np.sum(self.weight * self.placement)
        middle = self.placement[np.abs(np.sum(self.weight) * self.placement - sum_of_all).argmin()]
        placement = self.placement - middle  # small numbers, which keep their digits when squared
        powers = [self.weight * placement**power for power in range(3)]
        sums, expected = RunningSums.of(np.column_stack(powers)), expected - middle
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

        on_all_cores(work, blocks(slice(0, len(squares)), _BLOCK_SIZE))
        found = np.bincount(scores.segment, squares, len(expected))
        return np.asarray(np.maximum(found, 0), np.float64)


def _class_placements(
    own: Ranking, scores: _ScoreOrder
) -> tuple[_ClassPlacements, _ClassPlacements]:
    """Place the positives above the negatives, and the negatives below the positives."""
    positive, negative = scores.sum(own.positive), scores.sum(own.negative)
    start, every, end = np.zeros(scores.n, np.int64), np.arange(scores.n), scores.n
    below = RunningSums.of(negative).between(start, every) + negative / 2
    above = RunningSums.of(positive).between(every + 1, start + end) + positive / 2
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
    """Tell where the rest has all positives above all negatives, and where below."""
    ties, lowest, highest = own.ties, [], []
    for weight in (own.positive, own.negative):
        counted = np.flatnonzero(weight > 0)
        low, high = (np.full(ties.n_segments, end) for end in (np.inf, -np.inf))
        np.minimum.at(low, ties.segment[counted], ties.score[counted])
        np.maximum.at(high, ties.segment[counted], ties.score[counted])
        lowest.append(_accumulate_others(np.minimum, low, np.inf))
        highest.append(_accumulate_others(np.maximum, high, -np.inf))
    return lowest[0] > highest[1], highest[0] < lowest[1]
