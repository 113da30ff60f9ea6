"""Kinds of confidence intervals of metrics of scores: each metric names one."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.extreme_rows import with_extreme_rows, with_rows_of_class
from balframe.core.ranking import Ranking, weigh
from balframe.core.safe_divide import ratio
from balframe.metrics.row_influence import (
    ClassSizes,
    RowInfluence,
    influence_variance,
    mean_influence,
    mean_of_rows,
)
from balframe.stats.cluster_influence import Influence, t_quantile
from balframe.stats.proportions import Limits, normal_quantile
from balframe.stats.roc_auc_limits import auc_limits, delong_variance, logit_limits
from balframe.stats.score_limits import (
    effective_size_beside_one_row,
    exact_limits,
    expected_spread,
    ks_limits,
    shrunken_effective_size,
    skewed_mean_limits,
    wilson_around_bias,
)

RowValues = tuple[FloatArray, FloatArray]  # of a positive and of a negative row of each tie
ScoreFunction = Callable[[Ranking], FloatArray]

# Rows, or clusters, of each class, and of a mean, with which models that are equally good differ by
# a test at .05 in at most .07 of samples: benchmarks.few_rows_simulation
FEWEST_OF_CLASS, FEWEST_OF_MEAN = 5, 10


class ScoreInterval:
    """The interface of a kind of interval. By default, there are no limits of any kind."""

    kind = ""  # what the interval is called; empty if there is none
    has_decision_limits = False  # whether there are limits that decide rules
    is_bounded = False  # whether differences of two models have such limits too
    is_mean_of_rows = False
    why_undecided = ""

    def of_metric(self, function: ScoreFunction) -> "ScoreInterval":
        """Return the interval of a metric, of which it may need the function."""
        return self

    def influence(self, r: Ranking, estimate: FloatArray) -> RowInfluence | None:
        """Return the influences of rows, from which differences are tested; None if none exist."""
        return None

    def degrees_of_freedom(
        self, variances: RowValues, sizes: ClassSizes, *, is_by_class: bool
    ) -> FloatArray:
        """Return those of a difference of two models; NaN where rows are too few for a test.

        `variances` are those of the positive and of the negative rows, and `is_by_class` is that of
        the influences of rows.
        """
        return np.where(sizes.n >= FEWEST_OF_MEAN, sizes.n - 1, np.nan)

    @property
    def needed_rows(self) -> str:
        """The fewest rows of such a test, in words."""
        return f"{FEWEST_OF_MEAN} effective rows or clusters"

    def extreme_values(self, r: Ranking, n_rows: float, *, is_low: bool) -> RowValues:
        """Return the metric with so many more rows of each class where it is lowest or highest.

        Each row has the largest weight of its class. The first values are those with more
        positives, the second those with more negatives.
        """
        raise NotImplementedError

    def limits(self, r: Ranking, estimate: FloatArray, level: float) -> Limits:
        """Return the confidence limits of independent rows."""
        low, high = np.full((2, len(estimate)), np.nan)
        return low, high

    def decision_limits(self, r: Ranking, estimate: FloatArray, level: float) -> Limits:
        """Return the limits that decide rules, of independent rows."""
        return ScoreInterval.limits(self, r, estimate, level)

    def cluster_limits(
        self, r: Ranking, estimate: FloatArray, influence: Influence, level: float
    ) -> Limits:
        """Return the confidence limits of rows in clusters."""
        return ScoreInterval.limits(self, r, estimate, level)


@dataclass(frozen=True)
class OwnInterval(ScoreInterval):
    """An interval that the method of the metric computes itself, by what it is called."""

    kind: str


@dataclass(frozen=True)
class RankInterval(ScoreInterval):
    """The interval of a metric of the ranking alone: Wilson's, of effective rows.

    The metric is between `low` and 1, with influences of rows and perhaps a bias.
    `fewest_rows` is the number of rows of the proportion to whose variance that of few rows is
    drawn. For a lower decision limit, a positive row is added below all scores and a negative one
    above them, and for an upper limit the reverse, before the effective rows are computed.
    """

    row_influence: Callable[[Ranking, FloatArray], RowInfluence]
    fewest_rows: Callable[[ClassSizes], FloatArray] = lambda sizes: sizes.n_positive
    bias: Callable[[Ranking, FloatArray], FloatArray] | None = None
    low: float = 0.0
    function: ScoreFunction | None = None

    kind = "linearised"
    has_decision_limits = is_bounded = True

    def of_metric(self, function: ScoreFunction) -> "RankInterval":
        """Return the interval of a metric."""
        return replace(self, function=function)

    def influence(self, r: Ranking, estimate: FloatArray) -> RowInfluence:
        """Return the influences of rows."""
        return self.row_influence(r, estimate)

    def degrees_of_freedom(
        self, variances: RowValues, sizes: ClassSizes, *, is_by_class: bool
    ) -> FloatArray:
        """Return Satterthwaite's, from the variances of both classes.

        Those of a metric that depends on the share of positives are of the fewest rows.
        """
        rows, fewest = (sizes.n_positive, sizes.n_negative), self.fewest_rows(sizes)
        has_enough = np.minimum(fewest, rows[1]) >= FEWEST_OF_CLASS
        parts = [ratio(v**2, n - 1) for v, n in zip(variances, rows, strict=True)]
        squares = parts[0] + parts[1]
        df = np.where(squares > 0, ratio((variances[0] + variances[1]) ** 2, squares), np.inf)
        return np.where(has_enough, df if is_by_class else fewest - 1, np.nan)

    @property
    def needed_rows(self) -> str:
        """The fewest rows of such a test, in words."""
        return (
            f"{FEWEST_OF_CLASS} effective rows or clusters of each class (with max_fpr, of that "
            "share of the negatives)"
        )

    def extreme_values(self, r: Ranking, n_rows: float, *, is_low: bool) -> RowValues:
        """Return the metric with more positives, or negatives, at the wrong or the right end."""
        assert self.function is not None
        positive, negative = (
            self.function(
                Ranking.in_given_units(
                    with_rows_of_class(
                        r.ties,
                        of_positive=of_positive,
                        is_lowest=of_positive == is_low,
                        times=n_rows,
                    )
                )
            )
            for of_positive in (True, False)
        )
        return positive, negative

    def _extended(self, r: Ranking, *, is_low: bool) -> tuple[Ranking, FloatArray]:
        """Return the ranking with a row more of each class, and the metric of it."""
        assert self.function is not None
        extended = Ranking.in_given_units(with_extreme_rows(r.ties, positive_is_lowest=is_low))
        return extended, self.function(extended)

    def limits(self, r: Ranking, estimate: FloatArray, level: float) -> Limits:
        """Return Wilson's limits of effective rows."""
        n = self._effective_size(r, estimate)
        limits = wilson_around_bias(
            self._unit(estimate), n, normal_quantile(level), self._bias(r, estimate)
        )
        return self._rescaled(limits)

    def decision_limits(self, r: Ranking, estimate: FloatArray, level: float) -> Limits:
        """Return Clopper-Pearson's limits of effective rows, with one more extreme row a class."""
        sizes, biases = [], []
        for is_low in (True, False):
            extended, value = self._extended(r, is_low=is_low)
            variance = self._unit_variance(extended, value)
            n = effective_size_beside_one_row(self._unit(value), variance)
            sizes.append(np.where(variance > 0, n, self.fewest_rows(ClassSizes.of(r))))
            biases.append(self._bias(extended, value))
        n_lower, n_upper = (np.maximum(n, 1) for n in sizes)
        limits = exact_limits(self._unit(estimate), n_lower, n_upper, (1 - level) / 2)
        return self._rescaled(
            (limits[0] - np.maximum(biases[0], 0), limits[1] - np.minimum(biases[1], 0))
        )

    def cluster_limits(
        self, r: Ranking, estimate: FloatArray, influence: Influence, level: float
    ) -> Limits:
        """Return Wilson's limits of the effective rows of clusters, with a t quantile."""
        unit = self._unit(estimate)
        variance = influence.conservative_variance / (1 - self.low) ** 2
        n = np.minimum(ratio(unit * (1 - unit), variance), self._effective_size(r, estimate))
        limits = wilson_around_bias(
            unit, np.maximum(n, 1), influence.quantile(level), self._bias(r, estimate)
        )
        return self._rescaled(limits)

    def _effective_size(self, r: Ranking, estimate: FloatArray) -> FloatArray:
        fewest = self.fewest_rows(ClassSizes.of(r))
        variance = self._unit_variance(r, estimate)
        return shrunken_effective_size(self._unit(estimate), variance, fewest)

    def _unit_variance(self, r: Ranking, estimate: FloatArray) -> FloatArray:
        """Return the variance of the metric on a scale from 0 to 1."""
        sizes = ClassSizes.of(r)
        variance = influence_variance(r, self.row_influence(r, estimate), sizes)
        return np.where(np.isnan(sizes.n), np.nan, variance / (1 - self.low) ** 2)

    def _bias(self, r: Ranking, estimate: FloatArray) -> FloatArray:
        """Return the bias of the metric on a scale from 0 to 1."""
        if self.bias is None:
            return np.zeros(len(estimate))
        return self.bias(r, estimate) / (1 - self.low)

    def _unit(self, value: FloatArray) -> FloatArray:
        return np.clip((value - self.low) / (1 - self.low), 0, 1)

    def _rescaled(self, limits: Limits) -> Limits:
        low, high = (self.low + (1 - self.low) * np.clip(limit, 0, 1) for limit in limits)
        return low, high


class AucInterval(RankInterval):
    """The interval of the area under the ROC curve: Newcombe's, scaled towards DeLong's."""

    kind = "area under a curve"

    def limits(self, r: Ranking, estimate: FloatArray, level: float) -> Limits:
        """Return the limits of `auc_limits`."""
        sizes = ClassSizes.of(r)
        rows = (sizes.n_positive, sizes.n_negative)
        variance = delong_variance(*r.placement_variances(estimate), *rows)
        return auc_limits(estimate, variance, *rows, level)

    def cluster_limits(
        self, r: Ranking, estimate: FloatArray, influence: Influence, level: float
    ) -> Limits:
        """Return limits on the logit scale, with Obuchowski's variance."""
        return logit_limits(estimate, influence.conservative_variance, influence.quantile(level))


@dataclass(frozen=True)
class MeanInterval(ScoreInterval):
    """The interval of a mean over rows of values in [0, 1]: Wilson's, of effective rows.

    For a lower limit, a row of value 0 is added before the effective rows are computed, and for an
    upper limit a row of value 1.
    """

    values: Callable[[Ranking], RowValues]

    kind = "mean of rows"
    has_decision_limits = is_bounded = is_mean_of_rows = True

    def influence(self, r: Ranking, estimate: FloatArray) -> RowInfluence:
        """Return the influences of rows."""
        return mean_influence(r, *self.values(r))

    def extreme_values(self, r: Ranking, n_rows: float, *, is_low: bool) -> RowValues:
        """Return the mean with more rows of value 0 or 1, and the mean as it is."""
        mean, weight = mean_of_rows(r, *self.values(r)), r.n_positive + r.n_negative
        added = n_rows * _largest_weights(r)
        return ratio(mean * weight + (0 if is_low else added), weight + added), mean

    def limits(self, r: Ranking, estimate: FloatArray, level: float) -> Limits:
        """Return Wilson's limits."""
        return self._wilson(estimate, self._effective_sizes(r), normal_quantile(level))

    def decision_limits(self, r: Ranking, estimate: FloatArray, level: float) -> Limits:
        """Return Clopper-Pearson's limits."""
        return exact_limits(estimate, *self._effective_sizes(r), (1 - level) / 2)

    def cluster_limits(
        self, r: Ranking, estimate: FloatArray, influence: Influence, level: float
    ) -> Limits:
        """Return Wilson's limits of the effective rows of clusters, with a t quantile."""
        clustered = ratio(estimate * (1 - estimate), influence.conservative_variance)
        low, high = (np.maximum(np.minimum(n, clustered), 1) for n in self._effective_sizes(r))
        return self._wilson(estimate, (low, high), influence.quantile(level))

    @staticmethod
    def _wilson(
        estimate: FloatArray, sizes: tuple[FloatArray, FloatArray], quantile: FloatArray | float
    ) -> Limits:
        none = np.zeros(len(estimate))
        lower, upper = (wilson_around_bias(estimate, n, quantile, none) for n in sizes)
        return lower[0], upper[1]

    def _effective_sizes(self, r: Ranking) -> tuple[FloatArray, FloatArray]:
        """Return the effective rows for the lower limits and for the upper ones."""
        of_positive, of_negative = self.values(r)

        def total(power: int, positive: FloatArray, negative: FloatArray) -> FloatArray:
            return r.sum(
                lambda ties: (
                    weigh(positive[ties.rows], of_positive[ties.rows] ** power)
                    + weigh(negative[ties.rows], of_negative[ties.rows] ** power)
                )
            )

        weight, first = (total(power, r.positive, r.negative) for power in (0, 1))
        zeroth, mixed, second = (
            total(power, r.positive_squares, r.negative_squares) for power in (0, 1, 2)
        )
        largest = _largest_weights(r)
        sizes = []
        for value in (0, 1):
            mean = ratio(first + largest * value, weight + largest)
            squares = second - 2 * mean * mixed + mean**2 * zeroth
            squares = np.maximum(squares, 0) + (largest * (value - mean)) ** 2
            n = effective_size_beside_one_row(mean, ratio(squares, (weight + largest) ** 2))
            kish = ratio(weight**2, np.where(zeroth > 0, zeroth, np.nan))
            sizes.append(np.where((mean > 0) & (mean < 1), n, kish))
        return sizes[0], sizes[1]


def _largest_weights(r: Ranking) -> FloatArray:
    """Return the largest weight of the rows of each segment; 1 without weights."""
    sides = [r.ties.positive.with_squares(), r.ties.negative.with_squares()]
    largest = [side.weight_max for side in sides if side.weight_max is not None]
    if not largest:
        return np.ones(r.ties.n_segments)
    return r.largest(lambda ties: np.max([values[ties.rows] for values in largest], axis=0))


@dataclass(frozen=True)
class LossInterval(ScoreInterval):
    """The interval of a mean over rows of losses without an upper bound, by Hall's transformation.

    With few rows, variance and skewness are drawn towards those that the scores predict.
    """

    values: Callable[[Ranking], RowValues]

    kind = "mean of rows"
    is_mean_of_rows = True
    why_undecided = "the loss of a row has no upper bound"

    def influence(self, r: Ranking, estimate: FloatArray) -> RowInfluence:
        """Return the influences of rows."""
        return mean_influence(r, *self.values(r))

    def limits(self, r: Ranking, estimate: FloatArray, level: float) -> Limits:
        """Return the limits of skewed values."""
        variance, skewness, n = self._spread(r, estimate)
        quantile = t_quantile(n - 1, np.full(len(n), normal_quantile(level)))
        low, high = skewed_mean_limits(estimate, variance, skewness, n, quantile)
        return np.maximum(low, 0), high

    def cluster_limits(
        self, r: Ranking, estimate: FloatArray, influence: Influence, level: float
    ) -> Limits:
        """Return limits on the logarithmic scale, with a t quantile."""
        variance, _, n = self._spread(r, estimate)
        largest = np.maximum(influence.conservative_variance, ratio(variance, n))
        half = influence.quantile(level) * ratio(np.sqrt(largest), estimate)
        return estimate * np.exp(-half), estimate * np.exp(half)

    def _spread(self, r: Ranking, mean: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return variance and skewness of the losses of rows, and effective rows."""
        of_positive, of_negative = self.values(r)
        at, sizes = r.segment, ClassSizes.of(r)
        squares = r.n_positive_squares + r.n_negative_squares

        def moment(power: int) -> FloatArray:
            return r.sum(
                lambda ties: (
                    weigh(ties.positive_squares, (of_positive - mean[at])[ties.rows] ** power)
                    + weigh(ties.negative_squares, (of_negative - mean[at])[ties.rows] ** power)
                )
            )

        with np.errstate(invalid="ignore"):
            observed = ratio(moment(2), squares)
            skewness = ratio(moment(3), squares * observed**1.5)
        expected, of_scores = _moments_expected_by_scores(r, of_positive, of_negative)
        unbiased = observed * ratio(sizes.n, sizes.n - 1)
        skewness = np.where(observed > 0, skewness, 0)
        variance, skewness = expected_spread(unbiased, skewness, expected, of_scores, sizes.n)
        return variance, skewness, sizes.n


def _moments_expected_by_scores(
    r: Ranking, of_positive: FloatArray, of_negative: FloatArray
) -> RowValues:
    """Return variance and skewness of losses, if the scores are the probabilities of labels."""
    score = r.ties.score[r.rows]
    is_certain = (score <= 0) | (score >= 1)  # and so right, or the loss is undefined
    share = np.where(is_certain, 0, score)
    weight, total = r.positive + r.negative, r.n_positive + r.n_negative
    losses = [np.where(is_certain, 0, values) for values in (of_positive, of_negative)]

    def mean(power: int, centre: FloatArray) -> FloatArray:
        positive, negative = ((values - centre[r.segment]) ** power for values in losses)
        values = share * positive + (1 - share) * negative
        return ratio(r.sum(lambda ties: (weight * values)[ties.rows]), total)

    first = mean(1, np.zeros(len(total)))
    variance = mean(2, first)
    skewness = ratio(mean(3, first), variance**1.5)
    return variance, np.where(variance > 0, skewness, 0)


class KsInterval(ScoreInterval):
    """The interval of the Kolmogorov-Smirnov statistic, from a band around both curves."""

    kind = "band"
    has_decision_limits = True
    why_undecided = "it is the largest of many differences"

    def limits(self, r: Ranking, estimate: FloatArray, level: float) -> Limits:
        """Return the limits of `ks_limits`."""
        sizes = ClassSizes.of(r)
        return ks_limits(estimate, sizes.n_positive, sizes.n_negative, level)

    def decision_limits(self, r: Ranking, estimate: FloatArray, level: float) -> Limits:
        """Return the same limits, which are wide enough."""
        return self.limits(r, estimate, level)
