"""The metrics of a request, and what they need to be computed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from balframe._validate import check_choice, is_number
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.label_counts import LabelCounts
from balframe.core.label_set import Label, LabelSet, why_no_default
from balframe.core.sample import Clusters, Sample
from balframe.core.strata import Strata
from balframe.errors import NAME, OPTION, InvalidInputError, listed, warn
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import ExpectedOutcome, Query
from balframe.metrics.lookup import find_metrics, registered_metrics
from balframe.metrics.partly_labelled import corrected_values
from balframe.metrics.registry import PRESETS, Metric, named_metrics

ClassWeight = Mapping[Label, float] | Literal["balanced", "prevalence"]
Metrics = str | Sequence[str] | Mapping[str, str] | None
SingleMetric = str | Sequence[str]  # of methods that take one
Adjust = Literal["bh", "holm"] | None
Absent = Literal["skip", "null", "zero"]

_MAX_LISTED = 5
_RIGHT = "accuracy"  # which is the rate of outcomes too
COMPARED_METRICS = (_RIGHT, "balanced_accuracy")  # compared by default


@dataclass(frozen=True, slots=True)
class MetricSelection:
    """The metrics by the names of the request, and the options that they share.

    If `is_lenient`, as with `metrics="all"`, metrics that need a positive label or an order are
    null where more than two labels have none.
    """

    metrics: Mapping[str, Metric]
    class_weight: ClassWeight | None
    absent: str
    is_lenient: bool

    @classmethod
    def of(
        cls,
        metrics: Metrics,
        class_weight: ClassWeight | None,
        default: Sequence[str],
        absent: str = "skip",
        *,
        of_points: bool = False,
    ) -> "MetricSelection":
        """Check a request, and look its metrics up; `of_points` as in `find_metrics`."""
        check_choice("absent", absent, ("skip", "null", "zero"))
        _check_class_weight(class_weight)
        names = ["default"] if metrics is None else metrics
        names = [names] if isinstance(names, str) else names
        names = list(names) if isinstance(names, Iterator) else names
        selected = find_metrics(names, _presets(default, class_weight), of_points=of_points)
        _check_weighted(selected, class_weight)
        is_lenient = not isinstance(names, Mapping) and "all" in list(names)
        return cls(selected, class_weight, absent, is_lenient)

    def single(self, method: str, purpose: str) -> tuple[str, Metric]:
        """Return the only metric and its name; raise if there are several, or none is better."""
        if len(self.metrics) != 1:
            raise InvalidInputError(
                "{metrics} names {} metrics: {}; {} takes one, so give one name.",
                len(self.metrics),
                listed(map(repr, self.metrics)),
                method,
                metrics=OPTION,
            )
        ((name, metric),) = self.metrics.items()
        if metric.better is None:
            raise InvalidInputError(
                f"metric {name!r} has no direction (neither higher nor lower is better), so no "
                f"{purpose}; choose one that has, such as 'balanced_accuracy' or 'recall'."
            )
        return name, metric

    def check_labels(self, counted_frame: CountedFrame) -> None:
        """Raise if a metric lacks a truth, outcomes, what it needs of labels, or a weight."""
        self._check_roles(counted_frame.query)
        self._weights(counted_frame)
        lacking = [name for name, metric in self.metrics.items() if "pos_label" in metric.needs]
        labels = counted_frame.labels
        is_lenient = self.is_lenient and len(labels) > 2
        self._check_order(labels)
        if counted_frame.pos_label_code() is None and lacking and len(labels) and not is_lenient:
            raise InvalidInputError(
                "metric {!r} needs {pos_label}; give one of the labels: {}. {}",
                lacking[0],
                labels,
                why_no_default(labels, _of_several_labels(self.metrics[lacking[0]])),
                pos_label=OPTION,
            )

    def _check_order(self, labels: LabelSet) -> None:
        """Raise if a metric of distances between labels lacks their order."""
        ordinal = [name for name, metric in self.metrics.items() if "label_order" in metric.needs]
        if ordinal and not labels.is_ordered and not self.is_lenient:
            raise InvalidInputError(
                "metric {!r} needs the order of the labels, which the columns do not have: {}. "
                "List the labels in order in {labels}, or cast both columns to ordered categories "
                "(in polars, an Enum).",
                ordinal[0],
                labels,
                labels=OPTION,
            )

    def _check_roles(self, query: Query) -> None:
        """Raise if a metric needs a truth, outcomes, or the trials of items."""
        has_outcome = isinstance(query.y_true, ExpectedOutcome)
        for name, metric in self.metrics.items():
            if has_outcome and "outcome" not in metric.needs and metric.name != _RIGHT:
                raise InvalidInputError(
                    "metric {!r} compares predictions with a truth, which {outcome} does not have; "
                    "give 'rate', or 'pass_at(k)' or 'pass_all(k)' with a number of trials k.",
                    name,
                    outcome=NAME,
                )
            if not has_outcome and "outcome" in metric.needs:
                raise InvalidInputError(
                    "metric {!r} needs {outcome}, the column of rows that passed. The share of "
                    "predictions that are right is {!r}.",
                    name,
                    _RIGHT,
                    outcome=OPTION,
                )
            if "cluster" in metric.needs and query.cluster is None:
                raise InvalidInputError(
                    "metric {!r} needs {cluster}, the column that identifies the trials of the "
                    "same item.",
                    name,
                    cluster=OPTION,
                )
            if "cluster" in metric.needs and query.sample_weight is not None:
                raise InvalidInputError(
                    "metric {!r} counts trials, which have no weights; omit {sample_weight}.",
                    name,
                    sample_weight=OPTION,
                )

    def sample(self, counted_frame: CountedFrame) -> Sample:
        """Return the class counts of the cells, and those of their clusters."""
        c, clustered = self.class_counts(counted_frame), counted_frame.clusters
        clusters = None if clustered is None else Clusters.of(clustered.cells, c)
        self._warn_of_few_trials(clusters)
        return Sample(c, lambda: counted_frame.cells, clusters, counted_frame.strata)

    def _warn_of_few_trials(self, clusters: Clusters | None) -> None:
        """Warn if items have too few trials for a metric, which leaves them out."""
        if clusters is None:
            return
        left_out = {
            name: int(clusters_left_out(metric, clusters).sum())
            for name, metric in self.metrics.items()
            if metric.interval.trials_needed
        }
        parts = [f"{n:,} of {name!r}" for name, n in left_out.items() if n]
        if parts:
            warn(
                "of {:,} items, some have fewer trials than a metric needs, and are left out: {}.",
                int(clusters.n.sum()),
                listed(parts, _MAX_LISTED),
            )

    def class_counts(self, counted_frame: CountedFrame, cells: Cells | None = None) -> ClassCounts:
        """Return the class counts of `cells`, by default all, whose labels suit the metrics."""
        is_whole = cells is None or cells is counted_frame.cells
        return ClassCounts.of(
            LabelCounts.of(
                counted_frame.cells if cells is None else cells, len(counted_frame.labels)
            ),
            pos_label=counted_frame.pos_label_code(),
            class_weight=self._weights(counted_frame),
            absent=self.absent,
            labels=counted_frame.labels.values,
            is_ordered=counted_frame.labels.is_ordered,
            describe=counted_frame.describe_position if is_whole else None,
        )

    def _weights(self, counted_frame: CountedFrame) -> FloatArray | str | None:
        if isinstance(self.class_weight, Mapping):
            return counted_frame.labels.weights(self.class_weight)
        return self.class_weight


def clusters_left_out(metric: Metric, clusters: Clusters) -> Int64Array:
    """Count the clusters of every segment that have fewer rows than a metric needs."""
    return clusters.sum(clusters.pairs.counts.n < metric.interval.trials_needed).astype(np.int64)


def _of_several_labels(metric: Metric) -> str:
    """Return what scores more than two labels in place of a metric of one."""
    macro = f"{metric.name}_macro"
    average = f"{macro!r} is the average over the labels, and " if macro in named_metrics() else ""
    return f"With more than two labels, {average}`classes` scores each label against the others."


def segment_counts(c: ClassCounts, strata: Strata | None = None) -> dict[str, Int64Array]:
    """Count the rows of every segment, its labels present, and the rows of the rarest of these.

    If only some rows have a true label, also count these, and the fewest of them in a stratum.
    """
    counts = {"n": c.n, "n_labels": c.n_present, "min_support": c.min_support}
    if strata is None:
        return counts
    fewest = strata.fewest_labels.astype(np.int64)
    return counts | {"n": strata.n.astype(np.int64), "n_labelled": c.n, "fewest_labels": fewest}


def metric_values(metric: Metric, c: ClassCounts) -> FloatArray:
    """Compute a metric for every segment; NaN if the labels lack what it needs."""
    if metric.lacks_labels(c):
        return np.full(c.n_segments, np.nan)
    return metric(c)


def sample_values(metric: Metric, sample: Sample) -> FloatArray:
    """Compute a metric for every segment of a sample, of whose rows some may lack a true label."""
    values = metric_values(metric, sample.counts)
    if sample.strata is None:
        return values
    return corrected_values(metric, sample.counts, sample.strata, values)


def check_by(query: Query, method: str) -> None:
    """Raise if the request has no segments to compare."""
    if not query.by:
        raise InvalidInputError(
            "{by} is missing, but {} compares segments; name at least one column.",
            method,
            by=OPTION,
        )


def warn_of_single_segment(counted_frame: CountedFrame, method: str) -> None:
    """Warn if all rows are in one segment, so that there is nothing to compare it with."""
    by, codes = counted_frame.query.by, counted_frame.codes
    finest = counted_frame.cells.segments[1][counted_frame.segment_margins() == 0]
    if not len(finest) or any((codes[name][finest] != codes[name][finest[0]]).any() for name in by):
        return
    warn(
        "all rows are in one segment, in which {}, so {} has nothing to compare it with. Name "
        "columns with more values in {by}, or keep the rows of other segments.",
        counted_frame.describe_segment(int(finest[0])),
        method,
        by=OPTION,
    )


def check_adjust(adjust: object) -> None:
    """Raise unless `adjust` is an adjustment of p-values, or None."""
    check_choice("adjust", adjust, ("bh", "holm", None))


def lowest_segment(values: FloatArray, c: ClassCounts) -> int:
    """Return the segment with the smallest value; of several, the one with the most rows."""
    lowest = np.flatnonzero(values == np.nanmin(values))
    return int(lowest[np.argmax(c.n[lowest])])


def _presets(
    default: Sequence[str], class_weight: ClassWeight | None
) -> Mapping[str, Sequence[str]]:
    """Return the names of the metrics of every preset, given the default of the method."""
    variable = {
        "default": (*default, "weighted_balanced_accuracy"),
        "all": [metric.name for metric in registered_metrics()],
    }
    unusable = {
        metric.name
        for metric in registered_metrics()
        if "outcome" in metric.needs or (class_weight is None and "class_weight" in metric.needs)
    }
    return {
        preset: [name for name in (variable[preset] if names is None else names)
                 if name not in unusable]
        for preset, names in PRESETS.items()
    }  # fmt: skip


def _check_weighted(metrics: Mapping[str, Metric], class_weight: ClassWeight | None) -> None:
    """Raise if a metric lacks class weights, or if no metric reads those given."""
    readers = [m for m in metrics.values() if "class_weight" in m.needs or not m.is_shipped]
    if class_weight is not None and not readers:
        raise InvalidInputError(
            "{class_weight} is given, but {} {} not read it; add 'weighted_balanced_accuracy' to "
            "the metrics, or omit {class_weight}.",
            listed(map(repr, metrics), _MAX_LISTED),
            "does" if len(metrics) == 1 else "do",
            class_weight=OPTION,
        )
    for name, metric in metrics.items():
        if "class_weight" in metric.needs and class_weight is None:
            raise InvalidInputError(
                'metric {!r} needs {class_weight}; give a weight for every label, "balanced" or '
                '"prevalence".',
                name,
                class_weight=OPTION,
            )


def _check_class_weight(class_weight: object) -> None:
    if class_weight is None:
        return
    if not isinstance(class_weight, Mapping):
        check_choice("class_weight", class_weight, ("balanced", "prevalence"))
        return
    for label, weight in class_weight.items():
        if not is_number(weight) or not 0 <= weight < np.inf:
            raise InvalidInputError(
                "{class_weight} gives {!r} the weight {!r}; give finite, non-negative numbers.",
                label,
                weight,
                class_weight=NAME,
            )
    if not any(class_weight.values()):
        raise InvalidInputError(
            "{class_weight} has no weight above 0; give at least one label a positive weight.",
            class_weight=dict(class_weight),
        )
