"""The kinds of confidence interval of metrics that are functions of a mean of ratios."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.stats import mean_recall, proportions
from balframe.stats.base import GATE, Interval, IntervalRequest, LeastCount
from balframe.stats.batching import compute_by_segment, limits_by_segment
from balframe.stats.cluster_influence import Influence
from balframe.stats.clustered_differences import clustered_gate_limits
from balframe.stats.clustered_means import clustered_mean_limits, clustered_means
from balframe.stats.effective_sample_size import effective_rows
from balframe.stats.mean_recall import (
    Recalls,
    binary_recalls,
    is_by_prevalence,
    recalls_of_labels,
    recalls_under_class_weight,
    single_recall,
)
from balframe.stats.mean_recall_posterior import Posterior
from balframe.stats.proportions import Limits, Rows, clopper_pearson, normal_quantile
from balframe.stats.root_finding import increasing_root

_MIN_ERROR_SHARE = 1e-7
_MAX_BIAS = 0.5  # of the mean log recall, in standard errors


def geometric_mean_limits(
    x: FloatArray, n: FloatArray, level: float, upper_rows: Rows | None = None
) -> Limits:
    """Invert the score test of the geometric mean, where its bias is small.

    Under the constraint p_k = (x_k - m)/(n_k - m), and a limit is where
    m^2 sum_k (n_k - x_k)/(n_k (x_k - m)) = z^2.

    The logarithm of a recall from few rows is on average too low. With more labels this bias of the
    mean stays while its standard error falls: in standard errors the bias is about half the root of
    sum_k q_k/(n_k p_k). There are no limits where that sum, with p_k = (x_k + 1/2)/(n_k + 1), is
    above 1, as it is where the recall of a label is 0.

    Parameters
    ----------
    x, n : float arrays, shape (segments, labels)
        Correct rows and rows of the labels present; every n is above 0.
    level : float
        Confidence level, between 0 and 1.
    upper_rows : two float arrays of the same shape, optional
        x and n for the upper limit, which weights may make others; by default the same.

    Returns
    -------
    lower, upper : float arrays, shape (segments,)
        NaN where the bias is too large.
    """
    lower, upper = np.full((2, len(x)), np.nan)
    x_up, n_up = (x, n) if upper_rows is None else upper_rows
    rows = np.flatnonzero(~(_is_biased(x, n) | _is_biased(x_up, n_up)))
    two_log_z = 2 * math.log(normal_quantile(level))
    lower[rows] = _lower_score_limit(x[rows], n[rows], two_log_z)
    upper[rows] = _upper_score_limit(x_up[rows], n_up[rows], two_log_z)
    return lower, upper


def geometric_mean_gate_limits(
    x: FloatArray, n: FloatArray, level: float, upper_rows: Rows | None = None
) -> Limits:
    """Return geometric means of simultaneous Clopper-Pearson limits of the recalls (Bonferroni).

    Shapes as in `geometric_mean_limits`. Their coverage is at least the level for any number of
    rows. They are wide where there are many labels.
    """
    with np.errstate(divide="ignore"):
        limits = clopper_pearson(x, n, 1 - (1 - level) / x.shape[1], upper_rows)
        lower, upper = (np.exp(np.log(limit).mean(axis=1)) for limit in limits)
    return lower, upper


def _is_biased(x: FloatArray, n: FloatArray) -> BoolArray:
    bias = 0.5 * np.sqrt(((n - x + 0.5) / (n * (x + 0.5))).sum(axis=1))
    return np.asarray(bias > _MAX_BIAS)


def _lower_score_limit(x: FloatArray, n: FloatArray, two_log_z: float) -> FloatArray:
    x = np.minimum(x, n * (1 - _MIN_ERROR_SHARE))
    q = (n - x) / n
    smallest = x.min(axis=1)

    def multiplier(t: FloatArray, rows: Int64Array) -> tuple[FloatArray, FloatArray]:
        """Return m, which moves from 0 to the smallest x_k, and x_k - m without cancellation."""
        m = smallest[rows] / (1 + np.exp(-t))
        smallest_less_m = smallest[rows] / (1 + np.exp(t))
        return m, (x[rows] - smallest[rows, None]) + smallest_less_m[:, None]

    def lower_excess(t: FloatArray, rows: Int64Array) -> FloatArray:
        return _log_statistic(*multiplier(t, rows), q[rows]) - two_log_z

    _, x_m = multiplier(increasing_root(lower_excess, np.zeros(len(x))), np.arange(len(x)))
    lower: FloatArray = np.exp(np.log(x_m / (x_m + (n - x))).mean(axis=1))
    return lower


def _upper_score_limit(x: FloatArray, n: FloatArray, two_log_z: float) -> FloatArray:
    x = np.minimum(x, n * (1 - _MIN_ERROR_SHARE))
    q = (n - x) / n

    def upper_excess(t: FloatArray, rows: Int64Array) -> FloatArray:
        m = np.exp(t)
        return _log_statistic(m, x[rows] + m[:, None], q[rows]) - two_log_z

    m = np.exp(increasing_root(upper_excess, np.zeros(len(x))))[:, None]
    return np.asarray(np.minimum(np.exp(np.log((x + m) / (n + m)).mean(axis=1)), 1))


def _log_statistic(m: FloatArray, x_m: FloatArray, q: FloatArray) -> FloatArray:
    """Return the logarithm of m^2 sum_k q_k / x_mk, where x_mk is x_k less m."""
    statistic: FloatArray = 2 * np.log(m) + np.log((q / x_m).sum(axis=1))
    return statistic


Parts = tuple[FloatArray, FloatArray]
Transform = Callable[[ClassCounts, FloatArray], FloatArray]
Among = Literal["all", "positives", "negatives"]

_PROPORTION_METHODS = {
    "wilson": proportions.wilson,
    "scas": mean_recall.scas_proportion_limits,
    "jeffreys": proportions.jeffreys,
    "exact": proportions.clopper_pearson,
}
_PRIORS = {"posterior": "uniform", "jeffreys_posterior": "jeffreys"}  # of each recall
_MEAN_RECALL_METHODS: dict[str, Callable[..., Limits]] = {
    "score": mean_recall.score_limits,
    "scas": mean_recall.scas_limits,
    "mover": mean_recall.mover_limits,
    GATE: mean_recall.gate_limits,
}


def identity(c: ClassCounts, value: FloatArray) -> FloatArray:
    """Return the value unchanged."""
    return value


def jaccard_to_f1(c: ClassCounts, jaccard: FloatArray) -> FloatArray:
    """Return f1 from the Jaccard index J: 2J / (1 + J)."""
    return 2 * jaccard / (1 + jaccard)


@dataclass(frozen=True, slots=True)
class Proportion(Interval):
    """A proportion x / n, or an increasing function of one.

    Parameters
    ----------
    parts : function of ClassCounts
        Returns x and n for every segment, as sums of counts. With weights it is also called with
        largest weights, whose `sum` over entries is the largest. So select entries with `np.where`
        inside `sum`.
    transform : function of ClassCounts and the proportion, optional
        Returns the metric, which increases with the proportion; by default the proportion itself.
    is_linear : bool, default True
        Whether the transform is linear in the proportion.
    among : {"all", "positives", "negatives"} or None, default None
        The rows that n counts: all rows of the segment, those with the positive label, or those
        with another label. None if n depends on the predictions, as for precision. `compare` has
        intervals only if n does not depend on them.
    """

    parts: Callable[[ClassCounts], Parts]
    transform: Transform = identity
    is_linear: bool = True
    among: Among | None = None

    @property
    def kind(self) -> str:
        """What kind of interval it is."""
        return "proportion" if self.is_linear else "function of a proportion"

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of proportions."""
        return tuple(_PROPORTION_METHODS)

    def method_of(self, requested: str | None) -> str:
        """Return the method that applies: Wilson by default, Clopper-Pearson for gates."""
        if requested == GATE:
            return "exact"
        return requested if requested in self.methods else "wilson"

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Compute the limits of the proportion, and transform them."""
        c = sample.counts
        (x, n), upper_rows = effective_rows(
            *self.parts(c), *self.parts(c.squared), self._largest_weights(c)
        )
        defined = np.isfinite(n) & (n > 0)
        method = self.method_of(request.method)
        low, high = proportion_limits(x, n, defined, method, request.level, upper_rows)
        return self.transform(c, low), self.transform(c, high)

    def smallest_denominator(self, c: ClassCounts) -> Int64Array:
        """Count the rows of n."""
        return np.asarray(self.parts(c.in_rows)[1], np.int64)

    @property
    def least_count(self) -> LeastCount:
        """All rows, or those of a label; none where n depends on the predictions."""
        return "n" if self.among == "all" else None if self.among is None else "min_support"

    def linear_recalls(self, c: ClassCounts) -> Recalls | None:
        """Read the proportion as one recall, where the transform is linear."""
        return self.ratios(c) if self.is_linear else None

    def ratios(self, c: ClassCounts) -> Recalls:
        """Read the proportion as one recall."""
        return single_recall(c, *self.parts(c), *self.parts(c.squared), self._largest_weights(c))

    def _largest_weights(self, c: ClassCounts) -> FloatArray | None:
        """Return the largest weights of the rows of n; None without weights."""
        return None if c.largest is None else np.asarray(self.parts(c.largest)[1])

    def influence(self, sample: Sample) -> Influence | None:
        """Return the influence of each cluster on the proportion."""
        return _ratio_influence(self, sample)

    def limits_of_clusters(
        self, sample: Sample, estimate: FloatArray, request: IntervalRequest
    ) -> Limits:
        """Compute the limits of the proportion from effective counts, and transform them."""
        method = request.method if request.method in ("scas", GATE) else "wilson"
        low, high = _clustered_limits(self, sample, method, request)
        return self.transform(sample.counts, low), self.transform(sample.counts, high)

    def rescaled(self, c: ClassCounts, value: FloatArray) -> FloatArray:
        """Transform a proportion."""
        return self.transform(c, value)

    def is_proportion(self, c: ClassCounts) -> bool:
        """Return whether the transform is linear."""
        return self.is_linear

    @property
    def is_paired(self) -> bool:
        """Whether n does not depend on the predictions."""
        return self.is_linear and self.among is not None


@dataclass(frozen=True, slots=True)
class MeanOfRecalls(Interval):
    """A weighted mean of recalls, or an increasing linear function of one.

    Parameters
    ----------
    recalls : function of ClassCounts, default recalls_of_labels
        Returns the recalls and their weights; see `balframe.stats.mean_recall`. By
        default all labels present have the same weight.
    transform : function of ClassCounts and the mean, optional
        Returns the metric, which increases with the mean; by default the mean itself.
    among_predicted : bool, default False
        Whether the rows of a label are those predicted to have it, as for precisions. Limits are
        then conditional on how often each label is predicted.
    """

    recalls: Callable[[ClassCounts], Recalls] = recalls_of_labels
    transform: Transform = identity
    among_predicted: bool = False

    @property
    def kind(self) -> str:
        """What kind of interval it is."""
        return "mean of precisions" if self.among_predicted else "mean of recalls"

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of means of recalls, and the posteriors."""
        return (*(name for name in _MEAN_RECALL_METHODS if name != GATE), *_PRIORS)

    def method_of(self, requested: str | None) -> str:
        """Return the method that applies: the score method by default."""
        return requested if requested in (*self.methods, GATE) else "score"

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Compute the limits of the mean, once for all metrics of it, and transform them."""
        key = self.recalls, request
        limits = sample.once(key, lambda: self._mean_limits(sample.counts, request))
        low, high = (self.transform(sample.counts, limit) for limit in limits)
        return low, high

    def _mean_limits(self, c: ClassCounts, request: IntervalRequest) -> Limits:
        method, level = self.method_of(request.method), request.level
        # with weights by prevalence the mean is an accuracy, and gets the limits of one
        r = self.linear_recalls(c) if method == GATE else self.recalls(c)
        if method in _PRIORS:
            tail = (1 - level) / 2
            low, high = compute_by_segment(
                r,
                2,
                lambda x, n, a: Posterior.of(x, n, a, _PRIORS[method]).quantiles((tail, 1 - tail)),
            )
        else:
            compute = _MEAN_RECALL_METHODS[method]
            low, high = limits_by_segment(
                r, lambda x, n, a, upper_rows: compute(x, n, a, level, upper_rows=upper_rows)
            )
        share = _present_weight_share(r)
        return low * share, high * share

    def influence(self, sample: Sample) -> Influence | None:
        """Return the influence of each cluster on the mean."""
        return _ratio_influence(self, sample)

    def limits_of_clusters(
        self, sample: Sample, estimate: FloatArray, request: IntervalRequest
    ) -> Limits:
        """Compute the limits of the mean from effective counts, and transform them."""
        method = request.method if request.method in ("scas", GATE) else "score"
        low, high = sample.once(
            (self.recalls, method, request.level),
            lambda: _clustered_limits(self, sample, method, request),
        )
        share = _present_weight_share(self.linear_recalls(sample.counts))
        low, high = (self.transform(sample.counts, limit * share) for limit in (low, high))
        return low, high

    def smallest_denominator(self, c: ClassCounts) -> Int64Array:
        """Count the rows of the rarest label present that the mean looks at."""
        return _rarest_label_rows(self.recalls, c)

    @property
    def least_count(self) -> LeastCount:
        """The rows of the rarest label present; none where they are those predicted."""
        return None if self.among_predicted else "min_support"

    def lacks_label(self, c: ClassCounts) -> BoolArray:
        """Return whether a segment lacks a label that the mean looks at in another one.

        A label that is never predicted counts as 0, so only those of the truth can be lacking.
        """
        return _lacks_label(recalls_of_labels if self.among_predicted else self.recalls, c)

    def linear_recalls(self, c: ClassCounts) -> Recalls:
        """Read the recalls; one where their weights, by prevalence, make the mean an accuracy.

        Those weights differ from segment to segment, and an accuracy has none.
        """
        if not self.is_proportion(c):
            return self.recalls(c)
        x, n, x_sq, n_sq = (
            c.sum(np.where(c.present, values, 0))
            for values in (c.correct, c.support, c.squared.correct, c.squared.support)
        )
        k = c.largest
        largest = None if k is None else k.sum(np.where(c.present, k.support, 0))
        return single_recall(c, x, n, x_sq, n_sq, largest)

    def rescaled(self, c: ClassCounts, value: FloatArray) -> FloatArray:
        """Transform a mean of recalls; labels never predicted lower the mean of precisions."""
        if self.among_predicted:
            value = value * _present_weight_share(self.linear_recalls(c))
        return self.transform(c, value)

    def is_proportion(self, c: ClassCounts) -> bool:
        """Return whether the weights are by prevalence, which makes the mean an accuracy."""
        return self.recalls is recalls_under_class_weight and is_by_prevalence(c)

    @property
    def is_paired(self) -> bool:
        """Whether the rows of a label are the same whatever is predicted."""
        return not self.among_predicted

    @property
    def labels_depend_on_predictions(self) -> bool:
        """Whether the labels are those that are predicted."""
        return self.among_predicted

    @property
    def rises_with_both_recalls(self) -> bool:
        """Whether the labels have the same weight whatever the data and the options."""
        return self.recalls in (recalls_of_labels, binary_recalls)


def _present_weight_share(r: Recalls) -> FloatArray:
    """Return the share of the labels present in the weight of all labels of each segment."""
    total = np.bincount(r.segment, weights=r.weight, minlength=len(r.divisor))
    return ratio(total, r.divisor)


def _ratio_influence(interval: Interval, sample: Sample) -> Influence | None:
    """Return the influence of each cluster on a mean of ratios."""
    means = clustered_means(interval, sample)
    return None if means is None else means.influence


def _clustered_limits(
    interval: Interval, sample: Sample, method: str, request: IntervalRequest
) -> Limits:
    """Return the limits of a mean of ratios whose rows come in clusters."""
    means = clustered_means(interval, sample)
    assert means is not None
    if method == GATE:
        return clustered_gate_limits(means, request.level)
    return clustered_mean_limits(means, method, request.level)


def proportion_limits(
    x: FloatArray,
    n: FloatArray,
    defined: BoolArray,
    method: str,
    level: float,
    upper_rows: Rows | None = None,
) -> Limits:
    """Return the limits of proportions x / n by a method, NaN where they are not defined.

    `upper_rows` are x and n for the upper limit, by default the same.
    """
    low, high = np.full((2, len(n)), np.nan)
    upper = None if upper_rows is None else (upper_rows[0][defined], upper_rows[1][defined])
    low[defined], high[defined] = _PROPORTION_METHODS[method](x[defined], n[defined], level, upper)
    return low, high


def _rarest_label_rows(recalls: Callable[[ClassCounts], Recalls], c: ClassCounts) -> Int64Array:
    """Return the rows of each segment's rarest label present, 0 where there is none."""
    r = recalls(c.in_rows)
    smallest = np.full(c.n_segments, np.iinfo(np.int64).max)
    np.minimum.at(smallest, r.segment, r.support.astype(np.int64))
    return np.where(smallest == np.iinfo(np.int64).max, 0, smallest)


def _lacks_label(recalls: Callable[[ClassCounts], Recalls], c: ClassCounts) -> BoolArray:
    """Return whether a segment lacks a label that another one has."""
    r = recalls(c)
    n_labels = np.bincount(r.segment, minlength=c.n_segments)
    return n_labels < len(np.unique(r.label))


# Metrics that are not functions of a mean of ratios


@dataclass(frozen=True, slots=True)
class GeometricMeanOfRecalls(Interval):
    """The geometric mean of the recalls of the labels present."""

    @property
    def kind(self) -> str:
        """What kind of interval it is."""
        return "geometric mean"

    def method_of(self, requested: str | None) -> str:
        """Return the only method, the score method; limits for gates are exact."""
        return "exact" if requested == GATE else "score"

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Compute the limits; none where the mean is 0 by the convention `absent="zero"`."""
        c = sample.counts
        method = geometric_mean_gate_limits if request.method == GATE else geometric_mean_limits
        limits = limits_by_segment(
            recalls_of_labels(c),
            lambda x, n, a, upper_rows: method(x, n, request.level, upper_rows),
        )
        by_convention = (c.absent == "zero") & (c.n_present < c.n_labels)
        low, high = (np.where(by_convention, np.nan, limit) for limit in limits)
        return low, high

    def smallest_denominator(self, c: ClassCounts) -> Int64Array:
        """Count the rows of the rarest label present."""
        return _rarest_label_rows(recalls_of_labels, c)

    @property
    def least_count(self) -> LeastCount:
        """The rows of the rarest label present."""
        return "min_support"

    def lacks_label(self, c: ClassCounts) -> BoolArray:
        """Return whether a segment lacks a label that another one has."""
        return _lacks_label(recalls_of_labels, c)
