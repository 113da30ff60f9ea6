"""The verb `confusion`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from balframe.core.arrays import Counts, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.division import ratio
from balframe.core.labels import Label
from balframe.core.measures import Measures
from balframe.errors import check_choice
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MAX_CELLS, WEIGHT, WEIGHT_SQ, N, Options, Query
from balframe.frames.read import Reading
from balframe.verbs.answer import Backend, Columns, Margins, Missing, Names, answer

PREDICTED, SHARE = "predicted", "share"


def confusion(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    sample_weight: Name | None = None,
    counts: Name | None = None,
    cells: bool = False,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    missing: Missing = "raise",
    margins: Margins = False,
    complete: bool = False,
    normalize: Literal["true", "pred", "all"] | None = None,
    backend: Backend = None,
    max_cells: int = MAX_CELLS,
) -> FrameT:
    """Count rows by segment, true label and predicted label: the grouped confusion matrix.

    The result is a compressed data set: with `cells=True` the verbs on predicted labels, all but
    `compare`, report from it exactly what they report from the rows, and the results of several
    days, one below the other, give what all the rows would. Only rows left out under
    `missing="drop"` are not in it: a segment that has no other row has no cells.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or one of Dask, PySpark, DuckDB, Ibis, SQLFrame
        The data; never changed. A polars LazyFrame gives a LazyFrame; the others compute at once.
    y_true : column name
        The true labels: booleans, integers, whole floats, strings, categories or dates.
    y_pred : column name or list of column names
        The predicted labels; a list compares several models and adds a column `model`.
    by : column name or list of column names, optional
        The columns whose combinations are the segments; by default all rows are one segment.
    sample_weight : column name, optional
        Weights of the rows, finite and not negative.
    counts : column name, optional
        How many identical rows each row stands for, whole numbers from 0.
    cells : bool, default False
        Read `frame` as the result of `confusion`: `n`, `weight` and `weight_sq` are totals.
    labels : list of labels, optional
        The label set in the order wanted; by default the sorted labels that occur.
    pos_label : label, optional
        Checked to be among the labels, as in `report`; it changes nothing here.
    missing : {"raise", "drop"}
        What to do about nulls outside of `by`: raise, or leave those rows out.
    margins : {False, "overall", "all"}
        Add roll-ups: over the whole frame, or over every subset of the by-columns.
    complete : bool, default False
        Fill in every pair of labels in each segment, with n = 0 where there is no such row.
    normalize : {"true", "pred", "all"}, optional
        Add `share`, the weight of the cell within its true label, predicted label or segment.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the answer; by default that of the frame, or the one that suits its engine.
    max_cells : int, default 50 million
        The most cells that a lazy or distributed frame may send; more raise.

    Returns
    -------
    frame of the same library
        One row for each segment, [model], true label and predicted label, in this order, with

        - the by-columns, [`margin`: the columns that make the segment], [`model`]
        - the true and the predicted label under their own names; with several models the
          prediction is named `predicted`
        - `n`: rows
        - `weight`, `weight_sq`: sum of the weights and of their squares, when weighted
        - `share`: in [0, 1], null where the total is 0, with `normalize`

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used; the message says what to do.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [1, 1, 0, 0], "yhat": [1, 0, 0, 0]})
    >>> bf.confusion(df, "y", "yhat").rows()
    [(0, 0, 2), (1, 0, 1), (1, 1, 1)]
    >>> bf.confusion(df.to_pandas(), "y", "yhat", complete=True, normalize="true")
       y  yhat  n  share
    0  0     0  2    1.0
    1  0     1  0    0.0
    2  1     0  1    0.5
    3  1     1  1    0.5
    """
    check_choice("complete", complete, (False, True))
    check_choice("normalize", normalize, (None, "true", "pred", "all"))

    def outputs(query: Query) -> Iterable[Name]:
        yield from (*query.by, *_label_names(query), N)
        if query.sample_weight is not None:
            yield from (WEIGHT, WEIGHT_SQ)
        if normalize is not None:
            yield SHARE

    def compute(reading: Reading) -> Columns:
        reading.pos_label()
        query, n_labels = reading.query, len(reading.labels)
        shown = _completed(reading.cells, n_labels) if complete else _counted(reading.cells)
        names = _label_names(query)
        columns = reading.by_columns(shown.source)
        columns[names[0]] = reading.label_column(shown.actual)
        columns[names[1]] = reading.label_column(shown.outcome)
        columns[N] = shown.sums.n
        if shown.sums.weight is not None:
            with np.errstate(over="ignore"):
                columns[WEIGHT] = np.ldexp(shown.sums.weight, shown.sums.exponent)
            columns[WEIGHT_SQ] = shown.sums.weight_sq
        if normalize is not None:
            columns[SHARE] = _share(shown, n_labels, normalize)
        return columns

    options = Options(
        y_true,
        y_pred,
        by,
        sample_weight,
        counts,
        labels,
        pos_label,
        missing,
        margins,
        backend,
        max_cells,
        cells=cells,
    )
    return answer(frame, options, compute, outputs)


def _label_names(query: Query) -> tuple[Name, Name]:
    return query.y_true, PREDICTED if query.several else query.y_pred[0]


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows to show; `source` is a cell of the same segment, whose by-columns they have."""

    source: Int64Array
    segment: Int64Array
    actual: Int64Array
    outcome: Int64Array
    sums: Measures


def _counted(cells: Cells) -> _Rows:
    """Show the cells that hold rows."""
    segment, _ = cells.segments
    shown = np.flatnonzero(cells.actual != LEFT_OUT)
    actual, outcome = cells.actual[shown], cells.outcome[shown]
    return _Rows(shown, segment[shown], actual, outcome, cells.sums.at(shown))


def _completed(cells: Cells, n_labels: int) -> _Rows:
    """Show every pair of labels in every segment, also in those that have no row left."""
    _, first = cells.segments
    counted = _counted(cells)
    size = n_labels * n_labels
    pair = np.arange(len(first) * size)
    at = counted.segment * size + counted.actual * n_labels + counted.outcome

    def filled(values: Counts) -> Counts:
        out = np.zeros(len(pair), values.dtype)
        out[at] = values
        return out

    sums, within = counted.sums, pair % max(size, 1)
    weight = None if sums.weight is None else filled(sums.weight)
    weight_sq = None if sums.weight_sq is None else filled(sums.weight_sq)
    return _Rows(
        np.repeat(first, size),
        np.repeat(np.arange(len(first)), size),
        within // max(n_labels, 1),
        within % max(n_labels, 1),
        replace(
            sums,
            n=filled(cells.n[counted.source]),
            missing=None,
            weight=weight,
            weight_sq=weight_sq,
        ),
    )


def _share(rows: _Rows, n_labels: int, normalize: str) -> FloatArray:
    within = {"true": rows.actual, "pred": rows.outcome, "all": np.zeros_like(rows.actual)}
    group = rows.segment * n_labels + within[normalize]
    part = np.asarray(rows.sums.n if rows.sums.weight is None else rows.sums.weight, np.float64)
    return ratio(part, np.bincount(group, weights=part)[group])
