"""Score tests of sums over strata of which only some rows have a true label.

A row of stratum v has the expected value s_v p_v + b_v, where p_v is the share of right rows in the
stratum. The mean over all rows is theta + sum_v W_v b_v, with theta = sum_v a_v p_v,
a_v = W_v s_v and W_v = N_v / N. The test of theta has the variance
sum_v a_v^2 p_v (1 - p_v) / n_v of the n_v labels, and that of the N rows, the variance of their
expected values over N, at the p_v of largest likelihood for that theta. With s_v = 1 and b_v = 0,
theta is the share of right rows, and if all rows have a label, its limits are Wilson's.

The difference d of two such shares is tested as (1 + d) / 2, the mean of the share of right rows of
the first sample and that of wrong rows of the second.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.core.strata import Strata
from balframe.stats.constrained_mle import WeightedBinomials, correct_for_skewness


@dataclass(frozen=True)
class StratifiedBinomials(WeightedBinomials):
    """Counts of the strata of one sample or of two, one row for each and one column for each test.

    `n_rows` are all rows of the sample that a stratum belongs to, `row_share` is W, `slope` and
    `offset` are s and b, and `samples` has the strata of each sample. `labelled_share` is
    n_v / N_v, and `doubt` is by how much the odds of being right may differ between rows with and
    without a label. The variance of the rows is not taken to be less than `row_variance`.
    """

    n_rows: FloatArray = field(kw_only=True)
    row_share: FloatArray = field(kw_only=True)
    slope: FloatArray = field(kw_only=True)
    offset: FloatArray = field(kw_only=True)
    labelled_share: FloatArray = field(kw_only=True)
    samples: tuple[slice, ...] = field(kw_only=True)
    doubt: FloatArray | float = field(default=1.0, kw_only=True)
    row_variance: FloatArray | float = field(default=0.0, kw_only=True)

    @classmethod
    def of_strata(
        cls,
        s: Strata,
        right: FloatArray,
        slope: FloatArray | float = 1.0,
        offset: FloatArray | float = 0.0,
    ) -> "StratifiedBinomials":
        """Return the counts of strata; `right` is of as many rows as have a label, or of one."""
        slope, offset = (np.broadcast_to(each, s.rows.shape) for each in (slope, offset))
        base = WeightedBinomials.of(right, np.where(s.labelled > 0, s.labelled, 1), s.share * slope)
        return cls(
            base.x,
            base.n,
            base.a,
            n_rows=np.broadcast_to(s.n, base.x.shape),
            row_share=s.share.T,
            slope=slope.T,
            offset=offset.T,
            labelled_share=np.nan_to_num(ratio(s.labelled.T, s.rows.T)),
            samples=(slice(0, len(base.x)),),
            doubt=s.doubt,
        )

    def mean_with(self, other: "StratifiedBinomials") -> "StratifiedBinomials":
        """Return the counts of the mean of two shares."""

        def both(first: FloatArray, second: FloatArray) -> FloatArray:
            return np.vstack([first, second])

        return StratifiedBinomials(
            both(self.x, other.x),
            both(self.n, other.n),
            both(self.a, other.a) / 2,
            n_rows=both(self.n_rows, other.n_rows),
            row_share=both(self.row_share, other.row_share),
            slope=both(self.slope, other.slope) / 2,
            offset=both(self.offset, other.offset) / 2,
            labelled_share=both(self.labelled_share, other.labelled_share),
            samples=(slice(0, len(self.x)), slice(len(self.x), None)),
            doubt=self.doubt,
        )

    def deviations(self, p: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the strata of each sample, and their expected values less the mean of the rows."""
        expected = self.slope * p + self.offset
        for sample in self.samples:
            mean = (self.row_share[sample] * expected[sample]).sum(axis=0)
            yield sample, expected[sample] - mean

    def doubted(self, p: FloatArray) -> FloatArray:
        """Return the lowest shares of right rows in strata that the doubt allows.

        `p` are the shares of right rows among those with a label.
        """
        unlabelled = p / (p + self.doubt * (1 - p))
        return np.asarray(self.labelled_share * p + (1 - self.labelled_share) * unlabelled)

    def at(self, segments: Int64Array) -> "StratifiedBinomials":
        """Take the tests at these positions."""
        of_strata = {
            name: getattr(self, name)[:, segments]
            for name in ("x", "n", "a", "n_rows", "row_share", "slope", "offset", "labelled_share")
        }
        doubt, row_variance = (
            np.broadcast_to(each, len(self.score))[segments]
            for each in (self.doubt, self.row_variance)
        )
        return replace(self, **of_strata, doubt=doubt, row_variance=row_variance)


def score(c: WeightedBinomials, multiplier: FloatArray, p: FloatArray) -> FloatArray:
    """Return the score statistic: the observed share less theta, over its standard error."""
    theta, error, _ = moments(c, p)
    return np.asarray((c.score - theta) / error)


def skewness_corrected_score(
    c: WeightedBinomials, multiplier: FloatArray, p: FloatArray
) -> FloatArray:
    """Return the score statistic corrected for skewness."""
    theta, error, third = moments(c, p)
    return correct_for_skewness((c.score - theta) / error, third / error**3)


STATISTICS = (score, skewness_corrected_score)  # limits that decide are the wider of both


def moments(c: WeightedBinomials, p: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return theta, its standard error and its third central moment, of labels and of rows."""
    assert isinstance(c, StratifiedBinomials)
    pq = p * (1 - p)
    of_labels = c.variance_factor * pq
    variance = of_labels.sum(axis=0) + _variance_of_rows(c, p)
    third = (c.third_moment_factor * pq * (1 - 2 * p)).sum(axis=0)
    for sample, deviation in c.deviations(p):
        w, n = c.row_share[sample], c.n_rows[sample]
        third = third + 3 * (of_labels[sample] * deviation / n).sum(axis=0)
        third = third + (w * deviation**3 / n**2).sum(axis=0)
    error = np.sqrt(np.where(variance > 0, variance, np.inf))
    return np.asarray((c.a * p).sum(axis=0)), error, third


def mover_half_width(
    c: StratifiedBinomials, p: FloatArray, limits: FloatArray, z: FloatArray | float
) -> FloatArray:
    """Return MOVER's distance from theta to its limit, from a limit of the share p of each stratum.

    The variance of the rows is added to those recovered from the limits.
    """
    of_labels = ((c.a * (p - limits)) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(of_labels + np.square(z) * _variance_of_rows(c, p)))


def _variance_of_rows(c: StratifiedBinomials, p: FloatArray) -> FloatArray:
    variance = np.zeros(p.shape[1])
    for sample, deviation in c.deviations(p):
        variance += (c.row_share[sample] * deviation**2 / c.n_rows[sample]).sum(axis=0)
    return np.maximum(variance, c.row_variance)
