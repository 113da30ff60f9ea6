"""The interface of a kind of confidence interval, for all segments at once."""

from dataclasses import dataclass, replace
from typing import Literal, Protocol, get_args

import numpy as np

from balframe._validate import check_choice, check_level
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.errors import InvalidInputError
from balframe.stats.cluster_influence import Influence
from balframe.stats.delta_method import ExactLimits
from balframe.stats.mean_recall import Recalls
from balframe.stats.proportions import Limits

IntervalMethod = Literal[
    "score", "wilson", "scas", "jeffreys", "exact", "mover", "posterior", "jeffreys_posterior"
]
IntervalOption = bool | IntervalMethod | None
Prior = Literal["uniform", "jeffreys"]

_INDEPENDENT_ROWS_METHODS = (  # no limits for clusters
    *("jeffreys", "exact", "mover", "posterior", "jeffreys_posterior"),
)
COMPARED = "compared"  # those of scores whose difference is taken, if rows lack a true label
GATE = "gate"  # requests the limits that decide, whose method differs from kind to kind


@dataclass(frozen=True, slots=True)
class IntervalRequest:
    """The requested method (None: each metric's default), and the level."""

    method: str | None
    level: float

    @classmethod
    def of(
        cls, interval: object, level: object, cluster: object = None
    ) -> "IntervalRequest | None":
        """Check the options of a caller; return None if they request no interval."""
        check_choice("interval", interval, (None, False, True, *get_args(IntervalMethod)))
        check_level(level)
        if interval is None or interval is False:
            return None
        check_supports_clusters(interval, cluster)
        return cls(None if interval is True else str(interval), float(level))  # type: ignore[arg-type]

    def bonferroni(self, n: int) -> "IntervalRequest":
        """Return a request whose level lets n intervals hold simultaneously at this level."""
        return replace(self, level=1 - (1 - self.level) / max(n, 1))


def check_supports_clusters(interval: object, cluster: object) -> None:
    """Raise if the interval method has no limits for rows in clusters."""
    if cluster is not None and interval in _INDEPENDENT_ROWS_METHODS:
        raise InvalidInputError(
            "{interval} needs independent rows and cannot be combined with {cluster}; give "
            "'wilson', 'score' or 'scas', or omit one of the two.",
            interval=interval,
            cluster=cluster,
        )


LeastCount = Literal["n", "min_support"] | None


class PairedClusters(Protocol):
    """Differences of two models on the same clusters, in every segment."""

    def limits_and_p_values(self, level: float) -> tuple[Limits, FloatArray]:
        """Return limits that describe, and p-values that agree with them."""

    def gate_limits(self, level: float) -> Limits:
        """Return the limits that decide."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A kind of confidence interval. This base class is the kind of metrics without an interval.

    Write a subclass for a kind of your own. `method_of` and `limits` are enough for confidence
    intervals in every function. Comparisons that need the other methods are null without them.
    """

    @property
    def kind(self) -> str:
        """What kind of interval it is; "own" for one of a user, and empty without an interval."""
        return "own" if self.method_of(None) else ""

    @property
    def reason(self) -> str:
        """Why there is no interval, or none that decides."""
        return "it does not name an interval"

    @property
    def why_undecided(self) -> str:
        """Why a score that is defined may have no limits that decide."""
        return "its limits are undefined"

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that can be requested by name; empty if there is no choice."""
        return ()

    def method_of(self, requested: str | None) -> str:
        """Return the name of the method that applies: the one requested, or else the default.

        "gate" requests the conservative limits of `check` and `disparity`; a kind without such
        limits returns its default. The name is empty if the kind has no interval.
        """
        return ""

    def limits(self, sample: Sample, estimate: FloatArray, request: IntervalRequest) -> Limits:
        """Return the lower and upper limits of the metric in every segment, NaN where undefined."""
        nothing = np.full(sample.counts.n_segments, np.nan)
        return nothing, nothing

    @property
    def has_clusters(self) -> bool:
        """Whether there are limits for rows in clusters."""
        return type(self).influence is not Interval.influence

    def method_of_clusters(self, requested: str | None) -> str:
        """Return the name of the method that applies to rows in clusters, empty without one."""
        return self.method_of(requested) if self.has_clusters else ""

    def influence(self, sample: Sample) -> Influence | None:
        """Return the influence of each cluster on the metric, up to a factor; None without one."""
        return None

    def limits_of_clusters(
        self, sample: Sample, estimate: FloatArray, request: IntervalRequest
    ) -> Limits:
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

    def exact_limits(self, sample: Sample, estimate: FloatArray) -> ExactLimits | None:
        """Return the limits that decide about the metric at any quantile, as shares of its range.

        None unless the metric is linearised, so that differences of it have a test.
        """
        return None

    @property
    def has_test(self) -> bool:
        """Whether there is a test that two segments have the same score."""
        return self.is_linear or type(self).exact_limits is not Interval.exact_limits

    @property
    def labels_depend_on_predictions(self) -> bool:
        """Whether the labels of `linear_recalls` depend on the predictions.

        Two segments with the same labels in the truth may then have different ones.
        """
        return False

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
    def is_of_clusters(self) -> bool:
        """Whether the metric is itself a function of clusters, which are independent."""
        return False

    def pair_clusters(self, first: Sample, second: Sample) -> "PairedClusters | None":
        """Return the differences of two models on the same clusters; None unless it is of them."""
        return None

    def item_values(self, passed: Int64Array, trials: Int64Array) -> FloatArray | None:
        """Return the value of items with these passes and trials; NaN with too few trials.

        None unless the metric is a mean of such values over the clusters, which are the items.
        """
        return None

    @property
    def trials_needed(self) -> int:
        """Trials without which an item has no value; 0 unless the metric is a mean over items."""
        return 0

    def payoffs(self, c: ClassCounts, actual: Int64Array, outcome: Int64Array) -> FloatArray | None:
        """Return what each row adds to the metric, as a share of the most that two rows can differ.

        `actual` and `outcome` are the codes of its truth and prediction. None unless the metric is
        a mean over all rows that is not linear in recalls. `rescaled` undoes the sharing.
        """
        return None

    @property
    def rises_with_both_recalls(self) -> bool:
        """Whether the metric of two labels is highest if recall + specificity is highest."""
        return False


@dataclass(frozen=True, slots=True)
class NoInterval(Interval):
    """The kind of a metric that has no confidence interval, and why."""

    why: str

    @property
    def reason(self) -> str:
        """Why there is no interval."""
        return self.why


NO_INTERVAL = Interval()
