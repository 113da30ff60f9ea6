"""The method `compare`."""

from collections.abc import Mapping
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
    SEGMENT_KEYS,
    UNADJUSTED_TEST_COLUMNS,
    VERDICT,
    VERDICTS,
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
from balframe.errors import NAME, InvalidInputError, warn
from balframe.frames.adapter import FrameT, Name
from balframe.frames.by_entries import entry_column
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.models_in_rows import ModelRows
from balframe.frames.query import MODEL, InputSpec, name_list
from balframe.frames.score_pairs import ScoredPairs, ScorePairSource
from balframe.methods.comparisons.models import PairedModels
from balframe.methods.comparisons.score_models import (
    PairedRankings,
    check_no_class_weight,
    check_predictions_or_scores,
)
from balframe.methods.comparisons.segments import verdict_codes
from balframe.metrics.lookup import find_ranking_metrics
from balframe.metrics.registry import Metric
from balframe.metrics.score_metrics import ScoreMetric
from balframe.stats.multiple_testing import adjust_within_families
from balframe.stats.proportions import Limits

COMPARED_SCORES = ("roc_auc", "average_precision")  # compared by default

METHOD = Method.of(
    *SEGMENT_KEYS[:2],
    key(MODEL, heading=HEADING_SEPARATOR),
    key("baseline", identifies=True, heading=" against "),
    METRIC_KEY,
    metric_estimate(),
    estimate("baseline_estimate", identifies=True),
    estimate("difference", identifies=True, span=Span.AROUND_ZERO, ranks_rows=True),
    *limits(about="difference"),
    P_ADJUSTED,
    VERDICT,
    *details(
        *COUNT_COLUMNS,
        N_CLUSTERS,
        *DESIGN_COLUMNS,
        *UNADJUSTED_TEST_COLUMNS,
    ),
    hints={
        "reference": "the model to compare with is the baseline. To compare segments with each "
        "other, call gaps.",
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
    baseline: Name = None,
    model: Name = None,
    item: Names = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment, model and metric, with the difference from the baseline's score.

    Each model is compared with the baseline: the first model, unless `baseline` names another. A
    positive difference means that the model scores higher than the baseline.

    The comparison is paired: confidence intervals and p-values depend on the rows that only one of
    the models gets right. For predicted labels, the interval is Tango's for a difference of paired
    proportions, generalised to weighted means of recalls; its score test has a p-value below 1 -
    `level` exactly when the interval excludes 0. With one label, it is McNemar's test without
    continuity correction, (b - c)^2 / (b + c), where b and c count the rows that only one of the
    models gets right. For scores, it is DeLong's.

    Parameters
    ----------
    y_pred : list of column names, optional
        The predictions of at least two models, or of one and `baseline`. Give either `y_pred` or
        `y_score`.
    y_score : list of column names, optional
        The scores of at least two models: finite numbers, higher for the positive label. `metrics`
        are then roc_auc and average_precision by default, brier_score, log_loss, ks_statistic, or
        roc_auc(max_fpr=0.1).
    baseline : column name, optional
        The model that the others are compared with: one of `y_pred` or `y_score`, or another
        column. By default, it is the first. With `model`, it is a value of that column.
    model : column name, optional
        The column that names the model, if models are in rows. `y_pred`, or `outcome`, is then one
        column. Models are in sorted order, and compared on the items that all have; a warning
        counts the rows left out. By-columns are read from the baseline's rows.
    item : column name or list of column names, optional
        With `model`: the column of items, such as questions, of which each model has one row, or of
        items and numbered trials, `["question", "trial"]`, which then form clusters.
    sample_weight : column name, optional
        Weights of rows, finite and not negative. Intervals and p-values use effective sample sizes,
        and are reliable only if the weights of each label add up to at least 30 times the largest.
    missing : {"raise", "drop"}
        Nulls and NaN outside of `by`: raise an error, or drop the rows where the true label or
        either prediction is null, for each model.

    Returns
    -------
    frame of the same library
        One row per segment, model and metric, in this order. Columns in brackets follow from
        options:

        - the by-columns, [`grouped_by`: those that define the segment]
        - `model` and `baseline`: the two models that are compared
        - `metric`; `estimate`, `baseline_estimate`: their scores; `difference`: the first less the
          second
        - `lower`, `upper`: confidence interval of the difference
        - `p_adjusted`: p-value of the test of equality, adjusted over segments and models. It and
          the interval are null for metrics whose denominator depends on the predictions, such as
          precision, f1, averages over labels and kappa, for ks_statistic, where every row has the
          same influence on both scores, and where fewer than 5 rows of a class, or 10 for the mean
          of a loss, have scores (a warning counts these).
        - `verdict`: "better" or "worse" than the baseline, if `p_adjusted` is below 1 - `level`,
          otherwise "not decided"; "higher" or "lower" for a metric without a better direction

        With `detail`, also:

        - `n`: rows; `n_labels`: labels in the truth; `min_support`: rows of the rarest of them
        - with `cluster`, `n_clusters`; `effective_clusters` and `design_effect` of the difference
        - `p_value`: before the adjustment; `n_tests`: p-values in the family

    References
    ----------
    T. Tango, Statistics in Medicine 1998, and Q. McNemar, Psychometrika 1947, for labels; L. Kish,
    "Survey Sampling", 1965, for weights; E. R. DeLong and others, Biometrics 1988, and N. A.
    Obuchowski, Biometrics 1997, for scores.

    Examples
    --------
    Of 100 rows, only the new model gets 12 right, and only the old one 3. McNemar's statistic is
    (12 - 3)^2 / (12 + 3) = 5.4, with the p-value 0.0201:

    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame(
    ...     {"y": [1] * 4, "old": [1, 0, 1, 0], "new": [1, 1, 0, 0], "n": [70, 12, 3, 15]}
    ... )
    >>> out = bf.compare(df.to_pandas(), "y", ["old", "new"], counts="n", metrics="accuracy")
    >>> names = ["model", "baseline", "difference", "lower", "upper", "p_adjusted", "verdict"]
    >>> out[names].round(4)
      model baseline  difference  lower   upper  p_adjusted verdict
    0   new      old        0.09  0.016  0.1737      0.0201  better
    """
    check_adjust(options["adjust"])
    check_level(options["level"])
    if model is not None or item is not None:
        wide, models, cluster = _models_in_columns(
            frame, y_true, y_pred, by, (model, item, baseline), options
        )
        paired: Any = {**options, "cluster": cluster}
        return compare(wide, y_true, models, by=by, metrics=metrics, **paired)
    check_predictions_or_scores("compare", y_pred, y_score)
    if y_score is not None:
        return _compare_scores(frame, y_true, y_score, by, metrics, baseline, options)
    selection = MetricSelection.of(metrics, options["class_weight"], COMPARED_METRICS)
    level, adjust = options["level"], options["adjust"]

    def compute(counted_frame: CountedFrame) -> Columns:
        models = PairedModels.of(counted_frame, selection)
        margin = counted_frame.segment_margins()
        tables = {
            name: compare_models(metric, models, margin, level, adjust)
            for name, metric in selection.metrics.items()
        }
        sample = models.first
        return _pair_columns(counted_frame, sample.counts, tables, cluster_counts(sample))

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        input_spec=InputSpec(has_baseline=True, baseline=baseline),
        check_labels=selection.check_labels,
    )


def _models_in_columns(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    by: Names,
    roles: tuple[Name, Names, Name],
    options: Mapping[str, Any],
) -> tuple[FrameT, list[str], Name]:
    """Return a frame with a column for each model, their names, and the column of clusters.

    The baseline comes first.
    """
    model, item, baseline = roles
    keys, predictions = tuple(name_list(item)), name_list(y_pred)
    if model is None or not 1 <= len(keys) <= 2:
        raise InvalidInputError(
            "models in rows need {model} and {item}: the columns that name the model and the "
            "item of a row, or a list of two, the columns of items and of their trials.",
            model=NAME,
            item=NAME,
        )
    if len(predictions) != 1:
        raise InvalidInputError(
            "with {model}, {y_pred} or {outcome} is one column for all models; name one.",
            model=NAME,
            y_pred=NAME,
            outcome=NAME,
        )
    cluster = options["cluster"]
    if len(keys) > 1 and cluster is None:
        cluster = keys[0]
    by_sources: list[Name] = [entry_column(entry) for entry in name_list(by)]
    of_item: tuple[Name, ...] = (cluster, options["sample_weight"], options["counts"])
    used = (y_true, *by_sources, *of_item)
    others = dict.fromkeys(name for name in used if name is not None and name not in keys)
    segments = tuple(name for name in by_sources if name not in (y_true, *of_item))
    rows = ModelRows(model, keys, predictions[0], tuple(others), segments, baseline)
    wide, models = rows.join(frame)
    return wide, models, cluster


def _compare_scores(
    frame: FrameT,
    y_true: Name,
    y_score: Names,
    by: Names,
    metrics: Metrics,
    baseline: Name,
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
        input_spec=InputSpec(scores=True, has_baseline=True, baseline=baseline),
        source=ScorePairSource(),
    )


def compare_rankings(
    metric: ScoreMetric, models: PairedRankings, family: Int64Array, level: float, adjust: Adjust
) -> dict[str, Any]:
    """Compare two models on a metric of scores in every segment, as `compare_models` does."""
    difference = models.difference(metric)
    limits, p = difference.limits_and_p_values(level)
    has_few = difference.has_too_few_rows
    is_defined = np.isfinite(difference.difference + difference.variance) & ~has_few
    is_constant = is_defined & np.isnan(p) & (difference.difference != 0)
    for is_left_out, reason in (
        (has_few, f"they have fewer than {metric.interval.needed_rows}"),
        (is_constant, "all rows add the same to the difference, whose variance is then 0"),
    ):
        if is_left_out.any():
            warn(
                "{} of {} comparisons of {} have neither limits nor a p-value, and are in no "
                "family of tests, because {}.",
                int(is_left_out.sum()),
                len(p),
                metric.name,
                reason,
            )
    limits = clip_difference_limits(limits, difference.difference, metric)
    effects = None if models.clusters is None else difference.design_effects
    scores = (difference.first, difference.second, difference.difference)
    return _table(metric, scores, limits, p, (family, level, adjust), effects)


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
    return _table(metric, scores, limits, p, (family, level, adjust), effects)


def _table(
    metric: Metric | ScoreMetric,
    scores: tuple[FloatArray, FloatArray, FloatArray],
    limits: Limits,
    p: FloatArray,
    decision: tuple[Int64Array, float, Adjust],
    effects: DesignEffects | None,
) -> dict[str, Any]:
    """Return the columns of both scores and their difference, with those of clusters if any.

    `decision` are the families of tests, the level and the adjustment.
    """
    (estimate, baseline, difference), (lower, upper) = scores, limits
    family, level, adjust = decision
    p_adjusted, n_tests = adjust_within_families(p, family, adjust)
    is_significant, is_tested = p_adjusted < 1 - level, np.isfinite(p)
    columns = {
        "estimate": estimate,
        "baseline_estimate": baseline,
        "difference": difference,
        "lower": lower,
        "upper": upper,
        "p_value": p,
        "p_adjusted": p_adjusted,
        "verdict": verdict_codes(difference, is_significant, is_tested, metric.better),
        "n_tests": n_tests,
    }
    if effects is not None:
        effective, effect = effects
        columns |= {"effective_clusters": effective, "design_effect": effect}
    return columns


def _pair_columns(
    counted_frame: CountedFrame,
    c: ClassCounts,
    tables: Mapping[str, Mapping[str, Any]],
    clusters: Mapping[str, Int64Array],
) -> dict[Name, Any]:
    _, first_cells = counted_frame.cells.segments
    n_metrics = len(tables)
    cells = np.repeat(first_cells, n_metrics)
    baseline = str(counted_frame.query.baseline)
    metric = np.tile(np.arange(n_metrics), len(first_cells))
    stacked = {
        name: np.column_stack([table[name] for table in tables.values()]).ravel()
        for name in next(iter(tables.values()))
    }
    return (
        counted_frame.by_columns(cells)
        | stacked
        | {
            "baseline": counted_frame.text_column([baseline], np.zeros_like(cells)),
            "verdict": counted_frame.text_column(VERDICTS, stacked["verdict"]),
            "n": np.repeat(c.n, n_metrics),
            "n_labels": np.repeat(c.n_present, n_metrics),
            "min_support": np.repeat(c.min_support, n_metrics),
            "metric": counted_frame.text_column(list(tables), metric),
            **{name: np.repeat(values, n_metrics) for name, values in clusters.items()},
        }
    )
