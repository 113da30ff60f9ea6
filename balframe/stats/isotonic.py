"""Isotonic regression of outcomes on scores, for many segments at once."""

import numpy as np

from balframe.core.array_types import FloatArray
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.threads import run_on_all_cores
from balframe.stats.lazy_scipy import optimize

_OFFSET = 2.0  # between the shares of one segment and those of the next, so that none are pooled


def isotonic_regression(p: ProbabilityScores) -> FloatArray:
    """Return the share of positive rows at each tie, fitted as a non-decreasing function.

    The regression finds which ties are pooled. The means of the pools are ratios of counts.

    References
    ----------
    T. Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability diagrams for probabilistic
    classifiers", Proceedings of the National Academy of Sciences 2021.
    """
    return np.concatenate(run_on_all_cores(_pooled, p.blocks()))


def _pooled(p: ProbabilityScores) -> FloatArray:
    if not len(p.n):
        return np.zeros(0)
    share = p.k / p.n + _OFFSET * p.segment
    blocks = optimize.isotonic_regression(share, weights=p.n).blocks
    starts = np.asarray(blocks, np.int64)
    means = np.add.reduceat(p.k, starts[:-1]) / np.add.reduceat(p.n, starts[:-1])
    return np.repeat(means, np.diff(starts))
