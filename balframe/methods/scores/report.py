"""The method `report`."""

from typing import Literal, Unpack

from balframe.api.columns import (
    COUNTED,
    DESIGN,
    METRIC,
    METRICS,
    MIN_SUPPORT,
    N_CLUSTERS,
    SEGMENTS,
    Naming,
    compared_estimate,
    count,
    limits,
    note,
    score,
)
from balframe.api.interval_estimates import design, methods_of, n_clusters
from balframe.api.method import Method
from balframe.api.metric_selection import Metrics, Scoring
from balframe.api.options import (
    AbsentLabelOptions,
    ClassWeightOptions,
    ClusterOptions,
    IntervalOptions,
    LabelMethodOptions,
    Names,
    PeriodOptions,
    PriorOptions,
)
from balframe.api.run import Columns, run_method
from balframe.errors import check_choice
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import Reads
from balframe.methods.scores.layouts import (
    long_columns,
    long_design_columns,
    long_limit_columns,
    wide_columns,
)
from balframe.methods.scores.scored_segments import score_segments
from balframe.metrics.registry import DEFAULT
from balframe.stats.base import IntervalRequest

_FIRST = (*SEGMENTS, *COUNTED, N_CLUSTERS, count("n_missing", under="missing"))

METHOD = Method(
    {
        "wide": (
            *_FIRST,
            score(METRIC, tells=True, compared=True, support=MIN_SUPPORT),
            *limits(METRIC, "interval"),
        ),
        "long": (
            *_FIRST,
            METRICS,
            compared_estimate(tells=True, ranks=True),
            *limits(under="interval", about="estimate"),
            *DESIGN,
            note("method", under="interval", naming=Naming.METHOD),
        ),
    }
)


class _Options(
    AbsentLabelOptions,
    IntervalOptions,
    PriorOptions,
    ClassWeightOptions,
    ClusterOptions,
    PeriodOptions,
    LabelMethodOptions,
    total=False,
): ...


@METHOD
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
    """Return one row per segment with its scores: accuracy, balanced accuracy, or other metrics.

    Parameters
    ----------
    metrics : str, list of str or mapping, optional
        Names or aliases of metrics, or presets: "default", "fairness", "all". `bf.list_metrics()`
        lists the metrics. The columns have the names given; a mapping renames them:
        `{"hit rate": "recall"}`. "default" is accuracy, balanced_accuracy,
        adjusted_balanced_accuracy, normalized_accuracy and geometric_mean, and with `class_weight`
        also weighted_balanced_accuracy. "fairness" is selection_rate, prevalence, recall,
        false_positive_rate, false_negative_rate and precision. "all" is every metric.
    layout : {"wide", "long"}
        One column per metric ("wide"), or one row per metric with the columns `metric` and
        `estimate` ("long"). With intervals, "long" also has the method of each interval.
    missing : {"raise", "drop"}
        How to handle nulls in columns other than `by`: raise an error, or drop the rows. With
        "drop", the column `n_missing` counts the rows dropped. NaN counts as null.

    Returns
    -------
    frame of the same library
        One row for each segment and [model], in this order. Columns in brackets are present only
        if the options ask for them:

        - the by-columns, [`margin`: the columns that define the segment], [`model`]
        - `n`: number of rows; `n_labels`: number of labels present in the truth; `min_support`:
          number of rows of the rarest label present, 0 if none is
        - with `cluster`, `n_clusters`: number of clusters with rows in the segment
        - `n_missing`: number of rows dropped, with `missing="drop"`
        - wide layout: one column per metric, null where undefined; with `interval`, followed by
          its confidence interval, `<metric>_lower` and `<metric>_upper`
        - long layout: `metric` and `estimate`; with `interval`, also `lower`, `upper` and
          `method`, the interval method used; with `cluster`, also `effective_clusters` and
          `design_effect`. The first is the number of clusters of equal size that carry as much
          information; the second is the variance of the estimate over that of independent rows.

        With `cluster`, both limits are null if a label, or the denominator of a proportion, has all
        its rows in one cluster, and for the geometric mean.

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
    check_choice("layout", layout, METHOD.layouts)
    request = IntervalRequest.of(
        options["interval"], options["level"], options["prior"], options["cluster"]
    )
    chosen = scoring.metrics

    def compute(reading: CountedFrame) -> Columns:
        scored = score_segments(reading, scoring, request)
        sample, scores, found = scored.sample, scored.scores, scored.limits
        _, first = reading.cells.segments
        counts = {**scored.counts, **n_clusters(sample)}
        if reading.query.drops_missing:
            counts["n_missing"] = reading.cells.missing_of_segments()
        if layout == "wide":
            return reading.by_columns(first) | counts | wide_columns(scores, found)
        columns = long_columns(reading, first, counts, scores)
        if sample.clusters is not None:
            columns |= long_design_columns([design(metric, sample) for metric in chosen.values()])
        if request is not None:
            methods = methods_of(chosen, sample.clusters, len(first), request)
            columns |= long_limit_columns(reading, found, methods)
        return columns

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        layout=layout,
        metrics=list(chosen),
        shown=() if request is None else ("interval",),
        reads=Reads(squares=request is not None),
        suits=scoring.suits,
    )
