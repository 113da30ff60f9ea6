"""The method `classes`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from balframe.api.columns import N_CLUSTERS, SEGMENTS, Kind, count, key, limits, score
from balframe.api.interval_estimates import limits_of
from balframe.api.method import Method
from balframe.api.metric_selection import Scoring
from balframe.api.options import ClusterOptions, IntervalOptions, LabelMethodOptions, Names
from balframe.api.run import Columns, run_method
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.class_counts import segments_at
from balframe.core.sample import Clusters, Sample
from balframe.core.two_labels import POSITIVE, each_against_others
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import Reads
from balframe.methods.scores import layouts
from balframe.metrics.lookup import find, find_all
from balframe.stats.base import IntervalRequest
from balframe.stats.proportions import Limits

# How each label of each segment scores against all others.


_BLOCK_SIZE = 2**22  # labels of clusters at work at once


def label_scores(
    sample: Sample, names: Sequence[str], request: IntervalRequest | None
) -> dict[Name, Int64Array | FloatArray]:
    """Compute the columns of counts, scores and limits, one value for each segment and label."""
    parts = [_score_block(of_block, names, request) for of_block in _sample_blocks(sample)]
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _sample_blocks(sample: Sample) -> Iterator[Sample]:
    """Take segments a part at a time, so that the labels of their clusters fit into memory."""
    clusters, n = sample.clusters, sample.counts.n_segments
    if clusters is None or n < 2:
        yield sample
        return
    size = np.bincount(clusters.segment, minlength=n) * sample.counts.n_labels
    block = (np.cumsum(size) - size) // _BLOCK_SIZE
    for one in np.unique(block):
        yield sample.at(np.flatnonzero(block == one))


def _score_block(
    sample: Sample, names: Sequence[str], request: IntervalRequest | None
) -> dict[Name, Int64Array | FloatArray]:
    c = each_against_others(sample.counts)
    own = c.label == POSITIVE
    metrics = find_all(names)
    scores = {name: metric(c) for name, metric in metrics.items()}
    if "f1" in scores:  # from the Jaccard index, as its limits are; `report` may differ by an ulp
        scores["f1"] = metrics["f1"].interval.rescaled(c, find("jaccard")(c))
    found: dict[str, Limits] = {}
    counts: dict[Name, Int64Array | FloatArray] = {"support": c.n_support[own]}
    clusters = None
    if sample.clusters is not None:
        clusters = _label_clusters(sample.clusters)
        of_label = clusters.pairs.counts.n_support[clusters.pairs.counts.label == POSITIVE]
        counts["n_clusters"] = clusters.sum(of_label > 0).astype(np.int64)
    if request is not None:
        found = limits_of(metrics, Sample(c, _no_cells, clusters), scores, request)
    return {
        **counts,
        "prevalence": find("prevalence")(c),
        "predicted": c.n_predicted[own],
        "correct": c.n_correct[own],
    } | layouts.wide_columns(scores, found)


def _label_clusters(clusters: Clusters) -> Clusters:
    """Let each label of a segment be a segment of its own, as `each_against_others` does."""
    n_labels = clusters.pairs.counts.n_labels
    counts = each_against_others(clusters.pairs.counts)
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


LABEL_METRICS = {  # and the columns that count their denominators, of the label or of the others
    "recall": ("support", False),
    "precision": ("predicted", False),
    "specificity": ("support", True),
    "npv": ("predicted", True),
    "f1": ("support", False),
}

METHOD = Method.of(
    *SEGMENTS,
    key("label", kind=Kind.LABEL, tells=True),
    count("support", tells=True),
    N_CLUSTERS,
    score("prevalence", compared=True),
    count("predicted"),
    count("correct"),
    *(
        one
        for name, (support, of_rest) in LABEL_METRICS.items()
        for one in (
            replace(score(name, compared=True, support=support), of_rest=of_rest),
            *limits(name, "interval"),
        )
    ),
)


_SCORING = Scoring.of("accuracy", None, ())  # each label is scored against all others


class _Options(IntervalOptions, ClusterOptions, LabelMethodOptions, total=False): ...


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

        - the by-columns, [`margin`: the columns that define the segment], [`model`], `label`
        - `support`: number of rows whose true label is this one
        - with `cluster`, `n_clusters`: number of clusters with rows whose true label is this one
        - `prevalence`: share of the segment with this true label. The sum of prevalence x recall
          over the labels is the accuracy.
        - `predicted`: number of rows predicted to have the label; `correct`: how many of them have
          it
        - `recall`, `precision`, `specificity`, `npv`, `f1`: in [0, 1], null where undefined
        - with `interval`, the confidence interval `<score>_lower` and `<score>_upper` follows each
          of these scores

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": ["a", "a", "b", "b"], "yhat": ["a", "b", "b", "b"]})
    >>> out = bf.classes(df, "y", "yhat")
    >>> out.select("label", "support", "prevalence", "recall", "precision").rows()
    [('a', 2, 0.5, 0.5, 1.0), ('b', 2, 0.5, 1.0, 0.6666666666666666)]
    """
    request = IntervalRequest.of(
        options["interval"], options["level"], "uniform", options["cluster"]
    )

    def compute(reading: CountedFrame) -> Columns:
        n_labels = len(reading.labels)
        sample = _SCORING.sample(reading)
        first = reading.cells.segments[1]
        label = np.tile(np.arange(n_labels), sample.counts.n_segments)
        columns = reading.by_columns(np.repeat(first, n_labels))
        columns["label"] = reading.label_column(label)
        return columns | label_scores(sample, tuple(LABEL_METRICS), request)

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        shown=() if request is None else ("interval",),
        reads=Reads(squares=request is not None),
        suits=CountedFrame.pos_label,
    )
