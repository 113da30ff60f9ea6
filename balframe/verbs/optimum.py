"""The best rule of every segment."""

from dataclasses import dataclass

import numpy as np

from balframe.core.arrays import FloatArray, Int64Array, IntegerArray
from balframe.core.rules import Rules
from balframe.metrics.kinds import MeanOfRecalls, recalls_of_both_sides, recalls_of_labels
from balframe.metrics.registry import Metric

_LARGEST_PRODUCT = 2**61


@dataclass(frozen=True, slots=True)
class Optimum:
    """The position of the best rule of each segment, -1 where the metric is nowhere defined."""

    rule: Int64Array

    def of(self, values: FloatArray) -> FloatArray:
        """Take the values of the best rules; undefined where there is none."""
        if not len(values):
            return np.full(len(self.rule), np.nan)
        return np.where(self.rule < 0, np.nan, values[self.rule])


def is_mean_of_both_recalls(metric: Metric) -> bool:
    """Tell whether a metric rises with recall + specificity, as balanced accuracy does."""
    kind = metric.interval
    sums = (recalls_of_labels, recalls_of_both_sides)
    return isinstance(kind, MeanOfRecalls) and kind.recalls in sums


def optimum(rules: Rules, metric: Metric, values: FloatArray, n_segments: int) -> Optimum:
    """Find the best rule of each segment; of several the highest threshold.

    For balanced accuracy and its images this maximises TP N - FP P, in whole numbers where rows
    have no weights, and of several takes first those with the smallest |TPR - TNR|.
    """
    if is_mean_of_both_recalls(metric):
        c = rules.counts(1, slice(None))
        positives, negatives = c.tp + c.fn, c.tn + c.fp
        if _product(positives, negatives) > _LARGEST_PRODUCT:
            c = rules.counts_in_floats(1)
            positives, negatives = c.tp + c.fn, c.tn + c.fp
        gain = c.tp * negatives - c.fp * positives
        imbalance = np.abs(c.tp * negatives - c.tn * positives)
        defined = np.flatnonzero((positives > 0) & (negatives > 0))
        return _best(gain, imbalance, rules.segment, defined, n_segments)
    objective = values if metric.better == "higher" else -values
    defined = np.flatnonzero(~np.isnan(values))
    return _best(objective, None, rules.segment, defined, n_segments)


def _product(positives: Int64Array | FloatArray, negatives: Int64Array | FloatArray) -> float:
    return float(positives.max(initial=0)) * float(negatives.max(initial=0))


def _best(
    objective: FloatArray,
    imbalance: FloatArray | None,
    segment: IntegerArray,
    rules: Int64Array,
    n_segments: int,
) -> Optimum:
    for values, sign in ((objective, 1), (imbalance, -1)):
        if values is not None and len(rules):
            of_rules = sign * values[rules]
            starts = np.flatnonzero(np.diff(segment[rules], prepend=-1))
            top = np.maximum.reduceat(of_rules, starts)
            lengths = np.diff(np.append(starts, len(rules)))
            rules = rules[of_rules == np.repeat(top, lengths)]
    best = np.full(n_segments, -1)
    best[segment[rules]] = rules  # ascending, so that the highest threshold stays
    return Optimum(best)


def rule_at(rules: Rules, threshold: FloatArray) -> Optimum:
    """Find in each segment the rule of a threshold, one given for each segment."""
    n_rules = np.bincount(rules.segment, minlength=len(threshold))
    below = rules.threshold < threshold[rules.segment]
    n_below = np.bincount(rules.segment[below], minlength=len(threshold))
    first = np.cumsum(n_rules) - n_rules
    return Optimum(np.where(np.isnan(threshold) | (n_rules == 0), -1, first + n_below))
