"""A frame with scores to ties: encode its columns, find the positive label, sort or bin."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from balframe.core.aggregate import Codes, Measures, aggregate, shifted
from balframe.core.arrays import BoolArray, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.labels import LabelSet
from balframe.core.rules import Rules
from balframe.core.ties import Ties, split, tie
from balframe.errors import InvalidInputError
from balframe.frames import in_polars, reduce
from balframe.frames.agree import Counted, LabelColumn, agree_on_labels
from balframe.frames.hashing import hashed
from balframe.frames.library import Column, DType, Library, Name
from balframe.frames.measures import measures, raise_null
from balframe.frames.query import MARGIN, MODEL, Query
from balframe.frames.read import Reading, check_labels, with_margins
from balframe.frames.thresholds import Thresholds

_NEGATIVE, _POSITIVE, _NO_LABEL = 0, 1, 2


@dataclass(frozen=True)
class Scored:
    """The ties of a frame; `reading` has its segments, one cell for each, and the labels."""

    reading: Reading
    ties: Ties
    thresholds: Thresholds

    def rules(self) -> Rules:
        """List the thresholds of every segment."""
        if self.thresholds.values is None:
            return Rules.exact(self.ties.in_own_units())
        return Rules.on_grid(self.ties.in_own_units(), self.thresholds.values)

    def of_models(self) -> tuple[Ties, Int64Array]:
        """Tie the rows of all segments together, by model; and tell the model of each segment."""
        names = list(self.reading.by)
        codes = dict(zip(names, self.ties.by, strict=True))
        finest = codes.get(MARGIN, np.zeros_like(self.ties.missing)) == 0
        together = [None if name == MODEL else 0 for name in names]
        model = codes.get(MODEL, np.zeros_like(self.ties.missing))
        return self.ties.at(np.flatnonzero(finest)).rolled_up((), together), model


@dataclass(frozen=True)
class _Part:
    """The rows of one model: which they are, what they carry, and their scores.

    On a grid, the score may be the number of thresholds that it has reached already.
    """

    rows: Any
    measures: Measures
    score: FloatArray
    is_null: BoolArray
    is_reached: bool = False


def read_scores(
    frame: Any,  # noqa: ANN401
    library: Library,
    query: Query,
    thresholds: Thresholds,
) -> Scored:
    """Count the ties of an eager frame."""
    dtypes = {query.y_true: library.dtype(frame, query.y_true)}
    check_labels(frame, library, query)
    names = dict.fromkeys((*query.by, query.y_true))
    columns = {
        name: library.encode_direct(frame, name) or library.encode_hashed(frame, name)
        for name in names
    }
    carried = measures(frame, library, query)
    parts = []
    for name in query.y_pred:
        values, is_null = library.numbers(frame, name)
        score = values + 0.0  # -0.0 becomes 0.0
        if carried.n is not None:
            score = np.where(carried.n > 0, score, 0)  # a row that stands for none does not exist
        _check_scores(name, score, carried, thresholds)
        parts.append(_Part(slice(None), carried, score, is_null))
    return _assemble(columns, query.by, query.y_true, parts, library, dtypes, query, thresholds)


def read_reduced_scores(
    cells: pl.DataFrame, dtypes: Mapping[Name, DType], query: Query, thresholds: Thresholds
) -> Scored:
    """Count the ties of cells that a lazy engine has summed already."""
    carried = reduce.measures_of(cells, query)
    by = tuple(reduce.by_key(i) for i in range(len(query.by)))
    columns = {
        name: in_polars.encode_direct(cells, name) or in_polars.encode_hashed(cells, name)
        for name in (*by, reduce.ACTUAL)
    }
    model_of_row = cells.get_column(reduce.MODEL_INDEX).to_numpy()
    parts = []
    for model, name in enumerate(query.y_pred):
        rows = np.flatnonzero(model_of_row == model)
        values, is_null = in_polars.numbers(cells, reduce.outcome_key(model))
        score, model_rows = values[rows].astype(np.float64), carried.at(rows)
        if thresholds.is_exact:
            _check_scores(name, score, model_rows, thresholds)
        else:
            n_infinite, n_outside = (
                _rows_in(model_rows, score == code) for code in (reduce.INFINITE, reduce.OUTSIDE)
            )
            _raise_unusable(name, n_infinite, n_outside)
        parts.append(_Part(rows, model_rows, score, is_null[rows], is_reached=True))
    return _assemble(columns, by, reduce.ACTUAL, parts, in_polars, dtypes, query, thresholds)


def _check_scores(name: Name, score: FloatArray, rows: Measures, thresholds: Thresholds) -> None:
    """Raise where scores are not finite, or not on the grid asked for."""
    is_infinite = np.isinf(score)
    n_infinite = _rows_in(rows, is_infinite) if is_infinite.any() else 0
    is_outside = (score < 0) | (score > 1) if thresholds.is_even else is_infinite
    _raise_unusable(name, n_infinite, _rows_in(rows, is_outside) if is_outside.any() else 0)


def _raise_unusable(name: Name, n_infinite: int, n_outside: int) -> None:
    if n_infinite:
        raise InvalidInputError(
            f"column {name!r} has {n_infinite} infinite value{'s' * (n_infinite > 1)}; scores are "
            "finite. Replace them first, as by the largest score there is."
        )
    if n_outside:
        raise InvalidInputError(
            f"column {name!r} has {n_outside} score{'s' * (n_outside > 1)} outside of [0, 1], over "
            "which a number of thresholds is spaced. Give a list of thresholds, or "
            '("quantiles", n) to take them from the scores.'
        )


def _assemble(
    columns: Mapping[Any, Column],
    by: Sequence[Any],
    y_true: Any,  # noqa: ANN401
    parts: Sequence[_Part],
    library: Library,
    dtypes: Mapping[Name, DType],
    query: Query,
    thresholds: Thresholds,
) -> Scored:
    """Tie each model's rows, and put the models together."""
    true = columns[y_true]
    labels, codes = _agree(true, parts, library, dtypes, query)
    kinds = _kinds(true, codes, _positive(labels, query))
    models = []
    for name, part in zip(query.y_pred, parts, strict=True):
        if not query.drops_missing:
            raise_null(name, _rows_in(part.measures, part.is_null))
        models.append(_tied([columns[key] for key in by], true, kinds, part, thresholds))
    levels = {name: columns[key].levels for name, key in zip(query.by, by, strict=True)}
    if query.several:
        levels[MODEL] = library.text([str(name) for name in query.y_pred])
        models = [ties.labelled(model, first=False) for model, ties in enumerate(models)]
    ties = Ties.concat(models)
    if query.margins is not False:
        ties, margin = with_margins(ties, levels, query)
        levels = {MARGIN: library.text(margin), **levels}
    cells = Cells(
        ties.by,
        np.full_like(ties.missing, LEFT_OUT),
        np.full_like(ties.missing, LEFT_OUT),
        Measures(np.zeros_like(ties.missing), ties.missing),
    )
    return Scored(Reading(cells, labels, levels, library, query, dtypes), ties, thresholds)


def _agree(
    true: Column,
    parts: Sequence[_Part],
    library: Library,
    dtypes: Mapping[Name, DType],
    query: Query,
) -> tuple[LabelSet, Int64Array]:
    """Find the labels, and the code of each level of the column of true labels."""
    counted = []
    for part in parts:
        codes = replace(true.codes, values=true.codes.values[part.rows])
        (found,), sums = aggregate([codes], part.measures)
        counted.append(Counted((), (true.ranked(found),), (0,), sums))
    column = LabelColumn(query.y_true, true.levels, dtypes[query.y_true])
    labels, (table,) = agree_on_labels(counted, [column], library, query)
    return labels, table


def _positive(labels: LabelSet, query: Query) -> int:
    code = labels.positive(query.pos_label) if len(labels) else -1
    if code is None:
        raise InvalidInputError(
            f"scores need pos_label=, one of the labels: {labels}. It has a default only where "
            "the labels are among {0, 1}, {-1, 1} or {False, True}."
        )
    return code


def _kinds(true: Column, codes: Int64Array, positive: int) -> Int64Array:
    """Tell for each code of the encoder whether it is negative, positive or null."""
    label = codes[true.ranked(np.arange(true.codes.size))]
    kinds = np.where(label == positive, _POSITIVE, _NEGATIVE)
    return np.where(label == LEFT_OUT, _NO_LABEL, kinds).astype(np.uint8)


def _rows_in(measures: Measures, rows: BoolArray) -> int:
    return int(rows.sum() if measures.n is None else measures.n[rows].sum())


def _tied(
    by: Sequence[Column],
    true: Column,
    kinds: Int64Array,
    part: _Part,
    thresholds: Thresholds,
) -> Ties:
    """Tie the rows of one model; on a grid, count them into bins first."""
    codes = [replace(one.codes, values=one.codes.values[part.rows]) for one in by]
    kind = kinds[shifted(true.codes, part.rows)]
    rows, score = _without_nulls(part, kind), part.score
    if thresholds.values is not None:
        size = len(thresholds.values) + 1
        reached = score.astype(np.int64) if part.is_reached else thresholds.reached(score)
        binned = [*codes, Codes(kind, 0, 3), Codes(reached, 0, size)]
        (*found, kind, reached), rows = aggregate(*hashed(binned, rows))
        codes = [Codes(one, 0, code.size) for one, code in zip(found, codes, strict=True)]
        score = reached.astype(np.float64)
    counted = None if rows.n is None else rows.n > 0
    ties = tie(codes, score, *split(rows, kind == _POSITIVE), counted, rows.missing)
    ranked = tuple(one.ranked(code) for one, code in zip(by, ties.by, strict=True))
    ties = replace(ties, by=ranked)
    if all(one.rank is None for one in by):
        return ties
    return ties.at(np.lexsort(ranked[::-1]))


def _without_nulls(part: _Part, kind: Int64Array) -> Measures:
    """Let rows without a label or a score count as missing only."""
    lost = (kind == _NO_LABEL) | part.is_null
    if not lost.any():
        return part.measures
    n = np.ones(len(lost), np.int64) if part.measures.n is None else part.measures.n
    missing = (
        np.zeros(len(lost), np.int64) if part.measures.missing is None else part.measures.missing
    )
    return part.measures.leaving_out(lost, missing + np.where(lost, n, 0))
