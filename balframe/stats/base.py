"""The interface of a kind of confidence interval, for all segments at once."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.stats.cluster_influence import Influence
from balframe.stats.proportions import Limits
from balframe.stats.recalls_of_counts import Recalls
from balframe.stats.request import Request

LeastCount = Literal["n", "min_support"] | None


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

    @property
    def has_clusters(self) -> bool:
        """Whether there are limits for rows in clusters."""
        return type(self).influence is not Interval.influence

    def method_of_clusters(self, asked: str | None) -> str:
        """Return the name of the method that applies to rows in clusters, empty without one."""
        return self.method_of(asked) if self.has_clusters else ""

    def influence(self, sample: Sample) -> Influence | None:
        """Return the influence of each cluster on the metric, up to a factor; None without one."""
        return None

    def limits_of_clusters(self, sample: Sample, estimate: FloatArray, request: Request) -> Limits:
        """Return the limits in every segment whose rows are in clusters, NaN where undefined."""
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

    def ratios(self, c: ClassCounts) -> Recalls | None:
        """Return the ratios of counts of which the metric is an increasing function, or None.

        These are the recalls of `linear_recalls`, unless the metric is another function of them.
        """
        return self.linear_recalls(c)

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
