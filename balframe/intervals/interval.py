"""The interface of a kind of confidence interval, for all segments at once."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from balframe.core.arrays import BoolArray, FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.intervals.proportions import Limits
from balframe.intervals.recalls_of_counts import Recalls
from balframe.intervals.request import Request

LeastCount = Literal["n", "min_support"] | None


@dataclass(frozen=True, slots=True)
class Sample:
    """The input of an interval: class counts, and cells for kinds that need the full matrix.

    `cells` is a function, because adding up the cells takes time and most kinds do not need them.
    """

    counts: ClassCounts
    cells: Callable[[], Cells]
    _computed: dict[Hashable, Limits] = field(default_factory=dict, init=False)

    def once(self, key: Hashable, compute: Callable[[], Limits]) -> Limits:
        """Compute limits that several metrics share only once."""
        if key not in self._computed:
            self._computed[key] = compute()
        return self._computed[key]


@dataclass(frozen=True, slots=True)
class Interval:
    """A kind of confidence interval. This base class is the kind of metrics without an interval.

    Write a subclass for a kind of your own. `method_of` and `limits` are enough for confidence
    intervals in every function. Comparisons that need the other methods are null without them.
    """

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that can be requested by name; empty if there is no choice."""
        return ()

    def method_of(self, asked: str | None) -> str:
        """Return the name of the method that applies: the one requested, or else the default.

        "gate" requests the conservative limits of `check` and `disparity`; a kind without such
        limits returns its default. The name is empty if the kind has no interval.
        """
        return ""

    def limits(self, sample: Sample, estimate: FloatArray, request: Request) -> Limits:
        """Return the lower and upper limits of the metric in every segment, NaN where undefined."""
        nothing = np.full(sample.counts.n_segments, np.nan)
        return nothing, nothing

    def smallest_denominator(self, c: ClassCounts) -> Int64Array:
        """Return the rows of the metric's smallest denominator in every segment; by default all."""
        return c.n

    @property
    def least_count(self) -> LeastCount:
        """The count of a report that no denominator is smaller than; None where there is none."""
        return None

    def lacks_label(self, c: ClassCounts) -> BoolArray:
        """Return whether a segment lacks a label that the metric uses in another segment."""
        return np.zeros(c.n_segments, np.bool_)

    def linear_recalls(self, c: ClassCounts) -> Recalls | None:
        """Return the recalls of which the metric is a linear function; None if it is not linear.

        A proportion counts as one recall.
        """
        return None

    @property
    def is_linear(self) -> bool:
        """Whether `linear_recalls` can give recalls."""
        return type(self).linear_recalls is not Interval.linear_recalls

    def rescaled(self, c: ClassCounts, value: FloatArray) -> FloatArray:
        """Transform a proportion, or a mean of recalls, into the metric."""
        return value

    def is_proportion(self, c: ClassCounts) -> bool:
        """Return whether the metric is a linear function of a single proportion."""
        return False

    @property
    def is_paired(self) -> bool:
        """Whether two models can be compared on the same rows.

        This requires denominators that do not depend on the predictions.
        """
        return False

    @property
    def rises_with_both_recalls(self) -> bool:
        """Whether the metric of two labels is highest if recall + specificity is highest."""
        return False


NO_LIMITS = Interval()
