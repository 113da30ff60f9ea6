"""The method `compare`."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from balframe._validate import check_level
from balframe.api.columns import (
    COUNT_COLUMNS,
    DESIGN_COLUMNS,
    HEADING_SEPARATOR,
    METRIC_KEY,
    N_CLUSTERS,
    P_ADJUSTED,
    PAIRS,
    SEGMENT_KEYS,
    UNADJUSTED_TEST_COLUMNS,
    Span,
    details,
    estimate,
    key,
    limits,
    metric_estimate,
)
from balframe.api.interval_estimates import clip_limits, cluster_counts
from balframe.api.method import Method
from balframe.api.metric_selection import (
    COMPARED_METRICS,
    Adjust,
    Metrics,
    MetricSelection,
    check_adjust,
    metric_values,
)
from balframe.api.options import (
    AdjustmentOptions,
    ClassWeightOptions,
    ClusterOptions,
    DetailOptions,
    LevelOptions,
    Names,
    ScoreMethodOptions,
)
from balframe.api.run import Columns, run_method
from balframe.core.array_types import Int64Array
from balframe.core.sample import Sample
from balframe.errors import InvalidInputError
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import MODEL, InputSpec, Query
from balframe.methods.comparisons.models import PairedModels
from balframe.metrics.registry import Metric
from balframe.stats.multiple_testing import adjust_within_families

METHOD = Method.of(
    *SEGMENT_KEYS[:2],
    key(MODEL, only_with=PAIRS, heading=HEADING_SEPARATOR),
    key("baseline", only_with=PAIRS, heading=" against "),
    METRIC_KEY,
    metric_estimate(),
    estimate("baseline_estimate", identifies=True),
    estimate("difference", identifies=True, span=Span.AROUND_ZERO, ranks_rows=True),
    *limits(about="difference"),
    P_ADJUSTED,
    *details(
        *COUNT_COLUMNS,
        N_CLUSTERS,
        *DESIGN_COLUMNS,
        *UNADJUSTED_TEST_COLUMNS,
    ),
    hints={
        "baseline": "name both models in y_pred; the last of two is the baseline.",
        "reference": "name both models in y_pred; the last of two is the baseline.",
    },
)


class _Options(
    AdjustmentOptions,
    ClassWeightOptions,
    ClusterOptions,
    LevelOptions,
    ScoreMethodOptions,
    DetailOptions,
    total=False,
): ...


@METHOD
def compare(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    metrics: Metrics = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment, pair of models and metric, with the difference of their scores.

    The models predict the same rows, so the comparison is paired: confidence intervals and p-values
    depend on the rows that only one of the models gets right. Each model is compared with every
    model that comes after it in `y_pred`.

    The interval is Tango's for a difference of paired proportions, generalised to weighted means of
    recalls. It inverts the score test: the p-value is below 1 - `level` exactly when the interval
    excludes 0. With one label, as for accuracy and recall, this is McNemar's test without
    continuity correction. Its statistic is (b - c)^2 / (b + c), where b and c count the rows that
    only one of the models gets right.

    If two models are equally good, a test at level 5% should give a false alarm in 5% of samples.
    With one label of at least ten rows, it does so at most 1.07 times as often, if the models
    differ on at most half of these rows. With two labels of ten rows, the factor is up to 1.18, and
    with thirty labels of five rows up to 1.25. At levels as small as 0.05 / 60, it is up to 1.4
    with several labels, and up to 1.8 with thirty.

    Parameters
    ----------
    y_pred : list of column names
        The predictions of at least two models.
    sample_weight : column name, optional
        Row weights: finite, non-negative numbers. Intervals and p-values then use effective sample
        sizes of each label. For the lower limit, the size follows from the variance of the
        difference after one more row of the largest weight that only `baseline` gets right; for
        the upper limit, that only `model` gets right. It is at most Kish's effective size. The
        results are reliable only if the weights of each label add up to at least 30 times the
        largest one.
    missing : {"raise", "drop"}
        How to handle nulls in columns other than `by`: raise an error, or drop the rows. For each
        pair of models, "drop" drops the rows where the true label or either prediction is null.

    Returns
    -------
    frame of the same library
        One row for each segment, pair of models and metric, in this order. Columns in brackets are
        present only if the options ask for them:

        - the by-columns, [`grouped_by`: the columns that define the segment]
        - with more than two models or with `detail`, `model` and `baseline`: the two models, of
          which `model` comes first in `y_pred`
        - `metric`; `estimate` and `baseline_estimate`: the scores of the first and of the second
          model; `difference`: the first less the second
        - `lower`, `upper`: confidence interval of the difference
        - `p_adjusted`: p-value of the test of equality of both scores, adjusted for multiple
          testing within the family. A family consists of the p-values of one metric over segments
          and pairs of models, in one margin. The interval and the p-value are null for metrics
          whose denominator depends on the predictions, such as precision, f1 and kappa.

        With `detail`, also:

        - `n`: number of rows; `n_labels`: number of labels present in the truth; `min_support`:
          number of rows of the rarest of them
        - with `cluster`, `n_clusters`: number of clusters with rows in the segment;
          `effective_clusters` and `design_effect` of the difference: number of clusters of equal
          size that carry as much information, and variance over that of independent rows
        - `p_value`: the p-value before the adjustment; `n_tests`: number of p-values in the family

    References
    ----------
    T. Tango, "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design", Statistics in Medicine 1998. Q. McNemar, "Note on the sampling error of
    the difference between correlated proportions or percentages", Psychometrika 1947. L. Kish,
    "Survey Sampling", 1965.

    Examples
    --------
    Of 100 rows, both models get 70 right, only the first gets 12 right, and only the second gets 3
    right. McNemar's statistic is (12 - 3)^2 / (12 + 3) = 5.4. The probability that a standard
    normal variable exceeds its square root, 2.3238, in absolute value is 0.0201:

    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame(
    ...     {"y": [1] * 4, "m1": [1, 1, 0, 0], "m2": [1, 0, 1, 0], "n": [70, 12, 3, 15]}
    ... )
    >>> out = bf.compare(df, "y", ["m1", "m2"], counts="n", metrics="accuracy")
    >>> print(out)
    shape: (1, 7)
    ┌──────────┬──────────┬───────────────────┬────────────┬──────────┬──────────┬────────────┐
    │ metric   ┆ estimate ┆ baseline_estimate ┆ difference ┆ lower    ┆ upper    ┆ p_adjusted │
    │ ---      ┆ ---      ┆ ---               ┆ ---        ┆ ---      ┆ ---      ┆ ---        │
    │ str      ┆ f64      ┆ f64               ┆ f64        ┆ f64      ┆ f64      ┆ f64        │
    ╞══════════╪══════════╪═══════════════════╪════════════╪══════════╪══════════╪════════════╡
    │ accuracy ┆ 0.82     ┆ 0.73              ┆ 0.09       ┆ 0.015977 ┆ 0.173743 ┆ 0.020137   │
    └──────────┴──────────┴───────────────────┴────────────┴──────────┴──────────┴────────────┘
    """
    selection = MetricSelection.of(metrics, options["class_weight"], COMPARED_METRICS)
    check_adjust(options["adjust"])
    check_level(options["level"])

    def check(query: Query) -> None:
        if len(query.y_pred) < 2:
            raise InvalidInputError(
                "{y_pred} names one model, but compare needs at least two; name two or more "
                "columns of predictions.",
                y_pred=y_pred,
            )

    def compute(counted_frame: CountedFrame) -> Columns:
        models = PairedModels.of(counted_frame, selection)
        margin = counted_frame.segment_margins()
        tables = {
            name: compare_models(metric, models, margin, options["level"], options["adjust"])
            for name, metric in selection.metrics.items()
        }
        return model_comparison_columns(counted_frame, models.first, tables)

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        input_spec=InputSpec(joint=True),
        check_query=check,
        check_labels=selection.check_labels,
    )


def compare_models(
    metric: Metric, models: PairedModels, family: Int64Array, level: float, adjust: Adjust
) -> dict[str, Any]:
    """Compare two models on a metric in every segment; `family` numbers the families of tests."""
    model_counts = (models.first.counts, models.second.counts)
    estimate, baseline = (metric_values(metric, c) for c in model_counts)
    difference, width = estimate - baseline, metric.range[1] - metric.range[0]
    limits, p = models.limits_and_p_values(metric.interval, level)
    p = np.where(np.isnan(difference), np.nan, p)
    lower, upper = clip_limits(*limits, difference, (-width, width), around_estimate=True)
    p_adjusted, n_tests = adjust_within_families(p, family, adjust)
    columns = {
        "estimate": estimate,
        "baseline_estimate": baseline,
        "difference": difference,
        "lower": lower,
        "upper": upper,
        "p_value": p,
        "p_adjusted": p_adjusted,
        "n_tests": n_tests,
    }
    if models.first.clusters is not None:
        effective, effect = models.design_effects(metric.interval)
        columns |= {"effective_clusters": effective, "design_effect": effect}
    return columns


def model_comparison_columns(
    counted_frame: CountedFrame, sample: Sample, tables: Mapping[str, Mapping[str, Any]]
) -> dict[Name, Any]:
    """Return the columns of one row per segment, pair of models and metric."""
    _, first_cells = counted_frame.cells.segments
    c, n_metrics = sample.counts, len(tables)
    cells = np.repeat(first_cells, n_metrics)
    names = [str(name) for name in counted_frame.query.y_pred]
    pairs = np.array(list(combinations(range(len(names)), 2)))
    pair = pairs[counted_frame.cells.by[-1][cells]]
    metric = np.tile(np.arange(n_metrics), len(first_cells))
    columns = next(iter(tables.values()))
    return counted_frame.by_columns(cells) | {
        "model": counted_frame.text_column(names, pair[:, 0]),
        "baseline": counted_frame.text_column(names, pair[:, 1]),
        "n": np.repeat(c.n, n_metrics),
        "n_labels": np.repeat(c.n_present, n_metrics),
        "min_support": np.repeat(c.min_support, n_metrics),
        "metric": counted_frame.text_column(list(tables), metric),
        **{name: np.repeat(values, n_metrics) for name, values in cluster_counts(sample).items()},
        **{
            name: np.column_stack([table[name] for table in tables.values()]).ravel()
            for name in columns
        },
    }
