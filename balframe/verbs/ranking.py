"""The verb `ranking`."""

from collections.abc import Iterable, Sequence

import numpy as np

from balframe.analyses.at_operating_points import effective_sides
from balframe.core.arrays import FloatArray
from balframe.core.labels import Label
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MAX_CELLS, Options, Query
from balframe.frames.scores import Scored
from balframe.frames.source import Scores
from balframe.frames.thresholds import Thresholds
from balframe.intervals.delong import delong
from balframe.intervals.proportions import Limits
from balframe.intervals.request import check_level
from balframe.metrics.units.rankings import Ranking
from balframe.verbs.answer import Backend, Columns, Margins, Missing, Names, answer

_FOUND = (
    *("n", "n_positive", "roc_auc", "roc_auc_lower", "roc_auc_upper"),
    *("average_precision", "ks_statistic", "brier_score"),
)


def ranking(
    frame: FrameT,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    level: float = 0.95,
    sample_weight: Name | None = None,
    counts: Name | None = None,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    missing: Missing = "raise",
    margins: Margins = False,
    backend: Backend = None,
    max_cells: int = MAX_CELLS,
) -> FrameT:
    """Score how well each segment's scores rank positives above negatives, at no threshold.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or one of Dask, PySpark, DuckDB, Ibis, SQLFrame
        The data; never changed. A polars LazyFrame gives a LazyFrame; the others compute at once.
    y_true : column name
        The true labels. All labels other than the positive one count as negative.
    y_score : column name or list of column names
        The scores, finite numbers that are higher for the positive label; a list looks at several
        models and adds a column `model`.
    by : column name or list of column names, optional
        The columns whose combinations are the segments; by default all rows are one segment.
    level : float, default 0.95
        Confidence level of the limits of the area under the ROC curve.
    sample_weight : column name, optional
        Weights of the rows, finite and not negative. `n` and `n_positive` count rows.
    counts : column name, optional
        How many identical rows each row stands for, whole numbers from 0.
    labels : list of labels, optional
        The labels that may occur; by default those that do.
    pos_label : label, optional
        The label that high scores stand for, with defaults as in `curve`.
    missing : {"raise", "drop"}
        What to do about nulls outside of `by`: raise, or leave those rows out. NaN counts as null.
    margins : {False, "overall", "all"}
        Add roll-ups: over the whole frame, or over every subset of the by-columns.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the answer; by default that of the frame, or the one that suits its engine.
    max_cells : int, default 50 million
        The most cells that a lazy or distributed frame may send; more raise.

    Returns
    -------
    frame of the same library
        One row for each segment and [model], in this order, with

        - the by-columns, [`margin`: the columns that make the segment], [`model`]
        - `n`: rows; `n_positive`: rows with the positive label
        - `roc_auc`: area under the ROC curve, the chance that a positive scores above a negative,
          ties counting half; `roc_auc_lower`, `roc_auc_upper`: DeLong's limits, null where the
          estimated variance is 0 or a side has a single row
        - `average_precision`: sum of the precisions at the thresholds, weighted by the recall that
          each adds; null without a positive
        - `ks_statistic`: largest distance between recall and false positive rate
        - `brier_score`: mean squared distance of score and label, null where a score is outside of
          [0, 1]

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used; the message says what to do.

    References
    ----------
    J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a receiver operating
    characteristic (ROC) curve", Radiology 1982; E. R. DeLong, D. M. DeLong and D. L.
    Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating
    characteristic curves", Biometrics 1988; G. W. Brier, "Verification of forecasts expressed in
    terms of probability", Monthly Weather Review 1950.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 0, 1, 1], "score": [0.1, 0.4, 0.4, 0.8]})
    >>> bf.ranking(df, "y", "score").select("roc_auc", "ks_statistic").row(0)
    (0.875, 0.5)
    """
    check_level(level)

    def outputs(query: Query) -> Iterable[Name]:
        return (*query.by, *_FOUND)

    def compute(scored: Scored) -> Columns:
        r = Ranking.of(scored.ties)
        auc, totals = r.roc_auc(), r.points.totals()
        lower, upper = _limits(r, auc, level)
        found = (
            totals.n,
            totals.count(totals.n_correct),
            auc,
            lower,
            upper,
            r.average_precision(),
            r.ks_statistic(),
            r.brier_score(),
        )
        columns = scored.reading.by_columns(np.arange(scored.ties.n_segments))
        return columns | dict(zip(_FOUND, found, strict=True))

    options = Options(
        y_true,
        y_score,
        by,
        sample_weight,
        counts,
        labels,
        pos_label,
        missing,
        margins,
        backend,
        max_cells,
        scores=True,
    )
    return answer(frame, options, compute, outputs, Scores(Thresholds()))


def _limits(r: Ranking, auc: FloatArray, level: float) -> Limits:
    n_positive, n_negative = effective_sides(r.points)
    return delong(auc, *r.spreads(auc), n_positive, n_negative, level)
