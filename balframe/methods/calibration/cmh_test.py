"""Tests that outcomes are the same in all segments, given the stratum of the score.

T has the excess of positive rows of each segment over those expected in the strata. The statistic
is T' V^+ T, where V is the covariance of T. V = D - U C U', where U has a row for each entry of T
and a column for each stratum. Let Q be D^-1/2 U C^1/2. Then D^-1/2 V D^-1/2 = I - Q Q', so the
statistic follows from the eigenvalues of Q Q' or of Q' Q, whichever is smaller. Eigenvalues of 1
are directions in which nothing varies: the degrees of freedom do not count them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray
from balframe.core.safe_divide import ratio
from balframe.core.threads import on_all_cores
from balframe.methods.calibration.strata import Strata
from balframe.stats.lazy_scipy import sparse, special

_ONE = 1 - 1e-9  # an eigenvalue that is 1 up to rounding
_DENSE = 0.1  # share of the strata in which segments have rows, from which dense products pay
_BLOCK = 2**19  # entries that are multiplied at a time
_FEW = 2**16  # entries that are added up by one core
_PARTS = 4  # added up on their own, whatever the number of cores, so that sums are the same

Rows = tuple[FloatArray, Any]  # entries of D^-1/2 T, and their rows of Q


@dataclass(frozen=True)
class Equality:
    """A test that all segments are equal; NaN where none can differ from another."""

    statistic: float
    df: int

    @classmethod
    def of(cls, statistic: float, values: FloatArray, n_entries: int) -> "Equality":
        """Subtract the eigenvalues of 1 from the number of entries of T."""
        df = n_entries - int((values >= _ONE).sum())
        return cls(statistic if df else np.nan, df)

    @property
    def p_value(self) -> float:
        """How likely chi-square exceeds the statistic."""
        return float(special.chdtrc(self.df, self.statistic)) if self.df else np.nan


def equal_outcomes(strata: Strata) -> tuple[Equality, Equality]:
    """Return the generalised Cochran-Mantel-Haenszel test, and one that finds crossing too.

    In the second test, T also has the sums of the excess times the score.

    References
    ----------
    J. R. Landis, E. R. Heyman and G. G. Koch, "Average partial association in three-way contingency
    tables: a review and discussion of alternative tests", International Statistical Review 1978.
    """
    are_few = 2 * strata.entries.n_segments <= len(strata.score)
    return of_few(strata) if are_few else of_many(strata)


def of_few(strata: Strata) -> tuple[Equality, Equality]:
    """Test few segments, by Q Q'."""
    of_excess, of_trend = _rows(strata)
    return _dense([of_excess]), _dense([of_excess, of_trend])


def of_many(strata: Strata) -> tuple[Equality, Equality]:
    """Test many segments, by Q' Q, without a matrix of segments by segments."""
    blocks = strata.entries.blocks(max(len(strata.n) // _PARTS + 1, _FEW))
    shares = on_all_cores(_added, [replace(strata, entries=entries) for entries in blocks])
    of_excess, of_both = (reduce(_Sums.plus, sums) for sums in zip(*shares, strict=True))
    return of_excess.test(), of_both.test()


def _rows(strata: Strata) -> tuple[Rows, Rows]:
    """Scale the excess of each segment, and the excess times the score, with their rows of Q.

    The score is centred in each segment, so that D is diagonal. That changes no statistic.
    """
    used, at = strata.entries.where(strata.varies), strata.position[strata.varies]
    n, spread = used.n.astype(np.float64), strata.spread
    excess = (strata.k - strata.expected)[strata.varies]
    weight, root = n * spread[at], n * np.sqrt(spread / strata.n_all)[at]
    score = strata.standard_score[at]
    score = score - used.spread(ratio(used.sum(weight * score), used.sum(weight)))
    length = np.diff(used.bounds)

    def scaled(factor: FloatArray | float, varies: BoolArray) -> Rows:
        d = np.where(varies, used.sum(weight * factor * factor), 0)
        scale = np.sqrt(ratio(np.ones(len(d)), d))
        data = root * factor * used.spread(scale)
        rows = sparse.csr_array((data, at, used.bounds), shape=(len(d), len(spread)))
        kept = np.flatnonzero(d > 0)
        t = used.sum(excess * factor) * scale
        return t[kept], rows if len(kept) == len(d) else rows[kept]

    return scaled(1.0, length > 0), scaled(score, length > 1)


def _dense(rows: Sequence[Rows]) -> Equality:
    t = np.concatenate([t for t, _ in rows])
    q = np.concatenate([q.toarray() for _, q in rows])
    values, vectors = np.linalg.eigh(q @ q.T)
    along, varies = t @ vectors, values < _ONE
    statistic = float((along[varies] ** 2 / (1 - values[varies])).sum())
    return Equality.of(statistic, values, len(t))


@dataclass(frozen=True)
class _Sums:
    """Sums over segments: Q' Q, Q' D^-1/2 T, T' D^-1 T and the number of entries of T."""

    of_q: FloatArray
    of_both: FloatArray
    of_t: float
    n: int

    def plus(self, other: "_Sums") -> "_Sums":
        """Add up."""
        return _Sums(
            self.of_q + other.of_q,
            self.of_both + other.of_both,
            self.of_t + other.of_t,
            self.n + other.n,
        )

    def test(self) -> Equality:
        """Find the statistic from the eigenvalues of Q' Q."""
        values, vectors = np.linalg.eigh(self.of_q)
        along, varies = self.of_both @ vectors, values < _ONE
        statistic = self.of_t + float((along[varies] ** 2 / (1 - values[varies])).sum())
        return Equality.of(statistic, values, self.n)


def _added(strata: Strata) -> tuple[_Sums, _Sums]:
    """Add up over some segments: for the excess alone, and with the excess times the score."""
    size = len(strata.score)
    nothing = _Sums(np.zeros((size, size)), np.zeros(size), 0.0, 0)
    of_excess = of_trend = nothing
    for entries in strata.entries.blocks(_BLOCK):
        excess, trend = _rows(replace(strata, entries=entries))
        of_excess, of_trend = of_excess.plus(_sums(*excess)), of_trend.plus(_sums(*trend))
    return of_excess, of_excess.plus(of_trend)


def _sums(t: FloatArray, q: Any) -> _Sums:  # noqa: ANN401 (a sparse array)
    if q.nnz > _DENSE * q.shape[0] * q.shape[1]:
        dense = q.toarray()
        return _Sums(dense.T @ dense, t @ dense, float(t @ t), len(t))
    return _Sums((q.T @ q).toarray(), t @ q, float(t @ t), len(t))
