"""Cochran-Mantel-Haenszel tests that outcomes are the same in all segments, given the score.

T has the excess of positive rows of each segment over those expected in the strata. The statistic
is T' V^+ T, where V is the covariance of T. V = D - U C U', where U has a row for each entry of T
and a column for each stratum. Let Q be D^-1/2 U C^1/2. Then D^-1/2 V D^-1/2 = I - Q Q', so the
statistic follows from the eigenvalues of Q Q' or of Q' Q, whichever is smaller. Eigenvalues of 1
are directions without variance: the degrees of freedom do not count them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray
from balframe.core.safe_divide import ratio
from balframe.core.threads import run_on_all_cores
from balframe.methods.calibration.strata import ScoreStrata
from balframe.stats.lazy_scipy import sparse, special

_UNIT_EIGENVALUE = 1 - 1e-9  # eigenvalues from here on are 1 up to rounding
_MIN_DENSITY = 0.1  # share of entries other than 0, from which dense products are faster
_BLOCK_SIZE = 2**19  # entries that are multiplied at a time
_MIN_PART_SIZE = 2**16  # entries that are added up by one core
_N_PARTS = 4  # whatever the number of cores, so that sums are the same

_ScaledRows = tuple[FloatArray, Any]  # entries of D^-1/2 T, and their rows of Q


@dataclass(frozen=True)
class EqualityTest:
    """Result of a test that all segments are equal; NaN where none can differ from another."""

    statistic: float
    df: int

    @classmethod
    def from_eigenvalues(
        cls, statistic: float, values: FloatArray, n_entries: int
    ) -> "EqualityTest":
        """Count the degrees of freedom: the entries of T less the eigenvalues of 1."""
        df = n_entries - int((values >= _UNIT_EIGENVALUE).sum())
        return cls(statistic if df else np.nan, df)

    @property
    def p_value(self) -> float:
        """Probability that chi-square exceeds the statistic."""
        return float(special.chdtrc(self.df, self.statistic)) if self.df else np.nan


def cmh_tests(strata: ScoreStrata) -> tuple[EqualityTest, EqualityTest]:
    """Return the generalised Cochran-Mantel-Haenszel test, and one that also finds crossing.

    In the second test, T also has the sums of the excess times the score. It has power where the
    difference between segments changes sign along the scores.

    References
    ----------
    J. R. Landis, E. R. Heyman and G. G. Koch, "Average partial association in three-way contingency
    tables: a review and discussion of alternative tests", International Statistical Review 1978.
    """
    has_few_segments = 2 * strata.entries.n_segments <= len(strata.score)
    return few_segment_tests(strata) if has_few_segments else many_segment_tests(strata)


def few_segment_tests(strata: ScoreStrata) -> tuple[EqualityTest, EqualityTest]:
    """Test few segments, by Q Q'."""
    excess, trend = _scaled_rows(strata)
    return _dense_test([excess]), _dense_test([excess, trend])


def many_segment_tests(strata: ScoreStrata) -> tuple[EqualityTest, EqualityTest]:
    """Test many segments, by Q' Q, without a matrix of segments by segments."""
    blocks = strata.entries.blocks(max(len(strata.n) // _N_PARTS + 1, _MIN_PART_SIZE))
    parts = run_on_all_cores(_add_blocks, [replace(strata, entries=entries) for entries in blocks])
    excess, both = (reduce(_CrossProducts.plus, sums) for sums in zip(*parts, strict=True))
    return excess.test(), both.test()


def _scaled_rows(strata: ScoreStrata) -> tuple[_ScaledRows, _ScaledRows]:
    """Scale the excess of each segment, and the excess times the score, with their rows of Q.

    The score is centred in each segment, so that D is diagonal. That changes no statistic.
    """
    varying, at = strata.entries.where(strata.has_variance), strata.position[strata.has_variance]
    n, outcome_variance = varying.n.astype(np.float64), strata.outcome_variance
    excess = (strata.k - strata.expected)[strata.has_variance]
    weight, root = n * outcome_variance[at], n * np.sqrt(outcome_variance / strata.n_all)[at]
    score = strata.standard_score[at]
    score = score - varying.spread(ratio(varying.sum(weight * score), varying.sum(weight)))
    length = np.diff(varying.bounds)

    def scaled(factor: FloatArray | float, has_variance: BoolArray) -> _ScaledRows:
        d = np.where(has_variance, varying.sum(weight * factor * factor), 0)
        scale = np.sqrt(ratio(np.ones(len(d)), d))
        data = root * factor * varying.spread(scale)
        rows = sparse.csr_array((data, at, varying.bounds), shape=(len(d), len(outcome_variance)))
        positive = np.flatnonzero(d > 0)
        t = varying.sum(excess * factor) * scale
        return t[positive], rows if len(positive) == len(d) else rows[positive]

    return scaled(1.0, length > 0), scaled(score, length > 1)


def _dense_test(rows: Sequence[_ScaledRows]) -> EqualityTest:
    """Return the test, from the eigenvalues of Q Q'."""
    t = np.concatenate([t for t, _ in rows])
    q = np.concatenate([q.toarray() for _, q in rows])
    values, vectors = np.linalg.eigh(q @ q.T)
    projection, has_variance = t @ vectors, values < _UNIT_EIGENVALUE
    statistic = float((projection[has_variance] ** 2 / (1 - values[has_variance])).sum())
    return EqualityTest.from_eigenvalues(statistic, values, len(t))


@dataclass(frozen=True)
class _CrossProducts:
    """Sums over segments: Q' Q, Q' D^-1/2 T, T' D^-1 T and the number of entries of T."""

    q_q: FloatArray
    q_t: FloatArray
    t_t: float
    n: int

    def plus(self, other: "_CrossProducts") -> "_CrossProducts":
        """Add the sums over other segments."""
        return _CrossProducts(
            self.q_q + other.q_q,
            self.q_t + other.q_t,
            self.t_t + other.t_t,
            self.n + other.n,
        )

    def test(self) -> EqualityTest:
        """Return the test, from the eigenvalues of Q' Q."""
        values, vectors = np.linalg.eigh(self.q_q)
        projection, has_variance = self.q_t @ vectors, values < _UNIT_EIGENVALUE
        statistic = self.t_t + float(
            (projection[has_variance] ** 2 / (1 - values[has_variance])).sum()
        )
        return EqualityTest.from_eigenvalues(statistic, values, self.n)


def _add_blocks(strata: ScoreStrata) -> tuple[_CrossProducts, _CrossProducts]:
    """Return the sums over segments of the excess, and of it with the excess times the score."""
    size = len(strata.score)
    zero = _CrossProducts(np.zeros((size, size)), np.zeros(size), 0.0, 0)
    excess_sums = trend_sums = zero
    for entries in strata.entries.blocks(_BLOCK_SIZE):
        excess, trend = _scaled_rows(replace(strata, entries=entries))
        excess_sums, trend_sums = (
            excess_sums.plus(_cross_products(*excess)),
            trend_sums.plus(_cross_products(*trend)),
        )
    return excess_sums, excess_sums.plus(trend_sums)


def _cross_products(t: FloatArray, q: Any) -> _CrossProducts:  # noqa: ANN401 (a sparse array)
    if q.nnz > _MIN_DENSITY * q.shape[0] * q.shape[1]:
        dense = q.toarray()
        return _CrossProducts(dense.T @ dense, t @ dense, float(t @ t), len(t))
    return _CrossProducts((q.T @ q).toarray(), t @ q, float(t @ t), len(t))
