"""The kinds of confidence interval of ratios of two proportions of independent rows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.stats.base import GATE, Interval, IntervalRequest
from balframe.stats.effective_sample_size import RowsBySide, effective_rows
from balframe.stats.odds_ratio import odds_ratio_limits
from balframe.stats.proportions import Limits, Rows, normal_quantile
from balframe.stats.risk_ratio import risk_ratio_limits

_Parts = tuple[FloatArray, FloatArray]
PartsOfBoth = Callable[[ClassCounts], tuple[_Parts, _Parts]]


@dataclass(frozen=True, slots=True)
class RatioOfProportions(Interval):
    """A proportion divided by another one of other rows.

    Parameters
    ----------
    parts : function of ClassCounts
        Returns x and n of the proportion above, and of the one below, as for `Proportion`.
    """

    parts: PartsOfBoth

    @property
    def kind(self) -> str:
        """What kind of interval it is."""
        return "ratio of proportions"

    def method_of(self, requested: str | None) -> str:
        """Return the only method; limits for gates are the wider of two."""
        return GATE if requested == GATE else "scas"

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Invert the score test of the ratio, corrected for skewness."""
        return _limits_where_defined(
            self.parts, sample.counts, estimate, request, risk_ratio_limits
        )

    def smallest_denominator(self, c: ClassCounts) -> Int64Array:
        """Count the rows of the smaller of both denominators."""
        return _fewer_rows(self.parts, c)


@dataclass(frozen=True, slots=True)
class OddsRatio(Interval):
    """The odds of a proportion divided by those of another one of other rows.

    Parameters
    ----------
    parts : function of ClassCounts
        Returns x and n of both proportions, as for `Proportion`.
    """

    parts: PartsOfBoth

    @property
    def kind(self) -> str:
        """What kind of interval it is."""
        return "odds ratio"

    def method_of(self, requested: str | None) -> str:
        """Return the only method; limits for gates are the wider of two."""
        return GATE if requested == GATE else "scas"

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Invert the score test of the odds ratio, corrected for skewness."""
        return _limits_where_defined(
            self.parts, sample.counts, estimate, request, odds_ratio_limits
        )

    def smallest_denominator(self, c: ClassCounts) -> Int64Array:
        """Count the rows of the smaller of both denominators."""
        return _fewer_rows(self.parts, c)


def _limits_where_defined(
    parts: PartsOfBoth,
    c: ClassCounts,
    estimate: FloatArray,
    request: IntervalRequest,
    limits_of: Callable[..., Limits],
) -> Limits:
    """Return limits of both proportions' effective rows, NaN where the metric is undefined."""
    lower, upper = np.full((2, len(estimate)), np.nan)
    at, first, second = _defined_rows(parts, c, estimate)
    lower[at], upper[at] = limits_of(
        first.lower,
        second.for_upper,
        (first.for_upper, second.lower),
        normal_quantile(request.level),
        wider=request.method == GATE,
    )
    return lower, upper


def _defined_rows(
    parts: PartsOfBoth, c: ClassCounts, estimate: FloatArray
) -> tuple[Int64Array, RowsBySide, RowsBySide]:
    """Return where the metric is defined, and the effective rows of both proportions there."""
    largest = (None, None) if c.largest is None else [part[1] for part in parts(c.largest)]
    first, second = (
        effective_rows(*own, *squared, None if most is None else np.asarray(most))
        for own, squared, most in zip(parts(c), parts(c.squared), largest, strict=True)
    )
    sizes: list[Rows] = [first.lower, first.for_upper, second.lower, second.for_upper]
    is_defined = np.isfinite(estimate) & np.all([np.isfinite(n) for _, n in sizes], axis=0)
    at = np.flatnonzero(is_defined)
    return at, first.at(at), second.at(at)


def _fewer_rows(parts: PartsOfBoth, c: ClassCounts) -> Int64Array:
    (_, n), (_, m) = parts(c.in_rows)
    return np.minimum(n, m).astype(np.int64)
