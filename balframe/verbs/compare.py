"""The verb `compare`."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from balframe.analyses.differences_of_models import cells_of_models, discordant, limits_and_p
from balframe.analyses.scoring import COMPARED, Adjust, ClassWeight, Metrics, Scoring, value_of
from balframe.core.labels import Label
from balframe.errors import InvalidInputError, check_choice
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MAX_CELLS, MODEL, Options, Query
from balframe.frames.read import Reading
from balframe.intervals.families import adjusted
from balframe.intervals.in_range import kept
from balframe.intervals.request import check_level
from balframe.verbs.answer import Backend, Columns, Margins, Missing, Names, answer

REFERENCE = "reference"
_COUNTED = ("n", "n_labels", "min_support")
_FOUND = (
    *("estimate", "reference_estimate", "difference", "lower", "upper"),
    *("p_value", "p_adjusted", "n_tests"),
)


def compare(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    metrics: Metrics = None,
    adjust: Adjust = "bh",
    class_weight: ClassWeight | None = None,
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
    """Compare models on the same rows, segment by segment: which is better, and is it real.

    Both models see the same rows, so that most of what makes one score vary makes the other vary
    too: the limits come from the rows that only one of them gets right. Each model is compared
    with each that comes after it in `y_pred`.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame or polars.LazyFrame
        The data; never changed. A lazy frame gives a lazy frame. It has a row for each case, or
        for each combination with `counts`.
    y_true : column name
        The true labels: booleans, integers, whole floats, strings, categories or dates.
    y_pred : list of column names
        The predictions of at least two models.
    by : column name or list of column names, optional
        The columns whose combinations are the segments; by default all rows are one segment.
    metrics : str or list of str, optional
        Names or aliases of metrics, or "all"; by default accuracy and balanced_accuracy, and with
        `class_weight` also weighted_balanced_accuracy.
    adjust : {"bh", "holm"} or None, default "bh"
        How p-values are adjusted for their number, as in `gaps`; the family is all p-values of one
        metric in the result.
    class_weight : mapping of every label to its weight, "balanced" or "prevalence", optional
        How weighted_balanced_accuracy weighs the labels.
    level : float, default 0.95
        Confidence level of the limits of each difference.
    sample_weight : column name, optional
        Weights of the rows, finite and not negative; p-values are null then.
    counts : column name, optional
        How many identical rows each row stands for, whole numbers from 0.
    labels : list of labels, optional
        The label set in the order wanted; by default the sorted labels that occur.
    pos_label : label, optional
        The positive label of binary metrics, with defaults as in `report`.
    missing : {"raise", "drop"}
        What to do about nulls outside of `by`: raise, or leave out, for each pair of models, the
        rows where the truth or either prediction is null.
    margins : {False, "overall", "all"}
        Add roll-ups: over the whole frame, or over every subset of the by-columns.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the answer; by default that of the frame, or the one that suits its engine.
    max_cells : int, default 50 million
        The most cells that a lazy or distributed frame may send; more raise.

    Returns
    -------
    frame of the same library
        One row for each segment, pair of models and metric, in this order, with

        - the by-columns, [`margin`: the columns that make the segment], `model`, `reference`
        - `n`: rows; `n_labels`: labels present in the truth; `min_support`: rows of the rarest
        - `metric`, `estimate` and `reference_estimate`: the scores of `model` and `reference`
        - `difference`: estimate - reference_estimate; `lower`, `upper`: its limits, for metrics
          whose denominators do not depend on the predictions, null for others
        - `p_value`: McNemar's exact test, for those of them that are proportions; `p_adjusted`;
          `n_tests`: size of the family

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used; the message says what to do.

    References
    ----------
    D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data", Journal of Educational and Behavioral Statistics 2012, for
    each label; G. Y. Zou and A. Donner, Statistics in Medicine 2008, for their mean. Q. McNemar,
    "Note on the sampling error of the difference between correlated proportions or percentages",
    Psychometrika 1947.

    Examples
    --------
    Of 100 rows, both models get 70 right, the first 12 more and the second 3 more:

    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame(
    ...     {"y": [1] * 4, "m1": [1, 1, 0, 0], "m2": [1, 0, 1, 0], "n": [70, 12, 3, 15]}
    ... )
    >>> out = bf.compare(df, "y", ["m1", "m2"], counts="n", metrics="accuracy")
    >>> numbers = ["estimate", "reference_estimate", "difference", "p_value"]
    >>> out.select(pl.col(numbers).round(4)).row(0)
    (0.82, 0.73, 0.09, 0.0352)
    """
    scoring = Scoring.of(metrics, class_weight, COMPARED)
    check_choice("adjust", adjust, ("bh", "holm", None))
    check_level(level)

    def outputs(query: Query) -> Iterable[Name]:
        if len(query.y_pred) < 2:
            raise InvalidInputError(
                f"y_pred={y_pred!r} names one model; compare needs a list of at least two columns "
                "of predictions."
            )
        return (*query.by, REFERENCE, *_COUNTED, "metric", *_FOUND)

    def compute(reading: Reading) -> Columns:
        pair = cells_of_models(reading.cells, len(reading.labels))
        one, other = (scoring.class_counts(reading, cells) for cells in pair)
        metrics = scoring.metrics
        tables: list[dict[str, Any]] = []
        for metric in metrics.values():
            estimate, reference = (value_of(metric, c) for c in (one, other))
            difference, width = estimate - reference, metric.range[1] - metric.range[0]
            differing = discordant(metric.interval, *pair, one)
            limits, p = limits_and_p(metric.interval, differing, one, level)
            p = np.where(np.isnan(difference), np.nan, p)
            lower, upper = kept(*limits, difference, (-width, width), around=True)
            table = {
                "estimate": estimate,
                "reference_estimate": reference,
                "difference": difference,
                "lower": lower,
                "upper": upper,
                "p_value": p,
                "p_adjusted": adjusted(p, adjust),
                "n_tests": np.full(len(p), np.isfinite(p).sum()),
            }
            tables.append(table)
        return _columns(reading, tables, (one.n, one.n_present, one.min_support), list(metrics))

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
        joint=True,
    )
    return answer(frame, options, compute, outputs)


def _columns(
    reading: Reading, tables: list[dict[str, Any]], counted: Sequence[Any], metrics: list[str]
) -> Columns:
    """Put the metrics of each segment and pair of models one below the other."""
    _, first = reading.cells.segments
    shown = np.repeat(first, len(metrics))
    columns = reading.by_columns(shown)
    names = [str(name) for name in reading.query.y_pred]
    pairs = np.array(list(combinations(range(len(names)), 2)))
    pair = pairs[reading.cells.by[-1][shown]]
    columns[MODEL] = reading.text_column(names, pair[:, 0])
    columns[REFERENCE] = reading.text_column(names, pair[:, 1])
    for name, values in zip(_COUNTED, counted, strict=True):
        columns[name] = np.repeat(values, len(metrics))
    columns["metric"] = reading.text_column(metrics, np.tile(np.arange(len(metrics)), len(first)))
    for name in _FOUND:
        columns[name] = np.column_stack([table[name] for table in tables]).ravel()
    return columns
