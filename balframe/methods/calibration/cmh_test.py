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
to the statistic; d is its part of T.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.core.threads import run_on_all_cores
from balframe.methods.calibration.strata import ScoreStrata
from balframe.stats.lazy_scipy import sparse, special

_UNIT_EIGENVALUE = 1 - 1e-9  # eigenvalues from here on are 1 up to rounding
_MIN_DENSITY = 0.1  # share of entries other than 0, from which dense products are faster
_MIN_VARIANCE = 1.0  # of the positive rows of a segment
_BLOCK_SIZE = 2**19  # entries that are multiplied at a time
_PRODUCT_SIZE = 2**20  # elements of a dense product
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
    def from_eigenvalues(
        cls, statistic: float, values: FloatArray, n_entries: int, extra_variance: float
    ) -> "EqualityTest":
        """Count the degrees of freedom: the entries of T less the eigenvalues of 1."""
        df = n_entries - int((values >= _UNIT_EIGENVALUE).sum())
        if not df:
            return cls(np.nan, df)
        return cls(statistic, df, max(1 + extra_variance / (2 * df), 1.0))

    @property
    def p_value(self) -> float:
        """Probability that c times chi-square of df / c exceeds the statistic."""
        if not self.df:
            return np.nan
        half = 2 * self.scale
        own = float(special.gammaincc(self.df / half, self.statistic / half))
        return own if np.isnan(self.pooled_p_value) else max(own, self.pooled_p_value)


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
    blocks = strata.entries.blocks(max(len(strata.n) // _N_PARTS + 1, _MIN_PART_SIZE))
    strata_blocks = [replace(strata, entries=entries) for entries in blocks]
    parts = run_on_all_cores(_add_blocks, strata_blocks)
    sums = [reduce(_CrossProducts.plus, sums) for sums in zip(*parts, strict=True)]
    inverses = [_Inverse.of(each.q_q) for each in sums]
    extra = run_on_all_cores(partial(_extra_variances, inverses=inverses), strata_blocks)
    tests = [
        each.test(inverse, sum(of_blocks))
        for each, inverse, of_blocks in zip(sums, inverses, zip(*extra, strict=True), strict=True)
    ]
    return tests[0], tests[1]


@dataclass(frozen=True)
class _ScaledRows:
    """Entries of D^-1/2 T, and their rows of Q.

    Parameters
    ----------
    t : float array, shape (rows,)
    q : sparse array, shape (rows, strata)
    segment : int64 array, shape (rows,)
        The segment of each row.
    row, factor : int64 and float arrays, shape (entries that vary,)
        The row of an entry, and D^-1/2 times what one of its positive outcomes adds to T there.
        The factor is 0 for an entry without such a row.
    """

    t: FloatArray
    q: Any
    segment: Int64Array
    row: Int64Array
    factor: FloatArray

    @classmethod
    def of(cls, strata: ScoreStrata) -> "tuple[_ScaledRows, _ScaledRows]":
        """Scale the excess of each segment, and the excess times the score.

        The score is centred in each segment, so that D is diagonal. That changes no statistic.
        """
        varying = strata.entries.where(strata.has_variance)
        at = strata.position[strata.has_variance]
        n, outcome_variance = varying.n.astype(np.float64), strata.outcome_variance
        excess = (strata.k - strata.expected)[strata.has_variance]
        weight, root = n * outcome_variance[at], n * np.sqrt(outcome_variance / strata.n_all)[at]
        score = strata.standard_score[at]
        score = score - varying.spread(ratio(varying.sum(weight * score), varying.sum(weight)))
        length = np.diff(varying.bounds)

        def scaled(factor: FloatArray, has_variance: BoolArray) -> _ScaledRows:
            d = np.where(has_variance, varying.sum(weight * factor * factor), 0)
            scale = np.sqrt(ratio(np.ones(len(d)), d))
            of_entry = factor * varying.spread(scale)
            shape = len(d), len(outcome_variance)
            q = sparse.csr_array((root * of_entry, at, varying.bounds), shape=shape)
            is_positive = d > 0
            positive = np.flatnonzero(is_positive)
            return cls(
                (varying.sum(excess * factor) * scale)[positive],
                q if len(positive) == len(d) else q[positive],
                positive,
                varying.spread(np.maximum(np.cumsum(is_positive) - 1, 0)),
                np.nan_to_num(of_entry),
            )

        return scaled(np.ones(len(at)), length > 0), scaled(score, length > 1)


def _dense_test(strata: ScoreStrata, rows: "Sequence[_ScaledRows]") -> EqualityTest:
    """Return the test, from the eigenvalues of Q Q'."""
    t = np.concatenate([part.t for part in rows])
    q = np.concatenate([part.q.toarray() for part in rows])
    values, vectors = np.linalg.eigh(q @ q.T)
    projection, has_variance = t @ vectors, values < _UNIT_EIGENVALUE
    inverse = np.where(has_variance, 1 / np.where(has_variance, 1 - values, 1), 0)
    statistic = float((projection**2 * inverse).sum())
    v = (vectors * inverse) @ vectors.T
    v_q = v @ q
    first = len(rows[0].t)
    blocks = [v[:first, :first], v[:first, first:], v[first:, first:]]
    quadratic = [np.diag(blocks[0]), np.diag(blocks[2])]
    # the row of the excess of the segment of each trend
    excess_row = np.searchsorted(rows[0].segment, rows[-1].segment)
    crossed = blocks[1][excess_row, np.arange(blocks[1].shape[1])] if len(rows) > 1 else None
    extra = _extra_variance(
        strata,
        rows,
        [quadratic[i] for i in range(len(rows))],
        crossed,
        [v_q[:first], v_q[first:]],
        (q * v_q).sum(axis=0),
    )
    return EqualityTest.from_eigenvalues(statistic, values, len(t), extra)


def _extra_variance(
    strata: ScoreStrata,
    rows: "Sequence[_ScaledRows]",
    quadratic: Sequence[FloatArray],
    crossed: FloatArray | None,
    v_q: Sequence[FloatArray],
    q_v_q: FloatArray,
) -> float:
    """Return the sum of n v (1 - 6 v) h^2 over entries, from the inverse of V in units of D^1/2.

    Parameters
    ----------
    quadratic : float arrays, shape (rows,)
        Diagonal of the inverse, for each part of the rows.
    crossed : float array, shape (rows of the second part,), optional
        The inverse for the two rows of a segment.
    v_q : float arrays, shape (rows, strata)
        The inverse times Q.
    q_v_q : float array, shape (strata,)
        Diagonal of Q' times the inverse times Q.
    """
    at = strata.position[strata.has_variance]
    share = (strata.k_all / strata.n_all)[at]
    v = share * (1 - share)
    root = np.sqrt(strata.outcome_variance * strata.n_all)[at]
    h = q_v_q[at] / root**2
    for part, own, product in zip(rows, quadratic, v_q, strict=False):
        if len(part.t):
            h += part.factor**2 * own[part.row]
            h -= 2 * part.factor * product[part.row, at] / root
    if crossed is not None and len(crossed):
        excess, trend = rows
        h += 2 * excess.factor * trend.factor * crossed[trend.row]
    return float((strata.n[strata.has_variance] * v * (1 - 6 * v) * h * h).sum())


@dataclass(frozen=True)
class _Inverse:
    """I + Q R Q' is the inverse of I - Q Q'; R is from the eigenvalues of H = Q' Q."""

    values: FloatArray
    vectors: FloatArray
    r: FloatArray
    r_h: FloatArray
    q_v_q: FloatArray

    @classmethod
    def of(cls, h: FloatArray) -> "_Inverse":
        """Decompose H. Directions with an eigenvalue of 1 have no variance, and are taken out."""
        values, vectors = np.linalg.eigh(h)
        has_variance = values < _UNIT_EIGENVALUE
        factor = np.where(has_variance, 1 / np.where(has_variance, 1 - values, 1), -1)
        r = (vectors * factor) @ vectors.T
        r_h = r @ h
        return cls(values, vectors, r, r_h, np.diag(h) + (h * r_h).sum(axis=0))


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
        return EqualityTest.from_eigenvalues(statistic, values, self.n, extra_variance)


def _add_blocks(strata: ScoreStrata) -> tuple[_CrossProducts, _CrossProducts]:
    """Return the sums over segments of the excess, and of it with the excess times the score."""
    size = len(strata.score)
    zero = _CrossProducts(np.zeros((size, size)), np.zeros(size), 0.0, 0)
    excess_sums = trend_sums = zero
    for entries in strata.entries.blocks(_BLOCK_SIZE):
        excess, trend = _ScaledRows.of(replace(strata, entries=entries))
        excess_sums, trend_sums = (
            excess_sums.plus(_cross_products(excess.t, excess.q)),
            trend_sums.plus(_cross_products(trend.t, trend.q)),
        )
    return excess_sums, excess_sums.plus(trend_sums)


def _is_dense(q: Any) -> bool:  # noqa: ANN401 (a sparse array)
    return bool(q.nnz > _MIN_DENSITY * q.shape[0] * q.shape[1])


def _product(q: Any, dense: FloatArray, matrix: FloatArray) -> FloatArray:  # noqa: ANN401
    return np.asarray((dense if _is_dense(q) else q) @ matrix)


def _cross_products(t: FloatArray, q: Any) -> _CrossProducts:  # noqa: ANN401 (a sparse array)
    if _is_dense(q):
        dense = q.toarray()
        return _CrossProducts(dense.T @ dense, t @ dense, float(t @ t), len(t))
    return _CrossProducts((q.T @ q).toarray(), t @ q, float(t @ t), len(t))


def _extra_variances(strata: ScoreStrata, inverses: Sequence[_Inverse]) -> tuple[float, float]:
    """Return the sum of n v (1 - 6 v) h^2 over the entries of some segments, for both tests."""
    size = max(_PRODUCT_SIZE // max(len(strata.score), 1), 1)
    sums = np.zeros(2)
    for entries in strata.entries.blocks(size):
        block = replace(strata, entries=entries)
        rows = _ScaledRows.of(block)
        for i, inverse in enumerate(inverses):
            parts = rows[: i + 1]
            dense = [part.q.toarray() for part in parts]
            q_r, q_r_h = (
                [_product(part.q, q, matrix) for part, q in zip(parts, dense, strict=True)]
                for matrix in (inverse.r, inverse.r_h)
            )
            quadratic = [1 + (r * q).sum(axis=1) for r, q in zip(q_r, dense, strict=True)]
            crossed = None
            if i:
                excess_row = np.searchsorted(rows[0].segment, rows[1].segment)
                crossed = (q_r[1] * dense[0][excess_row]).sum(axis=1)
            v_q = [q + r_h for q, r_h in zip(dense, q_r_h, strict=True)]
            sums[i] += _extra_variance(block, parts, quadratic, crossed, v_q, inverse.q_v_q)
    return float(sums[0]), float(sums[1])
