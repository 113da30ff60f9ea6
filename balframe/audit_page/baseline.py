"""The baseline of an audit: its cells, counted like those of the data, and the two together."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from balframe.api.columns import PREDICTED_OF_MODELS
from balframe.audit_page.bins import cut_cells
from balframe.audit_page.queries import (
    CLUSTER,
    PREDICTION,
    TRUTH,
    ModelCells,
    N,
    Row,
    by_name,
    count_model,
    query,
)
from balframe.audit_page.request import Model, Request
from balframe.core.label_set import Label
from balframe.errors import NAME, BalframeError, InvalidInputError, Message
from balframe.frames.adapter import Name
from balframe.frames.by_entries import BINS_ENTRY
from balframe.frames.concat import concat, value_kind
from balframe.frames.engines.inputs import InputFrame, materialize, unwrap
from balframe.frames.polars_cells import is_numeric
from balframe.frames.query import MODEL, WEIGHT, WEIGHT_MAX, WEIGHT_SQ, are_cells, check_are_columns
from balframe.methods.comparisons.gaps import gaps
from balframe.methods.scores.confusion import confusion

_IS_DATA = "is_data"  # the column that tells data (1) and baseline (0) apart


def count_baselines(
    baseline: object, request: Request, cells: Sequence[ModelCells]
) -> list[ModelCells]:
    """Count the baseline for each model, which is rows or cells; its labels are those of both."""
    try:
        native, _ = unwrap(baseline)
        frame = materialize(native)
        return [_count(frame, request, model_cells) for model_cells in cells]
    except BalframeError as error:
        raise type(error)(Message("in {baseline}: {}", error, baseline=NAME)) from error


def _count(frame: Any, request: Request, cells: ModelCells) -> ModelCells:  # noqa: ANN401
    y_pred = cells.model.y_pred
    is_of_two = len(cells.labels) == 2
    of_two = list(cells.labels) if is_of_two else request.options["labels"]
    options = {**request.options, "labels": of_two, "pos_label": cells.positive}
    names = InputFrame.open(frame).column_names
    of_cells = [(request.y_true, name) for name in (y_pred, PREDICTED_OF_MODELS)]
    if request.options["cells"] or any(are_cells(names, labels) for labels in of_cells):
        options |= {"cells": True, "counts": None, "sample_weight": None}
        if MODEL in names and y_pred not in names:
            frame, y_pred = _of_model(frame, request, y_pred, options), PREDICTED_OF_MODELS
    if request.is_of_outcomes and request.y_true not in names:
        check_are_columns([y_pred], names)
    own_request = replace(request, options=options)
    own_cells = count_model(frame, own_request, Model(y_pred, None))
    _check_same_kind(cells, own_cells)
    if cells.is_weighted != own_cells.is_weighted:
        holders = ("data have", "baseline has")
        weighted, unweighted = holders if cells.is_weighted else holders[::-1]
        raise InvalidInputError(
            f"the {weighted} weights and the {unweighted} none. Weight both or neither."
        )
    own_cells = _cut_into_same_bins(own_cells, cells)
    labels = tuple(dict.fromkeys([*cells.labels, *own_cells.labels]))
    return replace(own_cells, positive=cells.positive, labels=labels)


def _cut_into_same_bins(own_cells: ModelCells, cells: ModelCells) -> ModelCells:
    """Cut by-columns of the baseline as those of the data are."""
    for column, entry in cells.bins.items():
        values = own_cells.frame[by_name(column)]
        if not is_numeric(own_cells.frame, by_name(column)) and not (
            {*values.drop_nulls()} <= {*entry.texts}
        ):
            raise InvalidInputError(
                "column {!r} has no numbers, but {} cuts the numbers that it has in the data. "
                "Cast it to the type of the other.",
                cells.request.by[column],
                BINS_ENTRY,
            )
    return cut_cells(own_cells, cells.bins) if cells.bins else own_cells


def _of_model(frame: Any, request: Request, y_pred: Name, options: Any) -> Any:  # noqa: ANN401
    """Return the cells of a model among those of several."""
    cluster = [] if request.cluster is None else [request.cluster]
    by = [*request.by, MODEL]
    cells = confusion(
        frame, request.y_true, PREDICTED_OF_MODELS, by=by, **options, backend="polars"
    )
    cells = cells.filter(cells[MODEL] == str(y_pred)).drop(MODEL)
    if not cells.height:
        raise InvalidInputError(f"there is no model {y_pred!r}.")
    return cells.select([*request.by, *cluster, *cells.columns[len(request.by) + len(cluster) :]])


def _check_same_kind(cells: ModelCells, baseline: ModelCells) -> None:
    """Raise if labels can never be equal in both."""
    kinds = [value_kind(part.labels[0]) for part in (cells, baseline)]
    if kinds[0] != kinds[1]:
        raise InvalidInputError(
            f"the labels are {kinds[1]}, and those of the data are {kinds[0]}, which never compare "
            "equal. Cast one to the type of the other."
        )


def baseline_cells(baseline: ModelCells, columns: Sequence[int]) -> Any:  # noqa: ANN401 (a frame)
    """Return the cells of the baseline in some by-columns, as `check` reads them."""
    by = [*map(by_name, columns)] or None
    return confusion(
        baseline.frame, baseline.truth, PREDICTION, by=by, cells=True, **baseline.design
    )


def compare_with_baseline(
    cells: ModelCells,
    baseline: ModelCells,
    metrics: Sequence[str],
    pos_label: Label | None,
    level: float,
    group: tuple[int, Any] | None = None,
) -> list[Row]:
    """Return the rows of `gaps`, a metric each: the data less the baseline, of all or of a group.

    A group is a by-column and a value. The labels are those of the baseline, which has all.
    """
    both = (1, cells), (0, baseline)
    parts = [_part(part, group).with_columns(**{_IS_DATA: i}) for i, part in both]
    rows = query(
        gaps,
        concat(parts),
        cells.truth,
        PREDICTION,
        by=_IS_DATA,
        reference=0,
        metrics=list(metrics),
        labels=list(baseline.labels),
        pos_label=pos_label,
        cells=True,
        adjust=None,
        level=level,
        **cells.design,
    )
    by_metric = {row["metric"]: row for row in rows if row[_IS_DATA] == 1}
    return [by_metric[metric] for metric in metrics]


def _part(cells: ModelCells, group: tuple[int, Any] | None) -> Any:  # noqa: ANN401 (a frame)
    """Return the columns of cells that data and baseline are compared in."""
    frame = cells.frame
    if group is not None:
        column, value = group
        frame = cells.of_column(column)
        values = frame[by_name(column)]
        frame = frame.filter(values.is_null() if value is None else values == value)
    names = [CLUSTER, TRUTH, PREDICTION, N, WEIGHT, WEIGHT_SQ, WEIGHT_MAX]
    frame = frame.select([name for name in names if name in frame.columns])
    texts = [
        frame[name].cast(str)
        for name in (CLUSTER, TRUTH, PREDICTION)
        if name in frame.columns and str(frame[name].dtype).startswith(("Enum", "Categorical"))
    ]
    return frame.with_columns(texts)
