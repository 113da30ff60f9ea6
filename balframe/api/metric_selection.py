"""Which metrics a caller asks for, and what they need to be computed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.label_counts import Entries
from balframe.core.label_set import Label
from balframe.core.sample import Clusters, Sample
from balframe.errors import InvalidInputError, bare_parameter, check_choice, parameter
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import Query
from balframe.metrics.lookup import find_all, registered
from balframe.metrics.registry import PRESETS, Metric

ClassWeight = Mapping[Label, float] | Literal["balanced", "prevalence"]
Metrics = str | Sequence[str] | Mapping[str, str] | None
Adjust = Literal["bh", "holm"] | None
Absent = Literal["skip", "null", "zero"]

COMPARED = ("accuracy", "balanced_accuracy")  # what methods compare by default


@dataclass(frozen=True, slots=True)
class Scoring:
    """The metrics by the names they were asked for, and the options that they share.

    `lenient` leaves metrics of a positive label null past two labels, as `metrics="all"` does.
    """

    metrics: Mapping[str, Metric]
    class_weight: ClassWeight | None
    absent: str
    lenient: bool

    @classmethod
    def of(
        cls,
        metrics: Metrics,
        class_weight: ClassWeight | None,
        default: Sequence[str],
        absent: str = "skip",
    ) -> "Scoring":
        """Check what a caller asked for."""
        check_choice("absent", absent, ("skip", "null", "zero"))
        _check_class_weight(class_weight)
        asked = ["default"] if metrics is None else metrics
        asked = [asked] if isinstance(asked, str) else asked
        asked = list(asked) if isinstance(asked, Iterator) else asked
        chosen = find_all(asked, _presets(default, class_weight))
        _check_weighted(chosen, class_weight)
        is_lenient = not isinstance(asked, Mapping) and "all" in list(asked)
        return cls(chosen, class_weight, absent, is_lenient)

    def suits(self, reading: CountedFrame) -> None:
        """Raise unless the labels suit the metrics and have a weight each, as far as asked."""
        self._weights(reading)
        lacking = [name for name, one in self.metrics.items() if "pos_label" in one.needs]
        labels = reading.labels
        is_lenient = self.lenient and len(labels) > 2
        if reading.pos_label() is None and lacking and len(labels) and not is_lenient:
            raise InvalidInputError(
                f"metric {lacking[0]!r} needs {parameter('pos_label')}; give one of the labels: "
                f"{labels}. It has a default only if the labels are among 0 and 1, -1 and 1, or "
                "false and true."
            )

    def sample(self, reading: CountedFrame) -> Sample:
        """Add up the cells read, and those of clusters."""
        c, held = self.class_counts(reading), reading.clusters
        clusters = None if held is None else Clusters.of(held.cells, c)
        return Sample(c, lambda: reading.cells, clusters)

    def class_counts(self, reading: CountedFrame, cells: Cells | None = None) -> ClassCounts:
        """Add up cells, by default those read, whose labels suit the metrics."""
        return ClassCounts.of(
            Entries.of(reading.cells if cells is None else cells, len(reading.labels)),
            pos_label=reading.pos_label(),
            class_weight=self._weights(reading),
            absent=self.absent,
        )

    def _weights(self, reading: CountedFrame) -> FloatArray | str | None:
        if isinstance(self.class_weight, Mapping):
            return reading.labels.weights(self.class_weight)
        return self.class_weight


def counted(c: ClassCounts) -> dict[str, Int64Array]:
    """Count the rows of every segment, its labels present, and the rows of the rarest of these."""
    return {"n": c.n, "n_labels": c.n_present, "min_support": c.min_support}


def value_of(metric: Metric, c: ClassCounts) -> FloatArray:
    """Compute a metric for every segment, null where it lacks the positive label."""
    if "pos_label" in metric.needs and c.pos_label is None:
        return np.full(c.n_segments, np.nan)
    return metric(c)


def check_by(query: Query, method: str) -> None:
    """Raise where there are no segments to compare."""
    if not query.by:
        raise InvalidInputError(
            f"{parameter('by')} is missing, but {method} compares segments; "
            "name at least one column."
        )


def check_adjust(adjust: object) -> None:
    """Raise unless it is an adjustment of p-values, or None."""
    check_choice("adjust", adjust, ("bh", "holm", None))


def smallest(values: FloatArray, c: ClassCounts) -> int:
    """Find the segment with the smallest value, of several the one with the most rows."""
    leading = np.flatnonzero(values == np.nanmin(values))
    return int(leading[np.argmax(c.n[leading])])


def _presets(
    default: Sequence[str], class_weight: ClassWeight | None
) -> Mapping[str, Sequence[str]]:
    """Name the metrics that each preset stands for, by the default of the method."""
    weighted = () if class_weight is None else ("weighted_balanced_accuracy",)
    every = [
        one.name
        for one in registered()
        if class_weight is not None or "class_weight" not in one.needs
    ]
    of_calls = {"default": (*default, *weighted), "all": every}
    return {name: of_calls[name] if names is None else names for name, names in PRESETS.items()}


def _check_weighted(chosen: Mapping[str, Metric], class_weight: ClassWeight | None) -> None:
    for name, one in chosen.items():
        if "class_weight" in one.needs and class_weight is None:
            raise InvalidInputError(
                f"metric {name!r} needs {parameter('class_weight')}; give a weight for every "
                'label, "balanced" or "prevalence".'
            )


def _check_class_weight(class_weight: object) -> None:
    if class_weight is None:
        return
    if not isinstance(class_weight, Mapping):
        check_choice("class_weight", class_weight, ("balanced", "prevalence"))
        return
    for label, weight in class_weight.items():
        is_number = isinstance(weight, (int, float, np.number)) and not isinstance(weight, bool)
        if not is_number or not np.isfinite(weight) or weight < 0:
            raise InvalidInputError(
                f"{bare_parameter('class_weight')} gives {label!r} the weight {weight!r}; "
                "give finite, non-negative numbers."
            )
    if not any(class_weight.values()):
        raise InvalidInputError(
            f"{parameter('class_weight', dict(class_weight))} has no weight above 0; give at least "
            "one label a positive weight."
        )
