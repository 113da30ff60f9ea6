"""The method `classes`."""

from collections.abc import Iterator, Sequence
from typing import Unpack

import numpy as np

from balframe.api.columns import N_CLUSTERS, SEGMENT_KEYS, Kind, count, details, key, limits, score
from balframe.api.interval_estimates import interval_request, metric_limits
from balframe.api.method import Method
from balframe.api.metric_selection import MetricSelection, sample_values
from balframe.api.options import (
    ClusterOptions,
    DetailOptions,
    IntervalOptions,
    Names,
    PartlyLabelledRowOptions,
    ResultOptions,
)
from balframe.api.run import Columns, run_method
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.class_counts import segments_at
from balframe.core.sample import Clusters, Sample
from balframe.core.two_labels import POSITIVE, one_versus_rest_counts
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import InputSpec
from balframe.methods.scores import layouts
from balframe.metrics.lookup import find_metric, find_metrics
from balframe.metrics.partly_labelled import has_limits
from balframe.stats.base import IntervalRequest
from balframe.stats.proportions import Limits

LABEL_METRICS = ("recall", "precision", "specificity", "npv", "f1")  # of a label
_LABEL_COLUMNS = {
    name: (score(name, ranks_rows=True), *limits(name, "interval")) for name in LABEL_METRICS
}
METHOD = Method.of(
    *SEGMENT_KEYS,
    key("label", kind=Kind.LABEL, identifies=True),
    *_LABEL_COLUMNS["recall"],
    *_LABEL_COLUMNS["precision"],
    _LABEL_COLUMNS["f1"][0],
    count("support", identifies=True),
    *details(
        *_LABEL_COLUMNS["f1"][1:],
        count("predicted"),
        count("correct"),
        score("prevalence", ranks_rows=True),
        *_LABEL_COLUMNS["specificity"],
        *_LABEL_COLUMNS["npv"],
        N_CLUSTERS,
    ),
)


class _Options(
    IntervalOptions,
    ClusterOptions,
    PartlyLabelledRowOptions,
    ResultOptions,
    DetailOptions,
    total=False,
): ...


@METHOD
def classes(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment and class label with recall, precision and other scores.

    Each label is scored against all others. Every segment has a row for every label of the label
    set: a label that does not occur in the segment has the support 0 and a null recall. The number
    of rows is the number of segments times the number of labels.

    Parameters
    ----------
    interval : {True, "wilson", "scas", "jeffreys", "exact"}, optional
        Add confidence intervals. All scores are proportions: True gives Wilson intervals, and
        "scas", "jeffreys" and "exact" give intervals of that method. Methods for means of recalls
        are accepted and give Wilson intervals. Intervals of f1 are transformed from those of the
        Jaccard index.

    Returns
    -------
    frame of the same library
        One row for each segment, [model] and label, in this order. Columns in brackets are present
        only if the options ask for them:

        - the by-columns, [`grouped_by`: the columns that define the segment], [`model`], `label`
        - `recall`, `precision`, `f1`: in [0, 1], null where undefined; with `interval`, recall and
          precision are followed by their confidence intervals, `<score>_lower` and `<score>_upper`
        - `support`: number of rows whose true label is this one. With `missing="correct"`, scores
          are of all rows, counts of those with a true label, and f1 has no limits.

        With `detail`, also:

        - with `interval`, `f1_lower` and `f1_upper`
        - `predicted`: number of rows predicted to have the label; `correct`: how many of them have
          it
        - `prevalence`: share of the segment with this true label. The sum of prevalence x recall
          over the labels is the accuracy.
        - `specificity`, `npv`, and their intervals
        - with `cluster`, `n_clusters`: number of clusters with rows whose true label is this one

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": ["a", "a", "b", "b"], "yhat": ["a", "b", "b", "b"]})
    >>> print(bf.classes(df, "y", "yhat"))
    shape: (2, 5)
    ┌───────┬────────┬───────────┬──────────┬─────────┐
    │ label ┆ recall ┆ precision ┆ f1       ┆ support │
    │ ---   ┆ ---    ┆ ---       ┆ ---      ┆ ---     │
    │ str   ┆ f64    ┆ f64       ┆ f64      ┆ i64     │
    ╞═══════╪════════╪═══════════╪══════════╪═════════╡
    │ a     ┆ 0.5    ┆ 1.0       ┆ 0.666667 ┆ 2       │
    │ b     ┆ 1.0    ┆ 0.666667  ┆ 0.8      ┆ 2       │
    └───────┴────────┴───────────┴──────────┴─────────┘
    """
    request = interval_request(options)

    def compute(counted_frame: CountedFrame) -> Columns:
        n_labels = len(counted_frame.labels)
        sample = _SELECTION.sample(counted_frame)
        _, first_cells = counted_frame.cells.segments
        label = np.tile(np.arange(n_labels), sample.counts.n_segments)
        columns = counted_frame.by_columns(np.repeat(first_cells, n_labels))
        columns["label"] = counted_frame.label_column(label)
        return columns | label_scores(sample, tuple(LABEL_METRICS), request)

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        optional_columns=() if request is None else ("interval",),
        input_spec=InputSpec(squares=request is not None, each_label=True),
        check_labels=CountedFrame.pos_label_code,
    )


_SELECTION = MetricSelection.of("accuracy", None, ())  # each label is scored against all others
_BLOCK_SIZE = 2**22  # labels of clusters at work at once


def label_scores(
    sample: Sample, names: Sequence[str], request: IntervalRequest | None
) -> dict[Name, Int64Array | FloatArray]:
    """Return the columns of counts, scores and limits, one value for each segment and label."""
    blocks = [_score_block(block, names, request) for block in _sample_blocks(sample)]
    if len(blocks) == 1:
        return blocks[0]
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def _sample_blocks(sample: Sample) -> Iterator[Sample]:
    """Yield the segments in blocks whose labels of clusters fit into memory."""
    clusters, n = sample.clusters, sample.counts.n_segments
    if clusters is None or n < 2:
        yield sample
        return
    size = np.bincount(clusters.segment, minlength=n) * sample.counts.n_labels
    block = (np.cumsum(size) - size) // _BLOCK_SIZE
    for number in np.unique(block):
        yield sample.at(np.flatnonzero(block == number))


def _score_block(
    sample: Sample, names: Sequence[str], request: IntervalRequest | None
) -> dict[Name, Int64Array | FloatArray]:
    c = one_versus_rest_counts(sample.counts)
    is_label = c.label == POSITIVE
    metrics = find_metrics(names)
    strata = sample.strata
    strata = None if strata is None or strata.are_whole else strata.of_each_label()
    label_sample = Sample(c, _no_cells, strata=strata)
    scores = {name: sample_values(metric, label_sample) for name, metric in metrics.items()}
    if "f1" in scores:  # from the Jaccard index, as its limits are; `report` may differ by an ulp
        scores["f1"] = metrics["f1"].interval.rescaled(c, find_metric("jaccard")(c))
    limits: dict[str, Limits] = {}
    counts: dict[Name, Int64Array | FloatArray] = {"support": c.n_support[is_label]}
    clusters = None
    if sample.clusters is not None:
        clusters = _label_clusters(sample.clusters)
        label_support = clusters.pairs.counts.n_support[clusters.pairs.counts.label == POSITIVE]
        counts["n_clusters"] = clusters.sum(label_support > 0).astype(np.int64)
    if request is not None:
        label_sample = Sample(c, _no_cells, clusters, strata)
        for name, metric in metrics.items():
            if strata is not None and not has_limits(metric, c):
                limits[name] = (np.full(c.n_segments, np.nan),) * 2
            else:
                limits[name] = metric_limits(metric, label_sample, scores[name], request)
    return {
        **counts,
        "prevalence": sample_values(find_metric("prevalence"), label_sample),
        "predicted": c.n_predicted[is_label],
        "correct": c.n_correct[is_label],
    } | layouts.wide_columns(scores, limits)


def _label_clusters(clusters: Clusters) -> Clusters:
    """Return the clusters with a segment for each label, as `each_against_others` has."""
    n_labels = clusters.pairs.counts.n_labels
    counts = one_versus_rest_counts(clusters.pairs.counts)
    pair, label = np.divmod(np.arange(counts.n_segments), max(n_labels, 1))
    segment = clusters.segment[pair] * n_labels + label
    order = np.argsort(segment, kind="stable")
    pairs = Sample(segments_at(counts, order), _no_cells)
    return Clusters(
        segment[order],
        clusters.cluster[pair][order],
        clusters.times[pair][order],
        pairs,
        clusters.n_segments * n_labels,
    )


def _no_cells() -> Cells:
    raise AssertionError("the scores of a label are proportions, whose limits need no cells")
