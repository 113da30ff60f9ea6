"""The method `compare`."""

from collections.abc import Mapping
from functools import partial
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
from balframe.api.interval_estimates import DesignEffects, clip_difference_limits, cluster_counts
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
    OutcomeOptions,
    ScoreMethodOptions,
)
from balframe.api.run import Columns, run_method
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.errors import NAME, InvalidInputError, parameter
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.models_in_rows import ModelRows
from balframe.frames.query import MODEL, InputSpec, Query, name_list
from balframe.frames.score_pairs import ScoredPairs, ScorePairSource
from balframe.methods.comparisons.models import PairedModels
from balframe.methods.comparisons.score_models import (
    PairedRankings,
    check_no_class_weight,
    check_predictions_or_scores,
)
from balframe.metrics.lookup import find_ranking_metrics
from balframe.metrics.registry import Metric
from balframe.metrics.score_metrics import ScoreMetric
from balframe.stats.multiple_testing import adjust_within_families
from balframe.stats.proportions import Limits

COMPARED_SCORES = ("roc_auc", "average_precision")  # compared by default

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
    OutcomeOptions,
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
    y_true: Name = None,
    y_pred: Names = None,
    *,
    y_score: Names = None,
    by: Names = None,
    metrics: Metrics = None,
    model: Name = None,
    item: Name = None,
    trial: Name = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment, pair of models and metric, with the difference of their scores.

    The models predict the same rows, so the comparison is paired: confidence intervals and p-values
    depend on the rows that only one of the models gets right. Each model is compared with every
    model that comes after it in `y_pred` or `y_score`.

    For predicted labels, the interval is Tango's for a difference of paired proportions,
    generalised to weighted means of recalls. It inverts the score test: the p-value is below 1 -
    `level` exactly when the interval excludes 0. With one label, as for accuracy and recall, this
    is McNemar's test without continuity correction. Its statistic is (b - c)^2 / (b + c), where b
    and c count the rows that only one of the models gets right.

    If two models are equally good, a test at level 5% should give a false alarm in 5% of samples.
    With one label of at least ten rows, it does so at most 1.07 times as often, if the models
    differ on at most half of these rows. With two labels of ten rows, the factor is up to 1.18, and
    with thirty labels of five rows up to 1.25. At levels as small as 0.05 / 60, it is up to 1.4
    with several labels, and up to 1.8 with thirty.

    For `net_benefit` and `cost`, a row on which the models' payoffs differ by a share d of the
    largest possible difference counts as d of a row that only one of them gets right. The limits
    are conservative.

    For scores, the test is DeLong's of two correlated areas under ROC curves. It compares the other
    metrics in the same way: by the variance of the influence of each row on the difference.

    Parameters
    ----------
    y_pred : list of column names, optional
        The predictions of at least two models. Give either `y_pred` or `y_score`.
    y_score : list of column names, optional
        The scores of at least two models: finite numbers, higher for the positive label. `metrics`
        are then metrics of scores: roc_auc and average_precision by default, brier_score,
        log_loss, ks_statistic, or a partial area such as roc_auc(max_fpr=0.1).
    model : column name, optional
        The column that names the model, if models are in rows rather than in columns. `y_pred`, or
        `outcome`, is then one column, and `item` identifies the rows that are compared with each
        other. Models are compared in sorted order, on the items that all of them have; a warning
        counts the rows left out. By-columns are read from the first model's rows.
    item : column name, optional
        With `model`: the column of items, such as questions. Each model has an item only once,
        unless `trial` is given.
    trial : column name, optional
        With `item`: the column that numbers the trials of an item. Equal numbers are compared, and
        the trials of an item form a cluster.
    sample_weight : column name, optional
        Row weights: finite, non-negative numbers. Intervals and p-values then use effective sample
        sizes of each label. For the lower limit, the size follows from the variance of the
        difference after adding one row of the largest weight that only `baseline` gets right; for
        the upper limit, one that only `model` gets right. It is at most Kish's effective size. The
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
          whose denominator depends on the predictions, such as precision, f1, averages over labels
          and kappa, for ks_statistic, and where every row has the same influence on both scores, as
          for two models that rank all rows in the same order.

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
    "Survey Sampling", 1965. E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the
    areas under two or more correlated receiver operating characteristic curves: a nonparametric
    approach", Biometrics 1988. N. A. Obuchowski, "Nonparametric analysis of clustered ROC curve
    data", Biometrics 1997.

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
    check_adjust(options["adjust"])
    check_level(options["level"])
    if _has_models_in_rows(model, item, trial):
        wide, models, cluster = _models_in_columns(
            frame, y_true, y_pred, by, (model, item, trial), options
        )
        paired: Any = {**options, "cluster": cluster}
        return compare(wide, y_true, models, by=by, metrics=metrics, **paired)
    check_predictions_or_scores("compare", y_pred, y_score)
    if y_score is not None:
        return _compare_scores(frame, y_true, y_score, by, metrics, options)
    selection = MetricSelection.of(metrics, options["class_weight"], COMPARED_METRICS)

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
        check_query=partial(_check_several_models, names=y_pred),
        check_labels=selection.check_labels,
    )


def _has_models_in_rows(model: Name, item: Name, trial: Name) -> bool:
    """Return whether models are in rows; raise if it is not known how they belong together."""
    if model is None and item is None and trial is None:
        return False
    if model is None or item is None:
        raise InvalidInputError(
            "models in rows need {model} and {item}: the columns that name the model and the "
            "item of a row.",
            model=NAME,
            item=NAME,
        )
    return True


def _models_in_columns(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    by: Names,
    roles: tuple[Name, Name, Name],
    options: Mapping[str, Any],
) -> tuple[FrameT, list[str], Name]:
    """Return a frame with a column for each model, their names, and the column of clusters."""
    model, item, trial = roles
    predictions = name_list(y_pred)
    if len(predictions) != 1:
        raise InvalidInputError(
            "with {model}, {y_pred} or {outcome} is one column for all models; name one.",
            model=NAME,
            y_pred=NAME,
            outcome=NAME,
        )
    cluster = options["cluster"]
    if trial is not None and cluster is None:
        cluster = item
    keys = (item,) if trial is None else (item, trial)
    used = (y_true, *name_list(by), cluster, options["sample_weight"], options["counts"])
    others = dict.fromkeys(name for name in used if name is not None and name not in keys)
    rows = ModelRows(model, keys, predictions[0], tuple(others))
    wide, models = rows.join(frame)
    return wide, models, cluster


def _check_several_models(query: Query, names: Names) -> None:
    """Raise if there is no pair of models among these names of columns."""
    if len(query.y_pred) < 2:
        raise InvalidInputError(
            "{} names one model, but compare needs at least two; name two or more columns of {}.",
            parameter("y_score" if query.scores else "y_pred", names),
            "scores" if query.scores else "predictions",
        )


def _compare_scores(
    frame: FrameT,
    y_true: Name,
    y_score: Names,
    by: Names,
    metrics: Metrics,
    options: Mapping[str, Any],
) -> FrameT:
    """Compare models by metrics of scores."""
    check_no_class_weight(options["class_weight"])
    selected = find_ranking_metrics(COMPARED_SCORES if metrics is None else metrics)

    def compute(pairs: ScoredPairs) -> Columns:
        models, counted_frame = PairedRankings.of(pairs), pairs.counted_frame
        margin = counted_frame.segment_margins()
        tables = {
            name: compare_rankings(metric, models, margin, options["level"], options["adjust"])
            for name, metric in selected.items()
        }
        clusters = {"n_clusters": models.n_clusters} if pairs.clusters is not None else {}
        return _pair_columns(counted_frame, models.totals, tables, clusters)

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_score": y_score, "by": by, **options},
        compute,
        input_spec=InputSpec(joint=True, scores=True),
        source=ScorePairSource(),
        check_query=partial(_check_several_models, names=y_score),
    )


def compare_rankings(
    metric: ScoreMetric, models: PairedRankings, family: Int64Array, level: float, adjust: Adjust
) -> dict[str, Any]:
    """Compare two models on a metric of scores in every segment, as `compare_models` does."""
    difference = models.difference(metric)
    limits, p = difference.limits_and_p_values(level)
    limits = clip_difference_limits(limits, difference.difference, metric)
    effects = None if models.clusters is None else difference.design_effects
    scores = (difference.first, difference.second, difference.difference)
    return _table(scores, limits, p, adjust_within_families(p, family, adjust), effects)


def compare_models(
    metric: Metric, models: PairedModels, family: Int64Array, level: float, adjust: Adjust
) -> dict[str, Any]:
    """Compare two models on a metric in every segment; `family` numbers the families of tests."""
    model_counts = (models.first.counts, models.second.counts)
    estimate, baseline = (metric_values(metric, c) for c in model_counts)
    difference = estimate - baseline
    limits, p = models.limits_and_p_values(metric.interval, level)
    p = np.where(np.isnan(difference), np.nan, p)
    limits = clip_difference_limits(limits, difference, metric)
    effects = None if models.first.clusters is None else models.design_effects(metric.interval)
    scores = (estimate, baseline, difference)
    return _table(scores, limits, p, adjust_within_families(p, family, adjust), effects)


def _table(
    scores: tuple[FloatArray, FloatArray, FloatArray],
    limits: Limits,
    p: FloatArray,
    adjusted: tuple[FloatArray, Int64Array],
    effects: DesignEffects | None,
) -> dict[str, Any]:
    """Return the columns of both scores and their difference, with those of clusters if any."""
    (estimate, baseline, difference), (lower, upper) = scores, limits
    p_adjusted, n_tests = adjusted
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
    if effects is not None:
        effective, effect = effects
        columns |= {"effective_clusters": effective, "design_effect": effect}
    return columns


def model_comparison_columns(
    counted_frame: CountedFrame, sample: Sample, tables: Mapping[str, Mapping[str, Any]]
) -> dict[Name, Any]:
    """Return the columns of one row per segment, pair of models and metric."""
    return _pair_columns(counted_frame, sample.counts, tables, cluster_counts(sample))


def _pair_columns(
    counted_frame: CountedFrame,
    c: ClassCounts,
    tables: Mapping[str, Mapping[str, Any]],
    clusters: Mapping[str, Int64Array],
) -> dict[Name, Any]:
    _, first_cells = counted_frame.cells.segments
    n_metrics = len(tables)
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
        **{name: np.repeat(values, n_metrics) for name, values in clusters.items()},
        **{
            name: np.column_stack([table[name] for table in tables.values()]).ravel()
            for name in columns
        },
    }
