"""The method `report`."""

from collections.abc import Sequence
from typing import Annotated, Literal, TypedDict, Unpack

from balframe._validate import check_choice
from balframe.api.columns import (
    DESIGN_COLUMNS,
    FEWEST_LABELS,
    METRIC,
    METRIC_KEY,
    N_CLUSTERS,
    N_LABELLED,
    SEGMENT_KEYS,
    SUPPORT_COLUMNS,
    Naming,
    count,
    details,
    limits,
    metric_estimate,
    note,
    score,
)
from balframe.api.interval_estimates import (
    cluster_counts,
    design_effects,
    interval_methods,
    interval_request,
    metric_limits,
)
from balframe.api.method import Method
from balframe.api.metric_selection import (
    Metrics,
    MetricSelection,
    clusters_left_out,
    sample_values,
    segment_counts,
)
from balframe.api.options import (
    AbsentLabelOptions,
    ClassWeightOptions,
    ClusterOptions,
    DetailOptions,
    IntervalOptions,
    Names,
    Option,
    OutcomeOptions,
    PartlyLabelledRowOptions,
    ResultOptions,
    metrics_option,
)
from balframe.api.run import Columns, run_method
from balframe.core.array_types import FloatArray, Int64Array
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import InputSpec, N
from balframe.methods.scores.distinct_segments import distinct_sample
from balframe.methods.scores.layouts import long_columns, wide_columns
from balframe.metrics.partly_labelled import check_can_estimate
from balframe.metrics.registry import DEFAULT_METRICS
from balframe.stats.proportions import Limits

_COUNT_COLUMNS = (
    count(N),
    N_CLUSTERS,
    count("n_missing", only_with="missing"),
    N_LABELLED,
)

METHOD = Method(
    {
        "wide": (
            *SEGMENT_KEYS,
            *_COUNT_COLUMNS,
            score(METRIC, identifies=True, ranks_rows=True),
            *limits(METRIC, "interval"),
            *details(*SUPPORT_COLUMNS),
        ),
        "long": (
            *SEGMENT_KEYS,
            METRIC_KEY,
            metric_estimate(identifies=True, ranks_rows=True),
            *limits(only_with="interval", about="estimate"),
            *_COUNT_COLUMNS,
            *details(
                *SUPPORT_COLUMNS,
                FEWEST_LABELS,
                count("clusters_left_out", only_with="cluster"),
                *DESIGN_COLUMNS,
                note("method", only_with="interval", naming=Naming.METHOD),
            ),
        ),
    },
    described={"metrics": metrics_option(DEFAULT_METRICS)},
)


class LayoutOptions(TypedDict, total=False):
    """How metrics are laid out."""

    layout: Annotated[
        Literal["wide", "long"],
        Option(
            '{"wide", "long"}',
            'One column per metric ("wide"), or one row per metric with the columns `metric` and '
            '`estimate` ("long").',
            default="wide",
            is_setting=True,
        ),
    ]


class _Options(
    LayoutOptions,
    OutcomeOptions,
    AbsentLabelOptions,
    IntervalOptions,
    ClassWeightOptions,
    ClusterOptions,
    PartlyLabelledRowOptions,
    ResultOptions,
    DetailOptions,
    total=False,
): ...


@METHOD
def report(
    frame: FrameT,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    by: Names = None,
    metrics: Metrics = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment with its scores: accuracy, balanced accuracy, or other metrics.

    Returns
    -------
    frame of the same library
        One row per segment and [model]; columns in brackets follow from options:

        - the by-columns, [`grouped_by`: those of them that define the segment], [`model`]
        - `n`: rows; [`n_clusters`], [`n_missing`], [`n_labelled`: rows with a truth]
        - one column per metric, null where undefined, [`<metric>_lower`, `<metric>_upper`]
        - with `detail`, `n_labels`: labels in the truth; `min_support`: rows of the rarest of them

        `layout="long"` has rows of `metric`, `estimate`, [`lower`, `upper`], and as details
        [`method`], [`fewest_labels` of a stratum], [`clusters_left_out`: too small],
        [`effective_clusters`, `design_effect`].

    References
    ----------
    K. H. Brodersen and others, "The balanced accuracy and its posterior distribution", ICPR 2010.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas(backend="pandas").query("race in ['Asian', 'Caucasian']")
    >>> names = ["accuracy", "balanced_accuracy", "false_positive_rate"]
    >>> out = bf.report(compas, "reoffended", "high_risk", by="race", counts="n", metrics=names)
    >>> print(out.round(3).to_string())
            race     n  accuracy  balanced_accuracy  false_positive_rate
    0      Asian    32     0.844              0.790                0.087
    1  Caucasian  2454     0.670              0.644                0.235
    """
    selection = MetricSelection.of(
        metrics, options["class_weight"], DEFAULT_METRICS, options["absent"]
    )
    layout = options["layout"]
    check_choice("layout", layout, METHOD.layouts)
    request = interval_request(options)

    def compute(counted_frame: CountedFrame) -> Columns:
        sample, copies = distinct_sample(counted_frame, selection)
        scores = {name: sample_values(metric, sample) for name, metric in selection.metrics.items()}
        limits: dict[str, Limits] = {}
        if request is not None:
            for name, metric in selection.metrics.items():
                limits[name] = metric_limits(metric, sample, scores[name], request)
        counts = segment_counts(sample.counts, sample.strata) | cluster_counts(sample)
        if copies is not None:
            counts = {name: values[copies] for name, values in counts.items()}
            scores = {name: values[copies] for name, values in scores.items()}
            limits = {name: (low[copies], high[copies]) for name, (low, high) in limits.items()}
        if counted_frame.query.drops_missing:
            counts["n_missing"] = counted_frame.cells.missing_of_segments()
        if layout == "wide":
            _, first_cells = counted_frame.cells.segments
            return counted_frame.by_columns(first_cells) | counts | wide_columns(scores, limits)
        metric_columns: dict[Name, Sequence[FloatArray | Int64Array]] = {}
        methods = None
        if sample.clusters is not None:
            designs = [design_effects(metric, sample) for metric in selection.metrics.values()]
            effective, effect = zip(*designs, strict=True)
            metric_columns |= {"effective_clusters": effective, "design_effect": effect}
            metric_columns["clusters_left_out"] = [
                clusters_left_out(metric, sample.clusters) for metric in selection.metrics.values()
            ]
        if request is not None:
            lower, upper = zip(*limits.values(), strict=True)
            metric_columns |= {"lower": lower, "upper": upper}
            methods = interval_methods(
                selection.metrics, sample.clusters, len(counts["n"]), request
            )
        return long_columns(counted_frame, counts, scores, metric_columns, methods)

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        layout=layout,
        metrics=list(selection.metrics),
        optional_columns=["interval"] if request is not None else [],
        input_spec=InputSpec(squares=request is not None),
        check_query=lambda query: check_can_estimate(selection.metrics, options),
        check_labels=selection.check_labels,
    )
