"""What a kind of confidence interval answers, for every segment at once."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import numpy as np

from balframe.core.arrays import BoolArray, FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.intervals.proportions import Limits
from balframe.intervals.recalls_of_counts import Recalls
from balframe.intervals.request import Request


@dataclass(frozen=True, slots=True)
class Sample:
    """What limits are computed from: class counts, and cells for those that need the full matrix.

    `cells` is a function, for adding the cells up takes time that most kinds do not need.
    """

    counts: ClassCounts
    cells: Callable[[], Cells]
    _computed: dict[Hashable, Limits] = field(default_factory=dict, init=False)

    def once(self, key: Hashable, compute: Callable[[], Limits]) -> Limits:
        """Compute limits that several metrics share the first time that one asks for them."""
        if key not in self._computed:
            self._computed[key] = compute()
        return self._computed[key]


@dataclass(frozen=True, slots=True)
class Interval:
    """A kind of confidence interval; this one is that of metrics which have none.

    A kind of your own is a subclass. With `method_of` and `limits` its metrics have limits in every
    function; the others are for comparisons that a kind without them leaves undefined.
    """

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that can be asked for by name; none where there is no choice."""
        return ()

    def method_of(self, asked: str | None) -> str:
        """Name the method that applies: the one asked for where it is defined, else the default.

        "gate" asks for limits that decide, as in `check` and `disparity`; a kind that has no others
        gives its default. Empty where there are no limits at all.
        """
        return ""

    def limits(self, sample: Sample, estimate: FloatArray, request: Request) -> Limits:
        """Compute the lower and upper limit of the metric in every segment, NaN where undefined."""
        nothing = np.full(sample.counts.n_segments, np.nan)
        return nothing, nothing

    def smallest_denominator(self, c: ClassCounts) -> Int64Array:
        """Count the rows of the metric's smallest denominator in every segment; all by default."""
        return c.n

    def lacks_label(self, c: ClassCounts) -> BoolArray:
        """Return whether a segment lacks a label that the metric looks at in another one."""
        return np.zeros(c.n_segments, np.bool_)

    def linear_recalls(self, c: ClassCounts) -> Recalls | None:
        """Read the recalls that the metric is a linear function of; None where it is not linear.

        A proportion counts as one recall.
        """
        return None

    def rescaled(self, c: ClassCounts, value: FloatArray) -> FloatArray:
        """Turn a proportion, or a mean of recalls, into the metric."""
        return value

    def is_proportion(self, c: ClassCounts) -> bool:
        """Return whether the metric is a linear function of a single proportion."""
        return False

    @property
    def is_paired(self) -> bool:
        """Whether two models can be compared on the same rows.

        For that, the rows of the denominators must not depend on what a model predicts.
        """
        return False

    @property
    def rises_with_both_recalls(self) -> bool:
        """Whether the metric of two labels is highest where recall + specificity is."""
        return False


NO_LIMITS = Interval()
