"""The rows that are left out of a page because a value is missing: how many of each group, and why.

All of it is a difference of counts, so that any engine can count them: rows of the data less those
with a prediction less those with both labels less those examined.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np

from balframe.audit_page.request import Model, Request
from balframe.frames.adapter import Name
from balframe.frames.convert_result import convert_result, row_dicts
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines.inputs import InputFrame
from balframe.frames.polars_cells import join_counts, sum_counts
from balframe.frames.query import InputSpec, N, build_query
from balframe.frames.sources import LabelSource, count_input

Reason = Literal[  # the value that is missing
    "outcome", "prediction", "score", "count", "weight", "cluster"
]

MISSING = "missing"
_WITH_LABELS, IN_DATA, _PREDICTED, _EXAMINED = "with_labels", "in_data", "predicted", "examined"
_WITHOUT_COUNT, _WITH_WEIGHT, _WITH_DESIGN = "without_count", "with_weight", "with_design"
STEPS = (IN_DATA, _PREDICTED, _WITH_LABELS, _WITH_WEIGHT, _WITH_DESIGN, _EXAMINED, _WITHOUT_COUNT)
NO_DESIGN: Mapping[str, Any] = {"sample_weight": None, "cluster": None}


@dataclass(frozen=True, slots=True)
class LeftOutRows:
    """The rows of a group, and how many of them were left out because they lack each value.

    A row counts once: as one without a prediction, or else without an outcome, or else without a
    weight, or else without a cluster, or else without a score. `value` is None for rows without a
    group, and for all rows together.
    """

    value: Any
    n: int
    missing: Mapping[Reason, int]

    @property
    def n_left_out(self) -> int:
        """Return how many rows were left out."""
        return sum(self.missing.values())

    @property
    def n_examined(self) -> int:
        """Return how many rows were examined."""
        return self.n - self.n_left_out

    @property
    def share(self) -> float:
        """Return the share of the rows that was left out."""
        return self.n_left_out / self.n

    @property
    def reasons(self) -> Sequence[Reason]:
        """Return the values whose absence caused rows to be left out."""
        return [reason for reason, n in self.missing.items() if n]


@dataclass(frozen=True, slots=True)
class RowCounts:
    """The rows of each combination of groups in the data, and those left after each step."""

    frame: Any

    @property
    def total(self) -> LeftOutRows:
        """Return the counts of all rows together."""
        (row,) = row_dicts(sum_counts(self.frame, [], STEPS))
        return _left_out_rows(None, row)

    def by_group(self, by: str) -> Sequence[LeftOutRows]:
        """Return the counts of each group of a by-column, in their order."""
        rows = row_dicts(sum_counts(self.frame, [by], STEPS))
        return [_left_out_rows(row[by], row) for row in rows if row[IN_DATA]]


def _left_out_rows(value: object, row: Mapping[Any, int]) -> LeftOutRows:
    missing: dict[Reason, int] = {
        "outcome": row[_PREDICTED] - row[_WITH_LABELS],
        "prediction": row[IN_DATA] - row[_WITHOUT_COUNT] - row[_PREDICTED],
        "score": row[_WITH_DESIGN] - row[_EXAMINED],
        "count": row[_WITHOUT_COUNT],
        "weight": row[_WITH_LABELS] - row[_WITH_WEIGHT],
        "cluster": row[_WITH_WEIGHT] - row[_WITH_DESIGN],
    }
    return LeftOutRows(value, row[IN_DATA], missing)


def count_labelled_rows(frame: Any, request: Request, model: Model, names: Sequence[str]) -> Any:  # noqa: ANN401 (frames)
    """Count the rows with both labels, and the missing ones, of each combination of groups.

    `names` are those of the by-columns in the result.
    """
    columns = {"y_true": request.y_true, "y_pred": model.y_pred}
    return _count_rows(frame, {**request.options, **columns}, request.by, names)


def count_left_out(
    frame: Any,  # noqa: ANN401
    request: Request,
    model: Model,
    labelled: Any,  # noqa: ANN401 (a frame, as the two that follow)
    selections: Any,  # noqa: ANN401
    examined: Any,  # noqa: ANN401
    names: Sequence[str],
) -> RowCounts:
    """Count who was left out, from rows with both labels, with a prediction, and examined.

    Rows with both labels may lack a weight or a cluster. Without `selections`, there are no
    predictions to lack: what is missing is an outcome.
    """
    with_design = with_weight = labelled
    if request.cluster is not None:
        request = replace(request, options={**request.options, "cluster": None})
        with_weight = labelled = count_labelled_rows(frame, request, model, names)
    if request.sample_weight is not None:
        request = replace(request, options={**request.options, **NO_DESIGN})
        labelled = count_labelled_rows(frame, request, model, names)
    in_data = (labelled[N] + labelled[MISSING]).alias(IN_DATA)
    labelled = labelled.with_columns(in_data)
    parts = [
        labelled.select(*names, IN_DATA, labelled[N].alias(_WITH_LABELS)),
        with_weight.select(*names, with_weight[N].alias(_WITH_WEIGHT)),
        with_design.select(*names, with_design[N].alias(_WITH_DESIGN)),
        examined.select(*names, examined[N].alias(_EXAMINED)),
        _count_without_count(frame, request, names, labelled),
    ]
    if selections is not None:
        parts.append(selections.select(*names, selections[N].alias(_PREDICTED)))
        return RowCounts(join_counts(parts, names))
    counts = join_counts(parts, names)
    predicted = counts[IN_DATA] - counts[_WITHOUT_COUNT]
    return RowCounts(counts.with_columns(predicted.alias(_PREDICTED)))


def _count_without_count(
    frame: Any,  # noqa: ANN401
    request: Request,
    names: Sequence[str],
    labelled: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Count the rows that stand for an unknown number of rows, each as one."""
    counts = request.options.get("counts")
    if counts is None:
        return labelled.select(*names, (labelled[N] * 0).alias(_WITHOUT_COUNT))
    options = {**request.options, "counts": None, "labels": None, "y_pred": counts}
    rows = _count_rows(frame, options, request.by, names)
    return rows.select(*names, rows[MISSING].alias(_WITHOUT_COUNT))


def _count_rows(
    frame: Any,  # noqa: ANN401
    options: Mapping[str, Any],
    by: Sequence[Name],
    names: Sequence[str],
) -> Any:  # noqa: ANN401
    """Count the rows that have labels and those that do not, of each combination of groups."""
    data = InputFrame.open(frame)
    spec = InputSpec(has_truth="y_true" in options)
    query = build_query(data.schema, data.adapter, {"by": list(by), **options}, spec)
    counted_rows = cast(CountedFrame, count_input(data, query, LabelSource()))
    segment, first = counted_rows.cells.segments
    n = np.zeros(len(first), np.int64)
    np.add.at(n, segment, counted_rows.cells.n)
    sums = [n, counted_rows.cells.missing_of_segments()]
    columns = [*counted_rows.by_columns(first).values(), *sums]
    built = data.adapter.build_frame(dict(zip([*names, N, MISSING], columns, strict=True)))
    return convert_result(built, "polars")
