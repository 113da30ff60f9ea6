"""Rows of which only some have a true label: counted by strata, and corrected by weights.

A stratum is the rows of a segment with the same prediction and the same verdicts, columns that are
known for all rows. Rows with a true label get the weight at which they stand for all rows of their
stratum.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from balframe.core.array_types import BoolArray, FloatArray
from balframe.core.cells import LEFT_OUT, Cells, segment_positions
from balframe.core.label_set import check_kinds
from balframe.core.row_sums import RowSums
from balframe.core.safe_divide import ratio
from balframe.core.strata import KEEP, MIN_LABELS, Strata, concerns_unlabelled
from balframe.errors import (
    NAME,
    BalframeError,
    InvalidInputError,
    Message,
    UnsupportedTypeError,
    listed,
    parameter,
)
from balframe.frames.adapter import Adapter, Frame, Name
from balframe.frames.count_frame import count_frame, count_reduced
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.engines import group_by
from balframe.frames.engines.column_names import Rows
from balframe.frames.engines.inputs import InputFrame, materialize, read_streams
from balframe.frames.label_warnings import label_mismatch_warnings, label_warnings
from balframe.frames.query import (
    ADDED,
    MODEL,
    WEIGHT,
    N,
    Query,
    are_cells,
    check_are_columns,
    check_no_margins,
    name_list,
)
from balframe.frames.rollups import add_margins
from balframe.frames.row_weights import InverseProbability

_INTERVALS = ("score", "wilson", "scas")  # methods of which there is a form for strata
LABELLED, FILLED = f"{ADDED}labelled", f"{ADDED}true_or_predicted"


def fill_truth(
    frame: Any,  # noqa: ANN401 (of any library)
    y_true: Name,
    y_pred: Any,  # noqa: ANN401 (a name)
    probability: Name | None = None,
) -> Any:  # noqa: ANN401
    """Add the columns `LABELLED`, and `FILLED` with the prediction in place of a null truth.

    With a probability of being labelled, also add its inverse, null where it is not in (0, 1]. It
    is 1 for rows without a true label.
    """
    predictions = name_list(y_pred)
    if len(predictions) != 1:
        raise InvalidInputError(
            "{} names {} models, but rows without a true label are corrected for one model at a "
            "time.",
            parameter("y_pred", y_pred),
            len(predictions),
        )
    data = InputFrame.open(read_streams(frame))
    names = (y_true, predictions[0])
    check_are_columns(names, data.column_names)
    kinds = [data.adapter.label_kind(data.schema, name) for name in names]
    check_kinds((f"column {name!r}", kind) for name, kind in zip(names, kinds, strict=True))
    rows = nw.from_native(data.native)
    truth, prediction = nw.col(str(y_true)), nw.col(str(predictions[0]))
    filled = nw.when(~truth.is_null()).then(truth).otherwise(prediction)
    added = [filled.alias(FILLED), (~truth.is_null()).alias(LABELLED)]
    if probability is not None:
        check_are_columns((probability,), data.column_names)
        if not data.adapter.is_numeric(data.schema, probability):
            dtype = rows.collect_schema()[str(probability)]
            raise UnsupportedTypeError(
                f"column {probability!r} has the type {dtype}; probabilities must be numbers. Cast "
                "it first."
            )
        chance = nw.col(str(probability)).cast(nw.Float64)
        inverse = nw.when((chance > 0) & (chance <= 1)).then(1 / chance)
        weight = nw.when(truth.is_null()).then(nw.lit(1.0)).otherwise(inverse)
        added.append(weight.alias(InverseProbability(probability)))
    return data.rewrap(rows.with_columns(*added).to_native())


def check_can_correct(query: Query, missing: str, *, has_margins: bool) -> None:
    """Raise for options that a correction of rows without a true label cannot be combined with.

    Without `has_margins`, the result has no column for margins, as a plan of labels.
    """
    if query.cluster is not None:
        raise _cannot_correct("cluster", query.cluster, missing)
    if query.margins is not False and not has_margins:
        raise InvalidInputError(
            "{margins} cannot be combined with {missing} in a plan of labels: each row of the data "
            "would be in several strata, and drawn for each. Make one plan for each margin, with "
            "its columns as {by}.",
            margins=query.margins,
            missing=missing,
            by=NAME,
        )


def _cannot_correct(name: str, value: object, missing: str) -> InvalidInputError:
    return InvalidInputError(
        "{} cannot be combined with {missing}: no limits are known for it. Omit one.",
        parameter(name, value),
        missing=missing,
    )


@dataclass(frozen=True, slots=True)
class PartlyLabelledSource:
    """Predicted labels, and true labels of some rows, counted by `strata`, columns of all rows.

    Without a correction, rows without a true label are kept, and strata are by-columns.
    """

    y_true: Name
    strata: tuple[Name, ...]
    correction: "_Correction | None" = None

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> CountedFrame:
        """Count the cells of an eager frame."""
        with self._true_names():
            return self._finished(count_frame(frame, adapter, self._by_strata(query)), query)

    def reduce(self, rows: Rows, query: Query) -> Rows:
        """Group by segment, verdicts, true label and prediction."""
        return group_by.reduce(rows, self._by_strata(query))

    def count_reduced(self, cells: Frame, adapter: Adapter, query: Query) -> CountedFrame:
        """Read the cells that an engine has summed."""
        with self._true_names():
            return self._finished(count_reduced(cells, adapter, self._by_strata(query)), query)

    @contextmanager
    def _true_names(self) -> Iterator[None]:
        """Let errors name the column of true labels in place of the one that is filled."""
        try:
            yield
        except BalframeError as error:
            message = error.message.replace(repr(FILLED), repr(self.y_true))
            raise type(error)(message) from error.__cause__

    def _by_strata(self, query: Query) -> Query:
        by = (*self._with_strata(query), LABELLED)
        return replace(query, by=by, margins=False, has_several_models=False)

    def _with_strata(self, query: Query) -> tuple[Name, ...]:
        return tuple(dict.fromkeys((*query.by, *self.strata)))

    def named(self, query: Query) -> Query:
        """Return the query as the result names columns."""
        by = self._with_strata(query) if self.correction is None else query.by
        return replace(query, y_true=self.y_true, sample_weight=None, by=by)

    def _finished(self, counted_frame: CountedFrame, query: Query) -> CountedFrame:
        """Turn cells by strata and `LABELLED` into those that a method reads, with its margins."""
        codes, adapter = counted_frame.codes, counted_frame.adapter
        # a column of verdicts that is a by-column too has strata in the margins without it
        by = tuple(codes[name] for name in (*query.by, *self.strata, LABELLED))
        cells, named = replace(counted_frame.cells, by=by), self.named(query)
        warnings: tuple[Message, ...] = ()
        if query.labels is None:
            labelled = replace(cells, sums=cells.sums.losing(~_is_labelled(counted_frame)))
            own = {name: counted_frame.by[name] for name in query.by}
            labels = counted_frame.labels
            warnings = label_mismatch_warnings([labelled], named, labels, own, adapter)
        cells, levels = add_margins(cells, {**counted_frame.by}, adapter, query)
        counted_frame = replace(
            counted_frame, cells=cells, by=levels, query=named, label_warnings=warnings
        )
        if self.correction is None:
            counted_frame = _keep_unlabelled(counted_frame, self.strata)
        else:
            counted_frame = self.correction.correct(counted_frame, self.strata)
        if not query.has_several_models:
            return counted_frame
        return replace(
            counted_frame,
            cells=counted_frame.cells.with_constant_column(0, first=False),
            by={**counted_frame.by, MODEL: adapter.text_series(query.model_names)},
        )


def _is_labelled(counted_frame: CountedFrame) -> BoolArray:
    """Return whether the rows of each cell, by strata and `LABELLED`, have a true label."""
    flags = counted_frame.adapter.python_values(counted_frame.by[LABELLED])
    return np.array([*map(bool, flags), False])[counted_frame.cells.by[-1]]


def _keep_unlabelled(counted_frame: CountedFrame, verdicts: tuple[Name, ...]) -> CountedFrame:
    """Return cells with the strata as by-columns; the null true label has the last code."""
    cells, levels = counted_frame.cells, counted_frame.by
    keys = [*levels][: _n_keys(cells, verdicts)]
    codes = dict(zip((*keys, *verdicts), cells.by[:-1], strict=True))
    actual = np.where(_is_labelled(counted_frame), cells.actual, len(counted_frame.labels))
    return replace(
        counted_frame,
        cells=replace(cells, by=tuple(codes.values()), actual=actual).regrouped(),
        by={name: levels[name] for name in codes},
    )


def _n_keys(cells: Cells, verdicts: tuple[Name, ...]) -> int:
    """Return the number of by-columns of segments, which come before verdicts and `LABELLED`."""
    return len(cells.by) - len(verdicts) - 1


@dataclass(frozen=True, slots=True)
class _Correction:
    """How rows with a true label stand for those without; with `is_by_label`, of each label."""

    doubt: float
    is_bounded: bool
    is_by_label: bool

    def correct(self, counted_frame: CountedFrame, verdicts: tuple[Name, ...]) -> CountedFrame:
        """Return weighted cells of the rows with a true label, beside the strata of all rows."""
        cells, n_keys = counted_frame.cells, _n_keys(counted_frame.cells, verdicts)
        is_labelled = _is_labelled(counted_frame)
        weight, weight_sq, weight_max = _weight_sums(cells)
        strata, factor = self._strata(counted_frame, n_keys, is_labelled, weight, weight_sq)
        own = Cells(
            cells.by[:n_keys],
            np.where(is_labelled, cells.actual, LEFT_OUT),
            np.where(is_labelled, cells.outcome, LEFT_OUT),
            RowSums(
                n=np.where(is_labelled, cells.n, 0),
                missing=np.where(is_labelled, 0, cells.n),
                weight=weight * factor,
                weight_sq=weight_sq * factor**2,
                weight_max=weight_max * factor,
            ),
        )
        corrected = replace(
            counted_frame,
            cells=own.regrouped(),
            by={name: counted_frame.by[name] for name in [*counted_frame.by][:n_keys]},
            strata=strata,
        )
        finest = strata.at(np.flatnonzero(corrected.segment_margins() == 0))
        warnings = _few_labels_warning(finest, has_verdicts=bool(verdicts))
        return replace(corrected, label_warnings=(*label_warnings(corrected), *warnings))

    def _strata(
        self,
        counted_frame: CountedFrame,
        n_keys: int,
        is_labelled: BoolArray,
        weight: FloatArray,
        weight_sq: FloatArray,
    ) -> tuple[Strata, FloatArray]:
        """Return the strata, and by how much the weight of each cell stands for their rows."""
        cells = counted_frame.cells
        segment = segment_positions(cells.by[:n_keys], len(cells.n))
        n_segments = int(segment.max(initial=-1)) + 1
        columns = (segment, cells.outcome, *cells.by[n_keys:-1])
        keys, stratum = np.unique(np.column_stack(columns), axis=0, return_inverse=True)

        def total(values: Any, used: Any = True) -> Any:  # noqa: ANN401 (arrays)
            return np.bincount(stratum, np.where(used, values, 0), len(keys))

        rows, sum_of_weights = total(cells.n), total(weight, is_labelled)
        # labels of unequal weights are as many as equal ones of the same variance (Kish)
        labelled = np.nan_to_num(ratio(sum_of_weights**2, total(weight_sq, is_labelled)))
        right, positive = (
            np.nan_to_num(ratio(total(weight, is_labelled & of_these), sum_of_weights)) * labelled
            for of_these in (
                cells.actual == cells.outcome,
                cells.actual == counted_frame.pos_label_code(),
            )
        )
        by_label = None
        if self.is_by_label:
            by_label = np.zeros((len(keys), len(counted_frame.labels)))
            at = stratum[is_labelled], cells.actual[is_labelled]
            np.add.at(by_label, at, weight[is_labelled])
            by_label *= np.nan_to_num(ratio(labelled, sum_of_weights))[:, None]
        counts = rows, labelled, right, positive, by_label
        strata = replace(
            Strata.of(keys[:, 0], keys[:, 1], n_segments, *counts),
            doubt=self.doubt,
            is_bounded=self.is_bounded,
        )
        factor = np.nan_to_num(ratio(rows, sum_of_weights))[stratum]
        return strata, np.where(is_labelled, factor, 0.0)


def _weight_sums(cells: Cells) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return sums of weights and of their squares, and the largest weights; 1 without weights."""
    sums = cells.sums.in_units_of(0)
    if sums.weight is None or sums.weight_sq is None or sums.weight_max is None:
        n = cells.n.astype(np.float64)
        return n, n, np.ones(len(n))
    return sums.weight, sums.weight_sq, sums.weight_max


def _few_labels_warning(strata: Strata, *, has_verdicts: bool) -> tuple[Message, ...]:
    """Return a warning if strata have few rows with a true label, unless nothing rests on them."""
    lacks_some = strata.labelled < strata.rows
    few = np.asarray((lacks_some & (strata.labelled < MIN_LABELS)).any(axis=1))
    if strata.is_bounded or not few.any():
        return ()
    advice: str | Message = ""
    if has_verdicts:
        advice = Message(", or name fewer columns in {verdict}", verdict=NAME)
    return (
        Message(
            "in {:,} of {:,} segments, fewer than {} rows of some prediction{} have a true "
            "label, so estimates vary widely and limits are wide. Have more of these rows "
            "labelled{}.",
            int(few.sum()),
            len(few),
            MIN_LABELS,
            " and verdict" if has_verdicts else "",
            advice,
        ),
    )


def partly_labelled(
    frame: Any,  # noqa: ANN401 (of any library)
    request: Mapping[str, Any],
    *,
    by_label: bool = False,
) -> tuple[Any, dict[str, Any], PartlyLabelledSource]:
    """Return a frame, the names and options by which to count it, and how.

    With `by_label`, strata have the rows with each true label.
    """
    frame = materialize(frame)  # which is opened twice
    y_true, y_pred, missing = request["y_true"], request["y_pred"], request["missing"]
    if request.get("sample_weight") is not None:
        raise _cannot_correct("sample_weight", request["sample_weight"], missing)
    verdicts, probability = tuple(name_list(request["verdict"])), request["label_probability"]
    replaced = {"y_true": FILLED, "missing": "raise", **_as_counts(frame, request)}
    if missing == KEEP:
        kept = verdicts if probability is None else (*verdicts, probability)
        source = PartlyLabelledSource(y_true, kept)
        filled = fill_truth(frame, y_true, y_pred)
    else:
        doubt = 1.0 if request.get("doubt") is None else float(request["doubt"])
        correction = _Correction(doubt, missing == "bounds", by_label)
        source = PartlyLabelledSource(y_true, verdicts, correction)
        filled = fill_truth(frame, y_true, y_pred, probability)
        if probability is not None:
            replaced["sample_weight"] = InverseProbability(probability)
    return filled, {**replaced, "strata": (*source.strata, LABELLED)}, source


def _as_counts(frame: Any, request: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    """Return the options by which cells are rows with counts."""
    if request.get("counts") is not None or request.get("sample_weight") is not None:
        return {}  # both together with cells are refused like those of other rows
    data = InputFrame.open(frame)
    labels = [*data.names(request["y_true"]), *data.names(request["y_pred"])]
    if not (request.get("cells") or are_cells(data.column_names, labels)):
        return {}
    if WEIGHT in data.column_names:
        raise InvalidInputError(
            "cells with weights cannot be combined with {missing}: no limits are known for them. "
            "Count them without weights.",
            missing=request["missing"],
        )
    by = data.names(request["by"])
    check_no_margins([name for name in data.column_names if name not in by])
    return {"cells": False, "counts": N}


def check_correction(request: Mapping[str, Any]) -> None:
    """Raise for options of a correction that is not requested, or not valid."""
    missing, verdict, doubt = request["missing"], request["verdict"], request.get("doubt")
    probability = request["label_probability"]
    if not concerns_unlabelled(missing):
        own = {"verdict": verdict, "label_probability": probability, "doubt": doubt}
        for name, value in own.items():
            if value is not None:
                raise InvalidInputError(
                    "{} is for rows without a true label; give {missing} too.",
                    parameter(name, value),
                    missing="correct",
                )
        return
    if request.get("interval") not in (None, False, True, *_INTERVALS):
        raise InvalidInputError(
            "{interval} is not a method for rows without a true label; known are {}.",
            listed(map(repr, _INTERVALS), len(_INTERVALS)),
            interval=request["interval"],
        )
    is_number = isinstance(doubt, (int, float)) and not isinstance(doubt, bool)
    if doubt is not None and not (is_number and 1 <= doubt < np.inf):
        raise InvalidInputError(
            "{doubt} is not a ratio of odds; give a number of at least 1, such as 2.", doubt=doubt
        )
    for name, value in {"doubt": doubt, "label_probability": probability}.items():
        if value is not None and missing == "bounds":
            raise InvalidInputError(
                "{} is for {missing}; the bounds hold whatever the rows without a label are.",
                parameter(name, NAME),
                missing="correct",
            )
