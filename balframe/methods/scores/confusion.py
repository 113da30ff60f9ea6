"""The method `confusion`."""

from dataclasses import dataclass, replace
from typing import Literal, Unpack

import numpy as np

from balframe._validate import check_choice
from balframe.api.columns import (
    CORRECTED,
    LABEL_COLUMNS,
    SEGMENT_KEYS,
    WEIGHT_COLUMNS,
    count,
    estimate,
    label_column_names,
)
from balframe.api.method import Method
from balframe.api.options import (
    ClusterOptions,
    KeptRowOptions,
    Names,
    OutcomeOptions,
    ResultOptions,
)
from balframe.api.run import Columns, run_method
from balframe.core.array_types import Counts, FloatArray, Int64Array
from balframe.core.cells import LEFT_OUT, Cells
from balframe.core.row_sums import RowSums
from balframe.core.safe_divide import ratio
from balframe.core.strata import KEEP
from balframe.errors import InvalidInputError, parameter
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import WEIGHT, WEIGHT_MAX, WEIGHT_SQ, InputSpec, N

SHARE, ESTIMATED = "share", "estimated_n"

METHOD = Method.of(
    *SEGMENT_KEYS,
    *LABEL_COLUMNS,
    count(N, identifies=True),
    estimate(ESTIMATED, only_with=CORRECTED),
    *WEIGHT_COLUMNS,
    estimate(SHARE, only_with="normalize"),
)


class _Options(
    OutcomeOptions,
    ClusterOptions,
    KeptRowOptions,
    ResultOptions,
    total=False,
): ...


@METHOD
def confusion(
    frame: FrameT,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    by: Names = None,
    complete: bool = False,
    normalize: Literal["true", "pred", "all"] | None = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment, true label and predicted label with its number of rows.

    This is the confusion matrix of each segment, one cell per row. Methods on predicted labels,
    except `compare`, know it by its columns, labels before `n`, and return exactly what they return
    from the original rows. So do results of several days that follow each other: with the day in
    `by`, or with `counts="n"`. Rows dropped by `missing="drop"` are not in the result, so a segment
    without other rows has no cells.
    With `missing="keep"`, rows without a true label have cells of their own, whose true label is
    null, which other methods correct. Give verdicts and probabilities for `bf.correct` in `by`.

    Parameters
    ----------
    complete : bool, default False
        Add the pairs of labels that do not occur in a segment, with n = 0.
    normalize : {"true", "pred", "all"}, optional
        Add the column `share`: the share of the cell in the rows of its true label, of its
        predicted label, or of its segment. With weights, it is the share of the weight, and
        with `missing="correct"`, that of the estimated number of rows.

    Returns
    -------
    frame of the same library
        One row for each segment, [model], true label and predicted label, in this order. Columns
        in brackets are present only if the options ask for them:

        - the by-columns, [the
          column `cluster`, so that methods can read the cells with `cluster`], [`grouped_by`: the
          columns that define the segment], [`model`]
        - the true label, which may be null with `missing="keep"`, and the predicted label, under
          the names of their columns; with several models the column of predictions is named
          `predicted`
        - `n`: number of rows; with `missing="correct"`, of those with a true label
        - with `missing="correct"`, `estimated_n`: estimated number of all rows; the rows of each
          stratum are distributed like those with a true label. Null in a segment with a stratum in
          which no row has a true label.
        - with `sample_weight`, `weight`, `weight_sq`, `weight_max`: sum of the weights, sum of
          their squares, and the largest weight
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
    keeps_unlabelled = options["missing"] == KEEP
    if keeps_unlabelled and (complete or normalize is not None):
        raise InvalidInputError(
            "{} cannot be combined with {missing}, whose result is read by other methods. Omit "
            "one.",
            parameter("complete", True) if complete else parameter("normalize", normalize),
            missing=KEEP,
        )

    def compute(counted_frame: CountedFrame) -> Columns:
        counted_frame, n_labels = counted_frame.with_clusters(), len(counted_frame.labels)
        observed = counted_frame.cells
        cells = complete_cells(observed, n_labels) if complete else observed_cells(observed)
        true, predicted = label_column_names(counted_frame.query)
        columns = counted_frame.by_columns(cells.source_cell)
        columns[true] = counted_frame.label_column(cells.actual, nullable=keeps_unlabelled)
        columns[predicted] = counted_frame.label_column(cells.outcome)
        columns[N] = cells.sums.n
        strata = counted_frame.strata
        if strata is not None:
            assert cells.sums.weight is not None
            estimated = np.where(strata.lacks_labels[cells.segment], np.nan, cells.sums.weight)
            columns[ESTIMATED] = estimated
            cells = replace(cells, sums=replace(cells.sums, weight=estimated))
        elif cells.sums.weight is not None:
            with np.errstate(over="ignore"):
                columns[WEIGHT], largest = (
                    None if values is None else np.ldexp(values, cells.sums.exponent)
                    for values in (cells.sums.weight, cells.sums.weight_max)
                )
            columns |= {WEIGHT_SQ: cells.sums.weight_sq, WEIGHT_MAX: largest}
        if normalize is not None:
            columns[SHARE] = cell_shares(cells, n_labels, normalize)
        return columns

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        optional_columns=() if normalize is None else ("normalize",),
        input_spec=InputSpec(keeps_clusters=True, keeps_unlabelled=True),
        check_labels=CountedFrame.pos_label_code,
    )


@dataclass(frozen=True, slots=True)
class ConfusionCells:
    """Cells of the confusion matrices; `source_cell` is a cell with the same by-columns."""

    source_cell: Int64Array
    segment: Int64Array
    actual: Int64Array
    outcome: Int64Array
    sums: RowSums


def observed_cells(cells: Cells) -> ConfusionCells:
    """Return the cells that hold rows."""
    segment, _ = cells.segments
    used = np.flatnonzero(cells.actual != LEFT_OUT)
    return ConfusionCells(
        used, segment[used], cells.actual[used], cells.outcome[used], cells.sums.at(used)
    )


def complete_cells(cells: Cells, n_labels: int) -> ConfusionCells:
    """Return every pair of labels of every segment, also of segments without rows."""
    _, first_cells = cells.segments
    n_segments, n_pairs = len(first_cells), n_labels * n_labels
    observed = observed_cells(cells)
    position = observed.segment * n_pairs + observed.actual * n_labels + observed.outcome

    def with_zeros(values: Counts) -> Counts:
        out = np.zeros(n_segments * n_pairs, values.dtype)
        out[position] = values
        return out

    sums, pair = observed.sums, np.arange(n_segments * n_pairs) % max(n_pairs, 1)
    return ConfusionCells(
        np.repeat(first_cells, n_pairs),
        np.repeat(np.arange(n_segments), n_pairs),
        pair // max(n_labels, 1),
        pair % max(n_labels, 1),
        replace(
            sums,
            n=with_zeros(cells.n[observed.source_cell]),
            missing=None,
            weight=None if sums.weight is None else with_zeros(sums.weight),
            weight_sq=None if sums.weight_sq is None else with_zeros(sums.weight_sq),
            weight_max=None if sums.weight_max is None else with_zeros(sums.weight_max),
        ),
    )


def cell_shares(cells: ConfusionCells, n_labels: int, normalize: str) -> FloatArray:
    """Divide cells by the rows of their true label, predicted label or segment."""
    label = {"true": cells.actual, "pred": cells.outcome, "all": np.zeros_like(cells.actual)}
    group = cells.segment * n_labels + label[normalize]
    sums = cells.sums
    part = np.asarray(sums.n if sums.weight is None else sums.weight, np.float64)
    return ratio(part, np.bincount(group, weights=part)[group])
