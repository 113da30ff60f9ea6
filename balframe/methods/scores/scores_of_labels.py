"""How each label of each segment scores against all others."""

from collections.abc import Iterator, Sequence

import numpy as np

from balframe.api.interval_estimates import limits_of
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.sample import Clusters, Sample
from balframe.core.selection import segments_at
from balframe.core.two_labels import POSITIVE, each_against_others
from balframe.frames.adapter import Name
from balframe.methods.scores import layouts
from balframe.metrics.catalogue import find, find_all
from balframe.stats.proportions import Limits
from balframe.stats.request import Request

_PARTS = 2**22  # labels of clusters at work at once


def scores_of_labels(
    sample: Sample, names: Sequence[str], request: Request | None
) -> dict[Name, Int64Array | FloatArray]:
    """Compute the columns of counts, scores and limits, one value for each segment and label."""
    parts = [_scores(of_block, names, request) for of_block in _blocks(sample)]
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _blocks(sample: Sample) -> Iterator[Sample]:
    """Take segments a part at a time, so that the labels of their clusters fit into memory."""
    clusters, n = sample.clusters, sample.counts.n_segments
    if clusters is None or n < 2:
        yield sample
        return
    size = np.bincount(clusters.segment, minlength=n) * sample.counts.n_labels
    block = (np.cumsum(size) - size) // _PARTS
    for one in np.unique(block):
        yield sample.at(np.flatnonzero(block == one))


def _scores(
    sample: Sample, names: Sequence[str], request: Request | None
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
        clusters = _of_labels(sample.clusters)
        of_label = clusters.pairs.counts.n_support[clusters.pairs.counts.label == POSITIVE]
        counts["n_clusters"] = clusters.sum(of_label > 0).astype(np.int64)
    if request is not None:
        found = limits_of(metrics, Sample(c, _no_cells, clusters), scores, request)
    return {
        **counts,
        "prevalence": find("prevalence")(c),
        "predicted": c.n_predicted[own],
        "correct": c.n_correct[own],
    } | layouts.wide(scores, found)


def _of_labels(clusters: Clusters) -> Clusters:
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
