"""The kinds of confidence interval of smooth functions of the whole confusion matrix."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.safe_divide import ratio
from balframe.core.sample import Sample
from balframe.stats.base import GATE, Interval, IntervalRequest
from balframe.stats.cluster_influence import Influence, cr2_influence
from balframe.stats.clustered_differences import shrink_effective_size
from balframe.stats.delta_method import (
    MAX_EXCESS,
    ExactLimits,
    Linearisation,
    gate_limits,
    pointwise_limits,
    shifted_exact_limits,
    skewness_excess,
    wilson_limits,
)
from balframe.stats.effective_sample_size import effective_number, kish_effective_size
from balframe.stats.kappa_mcc import Coefficient, linearise_coefficient
from balframe.stats.numerical_derivative import Evaluate, linearise_numerically, value_of_shares
from balframe.stats.proportions import Limits, normal_quantile, wilson_at
from balframe.stats.smoothed_cells import ObservedCells, SmoothedCells

# A metric that is linearised in every segment, and the influence of clusters on it.


# A metric as a proportion u of cells, with its derivatives.
Linearise = Callable[[SmoothedCells], Linearisation]


@dataclass(frozen=True)
class LinearisedMetric:
    """The linearisations of a metric whose cells are smoothed by rows of two weights."""

    linearise: Linearise
    cells: ObservedCells

    @classmethod
    def of(cls, linearise: Linearise, sample: Sample) -> "LinearisedMetric":
        """Linearise a metric of a sample, once for all levels."""
        return sample.once((cls, linearise), lambda: cls(linearise, ObservedCells.of(sample)))

    @cached_property
    def by_mean(self) -> Linearisation:
        """At cells smoothed by rows of the mean weight."""
        return self.linearise(SmoothedCells(self.cells, self.cells.weights.mean))

    @cached_property
    def by_largest(self) -> Linearisation:
        """At cells smoothed by rows of the largest weight."""
        if self.cells.counts.squares is None:
            return self.by_mean
        return self.linearise(SmoothedCells(self.cells, self.cells.weights.largest_of_segment))

    @cached_property
    def influence(self) -> FloatArray:
        """Influence of a row of each observed cell: the derivative at the cells as they are."""
        nothing = np.zeros(self.cells.counts.n_segments)
        return self.linearise(SmoothedCells(self.cells, nothing)).first


def cluster_influence(linearise: Linearise, sample: Sample, width: float) -> Influence:
    """Return the influence of each cluster on a metric: that of its rows, added up.

    The metric has a range of this width, so that its influence is `width` times that of u.
    """
    clusters = sample.clusters
    assert clusters is not None
    metric, cells = LinearisedMetric.of(linearise, sample), clusters.pairs.cells()
    pair = cells.segments[0]
    of_row = width * metric.influence[_positions(metric.cells, clusters.segment[pair], cells)]
    pairs = clusters.pairs.counts
    total, total_sq = pairs.total, pairs.squared.total
    weight = cells.n if cells.weight is None else cells.weight
    sums = np.bincount(pair, weights=weight * of_row, minlength=len(total))
    squares = np.bincount(pair, weights=cells.squares * of_row**2, minlength=len(total))
    segment_total = clusters.sum(total)
    iid_variance = ratio(clusters.sum(squares), segment_total**2)
    variance_share = ratio(total_sq, clusters.sum(total_sq)[clusters.segment])
    used = np.flatnonzero(total > 0)
    segment = clusters.segment[used]
    n = segment_total[segment]
    return Influence(
        segment,
        clusters.cluster[used],
        clusters.times[used],
        cr2_influence(sums[used], n, total[used] / n),
        iid_variance[segment] * variance_share[used],
        kish_effective_size(total[used], total_sq[used]),
        iid_variance,
    )


def _positions(observed: ObservedCells, segment: Int64Array, cells: Cells) -> Int64Array:
    """Return the positions of cells of these segments among those observed."""
    c, entries = observed.counts, observed.entries
    n_labels = c.n_labels
    keys = (entries.segment * n_labels + c.label[entries.true]) * n_labels
    keys = keys + c.label[entries.predicted]
    return np.searchsorted(keys, (segment * n_labels + cells.actual) * n_labels + cells.outcome)


_ROUNDING = 1e-9  # of a metric of shares
_FEW_ROWS = "fewer than about 16 rows determine the score"
_FEW_ROWS_OR_NOT_SMOOTH = f"{_FEW_ROWS}, or it is not a smooth function of shares"


@dataclass(frozen=True, slots=True)
class Linearised(Interval):
    """A smooth function of the shares of the cells of the confusion matrix, of finite range.

    Parameters
    ----------
    linearise : function of SmoothedCells
        Returns the linearisation of u = (metric - low) / (high - low).
    range : tuple of two floats, default (0, 1)
        low and high, the smallest and the largest possible value.
    guard : function of SmoothedCells, optional
        The linearisation of another metric: there are no limits that decide where it has none.
    value : function of ObservedCells, optional
        Returns the metric of the shares. Where it differs from the estimate, the metric is not a
        function of shares, and there are no limits.
    """

    linearise: Linearise
    range: tuple[float, float] = (0, 1)
    guard: Linearise | None = None
    value: Callable[[ObservedCells], FloatArray] | None = None

    @property
    def kind(self) -> str:
        """What kind of interval it is."""
        return "linearised"

    @property
    def why_undecided(self) -> str:
        """Why a score that is defined may have no limits that decide."""
        return _FEW_ROWS if self.value is None else _FEW_ROWS_OR_NOT_SMOOTH

    def method_of(self, requested: str | None) -> str:
        """Return the only method, Wilson with effective rows; limits for gates are exact.

        Their tail allows for skewness and kurtosis.
        """
        return "exact" if requested == GATE else "wilson"

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Compute the limits of the proportion u, and transform them."""
        share = self._share(sample, estimate)
        if not np.isfinite(share).any():
            return share, share
        if request.method != GATE:
            u = LinearisedMetric.of(self.linearise, sample)
            return self._rescale(pointwise_limits(share, u.by_mean, request.level))
        exact = self._exact_limits(sample, share)
        return self._rescale(exact.limits(np.full(len(share), normal_quantile(request.level))))

    def exact_limits(self, sample: Sample, estimate: FloatArray) -> ExactLimits:
        """Return the limits that decide at any quantile, as shares of the range."""
        return self._exact_limits(sample, self._share(sample, estimate))

    def _exact_limits(self, sample: Sample, share: FloatArray) -> ExactLimits:
        if self.guard is not None:
            excess = LinearisedMetric.of(self.guard, sample).by_mean.excess
            share = np.where(excess < MAX_EXCESS, share, np.nan)
        u = LinearisedMetric.of(self.linearise, sample)
        return ExactLimits.of(share, u.by_mean, u.by_largest)

    def _share(self, sample: Sample, estimate: FloatArray) -> FloatArray:
        """Return u; NaN where the metric is not a function of shares."""
        low, high = self.range
        share = (estimate - low) / (high - low)
        if self.value is None or not np.isfinite(share).any():
            return share
        value = self.value
        metric = sample.once((type(self), value), lambda: value(ObservedCells.of(sample)))
        of_shares = (metric - low) / (high - low)
        return np.where(np.abs(share - of_shares) <= _ROUNDING, share, np.nan)

    def _rescale(self, limits: Limits) -> Limits:
        low, high = self.range
        return low + (high - low) * limits[0], low + (high - low) * limits[1]

    def influence(self, sample: Sample) -> Influence:
        """Return the influence of each cluster on the metric."""
        return cluster_influence(self.linearise, sample, self.range[1] - self.range[0])

    def limits_of_clusters(
        self, sample: Sample, estimate: FloatArray, request: IntervalRequest
    ) -> Limits:
        """Compute limits of the proportion u with the variance between clusters."""
        share = self._share(sample, estimate)
        if not np.isfinite(share).any():
            return share, share
        of_u = cluster_influence(self.linearise, sample, 1)
        if request.method == GATE:
            return self._rescale(clustered_gate_limits(share, of_u, sample, request.level))
        n = share * (1 - share) / of_u.conservative_variance
        return self._rescale(wilson_at(share * n, n, of_u.quantile(request.level)))


def linearised_numerically(evaluate: Evaluate, range_: tuple[float, float]) -> Linearised:
    """Return the kind of interval of a metric whose derivatives are differences."""
    linearise = partial(linearise_numerically, evaluate, range_)
    return Linearised(linearise, range_, value=partial(value_of_shares, evaluate))


def clustered_gate_limits(
    share: FloatArray, influence: Influence, sample: Sample, level: float
) -> Limits:
    """Return exact limits of u for rows in clusters, whose tail allows for the skewness.

    Parameters
    ----------
    share : float array, shape (segments,)
        u at the observed cells.
    influence : Influence
        The influence of the clusters on u.
    sample : Sample
        The clusters of each segment, and their rows.
    level : float
        Confidence level, between 0 and 1.
    """
    clusters = sample.clusters
    assert clusters is not None
    z, t = normal_quantile(level), influence.quantile(level)
    n = share * (1 - share) / influence.conservative_variance
    skewness = ratio(influence.sum(influence.value**3), influence.variance**1.5)
    excess = skewness_excess(skewness, share, n)
    correct = clusters.pairs.counts.total_correct
    limits = []
    for side, errors in (
        (share, clusters.pairs.counts.total - correct),
        (1 - share, correct),
    ):
        with_errors = effective_number(errors, clusters.sum)
        shrunken = shrink_effective_size(n, influence.effective_clusters, with_errors, z)
        limits.append(shifted_exact_limits(side, shrunken * (z / t) ** 2, excess, level)[0])
    return limits[0], 1 - limits[1]


@dataclass(frozen=True, slots=True)
class AgreementCoefficient(Interval):
    """A coefficient of the whole confusion matrix, from -1 to 1.

    Parameters
    ----------
    coefficient : function
        `kappa` or `matthews_correlation` of `balframe.stats.kappa_mcc`.
    """

    coefficient: Coefficient

    @property
    def kind(self) -> str:
        """What kind of interval it is."""
        return "linearised"

    @property
    def why_undecided(self) -> str:
        """Why a score that is defined may have no limits that decide."""
        return _FEW_ROWS

    @property
    def linearise(self) -> Linearise:
        """The linearisation of (1 + coefficient) / 2."""
        return _linearise(self.coefficient)

    def method_of(self, requested: str | None) -> str:
        """Return the only method, Wilson with effective rows; limits for gates are exact.

        Their tail allows for skewness and kurtosis.
        """
        return "exact" if requested == GATE else "wilson"

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Compute the limits of the proportion (1 + estimate) / 2, and transform them."""
        u = LinearisedMetric.of(self.linearise, sample)
        share = (1 + estimate) / 2
        if request.method == GATE:
            low, high = gate_limits(share, u.by_mean, u.by_largest, request.level)
        else:
            low, high = wilson_limits(share, u.by_mean.effective_size, request.level)
        return 2 * low - 1, 2 * high - 1

    def exact_limits(self, sample: Sample, estimate: FloatArray) -> ExactLimits:
        """Return the limits that decide at any quantile, as shares of the range."""
        u = LinearisedMetric.of(self.linearise, sample)
        return ExactLimits.of((1 + estimate) / 2, u.by_mean, u.by_largest)

    def influence(self, sample: Sample) -> Influence:
        """Return the influence of each cluster on the coefficient."""
        return cluster_influence(self.linearise, sample, 2)

    def method_of_clusters(self, requested: str | None) -> str:
        """Return the only method, by Fisher's z; limits for gates are exact."""
        return "exact" if requested == GATE else "fisher"

    def limits_of_clusters(
        self, sample: Sample, estimate: FloatArray, request: IntervalRequest
    ) -> Limits:
        """Compute limits of the inverse hyperbolic tangent, and transform them back."""
        if request.method == GATE:
            of_u = cluster_influence(self.linearise, sample, 1)
            low, high = clustered_gate_limits((1 + estimate) / 2, of_u, sample, request.level)
            return 2 * low - 1, 2 * high - 1
        influence = self.influence(sample)
        sd = np.sqrt(influence.conservative_variance)
        half = influence.quantile(request.level) * sd / (1 - estimate**2)
        return np.tanh(np.arctanh(estimate) - half), np.tanh(np.arctanh(estimate) + half)


@cache
def _linearise(coefficient: Coefficient) -> Linearise:
    """Return the same function each time, under which the result is kept with a sample."""
    return partial(linearise_coefficient, coefficient)
