"""Exact one-sided tests that a slice got worse between two runs, and their adjustment."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.methods.slices.exact_tails import log_hypergeometric_tail
from balframe.stats.lazy_scipy import special


class RunOutcomes(Protocol):
    """What rows are counted by, and the test of slices that have such counts, one a line."""

    def is_large_enough(self, counts: Int64Array, min_support: int) -> BoolArray:
        """Return which slices have enough rows of both runs."""

    def rows_and_wrong(self, counts: Int64Array) -> tuple[Int64Array, ...]:
        """Return the rows and the wrong rows of the new run, and of the earlier one."""

    def log_p_values(self, counts: Int64Array) -> tuple[FloatArray, FloatArray]:
        """Return the logarithms of the p-values, and of the least that are possible."""


@dataclass(frozen=True, slots=True)
class PairedOutcomes:
    """Rows of both runs: outcome 2 * wrong now + wrong before.

    Under the null hypothesis, each row that only one run gets right is as likely to be lost as to
    be gained. Given how many such rows a slice has, the number lost is binomial.
    """

    def is_large_enough(self, counts: Int64Array, min_support: int) -> BoolArray:
        """Return which slices have enough rows."""
        return np.asarray(counts.sum(axis=1) >= min_support)

    def rows_and_wrong(self, counts: Int64Array) -> tuple[Int64Array, ...]:
        """Return the rows and the wrong rows of the new run, and of the earlier one."""
        n = counts.sum(axis=1)
        return n, counts[:, 2] + counts[:, 3], n, counts[:, 1] + counts[:, 3]

    def log_p_values(self, counts: Int64Array) -> tuple[FloatArray, FloatArray]:
        """Return log P(B >= lost), B binomial with probability 1/2, and the least possible."""
        gained, lost = counts[:, 1].astype(np.float64), counts[:, 2].astype(np.float64)
        tail = special.betainc(np.maximum(lost, 1), gained + 1, 0.5)
        with np.errstate(divide="ignore"):
            log_p = np.log(np.where(lost > 0, tail, 1))
        return log_p, -np.log(2) * (lost + gained)


@dataclass(frozen=True, slots=True)
class UnpairedOutcomes:
    """Rows of one run each: outcome 2 * is earlier + wrong.

    Under the null hypothesis, the probabilities of being wrong are equal. Given how many rows are
    wrong, the number of these in the new run is hypergeometric: Fisher's exact test.
    """

    def is_large_enough(self, counts: Int64Array, min_support: int) -> BoolArray:
        """Return which slices have enough rows in both runs."""
        n, _, earlier_n, _ = self.rows_and_wrong(counts)
        return (n >= min_support) & (earlier_n >= min_support)

    def rows_and_wrong(self, counts: Int64Array) -> tuple[Int64Array, ...]:
        """Return the rows and the wrong rows of the new run, and of the earlier one."""
        return counts[:, :2].sum(axis=1), counts[:, 1], counts[:, 2:].sum(axis=1), counts[:, 3]

    def log_p_values(self, counts: Int64Array) -> tuple[FloatArray, FloatArray]:
        """Return log P(E >= wrong now), E hypergeometric, and the least possible."""
        n, wrong, earlier_n, earlier_wrong = (
            values.astype(np.float64) for values in self.rows_and_wrong(counts)
        )
        n_all, wrong_all = n + earlier_n, wrong + earlier_wrong
        most = np.minimum(n, wrong_all)
        log_p, least = (log_hypergeometric_tail(x, n, n_all, wrong_all) for x in (wrong, most))
        return log_p, least


def log_number_of_tests(log_least: FloatArray, log_level: float) -> float:
    """Return the logarithm of the number of tests by which p-values are multiplied.

    It is the smallest number k such that at most k tests can have a p-value of level / k or less.
    The other tests can never be significant, and do not count.

    References
    ----------
    R. E. Tarone, "A modified Bonferroni method for discrete data", Biometrics 1990.
    """
    k = np.arange(1, len(log_least) + 1)
    n_possible = np.searchsorted(np.sort(log_least), log_level - np.log(k), side="right")
    return float(np.log(k[np.argmax(n_possible <= k)])) if len(k) else 0.0
