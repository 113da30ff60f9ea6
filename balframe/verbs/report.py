"""The verb `report`."""

from typing import Literal, Unpack

from balframe.analyses import layouts
from balframe.analyses.limits import limits_of
from balframe.analyses.scoring import Metrics, Scoring, counted, value_of
from balframe.errors import check_choice
from balframe.frames.library import FrameT, Name
from balframe.frames.query import Reads
from balframe.frames.read import Reading
from balframe.intervals.proportions import Limits
from balframe.intervals.request import Request
from balframe.metrics.catalogue import DEFAULT
from balframe.verbs.answer import Columns, answer
from balframe.verbs.columns import (
    COUNTED,
    METRIC,
    METRICS,
    SEGMENTS,
    Naming,
    Span,
    count,
    estimate,
    limits,
    note,
    score,
)
from balframe.verbs.declaration import Verb
from balframe.verbs.options import Absences, ClassWeights, Intervals, Names, OfLabels, Priors

_FIRST = (*SEGMENTS, *COUNTED, count("n_missing", under="missing"))

VERB = Verb(
    {
        "wide": (*_FIRST, score(METRIC, tells=True, compared=True), *limits(METRIC, "interval")),
        "long": (
            *_FIRST,
            METRICS,
            estimate("estimate", tells=True, span=Span.METRIC, marks=True, ranks=True),
            *limits(under="interval", about="estimate"),
            note("method", under="interval", naming=Naming.METHOD),
        ),
    }
)


class _Options(Absences, Intervals, Priors, ClassWeights, OfLabels, total=False): ...


@VERB
def report(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    metrics: Metrics = None,
    layout: Literal["wide", "long"] = "wide",
    **options: Unpack[_Options],
) -> FrameT:
    """Score every segment: accuracy, balanced accuracy, or any other metric.

    Parameters
    ----------
    metrics : str or list of str, optional
        Names or aliases of metrics, which name the columns, or "all". `bf.list_metrics()` shows
        them. By default accuracy, balanced_accuracy, adjusted_balanced_accuracy,
        normalized_accuracy and geometric_mean, and with `class_weight` also
        weighted_balanced_accuracy.
    layout : {"wide", "long"}
        A column for each metric, or a row for each with the columns `metric` and `estimate`.
    missing : {"raise", "drop"}
        What to do about nulls outside of `by`: raise, or leave those rows out. The column
        `n_missing` then has how many they were.

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
    scoring = Scoring.of(metrics, options["class_weight"], DEFAULT, options["absent"])
    check_choice("layout", layout, VERB.layouts)
    request = Request.of(options["interval"], options["level"], options["prior"])
    chosen = scoring.metrics

    def compute(reading: Reading) -> Columns:
        c = scoring.class_counts(reading)
        _, first = reading.cells.segments
        counts = counted(c)
        if reading.query.drops_missing:
            counts["n_missing"] = reading.cells.missing_of_segments()
        scores = {name: value_of(metric, c) for name, metric in chosen.items()}
        found: dict[str, Limits] = {}
        if request is not None:
            found = limits_of(chosen, c, lambda: reading.cells, scores, request)
        if layout == "wide":
            return reading.by_columns(first) | counts | layouts.wide(scores, found)
        columns = layouts.long(reading, first, counts, scores)
        if request is not None:
            methods = [metric.interval.method_of(request.method) for metric in chosen.values()]
            columns |= layouts.long_limits(reading, found, methods)
        return columns

    return answer(
        frame,
        VERB,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        layout=layout,
        metrics=list(chosen),
        shown=() if request is None else ("interval",),
        reads=Reads(squares=request is not None),
        suits=scoring.suits,
    )
