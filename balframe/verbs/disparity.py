"""The verb `disparity`."""

from collections.abc import Iterable, Sequence

import numpy as np

from balframe.analyses.extremes import (
    Extremal,
    Extremes,
    check_min_support,
    extreme_columns,
    extreme_names,
)
from balframe.analyses.scoring import COMPARED, ClassWeight, Metrics, Scoring, check_by
from balframe.core.labels import Label
from balframe.core.selection import segments_at
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MAX_CELLS, Options, Query
from balframe.frames.read import Group, Reading
from balframe.intervals.request import check_level
from balframe.verbs.answer import Backend, Columns, Margins, Missing, Names, answer

_COUNTED = ("n_segments", "n_left_out", "df")
_VALUES = ("lowest", "highest")
_FOUND = (
    *("difference", "difference_lower", "difference_upper", "ratio", "ratio_lower", "ratio_upper"),
    *("n_segments", "n_left_out", "statistic", "df", "p_value"),
)


def disparity(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names,
    metrics: Metrics = None,
    min_support: int = 1,
    class_weight: ClassWeight | None = None,
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
    """Find the segments that score lowest and highest: how far apart, and are all alike.

    The extremes of many segments look far apart by selection alone. So the limits come from
    limits of all segments that hold together (Bonferroni), and the test asks whether all are alike.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or one of Dask, PySpark, DuckDB, Ibis, SQLFrame
        The data; never changed. A polars LazyFrame gives a LazyFrame; the others compute at once.
    y_true : column name
        The true labels: booleans, integers, whole floats, strings, categories or dates.
    y_pred : column name or list of column names
        The predicted labels; a list gives rows for each of several models.
    by : column name or list of column names
        The columns whose combinations are the segments.
    metrics : str or list of str, optional
        Names or aliases of metrics, or "all"; by default accuracy and balanced_accuracy, and with
        `class_weight` also weighted_balanced_accuracy.
    min_support : int, default 1
        Rows that the smallest denominator of a metric must have for a segment to be compared. That
        of a mean of recalls is the rarest of all labels: with the default, a segment that lacks
        one is left out; with 0, it is compared on the labels it has.
    class_weight : mapping of every label to its weight, "balanced" or "prevalence", optional
        How weighted_balanced_accuracy weighs the labels.
    level : float, default 0.95
        Confidence level of the limits of each row.
    sample_weight : column name, optional
        Weights of the rows, finite and not negative.
    counts : column name, optional
        How many identical rows each row stands for, whole numbers from 0.
    cells : bool, default False
        Read `frame` as the result of `confusion`: `n`, `weight` and `weight_sq` are totals.
    labels : list of labels, optional
        The label set in the order wanted; by default the sorted labels that occur.
    pos_label : label, optional
        The positive label of binary metrics, with defaults as in `report`.
    missing : {"raise", "drop"}
        What to do about nulls outside of `by`: raise, or leave those rows out.
    margins : {False, "overall", "all"}
        Add rows for roll-ups; segments are compared within each.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the answer; by default that of the frame, or the one that suits its engine.
    max_cells : int, default 50 million
        The most cells that a lazy or distributed frame may send; more raise.

    Returns
    -------
    frame of the same library
        One row for each [margin], [model] and metric, in this order, with

        - [`margin`: the columns that make the segments], [`model`], `metric`
        - `lowest_<by>`, `highest_<by>` for each by-column: the segments that score lowest and
          highest, of several the one with the most rows; `lowest`, `highest`: their scores
        - `difference`: highest - lowest, `difference_lower`, `difference_upper`
        - `ratio`: lowest / highest, `ratio_lower`, `ratio_upper`; null where a score is below 0 or
          the highest is 0, the limits also where that of a segment is below 0
        - `n_segments`: segments compared; `n_left_out`: segments that were not, for the score is
          undefined or `min_support` not reached. With fewer than two, nothing is compared.
        - `statistic`, `df`, `p_value`: Q of the test that all segments are alike, its degrees of
          freedom and p-value; null for metrics that are not linear in recalls, the p-value also
          where a support is under 10

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used; the message says what to do.

    References
    ----------
    W. G. Cochran, "The combination of estimates from different experiments", Biometrics 1954, for
    the form of the statistic; here the variances are of pooled recalls.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas(backend="pandas")
    >>> out = bf.disparity(
    ...     compas, "reoffended", "high_risk", by="race", counts="n",
    ...     metrics=["false_positive_rate"], min_support=100,
    ... )
    >>> print(out.iloc[:, :8].round(3).T.to_string(header=False))
    metric            false_positive_rate
    lowest_race                     Other
    highest_race         African-American
    lowest                          0.148
    highest                         0.448
    difference                      0.301
    difference_lower                0.206
    difference_upper                0.378
    >>> print(out.iloc[:, 8:].round(3).to_string(index=False))
     ratio  ratio_lower  ratio_upper  n_segments  n_left_out  statistic  df  p_value
     0.329        0.209        0.508           4           2    237.762   3      0.0
    """
    scoring = Scoring.of(metrics, class_weight, COMPARED)
    check_level(level)
    check_min_support(min_support)

    def outputs(query: Query) -> Iterable[Name]:
        check_by(query, "disparity")
        return ("metric", *extreme_names(query), *_VALUES, *_FOUND)

    def compute(reading: Reading) -> Columns:
        c = scoring.class_counts(reading)
        search = Extremal(level, min_support)
        groups: list[Group] = []
        rows: list[Extremes] = []
        for group in reading.groups() if c.n_segments else []:
            members = segments_at(c, group.segments)
            for name, metric in scoring.metrics.items():
                groups.append(group)
                rows.append(
                    search.find(name, metric, members, reading.cells_of(group), group.segments)
                )
        columns, segments = extreme_columns(reading, groups, rows)
        names = list(scoring.metrics)
        columns["metric"] = reading.text_column(
            names, np.array([names.index(row.metric) for row in rows], np.int64)
        )
        columns |= segments
        numbers = [row.numbers for row in rows]
        for name in (*_VALUES, *_FOUND):
            dtype = np.int64 if name in _COUNTED else np.float64
            columns[name] = np.array([of_row[name] for of_row in numbers], dtype)
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
