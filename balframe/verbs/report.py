"""The verb `report`."""

from collections.abc import Iterable, Sequence
from typing import Literal

from balframe.analyses import layouts
from balframe.analyses.limits import limits_of
from balframe.analyses.scoring import ClassWeight, Metrics, Scoring, value_of
from balframe.core.labels import Label
from balframe.errors import check_choice
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MAX_CELLS, Options, Query
from balframe.frames.read import Reading
from balframe.intervals.proportions import Limits
from balframe.intervals.request import IntervalOption, Prior, Request
from balframe.metrics.catalogue import DEFAULT
from balframe.verbs.answer import Backend, Columns, Margins, Missing, Names, answer

N_MISSING = "n_missing"
_COUNTED = ("n", "n_labels", "min_support")


def report(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    metrics: Metrics = None,
    class_weight: ClassWeight | None = None,
    absent: Literal["skip", "null", "zero"] = "skip",
    layout: Literal["wide", "long"] = "wide",
    interval: IntervalOption = None,
    level: float = 0.95,
    prior: Prior = "uniform",
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
    """Score every segment.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or one of Dask, PySpark, DuckDB, Ibis, SQLFrame
        The data; never changed. A polars LazyFrame gives a LazyFrame; the others compute at once.
    y_true : column name
        The true labels: booleans, integers, whole floats, strings, categories or dates.
    y_pred : column name or list of column names
        The predicted labels; a list compares several models and adds a column `model`.
    by : column name or list of column names, optional
        The columns whose combinations are the segments; by default all rows are one segment. A
        null is a segment of its own.
    metrics : str or list of str, optional
        Names or aliases of metrics, which name the columns, or "all"; `bf.list_metrics()` shows
        them. By default accuracy, balanced_accuracy, adjusted_balanced_accuracy,
        normalized_accuracy and geometric_mean, and with `class_weight` also
        weighted_balanced_accuracy.
    class_weight : mapping of every label to its weight, "balanced" or "prevalence", optional
        How weighted_balanced_accuracy weighs the labels.
    absent : {"skip", "null", "zero"}
        What an average over labels does about a label whose value is undefined in a segment, as
        the recall of a label without rows is: average over the others, be null, or count 0 for it
        and average over the whole label set.
    layout : {"wide", "long"}
        A column for each metric, or a row for each with the columns `metric` and `estimate`.
    interval : {True, "score", "wilson", "jeffreys", "exact", "mover", "posterior"}, optional
        Add limits: by the default method of each metric, or by a named one where it is defined.
        Proportions have "wilson", "jeffreys" and "exact"; means of recalls, as balanced accuracy
        is, have "score", "mover" and "posterior". Metrics without an interval get null limits.
    level : float, default 0.95
        Confidence level of the limits, or probability of the posterior between them.
    prior : {"uniform", "jeffreys"}
        Prior of each recall under `interval="posterior"`.
    sample_weight : column name, optional
        Weights of the rows, finite and not negative. `n` and `min_support` count rows all the
        same.
    counts : column name, optional
        How many identical rows each row stands for, whole numbers from 0.
    cells : bool, default False
        Read `frame` as the result of `confusion`: `n`, `weight` and `weight_sq` are totals.
    labels : list of labels, optional
        The label set in the order wanted; by default the sorted labels that occur.
    pos_label : label, optional
        The positive label of binary metrics. Defaults to 1 or True where the labels are among
        {0, 1}, {-1, 1} or {False, True}; a label of such a pair may be given even if no row has it.
    missing : {"raise", "drop"}
        What to do about nulls outside of `by`: raise, or leave those rows out and say how many
        they were.
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
        - `n`: rows; `n_labels`: labels present in the truth; `min_support`: rows of the rarest
          label present, 0 where none is
        - `n_missing`: rows left out, with `missing="drop"`
        - the metrics, null where undefined; or `metric` and `estimate`
        - with `interval`, `<metric>_lower` and `<metric>_upper` behind each metric; or `lower`,
          `upper` and `method`, the method used

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used; the message says what to do.

    References
    ----------
    K. H. Brodersen, C. S. Ong, K. E. Stephan and J. M. Buhmann, "The balanced accuracy and its
    posterior distribution", ICPR 2010.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas(backend="pandas").query("race in ['Asian', 'Caucasian']")
    >>> names = ["accuracy", "balanced_accuracy", "false_positive_rate"]
    >>> out = bf.report(compas, "reoffended", "high_risk", by="race", counts="n", metrics=names)
    >>> print(out.round(3).to_string())
            race     n  n_labels  min_support  accuracy  balanced_accuracy  false_positive_rate
    0      Asian    32         2            9     0.844              0.790                0.087
    1  Caucasian  2454         2          966     0.670              0.644                0.235
    """
    scoring = Scoring.of(metrics, class_weight, DEFAULT, absent)
    check_choice("layout", layout, ("wide", "long"))
    request = Request.of(interval, level, prior)
    chosen = scoring.metrics

    def outputs(query: Query) -> Iterable[Name]:
        yield from (*query.by, *_COUNTED)
        if query.drops_missing:
            yield N_MISSING
        yield from layouts.names(layout, list(chosen), with_limits=request is not None)

    def compute(reading: Reading) -> Columns:
        c = scoring.class_counts(reading)
        _, first = reading.cells.segments
        counted = dict(zip(_COUNTED, (c.n, c.n_present, c.min_support), strict=True))
        if reading.query.drops_missing:
            counted[N_MISSING] = reading.cells.missing_of_segments()
        scores = {name: value_of(metric, c) for name, metric in chosen.items()}
        found: dict[str, Limits] = {}
        if request is not None:
            found = limits_of(chosen, c, lambda: reading.cells, scores, request)
        if layout == "wide":
            return reading.by_columns(first) | counted | layouts.wide(scores, found)
        columns = layouts.long(reading, first, counted, scores)
        if request is not None:
            methods = [metric.interval.method_of(request.method) for metric in chosen.values()]
            columns |= layouts.long_limits(reading, found, methods)
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
        squares=request is not None,
    )
    return answer(frame, options, compute, outputs)
