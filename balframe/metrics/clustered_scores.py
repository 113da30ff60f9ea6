"""The influence of clusters on metrics of scores: sums of the influences of their rows.

References
----------
N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 1997. The
correction for few clusters differs: it is that of CR2.
"""

from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.ranking import Ranking, weigh
from balframe.core.row_sums import RowSums
from balframe.core.safe_divide import ratio
from balframe.core.score_ties import Ties
from balframe.metrics.row_influence import ClassSizes, class_variances
from balframe.stats.cluster_influence import Influence
from balframe.stats.effective_sample_size import kish_effective_size


@dataclass(frozen=True)
class ClusterRows:
    """Rows of each pair of segment and cluster, in groups that have the same influence.

    Parameters
    ----------
    segment, cluster : int64 arrays, shape (pairs,)
        Segment of each pair, ascending, and code of its cluster.
    pair : int64 array, shape (groups,)
        The pair of each group of rows.
    n : int64 array, shape (groups,)
        Rows of each group.
    weights, squares : two float arrays each, shape (groups,)
        Sums of weights and of squared weights, of its positive and of its negative rows.
    """

    segment: Int64Array
    cluster: Int64Array
    pair: Int64Array
    n: Int64Array
    weights: tuple[FloatArray, FloatArray]
    squares: tuple[FloatArray, FloatArray]

    @classmethod
    def of(
        cls, segment: Int64Array, cluster: Int64Array, pair: Int64Array, ties: Ties, r: Ranking
    ) -> "ClusterRows":
        """Return the rows of ties, with weights in the units of a ranking of their segments."""
        sides = (ties.positive, ties.negative)
        weights, squares = zip(*map(weights_and_squares, sides), strict=True)
        at, n_segments = segment[pair], r.ties.n_segments
        total = np.bincount(at, weights[0] + weights[1], n_segments)
        unit = ratio(r.n_positive + r.n_negative, total)[at]
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):  # then no limits
            scaled = [weight * unit for weight in weights]
            scaled_squares = [square * unit**2 for square in squares]
        return cls(
            segment,
            cluster,
            pair,
            np.asarray(ties.n, np.int64),
            (scaled[0], scaled[1]),
            (scaled_squares[0], scaled_squares[1]),
        )

    @property
    def rows(self) -> FloatArray:
        """Rows of each pair of segment and cluster."""
        return self._by_pair(np.asarray(self.n, np.float64))

    def n_clusters(self, n_segments: int) -> Int64Array:
        """Count the clusters with rows in each segment."""
        return np.bincount(self.segment[self.rows > 0], minlength=n_segments)

    def are_single(self, n_segments: int) -> BoolArray:
        """Return whether each cluster of a segment has one row only."""
        return np.asarray(np.bincount(self.segment, self.rows > 1, n_segments) == 0)

    def class_sizes(self, n_segments: int) -> ClassSizes:
        """Return the effective numbers of clusters with positive, negative and any rows."""
        positive, negative = map(self._by_pair, self.weights)

        def effective(weight: FloatArray) -> FloatArray:
            sums = [np.bincount(self.segment, w, n_segments) for w in (weight, weight**2)]
            return kish_effective_size(*(np.asarray(total, np.float64) for total in sums))

        return ClassSizes(*map(effective, (positive, negative, positive + negative)))

    def influence(
        self,
        of_positive: FloatArray,
        of_negative: FloatArray,
        sizes: ClassSizes,
        *,
        is_by_class: bool,
    ) -> Influence:
        """Add up the influences of the rows of each group, with the factor of CR2.

        As a metric by class has its own sums for positives and negatives, so does the factor. The
        influence is undefined where one cluster has all rows of a class.
        """
        at, values = self.segment, (of_positive, of_negative)
        weights, squares = (
            [self._by_pair(side) for side in sides] for sides in (self.weights, self.squares)
        )
        sums = [
            self._by_pair(weigh(weight, value))
            for weight, value in zip(self.weights, values, strict=True)
        ]
        variances = [
            self._by_segment(self._by_pair(weigh(square, value**2)), sizes)
            for square, value in zip(self.squares, values, strict=True)
        ]
        shares, square_shares = (
            [self._shares(side, sizes) for side in sides] for sides in (weights, squares)
        )
        if is_by_class:
            value = sum(map(_divide_by_cr2, sums, shares), np.zeros(len(at)))
            expected = sum(
                (v[at] * np.nan_to_num(s) for v, s in zip(variances, square_shares, strict=True)),
                np.zeros(len(at)),
            )
        else:
            share = self._shares(weights[0] + weights[1], sizes)
            value = _divide_by_cr2(sums[0] + sums[1], np.fmax(share, np.fmax(*shares) >= 1))
            square_share = self._shares(squares[0] + squares[1], sizes)
            expected = (variances[0] + variances[1])[at] * square_share
        n_effective = sum(
            (
                np.nan_to_num(kish_effective_size(weight, square))
                for weight, square in zip(weights, squares, strict=True)
            ),
            np.zeros(len(at)),
        )
        scaled = class_variances(variances[0], variances[1], sizes, is_by_class=is_by_class)
        used = np.flatnonzero(n_effective)
        return Influence(
            at[used],
            self.cluster[used],
            np.ones(len(used), np.int64),
            value[used],
            expected[used],
            n_effective[used],
            scaled[0] + scaled[1],
        )

    def _by_pair(self, values: FloatArray) -> FloatArray:
        """Add up the values of the groups of each pair."""
        return np.asarray(np.bincount(self.pair, values, len(self.segment)), np.float64)

    def _by_segment(self, values: FloatArray, sizes: ClassSizes) -> FloatArray:
        """Add up the values of the pairs of each segment."""
        return np.asarray(np.bincount(self.segment, values, len(sizes.n)), np.float64)

    def _shares(self, values: FloatArray, sizes: ClassSizes) -> FloatArray:
        """Return the share of each pair in the sum of its segment."""
        return ratio(values, self._by_segment(values, sizes)[self.segment])


def weights_and_squares(side: RowSums) -> tuple[FloatArray, FloatArray]:
    """Return the weights of ties and their squares in the same units; rows without weights."""
    sums = side.with_squares()
    if sums.weight is None or sums.weight_sq is None:
        rows = np.asarray(side.row_counts, np.float64)
        return rows, rows
    with np.errstate(over="ignore", under="ignore"):
        return sums.weight, np.ldexp(sums.weight_sq, -2 * sums.exponent)


def _divide_by_cr2(values: FloatArray, share: FloatArray) -> FloatArray:
    """Divide by sqrt(1 - h); undefined where one cluster has all rows."""
    return np.asarray(values / np.sqrt(np.where(share < 1, 1 - share, np.nan)))
