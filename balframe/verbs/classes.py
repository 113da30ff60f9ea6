"""The verb `classes`."""

from collections.abc import Iterable, Sequence

import numpy as np

from balframe.analyses import layouts
from balframe.analyses.scores_of_labels import scores_of_labels
from balframe.core.class_counts import ClassCounts
from balframe.core.entries import Entries
from balframe.core.labels import Label
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MAX_CELLS, Options, Query
from balframe.frames.read import Reading
from balframe.intervals.request import IntervalOption, Request
from balframe.verbs.answer import Backend, Columns, Margins, Missing, Names, answer

LABEL = "label"
_COUNTED = ("support", "prevalence", "predicted", "correct")
_SCORES = ("recall", "precision", "specificity", "npv", "f1")


def classes(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    interval: IntervalOption = None,
    level: float = 0.95,
    sample_weight: Name | None = None,
    counts: Name | None = None,
    cells: bool = False,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    missing: Missing = "raise",
    margins: Margins = False,
    backend: Backend = None,
    max_cells: int = MAX_CELLS,
) -> FrameT:
    """Score each label of each segment against all others.

    Every segment has a row for every label of the label set, also for one that does not occur in
    it: its support is 0 and its recall null. The output grows with segments times labels.

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
    interval : {True, "score", "wilson", "jeffreys", "exact", "mover", "posterior"}, optional
        Add limits to the scores, which are proportions: "wilson", "jeffreys" or "exact", and
        Wilson's for True or a method of other metrics. Those of f1 are mapped from the Jaccard
        index.
    level : float, default 0.95
        Confidence level of the limits.
    sample_weight : column name, optional
        Weights of the rows, finite and not negative. Shares and scores use them; `support`,
        `predicted` and `correct` count rows all the same.
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
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the answer; by default that of the frame, or the one that suits its engine.
    max_cells : int, default 50 million
        The most cells that a lazy or distributed frame may send; more raise.

    Returns
    -------
    frame of the same library
        One row for each segment, [model] and label, in this order, with

        - the by-columns, [`margin`: the columns that make the segment], [`model`], `label`
        - `support`: rows that truly have the label
        - `prevalence`: share of the segment that has it, so that the sum of prevalence x recall
          is the accuracy
        - `predicted`, `correct`: rows predicted to have it, and rightly so
        - `recall`, `precision`, `specificity`, `npv`, `f1`: in [0, 1], null where undefined
        - with `interval`, `<score>_lower` and `<score>_upper` behind each of them

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used; the message says what to do.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": ["a", "a", "b", "b"], "yhat": ["a", "b", "b", "b"]})
    >>> out = bf.classes(df, "y", "yhat")
    >>> out.select("label", "support", "prevalence", "recall", "precision").rows()
    [('a', 2, 0.5, 0.5, 1.0), ('b', 2, 0.5, 1.0, 0.6666666666666666)]
    """
    request = Request.of(interval, level, "uniform")

    def outputs(query: Query) -> Iterable[Name]:
        yield from (*query.by, LABEL, *_COUNTED)
        yield from layouts.names("wide", _SCORES, with_limits=request is not None)

    def compute(reading: Reading) -> Columns:
        reading.pos_label()
        n_labels = len(reading.labels)
        c = ClassCounts.of(Entries.of(reading.cells, n_labels))
        first = reading.cells.segments[1]
        label = np.tile(np.arange(n_labels), c.n_segments)
        columns = reading.by_columns(np.repeat(first, n_labels))
        columns[LABEL] = reading.label_column(label)
        return columns | scores_of_labels(c, _SCORES, request)

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
        squares=request is not None,
    )
    return answer(frame, options, compute, outputs)
