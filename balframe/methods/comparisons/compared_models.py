"""Two models on the same rows beside each other: the rows of an answer."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from balframe.api.clustering import n_clusters
from balframe.api.interval_estimates import kept
from balframe.api.metric_selection import Adjust, value_of
from balframe.core.array_types import Int64Array
from balframe.core.sample import Sample
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import Reading
from balframe.methods.comparisons.models import PairedModels
from balframe.metrics.registry import Metric
from balframe.stats.multiple_testing import adjusted_within


def compared_models(
    metric: Metric, models: PairedModels, family: Int64Array, level: float, adjust: Adjust
) -> dict[str, Any]:
    """Compare two models on a metric in every segment, whose tests are of these families."""
    estimate, reference = (value_of(metric, one.counts) for one in (models.one, models.other))
    difference, width = estimate - reference, metric.range[1] - metric.range[0]
    limits, p = models.tested(metric.interval, level)
    p = np.where(np.isnan(difference), np.nan, p)
    lower, upper = kept(*limits, difference, (-width, width), around=True)
    p_adjusted, n_tests = adjusted_within(p, family, adjust)
    found = {
        "estimate": estimate,
        "reference_estimate": reference,
        "difference": difference,
        "lower": lower,
        "upper": upper,
        "p_value": p,
        "p_adjusted": p_adjusted,
        "n_tests": n_tests,
    }
    if models.one.clusters is not None:
        found["effective_clusters"], found["design_effect"] = models.design(metric.interval)
    return found


def models_in_rows(
    reading: Reading, sample: Sample, tables: Mapping[str, Mapping[str, Any]]
) -> dict[Name, Any]:
    """Put the metrics of each segment and pair of models one below the other."""
    _, first = reading.cells.segments
    c, size = sample.counts, len(tables)
    shown = np.repeat(first, size)
    names = [str(name) for name in reading.query.y_pred]
    pairs = np.array(list(combinations(range(len(names)), 2)))
    pair = pairs[reading.cells.by[-1][shown]]
    found = next(iter(tables.values()))
    return reading.by_columns(shown) | {
        "model": reading.text_column(names, pair[:, 0]),
        "reference": reading.text_column(names, pair[:, 1]),
        "n": np.repeat(c.n, size),
        "n_labels": np.repeat(c.n_present, size),
        "min_support": np.repeat(c.min_support, size),
        "metric": reading.text_column(list(tables), np.tile(np.arange(size), len(first))),
        **{n: np.repeat(values, size) for n, values in n_clusters(sample).items()},
        **{n: np.column_stack([of[n] for of in tables.values()]).ravel() for n in found},
    }
