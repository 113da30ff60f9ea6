"""Two models that score the same rows: the differences of their metrics, and limits of these.

A row's influence on a difference is its influence on the metric of the first model, less that on
the metric of the second. The variance of the difference is the sum of the squares. For the area
under the ROC curve, this is DeLong's.

References
----------
E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more
correlated receiver operating characteristic curves: a nonparametric approach", Biometrics 1988; N.
A. Obuchowski, "Nonparametric analysis of clustered ROC curve data", Biometrics 1997.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from balframe.api.interval_estimates import DesignEffects
from balframe.api.score_estimates import ScoreSample, defined_design_effects
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.cluster_ties import matching_ties
from balframe.core.ranking import Ranking, weigh
from balframe.core.row_sums import RowSums
from balframe.errors import NAME, OPTION, InvalidInputError
from balframe.frames.score_pairs import PairGroups, ScoredPairs
from balframe.metrics.clustered_scores import ClusterRows
from balframe.metrics.row_influence import ClassSizes, RowInfluence, class_variances
from balframe.metrics.score_metrics import ScoreMetric
from balframe.stats.cluster_influence import Influence, t_quantile
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import Limits, normal_quantile
from balframe.stats.score_limits import skewed_difference_limits

_ROUNDING = 1e-9  # of a difference: a smaller standard error is 0 up to rounding


@dataclass(frozen=True)
class PairedRankings:
    """The rankings of two models in every segment, and the groups of rows with the same scores."""

    pairs: ScoredPairs
    first: Ranking
    second: Ranking

    @classmethod
    def of(cls, pairs: ScoredPairs) -> "PairedRankings":
        """Rank the rows by both scores."""
        first, second = map(Ranking.in_given_units, (pairs.first, pairs.second))
        return cls(pairs, first, second)

    @cached_property
    def totals(self) -> ClassCounts:
        """The counts of every segment."""
        return self.first.points.totals()

    @cached_property
    def clusters(self) -> ClusterRows | None:
        """The rows of every segment by cluster; None if rows are independent."""
        groups = self.pairs.clusters
        if groups is None:
            return None
        return ClusterRows.of(*groups.cluster_pairs, groups.ties, self.first)

    @property
    def first_sample(self) -> ScoreSample:
        """The first model alone."""
        groups = self.pairs.clusters
        if groups is None:
            return ScoreSample(self.first)
        segment, _, pair = groups.cluster_pairs
        at = matching_ties(self.first.ties, segment[pair], groups.ties.score)
        return ScoreSample(self.first, self.clusters, at)

    @property
    def n_clusters(self) -> Int64Array:
        """Number of clusters with rows in each segment."""
        assert self.clusters is not None
        return self.clusters.n_clusters(len(self.totals.n))

    def estimates(self, metric: ScoreMetric) -> tuple[FloatArray, FloatArray]:
        """Compute a metric of both models."""
        return metric.function(self.first), metric.function(self.second)

    def difference(self, metric: ScoreMetric) -> "RankingDifference":
        """Return the difference of a metric, with the variance of its rows."""
        estimates = self.estimates(metric)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return self._difference(metric, *estimates)

    def _difference(
        self, metric: ScoreMetric, first: FloatArray, second: FloatArray
    ) -> "RankingDifference":
        of_first = metric.interval.influence(self.first, first)
        of_second = metric.interval.influence(self.second, second)
        sizes, undefined = ClassSizes.of(self.first), np.full(len(first), np.nan)
        if of_first is None or of_second is None:
            return RankingDifference(first, second, undefined, undefined, undefined, None)
        is_by_class = of_first.is_by_class
        groups = self.pairs.groups
        sides_of_rows = (groups.ties.positive, groups.ties.negative)
        of_rows = self._differences(of_first, of_second, groups)
        squares = [
            self._sum(_squares(side), values**2)
            for side, values in zip(sides_of_rows, of_rows, strict=True)
        ]
        cubes = [
            self._sum(_squares(side) * _largest(side), values**3)
            for side, values in zip(sides_of_rows, of_rows, strict=True)
        ]
        of_classes = class_variances(squares[0], squares[1], sizes, is_by_class=is_by_class)
        variance = np.where(np.isnan(sizes.n), np.nan, of_classes[0] + of_classes[1])
        degrees_of_freedom = metric.interval.degrees_of_freedom
        df = degrees_of_freedom(of_classes, sizes, is_by_class=is_by_class)
        moments = (variance, cubes[0] + cubes[1], df)
        if self.clusters is None or self.pairs.clusters is None:
            return RankingDifference(first, second, *moments, None)
        values = self._differences(of_first, of_second, self.pairs.clusters)
        influence = self.clusters.influence(*values, sizes, is_by_class=is_by_class)
        single = self.clusters.are_single(len(first))
        sizes = self.clusters.class_sizes(len(first))
        has_df = ~np.isnan(degrees_of_freedom(of_classes, sizes, is_by_class=is_by_class))
        df = np.where(single, df, np.where(has_df, influence.df, np.nan))
        return RankingDifference(first, second, *moments[:2], df, influence, single)

    def decision_limits(
        self, metric: ScoreMetric, compared: "RankingDifference", level: float
    ) -> Limits:
        """Return the limits that decide rules, of independent rows.

        They allow for rows that the data lack, of either class: as many as have none in the data
        with the error rate of a limit. For the lower limit, the first model ranks them worst and
        the second best, and the reverse for the upper one. The change of the difference by them
        counts as a further standard error, times the quantile. A limit is further away if the
        influences of rows are skewed to its side.
        """
        interval, z = metric.interval, normal_quantile(level)
        n_rows = -np.log((1 - level) / 2)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            variances = []
            for is_low in (True, False):
                firsts = interval.extreme_values(self.first, n_rows, is_low=is_low)
                seconds = interval.extreme_values(self.second, n_rows, is_low=not is_low)
                changes = [
                    first - second - compared.difference
                    for first, second in zip(firsts, seconds, strict=True)
                ]
                variances.append(compared.variance + (changes[0] ** 2 + changes[1] ** 2) / z**2)
            limits = skewed_difference_limits(
                compared.difference, (variances[0], variances[1]), compared.third_moment, z
            )
        if compared.are_single is None:
            return limits
        low, high = (np.where(compared.are_single, limit, np.nan) for limit in limits)
        return low, high

    def _differences(
        self, first: RowInfluence, second: RowInfluence, groups: PairGroups
    ) -> tuple[FloatArray, FloatArray]:
        """Return how much more a positive and a negative row of each group change the first."""
        segment = groups.segment
        at = matching_ties(self.first.ties, segment, groups.ties.score)
        other = matching_ties(self.second.ties, segment, groups.second_score)
        return (
            first.positive[at] - second.positive[other],
            first.negative[at] - second.negative[other],
        )

    def _sum(self, weights: FloatArray, values: FloatArray) -> FloatArray:
        """Add up values times weights over the groups of rows of each segment."""
        weighed = weigh(weights, values)
        sums = np.bincount(self.pairs.groups.segment, weighed, len(self.totals.n))
        return np.asarray(sums, np.float64)


def _largest(side: RowSums) -> FloatArray | int:
    largest = side.with_squares().weight_max
    return 1 if largest is None else largest


def _squares(side: RowSums) -> FloatArray:
    sums = side.with_squares()
    squares = sums.row_counts if sums.weight_sq is None else sums.weight_sq
    return np.asarray(squares, np.float64)


@dataclass(frozen=True)
class RankingDifference:
    """The metrics of two models in every segment, with variance and skewness of the difference.

    `influence` is that of clusters, None for independent rows; where clusters `are_single` rows,
    rows are independent. Without a variance, or with too few rows for degrees of freedom,
    differences have neither limits nor p-values.
    """

    first: FloatArray
    second: FloatArray
    variance: FloatArray
    third_moment: FloatArray
    df: FloatArray
    influence: Influence | None
    are_single: BoolArray | None = None

    @property
    def difference(self) -> FloatArray:
        """The metric of the first model less that of the second."""
        return self.first - self.second

    def limits_and_p_values(self, level: float) -> tuple[Limits, FloatArray]:
        """Return limits, and p-values of t tests that the difference is 0.

        A p-value is below 1 - level exactly where the limits exclude 0. Both are undefined where no
        row has another influence on one metric than on the other.
        """
        variance = self.variance
        if self.influence is not None and self.are_single is not None:
            variance = np.where(self.are_single, variance, self.influence.variance)
        with np.errstate(invalid="ignore", divide="ignore"):
            varies = variance > (_ROUNDING * self.difference) ** 2
            error = np.sqrt(np.where(varies & ~np.isnan(self.df), variance, np.nan))
            df = np.maximum(self.df, 0)
            half = t_quantile(df, np.full(len(df), normal_quantile(level))) * error
            p = 2 * special.stdtr(df, -np.abs(self.difference) / error)
        return (self.difference - half, self.difference + half), p

    @property
    def has_too_few_rows(self) -> BoolArray:
        """Whether there are too few rows for limits of a difference that is defined."""
        return np.isfinite(self.difference) & np.isfinite(self.variance) & np.isnan(self.df)

    @property
    def design_effects(self) -> DesignEffects:
        """Effective clusters and design effects of the differences, NaN where undefined."""
        if self.influence is None:
            undefined = np.full(len(self.first), np.nan)
            return undefined, undefined
        return defined_design_effects(self.influence)


def check_predictions_or_scores(method: str, y_pred: object, y_score: object) -> None:
    """Raise unless one of the columns of predictions and of scores is given."""
    if (y_pred is None) == (y_score is None):
        raise InvalidInputError(
            "{} takes either {y_pred} or {y_score}, and {}; name the predicted labels or the "
            "scores.",
            method,
            "both are missing" if y_pred is None else "both are given",
            y_pred=NAME,
            y_score=NAME,
        )


def check_no_class_weight(class_weight: object) -> None:
    """Raise if weights of predicted labels are given for scores."""
    if class_weight is not None:
        raise InvalidInputError(
            "{class_weight} weights predicted labels, so it cannot be combined with {y_score}; "
            "omit it.",
            class_weight=OPTION,
            y_score=NAME,
        )
