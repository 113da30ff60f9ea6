"""The named criteria of group fairness, a row each, and how they are measured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from balframe.api.metric_selection import Scoring
from balframe.core.sample import Sample
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import Group, Reading
from balframe.methods.comparisons.extremes import Extremal, Extremes, extreme_columns

_Measure = Literal["difference", "ratio"]


@dataclass(frozen=True, slots=True)
class Criterion:
    """A named criterion: it looks at the metric whose segments are furthest apart."""

    name: str
    metrics: tuple[str, ...]
    measures: tuple[_Measure, ...] = ("difference", "ratio")
    bound: float = np.nan


CRITERIA = (
    Criterion("demographic_parity", ("selection_rate",)),
    Criterion("equal_opportunity", ("recall",)),
    Criterion("equalized_odds", ("recall", "false_positive_rate")),
    Criterion("predictive_parity", ("precision",)),
    Criterion("accuracy_equality", ("accuracy",)),
    Criterion("treatment_equality", ("treatment_ratio",)),
    Criterion("four_fifths_rule", ("selection_rate",), ("ratio",), 0.8),
)
METRICS = list(dict.fromkeys(metric for one in CRITERIA for metric in one.metrics))
_MEASURED = ("estimate", "lower", "upper", "bound")
_CLUSTERS = "n_clusters"
_OF_SEGMENTS = ("lowest", "highest", "n_segments", "n_left_out", _CLUSTERS)


@dataclass(frozen=True, slots=True)
class Row:
    """A measure of a criterion; `realised` is the metric that is furthest apart."""

    group: Group
    criterion: str
    measure: str
    realised: Extremes
    numbers: dict[str, float]


def _row(criterion: Criterion, measure: _Measure, found: Sequence[Extremes], group: Group) -> Row:
    """Take the larger difference, or the smaller ratio, where a criterion has several metrics."""
    numbers = [one.numbers for one in found]
    sign = -1 if measure == "difference" else 1
    values = np.array([sign * one[measure] for one in numbers])
    worst = int(np.argmin(values))  # the first undefined one, if any is

    def least(name: str) -> float:
        return float(sign * np.min([sign * one[name] for one in numbers]))

    return Row(
        group,
        criterion.name,
        measure,
        found[worst],
        {
            "estimate": numbers[worst][measure],
            "lower": least(f"{measure}_lower"),
            "upper": least(f"{measure}_upper"),
            "bound": criterion.bound,
            **{name: numbers[worst][name] for name in _OF_SEGMENTS},
        },
    )


def measured(search: Extremal, scoring: Scoring, sample: Sample, group: Group) -> Iterator[Row]:
    """Measure every criterion on a group, whose sample is given."""
    for criterion in CRITERIA:
        found = [
            search.find(name, scoring.metrics[name], sample, group.segments, len(criterion.metrics))
            for name in criterion.metrics
        ]
        for measure in criterion.measures:
            yield _row(criterion, measure, found, group)


def criteria_columns(reading: Reading, rows: Sequence[Row]) -> dict[Name, Any]:
    """Put the measures of all criteria and groups one below the other."""
    columns, segments = extreme_columns(
        reading, [row.group for row in rows], [row.realised for row in rows]
    )
    texts = {
        "criterion": ([one.name for one in CRITERIA], [row.criterion for row in rows]),
        "measure": (["difference", "ratio"], [row.measure for row in rows]),
        "metric": (METRICS, [row.realised.metric for row in rows]),
    }
    for name, (known, values) in texts.items():
        codes = np.array([known.index(value) for value in values], np.int64)
        columns[name] = reading.text_column(known, codes)
    without = {_CLUSTERS} if reading.clusters is None else set()
    for name in (n for n in (*_MEASURED, *_OF_SEGMENTS) if n not in without):
        dtype = np.int64 if name.startswith("n_") else np.float64
        columns[name] = np.array([row.numbers[name] for row in rows], dtype)
    return columns | segments
