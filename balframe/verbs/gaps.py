"""The verb `gaps`."""

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from balframe.analyses.differences_of_segments import Comparison
from balframe.analyses.references import (
    Against,
    ReferenceOption,
    check_not_ambiguous,
    check_reference,
)
from balframe.analyses.scoring import COMPARED, Adjust, ClassWeight, Metrics, Scoring, check_by
from balframe.core.class_counts import ClassCounts
from balframe.core.labels import Label
from balframe.core.selection import segments_at
from balframe.errors import check_choice
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MAX_CELLS, Options, Query
from balframe.frames.read import Reading
from balframe.intervals.families import adjusted
from balframe.intervals.request import check_level
from balframe.verbs.answer import Backend, Columns, Margins, Missing, Names, answer

_COUNTED = ("n_labels", "min_support")
_SCORES = ("estimate", "reference_estimate", "difference", "ratio", "lower", "upper")
_TESTS = ("p_value", "p_adjusted", "n_tests")


def gaps(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names,
    metrics: Metrics = None,
    reference: ReferenceOption = "rest",
    adjust: Adjust = "bh",
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
    """Compare every segment with the rest, or with another reference: by how much, and is it real.

    A segment is part of the whole, so that the two are not independent and a test against the
    whole would find too little: the rest, all rows but those of the segment, is what is tested.
    Averages over labels look at the labels that are present on both sides, so that a segment
    without a difficult label does not seem better for it.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or one of Dask, PySpark, DuckDB, Ibis, SQLFrame
        The data; never changed. A polars LazyFrame gives a LazyFrame; the others compute at once.
    y_true : column name
        The true labels: booleans, integers, whole floats, strings, categories or dates.
    y_pred : column name or list of column names
        The predicted labels; a list compares the segments of several models.
    by : column name or list of column names
        The columns whose combinations are the segments.
    metrics : str or list of str, optional
        Names or aliases of metrics, or "all"; by default accuracy and balanced_accuracy, and with
        `class_weight` also weighted_balanced_accuracy.
    reference : "rest", "overall", "largest", "best", "worst", a value, or a mapping
        What each segment is compared with: all others together, the whole frame (difference only),
        the segment with the most rows, with the best or worst score, or the one with this value in
        the by-column; `{"sex": "F", "race": "A"}` names a segment of several columns. Limits and
        p-values against the best or worst allow for its choice among all segments.
    adjust : {"bh", "holm"} or None, default "bh"
        How p-values are adjusted for their number: so that few of the gaps found are false alarms
        (Benjamini and Hochberg), or that hardly ever one is (Holm). The family is all p-values of
        one metric in the result.
    class_weight : mapping of every label to its weight, "balanced" or "prevalence", optional
        How weighted_balanced_accuracy weighs the labels.
    level : float, default 0.95
        Confidence level of the limits of each difference.
    sample_weight : column name, optional
        Weights of the rows, finite and not negative. `n` and `min_support` count rows.
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
        Add roll-ups; segments are compared within each, and within each model.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the answer; by default that of the frame, or the one that suits its engine.
    max_cells : int, default 50 million
        The most cells that a lazy or distributed frame may send; more raise.

    Returns
    -------
    frame of the same library
        One row for each segment, [model] and metric, in this order, with

        - the by-columns, [`margin`: the columns that make the segment], [`model`]
        - `n`: rows of the segment; `n_labels`: labels present on both sides; `min_support`: rows
          of the segment with the rarest of these labels
        - `metric`, `estimate`: over these labels, so that an average may differ from that of
          `report`; `reference`: its name, `reference_estimate`
        - `difference`: estimate - reference_estimate; `ratio`: estimate / reference_estimate, null
          where one of them is below 0 or the second is 0
        - `lower`, `upper`: limits of the difference, null for metrics without an interval
        - `p_value`: two-sided, for accuracy, balanced, weighted and adjusted accuracies and every
          proportion; `p_adjusted`; `n_tests`: size of the family

        The reference's own row has the difference 0 and no limits.

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used, or the reference does not exist; the
        message says what to do.

    References
    ----------
    R. G. Newcombe, "Interval estimation for the difference between independent proportions",
    Statistics in Medicine 1998; Y. Benjamini and Y. Hochberg, "Controlling the false discovery
    rate", JRSS B 1995.

    Examples
    --------
    >>> import balframe as bf
    >>> races = ["African-American", "Caucasian"]
    >>> compas = bf.datasets.compas(backend="pandas").query("race in @races")
    >>> out = bf.gaps(
    ...     compas, "reoffended", "high_risk", by="race", counts="n",
    ...     metrics="false_positive_rate", reference="Caucasian",
    ... )
    >>> shown = ["race", "estimate", "reference", "difference", "lower", "upper"]
    >>> print(out[shown].round(4).to_string(index=False))
                race  estimate reference  difference  lower  upper
    African-American    0.4485 Caucasian      0.2139 0.1821  0.245
           Caucasian    0.2345 Caucasian      0.0000    NaN    NaN
    """
    scoring = Scoring.of(metrics, class_weight, COMPARED)
    check_choice("adjust", adjust, ("bh", "holm", None))
    check_level(level)

    def outputs(query: Query) -> Iterable[Name]:
        check_by(query, "gaps")
        check_reference(reference, query, scoring.metrics)
        return (*query.by, "n", *_COUNTED, "metric", "reference", *_SCORES, *_TESTS)

    def compute(reading: Reading) -> Columns:
        c = scoring.class_counts(reading)
        check_not_ambiguous(reference, reading)
        against = Against(reference, scoring.metrics, level)
        groups = reading.groups()
        order = np.argsort(np.concatenate([group.segments for group in groups]))
        found = [against.group(group, segments_at(c, group.segments), reading) for group in groups]
        tables = [
            Comparison.concat([of_group[name] for of_group in found]).at(order)
            for name in scoring.metrics
        ]
        return _columns(reading, c, list(scoring.metrics), tables, adjust)

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


def _columns(
    reading: Reading, c: ClassCounts, metrics: list[str], tables: list[Comparison], adjust: Adjust
) -> Columns:
    """Put the metrics of each segment one below the other."""

    def stacked(column: Callable[[Comparison], Any]) -> Any:  # noqa: ANN401 (of any dtype)
        return np.column_stack([column(table) for table in tables]).ravel()

    names = sorted({name for table in tables for name in table.names})
    _, first = reading.cells.segments
    columns = reading.by_columns(np.repeat(first, len(metrics)))
    columns["n"] = np.repeat(c.n, len(metrics))
    for name in _COUNTED:
        columns[name] = stacked(attrgetter(name))
    positions = np.tile(np.arange(len(metrics)), c.n_segments)
    columns["metric"] = reading.text_column(metrics, positions)
    columns["estimate"] = stacked(attrgetter("estimate"))
    codes = stacked(lambda table: np.searchsorted(names, table.names))
    columns["reference"] = reading.text_column(names, codes)
    for name in _SCORES[1:]:
        columns[name] = stacked(attrgetter(name))
    columns["p_value"] = stacked(attrgetter("p_value"))
    columns["p_adjusted"] = stacked(lambda table: adjusted(table.p_value, adjust))
    tests = [int(np.isfinite(table.p_value).sum()) for table in tables]
    columns["n_tests"] = np.tile(np.array(tests, np.int64), c.n_segments)
    return columns
