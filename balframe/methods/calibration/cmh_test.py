"""Cochran-Mantel-Haenszel tests that outcomes are the same in all segments, given the score.

T has the excess of positive rows of each segment over those expected in the strata. The statistic
is T' V^+ T, where V is the covariance of T. V = D - U C U', where U has a row for each entry of T
and a column for each stratum. Let Q be D^-1/2 U C^1/2. Then D^-1/2 V D^-1/2 = I - Q Q', so the
statistic follows from the eigenvalues of Q Q' or of Q' Q, whichever is smaller. Eigenvalues of 1
are directions without variance: the degrees of freedom do not count them.

Where few positive rows are expected, the statistic varies more than chi-square. It is compared with
c times chi-square of df / c degrees of freedom, which has the same mean and variance:
c = max(1 + x / (2 df), 1), where x is the sum over entries of n v (1 - 6 v) h^2. v = q (1 - q) is
the variance of an outcome in the stratum, and h = d' V^- d is what an outcome of the segment adds
to the statistic; d is its part of T, less the mean of the stratum. With f as what an outcome adds
to T before that, and m as the mean of the stratum, h = f' V^- f - 2 f' V^- m + m' V^- m. Where c is
above df, the p-value is at least that of chi-square of df degrees of freedom.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray
from balframe.core.safe_divide import ratio
from balframe.core.threads import run_on_all_cores
from balframe.methods.calibration.strata import ScoreStrata
from balframe.stats.homogeneity_tests import scaled_chi_square_tail, variance_scale
from balframe.stats.lazy_scipy import sparse

_UNIT_EIGENVALUE = 1 - 1e-9  # eigenvalues from here on are 1 up to rounding
_MIN_DENSITY = 0.1  # share of entries other than 0, from which dense products are faster
_MIN_VARIANCE = 1.0  # of the positive rows of a segment
_BLOCK_SIZE = 2**19  # entries that are multiplied at a time
_PRODUCT_SIZE = 2**20  # elements of a dense product at a time
_MIN_PART_SIZE = 2**16  # entries that are added up by one core
_N_PARTS = 4  # whatever the number of cores, so that sums are the same


@dataclass(frozen=True)
class EqualityTest:
    """Result of a test that all segments are equal; NaN where none can differ from another.

    `scale` is c, by which the variance of the statistic exceeds that of chi-square.
    `pooled_p_value` is that of the same test with all segments of few expected outcomes as one; NaN
    without it.
    """

    statistic: float
    df: int
    scale: float = 1.0
    pooled_p_value: float = np.nan

    @classmethod
    def of(cls, statistic: float, df: int, extra_variance: float) -> "EqualityTest":
        """Compare a statistic with its scale, unless no segment can differ."""
        if not df:
            return cls(np.nan, df)
        return cls(statistic, df, variance_scale(extra_variance, df))

    @property
    def p_value(self) -> float:
        """The larger of the p-values with each segment apart, and with some as one."""
        return float(np.fmax(self.own_p_value, self.pooled_p_value))

    @property
    def own_p_value(self) -> float:
        """Probability that c times chi-square of df / c exceeds the statistic."""
        if not self.df:
            return np.nan
        return scaled_chi_square_tail(self.statistic, self.df, self.scale)


def cmh_tests(strata: ScoreStrata) -> tuple[EqualityTest, EqualityTest]:
    """Return the generalised Cochran-Mantel-Haenszel test, and one that also finds crossing.

    In the second test, T also has the sums of the excess times the score. It has power where the
    difference between segments changes sign along the scores.

    Where the positive rows of several segments have a variance below 1, p-values are at least those
    of the same tests with these segments as one.

    References
    ----------
    J. R. Landis, E. R. Heyman and G. G. Koch, "Average partial association in three-way contingency
    tables: a review and discussion of alternative tests", International Statistical Review 1978.
    """
    tests = _tests(strata)
    is_sparse = strata.sum(strata.variance) < _MIN_VARIANCE
    if is_sparse.sum() < 2 or is_sparse.all():
        return tests
    pooled = _tests(strata.with_merged(is_sparse))
    equal, crossing = (
        replace(test, pooled_p_value=other.p_value)
        for test, other in zip(tests, pooled, strict=True)
    )
    return equal, crossing


def _tests(strata: ScoreStrata) -> tuple[EqualityTest, EqualityTest]:
    has_few_segments = 2 * strata.entries.n_segments <= len(strata.score)
    return few_segment_tests(strata) if has_few_segments else many_segment_tests(strata)


def few_segment_tests(strata: ScoreStrata) -> tuple[EqualityTest, EqualityTest]:
    """Test few segments, by Q Q'."""
    rows = _ScaledRows.of(strata)
    return _dense_test(strata, rows[:1]), _dense_test(strata, rows)


def many_segment_tests(strata: ScoreStrata) -> tuple[EqualityTest, EqualityTest]:
    """Test many segments, by Q' Q, without a matrix of segments by segments."""
    blocks = strata.blocks(max(len(strata.n) // _N_PARTS + 1, _MIN_PART_SIZE))
    parts = run_on_all_cores(_add_blocks, blocks)
    sums = [reduce(_CrossProducts.plus, sums) for sums in zip(*parts, strict=True)]
    inverses = [_Inverse.of(each.q_q) for each in sums]
    extra = run_on_all_cores(partial(_extra_variances, inverses=inverses), blocks)
    equal, crossing = (
        each.test(inverse, sum(of_blocks))
        for each, inverse, of_blocks in zip(sums, inverses, zip(*extra, strict=True), strict=True)
    )
    return equal, crossing


@dataclass(frozen=True)
class _ScaledRows:
    """Segments' part of D^-1/2 T, and their rows of Q: for the excess, or for it times the score.

    Parameters
    ----------
    t : float array, shape (segments,)
        0 without variance, as is the row of Q.
    n : int
        Rows with a variance.
    q : sparse array, shape (segments, strata)
        With a value for each entry whose outcomes vary.
    factor : float array, shape (entries that vary,)
        D^-1/2 times what a positive outcome of the entry adds to T.
    """

    t: FloatArray
    n: int
    q: Any
    factor: FloatArray

    @classmethod
    def of(cls, strata: ScoreStrata) -> "tuple[_ScaledRows, _ScaledRows]":
        """Scale the excess of each segment, and the excess times the score.

        The score is centred in each segment, so that D is diagonal. That changes no statistic.
        """
        varying = strata.varying
        at = strata.position[strata.has_variance]
        n, outcome_variance = varying.n.astype(np.float64), strata.outcome_variance
        excess = (strata.k - strata.expected)[strata.has_variance]
        weight, root = n * outcome_variance[at], n * np.sqrt(outcome_variance / strata.n_all)[at]
        score = strata.standard_score[at]
        score = score - varying.spread(ratio(varying.sum(weight * score), varying.sum(weight)))
        length = np.diff(varying.bounds)

        def scaled(factor: FloatArray, is_in: BoolArray) -> _ScaledRows:
            d = np.where(is_in, varying.sum(weight * factor * factor), 0)
            has_variance = d > 0
            scale = 1 / np.sqrt(np.where(has_variance, d, np.inf))
            of_entry = factor * varying.spread(scale)
            shape = len(d), len(outcome_variance)
            q = sparse.csr_array((root * of_entry, at, varying.bounds), shape=shape)
            t = varying.sum(excess * factor) * scale
            return cls(t, int(has_variance.sum()), q, of_entry)

        return scaled(np.ones(len(at)), length > 0), scaled(score, length > 1)


def _extra_variance(
    strata: ScoreStrata,
    rows: "Sequence[_ScaledRows]",
    inverse: "Sequence[Sequence[FloatArray]]",
    inverse_q: Sequence[FloatArray],
    q_inverse_q: FloatArray,
) -> float:
    """Return the sum of n v (1 - 6 v) h^2 over entries, from the inverse of V in units of D^1/2.

    Parameters
    ----------
    inverse : float arrays, shape (segments,)
        Of two parts of the rows: the inverse at the rows of the same segment.
    inverse_q : float arrays, shape (entries that vary,)
        Of each part, the inverse times Q.
    q_inverse_q : float array, shape (strata,)
        Diagonal of Q' times the inverse times Q.
    """
    varying = strata.varying
    at = strata.position[strata.has_variance]
    share = (strata.k_all / strata.n_all)[at]
    v = share * (1 - share)
    of_outcome = 1 / np.sqrt(strata.outcome_variance * strata.n_all)[at]
    h = q_inverse_q[at] * of_outcome**2
    for i, part in enumerate(rows):
        h -= 2 * part.factor * inverse_q[i] * of_outcome
        for j, other in enumerate(rows):
            h += part.factor * other.factor * varying.spread(inverse[i][j])
    return float((varying.n * v * (1 - 6 * v) * h * h).sum())


def _dense_test(strata: ScoreStrata, rows: "Sequence[_ScaledRows]") -> EqualityTest:
    """Return the test, from the eigenvalues of Q Q'."""
    t = np.concatenate([part.t for part in rows])
    q = np.concatenate([part.q.toarray() for part in rows])
    values, vectors = np.linalg.eigh(q @ q.T)
    has_variance = values < _UNIT_EIGENVALUE
    reciprocal = np.where(has_variance, 1 / np.where(has_variance, 1 - values, 1), 0)
    statistic = float(((t @ vectors) ** 2 * reciprocal).sum())
    inverse = (vectors * reciprocal) @ vectors.T
    inverse_q = inverse @ q
    n = len(rows[0].t)
    parts = [slice(0, n), slice(n, 2 * n)][: len(rows)]
    sparse = rows[0].q.tocoo()
    extra = _extra_variance(
        strata,
        rows,
        [[np.diag(inverse[i, j]) for j in parts] for i in parts],
        [inverse_q[i][sparse.row, sparse.col] for i in parts],
        (q * inverse_q).sum(axis=0),
    )
    df = sum(part.n for part in rows) - int((~has_variance).sum())
    return EqualityTest.of(statistic, df, extra)


@dataclass(frozen=True)
class _Inverse:
    """The inverse of I - Q Q' is I + Q (R - E E') Q', and times Q it is Q R.

    R has the eigenvectors of H = Q' Q, and eigenvalues of 1 / (1 - those of H). The vectors E, with
    eigenvalues of 1, are directions without variance: R is 0 there.
    """

    values: FloatArray
    vectors: FloatArray
    r: FloatArray
    e: FloatArray

    @classmethod
    def of(cls, h: FloatArray) -> "_Inverse":
        """Decompose H."""
        values, vectors = np.linalg.eigh(h)
        is_unit = values >= _UNIT_EIGENVALUE
        reciprocal = np.where(is_unit, 0, 1 / np.where(is_unit, 1, 1 - values))
        return cls(values, vectors, (vectors * reciprocal) @ vectors.T, vectors[:, is_unit])

    def extra_variance(self, strata: ScoreStrata, rows: Sequence[_ScaledRows]) -> float:
        """Return the sum of n v (1 - 6 v) h^2 over the entries of some segments."""
        varying = strata.varying
        inverse_q = [_at_entries(part.q, self.r) for part in rows]
        q_e = [part.q @ self.e for part in rows]
        inverse = [
            [
                float(i == j)
                + varying.sum(rows[i].q.data * inverse_q[j])
                - (q_e[i] * q_e[j]).sum(axis=1)
                for j in range(len(rows))
            ]
            for i in range(len(rows))
        ]
        # the diagonal of H R
        q_inverse_q = np.diag(self.r) - 1 + (self.e**2).sum(axis=1)
        return _extra_variance(strata, rows, inverse, inverse_q, q_inverse_q)


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

    def test(self, inverse: _Inverse, extra_variance: float) -> EqualityTest:
        """Return the test, from the eigenvalues of Q' Q."""
        values = inverse.values
        projection, has_variance = self.q_t @ inverse.vectors, values < _UNIT_EIGENVALUE
        statistic = self.t_t + float(
            (projection[has_variance] ** 2 / (1 - values[has_variance])).sum()
        )
        return EqualityTest.of(statistic, self.n - int((~has_variance).sum()), extra_variance)


def _add_blocks(strata: ScoreStrata) -> tuple[_CrossProducts, _CrossProducts]:
    """Return the sums over segments of the excess, and of it with the excess times the score."""
    size = len(strata.score)
    zero = _CrossProducts(np.zeros((size, size)), np.zeros(size), 0.0, 0)
    excess_sums = trend_sums = zero
    for block in strata.blocks(_BLOCK_SIZE):
        excess, trend = _ScaledRows.of(block)
        excess_sums, trend_sums = (
            excess_sums.plus(_cross_products(excess)),
            trend_sums.plus(_cross_products(trend)),
        )
    return excess_sums, excess_sums.plus(trend_sums)


def _extra_variances(strata: ScoreStrata, inverses: Sequence[_Inverse]) -> tuple[float, float]:
    """Return the sum of n v (1 - 6 v) h^2 over the entries of some segments, for both tests."""
    equal = crossing = 0.0
    for block in strata.blocks(_BLOCK_SIZE):
        rows = _ScaledRows.of(block)
        equal += inverses[0].extra_variance(block, rows[:1])
        crossing += inverses[1].extra_variance(block, rows)
    return equal, crossing


def _is_dense(q: Any) -> bool:  # noqa: ANN401 (a sparse array)
    return bool(q.nnz > _MIN_DENSITY * q.shape[0] * q.shape[1])


def _cross_products(rows: _ScaledRows) -> _CrossProducts:
    t, q = rows.t, rows.q
    q_q = (dense := q.toarray()).T @ dense if _is_dense(q) else (q.T @ q).toarray()
    return _CrossProducts(q_q, t @ q, float(t @ t), rows.n)


def _at_entries(q: Any, matrix: FloatArray) -> FloatArray:  # noqa: ANN401 (a sparse array)
    """Return the product of Q and a matrix, where Q has entries."""
    return _dense_at_entries(q, matrix) if _is_dense(q) else _sparse_at_entries(q, matrix)


def _dense_at_entries(q: Any, matrix: FloatArray) -> FloatArray:  # noqa: ANN401
    out = np.empty(q.nnz)
    size = max(_PRODUCT_SIZE // q.shape[1], 1)
    for low in range(0, q.shape[0], size):
        part = q[low : low + size]
        row = np.repeat(np.arange(part.shape[0]), np.diff(part.indptr))
        entries = slice(q.indptr[low], q.indptr[low + part.shape[0]])
        out[entries] = (part.toarray() @ matrix)[row, part.indices]
    return out


def _sparse_at_entries(q: Any, matrix: FloatArray) -> FloatArray:  # noqa: ANN401
    """Add up the terms of the first entry of each row, then of the second, and so on."""
    out, length = np.zeros(q.nnz), np.diff(q.indptr)
    entry, first = np.arange(q.nnz), np.repeat(q.indptr[:-1], length)
    n_left = np.repeat(length, length)
    for i in range(length.max(initial=0)):
        has_term = n_left > i
        if not has_term.all():
            entry, first, n_left = entry[has_term], first[has_term], n_left[has_term]
        term = first + i
        out[entry] += q.data[term] * matrix[q.indices[term], q.indices[entry]]
    return out
