"""The method `confusion`."""

from dataclasses import dataclass, replace
from typing import Literal, Unpack

import numpy as np

from balframe.api.columns import LABELLED, SEGMENTS, WEIGHTS, count, estimate, names_of_labels
from balframe.api.method import Method
from balframe.api.options import ClusterOptions, LabelMethodOptions, Names
from balframe.api.run import Columns, run_method
from balframe.core.array_types import Counts, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.row_sums import Measures
from balframe.core.safe_divide import ratio
from balframe.errors import check_choice
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import WEIGHT, WEIGHT_SQ, N, Reads

# Confusion matrices: the cells of every segment, as they are or with those that hold no row.


@dataclass(frozen=True, slots=True)
class ConfusionCells:
    """Rows to show; `source` is a cell of the same segment, whose by-columns they have."""

    source_cell: Int64Array
    segment: Int64Array
    actual: Int64Array
    outcome: Int64Array
    sums: Measures


def observed_cells(cells: Cells) -> ConfusionCells:
    """Show the cells that hold rows."""
    segment, _ = cells.segments
    shown = np.flatnonzero(cells.actual != LEFT_OUT)
    actual, outcome = cells.actual[shown], cells.outcome[shown]
    return ConfusionCells(shown, segment[shown], actual, outcome, cells.sums.at(shown))


def complete_cells(cells: Cells, n_labels: int) -> ConfusionCells:
    """Show every pair of labels in every segment, also in those that have no row left."""
    _, first = cells.segments
    present = observed_cells(cells)
    size = n_labels * n_labels
    pair = np.arange(len(first) * size)
    at = present.segment * size + present.actual * n_labels + present.outcome

    def filled(values: Counts) -> Counts:
        out = np.zeros(len(pair), values.dtype)
        out[at] = values
        return out

    sums, within = present.sums, pair % max(size, 1)
    weight = None if sums.weight is None else filled(sums.weight)
    weight_sq = None if sums.weight_sq is None else filled(sums.weight_sq)
    return ConfusionCells(
        np.repeat(first, size),
        np.repeat(np.arange(len(first)), size),
        within // max(n_labels, 1),
        within % max(n_labels, 1),
        replace(
            sums,
            n=filled(cells.n[present.source_cell]),
            missing=None,
            weight=weight,
            weight_sq=weight_sq,
        ),
    )


def cell_shares(rows: ConfusionCells, n_labels: int, normalize: str) -> FloatArray:
    """Divide cells by the rows of their true label, predicted label or segment."""
    within = {"true": rows.actual, "pred": rows.outcome, "all": np.zeros_like(rows.actual)}
    group = rows.segment * n_labels + within[normalize]
    part = np.asarray(rows.sums.n if rows.sums.weight is None else rows.sums.weight, np.float64)
    return ratio(part, np.bincount(group, weights=part)[group])


SHARE = "share"
METHOD = Method.of(
    *SEGMENTS,
    *LABELLED,
    count(N, tells=True),
    *WEIGHTS,
    estimate(SHARE, under="normalize"),
)


class _Options(ClusterOptions, LabelMethodOptions, total=False): ...


@METHOD
def confusion(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    complete: bool = False,
    normalize: Literal["true", "pred", "all"] | None = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment, true label and predicted label with its number of rows.

    This is the confusion matrix of each segment, one cell per row. Methods on predicted labels,
    except `compare`, read it with `cells=True` and return exactly what they return from the
    original rows. The concatenated results of several days are equivalent to all their rows. Rows
    dropped by `missing="drop"` are not in the result, so a segment without other rows has no cells.

    Parameters
    ----------
    complete : bool, default False
        Add the pairs of labels that do not occur in a segment, with n = 0.
    normalize : {"true", "pred", "all"}, optional
        Add the column `share`: the share of the cell in the rows of its true label, of its
        predicted label, or of its segment. With weights, it is the share of the weight.

    Returns
    -------
    frame of the same library
        One row for each segment, [model], true label and predicted label, in this order. Columns
        in brackets are present only if the options ask for them:

        - the by-columns, [the column `cluster`, so that the cells can be read with `cells=True` and
          `cluster`], [`margin`: the columns that define the segment], [`model`]
        - the true and the predicted label, under the names of their columns; with several models
          the column of predictions is named `predicted`
        - `n`: number of rows
        - with `sample_weight`, `weight`, `weight_sq`: sum of the weights and of their squares
        - with `normalize`, `share`: in [0, 1], null if the total is 0

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

    def compute(reading: CountedFrame) -> Columns:
        reading, n_labels = reading.with_clusters(), len(reading.labels)
        shown = (
            complete_cells(reading.cells, n_labels) if complete else observed_cells(reading.cells)
        )
        true, predicted = names_of_labels(reading.query)
        columns = reading.by_columns(shown.source_cell)
        columns[true] = reading.label_column(shown.actual)
        columns[predicted] = reading.label_column(shown.outcome)
        columns[N] = shown.sums.n
        if shown.sums.weight is not None:
            with np.errstate(over="ignore"):
                columns[WEIGHT] = np.ldexp(shown.sums.weight, shown.sums.exponent)
            columns[WEIGHT_SQ] = shown.sums.weight_sq
        if normalize is not None:
            columns[SHARE] = cell_shares(shown, n_labels, normalize)
        return columns

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        shown=() if normalize is None else ("normalize",),
        reads=Reads(keeps_clusters=True),
        suits=CountedFrame.pos_label,
    )
