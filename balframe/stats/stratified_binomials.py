"""Score tests of post-stratified shares, and of the difference of two of them.

A share of all rows is theta = sum_v W_v p_v over strata v, with W_v = N_v / N. The test of theta
has the variance sum_v W_v^2 p_v (1 - p_v) / n_v of the n_v labels, and
sum_v W_v (p_v - theta)^2 / N of the sample of N rows, at the p_v of largest likelihood for that
theta. If all rows have a label, its limits are Wilson's of the right rows.

The difference d of two such shares is tested as (1 + d) / 2, the mean of the share of right rows of
the first sample and that of wrong rows of the second.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.core.strata import Strata
from balframe.stats.constrained_mle import WeightedBinomials, correct_for_skewness


@dataclass(frozen=True)
class StratifiedBinomials(WeightedBinomials):
    """Counts of the strata of one sample or of two, one row for each and one column for each test.

    `n_rows` are all rows of the sample that a stratum belongs to, `labelled_share` is n_v / N_v,
    and `samples` has the strata of each sample. `doubt` is by how much the odds of being right may
    differ between rows with and without a label.
    """

    n_rows: FloatArray = field(kw_only=True)
    labelled_share: FloatArray = field(kw_only=True)
    samples: tuple[slice, ...] = field(kw_only=True)
    doubt: FloatArray | float = field(default=1.0, kw_only=True)

    @classmethod
    def of_strata(cls, s: Strata, right: FloatArray) -> "StratifiedBinomials":
        """Return the counts of strata; those without a label are all wrong."""
        base = WeightedBinomials.of(right, np.where(s.labelled > 0, s.labelled, 1), s.share)
        return cls(
            base.x,
            base.n,
            base.a,
            n_rows=np.broadcast_to(s.n, base.x.shape),
            labelled_share=np.nan_to_num(ratio(s.labelled.T, s.rows.T)),
            samples=(slice(0, len(base.x)),),
        )

    def mean_with(self, other: "StratifiedBinomials") -> "StratifiedBinomials":
        """Return the counts of the mean of two shares."""
        return StratifiedBinomials(
            np.vstack([self.x, other.x]),
            np.vstack([self.n, other.n]),
            np.vstack([self.a, other.a]) / 2,
            n_rows=np.vstack([self.n_rows, other.n_rows]),
            labelled_share=np.vstack([self.labelled_share, other.labelled_share]),
            samples=(slice(0, len(self.x)), slice(len(self.x), None)),
        )

    def at(self, segments: Int64Array) -> "StratifiedBinomials":
        """Take the tests at these positions."""
        x, n, a, n_rows, labelled_share = (
            values[:, segments]
            for values in (self.x, self.n, self.a, self.n_rows, self.labelled_share)
        )
        doubt = np.broadcast_to(self.doubt, len(self.score))[segments]
        return replace(
            self, x=x, n=n, a=a, n_rows=n_rows, labelled_share=labelled_share, doubt=doubt
        )


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


def moments(c: WeightedBinomials, p: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return theta, its standard error and its third central moment, of labels and of rows."""
    assert isinstance(c, StratifiedBinomials)
    pq, weight = p * (1 - p), 1 / len(c.samples)
    of_labels = c.variance_factor * pq
    variance, third = of_labels.sum(axis=0), (c.third_moment_factor * pq * (1 - 2 * p)).sum(axis=0)
    for sample in c.samples:
        a, n, share = c.a[sample], c.n_rows[sample], p[sample]
        deviation = share - (a * share).sum(axis=0) / weight
        variance = variance + weight * (a * deviation**2 / n).sum(axis=0)
        third = third + 3 * weight * (of_labels[sample] * deviation / n).sum(axis=0)
        third = third + weight**2 * (a * deviation**3 / n**2).sum(axis=0)
    error = np.sqrt(np.where(variance > 0, variance, np.inf))
    return np.asarray((c.a * p).sum(axis=0)), error, third
