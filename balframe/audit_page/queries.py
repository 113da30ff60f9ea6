"""The cells of a model, counted in one reading of its rows, which methods are called on."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import Any, cast

from balframe.audit_page.request import Model, Request
from balframe.core.label_set import Label, LabelSet, as_labels, standard_pair, why_no_default
from balframe.errors import (
    NAME,
    OPTION,
    Advice,
    BalframeWarning,
    InvalidInputError,
    join,
    parameter,
)
from balframe.frames.adapter import Name
from balframe.frames.convert_result import convert_result, row_dicts
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines.inputs import InputFrame
from balframe.frames.query import WEIGHT, InputSpec, build_query
from balframe.frames.rounded_scores import round_down_scores
from balframe.frames.sources import LabelSource, count_input
from balframe.methods.scores.confusion import confusion, observed_cells
from balframe.methods.scores.report import report

TRUTH, CALL, SCORE, N = "truth", "call", "score", "n"

Row = Mapping[Any, Any]


def by_name(column: int) -> str:
    """Return the name of a by-column in the cells, which no name of the caller's can equal."""
    return f"by{column}"


@dataclass(frozen=True)
class ModelCells:
    """The cells of a model: a row for each combination of groups, score, truth and prediction.

    `positive` is None with more than two labels. Scores are rounded down to multiples of `step`
    where there are very many. `n_missing` rows were left out. Those of them with a prediction are
    in `selections`, the rows of each combination of groups and prediction; None without such rows.
    """

    request: Request
    model: Model
    frame: Any
    labels: Sequence[Label]
    positive: Label | None
    step: float | None
    n_missing: int
    selections: Any = None
    _columns: dict[int, Any] = field(default_factory=dict)

    @cached_property
    def matrix(self) -> Mapping[tuple[Label, Label], int]:
        """Count the rows of each true label and prediction."""
        return count_labels(row_dicts(confusion(self.frame, TRUTH, CALL, cells=True)))

    @property
    def n_only_selected(self) -> int:
        """Return how many rows have a prediction, but no outcome or no score."""
        if self.selections is None:
            return 0
        return int(self.selections[N].sum()) - int(self.frame[N].sum())

    @cached_property
    def n_true(self) -> Mapping[Label, int]:
        """Count the rows of each true label."""
        return sum_matrix(self.matrix, self.labels)[0]

    @property
    def is_binary(self) -> bool:
        """Return whether there are two labels."""
        return self.positive is not None

    @property
    def has_scores(self) -> bool:
        """Return whether there are scores, of one of two labels."""
        return self.is_binary and self.model.y_score is not None

    def of_column(self, column: int) -> Any:  # noqa: ANN401 (a frame)
        """Return the cells of one by-column."""
        if column not in self._columns:
            labels = list(self.labels)
            self._columns[column] = confusion(
                self.frame, TRUTH, CALL, by=by_name(column), cells=True, labels=labels
            )
        return self._columns[column]

    def query(
        self,
        method: Callable[..., Any],
        frame: Any = None,  # noqa: ANN401 (cells; all by default)
        **options: Any,  # noqa: ANN401 (as the method's own)
    ) -> Sequence[Row]:
        """Return the result of a method on labels."""
        cells = self.frame if frame is None else frame
        options = {"labels": list(self.labels), "cells": True, **options}
        return query(method, cells, TRUTH, CALL, **options)

    def query_scores(
        self,
        method: Callable[..., Any],
        frame: Any = None,  # noqa: ANN401
        **options: Any,  # noqa: ANN401
    ) -> Sequence[Row]:
        """Return the result of a method on scores."""
        cells = self.frame if frame is None else frame
        return query(method, cells, TRUTH, SCORE, counts=N, pos_label=self.positive, **options)


def query(method: Callable[..., Any], *arguments: Any, **options: Any) -> Sequence[Row]:  # noqa: ANN401
    """Return the rows of a result, details included.

    Warnings are ignored: the page itself names their subjects.
    """
    if "detail" in signature(method).parameters:
        options["detail"] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BalframeWarning)
        return row_dicts(method(*arguments, **options))


def count_labels(cells: Sequence[Row]) -> dict[tuple[Label, Label], int]:
    """Count the rows of each true label and prediction."""
    matrix: dict[tuple[Label, Label], int] = {}
    for cell in cells:
        pair = cell[TRUTH], cell[CALL]
        matrix[pair] = matrix.get(pair, 0) + cell[N]
    return matrix


def sum_matrix(
    matrix: Mapping[tuple[Label, Label], int], labels: Sequence[Label]
) -> tuple[dict[Label, int], dict[Label, int]]:
    """Count the rows of each true label, and of each prediction."""
    n_true, n_called = dict.fromkeys(labels, 0), dict.fromkeys(labels, 0)
    for (truth, call), n in matrix.items():
        n_true[truth] += n
        n_called[call] += n
    return n_true, n_called


def leave_out(cells: Any, column: int, values: Sequence[Any]) -> Any:  # noqa: ANN401 (frames)
    """Leave out the rows of some groups, null among them."""
    is_kept = ~cells[by_name(column)].is_in([value for value in values if value is not None])
    return cells.filter(is_kept.fill_null(None not in values))


def count_model(frame: Any, request: Request, model: Model) -> ModelCells:  # noqa: ANN401 (a frame)
    """Count the rows of a model."""
    by, step = list(request.by), None
    names = [*map(by_name, range(len(by))), TRUTH, CALL, N]
    if model.y_score is not None:
        frame, step = round_down_scores(frame, model.y_score)
        by.append(model.y_score)
        names.insert(-3, SCORE)
    options = {**request.options, "backend": "polars"}
    cells = confusion(frame, request.y_true, model.y_pred, by=by, **options)
    n_missing = 0
    if options["missing"] == "drop":
        rows = report(frame, request.y_true, model.y_pred, metrics="accuracy", **options)
        n_missing = int(rows["n_missing"].sum())
    if WEIGHT in cells.columns:
        raise InvalidInputError(
            "the cells have weights, but an audit counts rows. Count them without weights."
        )
    cells = cells.select(cells.columns[: len(names)])
    cells = cells.rename(dict(zip(cells.columns, names, strict=True)))
    if model.y_score is not None:
        cells, n_without = _drop_missing_scores(cells, model.y_score, request)
        n_missing += n_without
    if not cells.height:
        raise InvalidInputError("there are no rows, so there is nothing to audit.")
    labels = _labels(cells, request)
    _check_words(labels, request)
    selections = count_selections(frame, request, model) if n_missing else None
    return ModelCells(
        request, model, cells, labels, _positive(labels, request), step, n_missing, selections
    )


def count_selections(frame: Any, request: Request, model: Model) -> Any:  # noqa: ANN401 (frames)
    """Count the rows of each combination of groups and prediction, whatever else is missing."""
    data = InputFrame.open(frame)
    names = {"y_pred": model.y_pred, "by": list(request.by), **request.options}
    query = build_query(data.schema, data.adapter, names, InputSpec(has_truth=False))
    counted = cast(CountedFrame, count_input(data, query, LabelSource()))
    cells = observed_cells(counted.cells)
    columns = [
        *counted.by_columns(cells.source_cell).values(),
        counted.label_column(cells.outcome),
        cells.sums.n,
    ]
    own_names = [*map(by_name, range(len(request.by))), CALL, N]
    built = data.adapter.build_frame(dict(zip(own_names, columns, strict=True)))
    return convert_result(built, "polars")


def _drop_missing_scores(cells: Any, y_score: Name, request: Request) -> tuple[Any, int]:  # noqa: ANN401
    """Check scores, which were read as values; return how many rows without one are left out."""
    scores = cells[SCORE]
    if not scores.dtype.is_numeric():
        raise InvalidInputError(
            "column {!r} is of type {}, but {y_score} needs numbers.",
            y_score,
            scores.dtype,
            y_score=NAME,
        )
    if scores.dtype.is_float() and scores.is_infinite().any():
        raise InvalidInputError(
            f"column {y_score!r} has infinite values; scores must be finite. Remove those rows."
        )
    n_null = int(cells[N].filter(scores.is_null()).sum())
    if n_null and request.options["missing"] != "drop":
        raise InvalidInputError(
            "column {!r} has {} null value{}. Remove those rows, or give {missing} to leave them "
            "out.",
            y_score,
            n_null,
            "s" * (n_null != 1),
            missing=Advice("drop"),
        )
    return (cells.filter(scores.is_not_null()), n_null) if n_null else (cells, 0)


def _labels(cells: Any, request: Request) -> tuple[Label, ...]:  # noqa: ANN401
    """Return the labels in their order, which is that of the cells."""
    labels = request.options["labels"]
    if labels is not None:
        return tuple(as_labels(labels, parameter("labels")))
    occurring = [*cells[TRUTH].unique().sort().to_list(), *cells[CALL].unique().sort().to_list()]
    dtype = cells[TRUTH].dtype
    categories = dtype.categories.to_list() if str(dtype).startswith("Enum") else None
    labels = LabelSet.union(occurring, categories).values
    pair = standard_pair(labels)
    if pair is None or len(labels) == 2:
        return labels
    return (False, True) if isinstance(labels[0], bool) else pair


def _check_words(labels: Sequence[Label], request: Request) -> None:
    """Raise where there are words for the positive label of two, but other labels."""
    words = {"truth": request.words.truth, "call": request.words.call}
    names = [parameter(name, NAME) for name, text in words.items() if text is not None]
    if names and len(labels) != 2:
        raise InvalidInputError(
            "{} name{} the positive label of two, but the labels are {}. Leave the words out, or "
            "turn the labels into two.",
            join(" and ", names),
            "s" * (len(names) == 1),
            LabelSet(tuple(labels)),
        )


def _positive(labels: Sequence[Label], request: Request) -> Label | None:
    """Return the positive label of two; more than two have none."""
    pos_label, label_set = request.options["pos_label"], LabelSet(tuple(labels))
    if len(labels) != 2:
        if pos_label is not None:
            raise InvalidInputError(
                "{pos_label} is for two labels, but there are {}: {}. Omit it for an audit of all "
                "labels, or turn them into two.",
                len(labels),
                label_set,
                pos_label=pos_label,
            )
        return None
    code = label_set.positive(pos_label)
    if code is None:
        raise InvalidInputError(
            "an audit of two labels needs {pos_label}; give the one that counts as positive: {}. "
            "{}",
            label_set,
            why_no_default(label_set),
            pos_label=OPTION,
        )
    return labels[code]
