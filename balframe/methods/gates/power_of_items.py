"""The power of rules on pass@k and pass^k, from the items of a pilot.

The probability that a trial of an item passes is taken to vary between items as a beta distribution
of mean mu and intraclass correlation rho. Passes of t trials of an item then are beta-binomial.
That gives the mean theta of an item's u, the probability that any or that all of k trials pass, and
its variance. The limits that decide are Clopper-Pearson's of as many rows as there are m items. The
rule passes if the mean of u is at least the share at which the lower limit is the bound. The mean
is taken to be normal, with the variance Var u / m.
"""

from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.safe_divide import ratio
from balframe.core.sample import Clusters
from balframe.stats.base import Interval
from balframe.stats.lazy_scipy import special
from balframe.stats.root_finding import increasing_root, root_between

_SMALLEST = 1e-9  # of mu, rho and their complements


@dataclass(frozen=True, slots=True)
class Difficulty:
    """How items differ: the mean probability that a trial passes, and its correlation.

    The correlation is that of two trials of an item, 1 if no item has two.
    """

    mean: FloatArray
    correlation: FloatArray

    @classmethod
    def of(cls, clusters: Clusters, least: int) -> "Difficulty":
        """Estimate it from the passes of items with at least this many trials, in each segment.

        With c_i of n_i trials, rho = (s^2 - w) / (mu (1 - mu)), where mu and s^2 are the mean and
        variance of c_i / n_i, and w the mean of p (1 - p) / (n - 1), p = c_i / n_i.
        """
        counts = clusters.pairs.counts
        n, used = counts.n.astype(np.float64), counts.n >= least
        share = counts.total_correct / n
        n_items = clusters.sum(used)
        mean = ratio(clusters.sum(used * share), n_items)
        squares = used * (share - mean[clusters.segment]) ** 2
        variance = ratio(clusters.sum(squares), n_items - 1)
        is_repeated = used & (n > 1)
        within = np.where(is_repeated, share * (1 - share) / np.where(is_repeated, n - 1, 1), 0)
        within_mean = ratio(clusters.sum(within), clusters.sum(is_repeated))
        correlation = ratio(np.maximum(variance - within_mean, 0), mean * (1 - mean))
        return cls(mean, np.clip(np.where(np.isfinite(correlation), correlation, 1), 0, 1))

    def at(self, segments: Int64Array) -> "Difficulty":
        """Take these segments."""
        return Difficulty(self.mean[segments], self.correlation[segments])


@dataclass(frozen=True, slots=True)
class ItemPower:
    """The power of rules that a mean of u is at least a bound.

    Parameters
    ----------
    values : float array, shape (segments, largest number of trials + 1)
        u of an item by how many of its trials passed.
    trials, items : float arrays, shape (segments,)
        Trials of each item, and items.
    score, correlation, bound, tail : float arrays, shape (segments,)
        The true mean of u, the correlation of trials, the bound, and the error rate of its test.
    """

    values: FloatArray
    trials: FloatArray
    items: FloatArray
    score: FloatArray
    correlation: FloatArray
    bound: FloatArray
    tail: FloatArray

    @classmethod
    def of(
        cls,
        interval: Interval,
        trials: FloatArray,
        items: FloatArray,
        score: FloatArray,
        correlation: FloatArray,
        bound: float,
        tail: FloatArray,
    ) -> "ItemPower":
        """Return the power of a rule on a metric with this interval."""
        passed = np.arange(int(trials.max(initial=1)) + 1)
        possible = np.minimum(passed, trials[:, None]).astype(np.int64)
        n = np.broadcast_to(trials[:, None], possible.shape).astype(np.int64)
        values = interval.item_values(possible, n)
        assert values is not None
        return cls(values, trials, items, score, correlation, np.full(len(tail), bound), tail)

    def at(self, segments: Int64Array) -> "ItemPower":
        """Take these segments."""
        return ItemPower(*(getattr(self, name)[segments] for name in self.__slots__))

    @property
    def mirrored(self) -> "ItemPower":
        """The power with pass and fail exchanged, of 1 - u."""
        passed = np.arange(self.values.shape[1])
        failed = np.maximum(self.trials[:, None] - passed, 0).astype(np.int64)
        values = 1 - np.take_along_axis(self.values, failed, axis=1)
        return replace(self, values=values, score=1 - self.score, bound=1 - self.bound)

    def pass_probability(self) -> FloatArray:
        """Return the probability that the lower limit is above the bound."""
        _, variance = self._moments(self._mean_of(self.score))
        return self._probability(self.score, variance, self.items)

    def _probability(
        self, score: FloatArray, variance: FloatArray, items: FloatArray
    ) -> FloatArray:
        """Return the probability that the lower limit of these scores is above the bound."""
        least = self._least_share(items)
        sd = np.sqrt(variance / items)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(sd > 0, (score - least) / sd, np.where(score > least, np.inf, -np.inf))
        return np.asarray(special.ndtr(z))

    def _least_share(self, items: FloatArray) -> FloatArray:
        """Return the share of items at which the exact lower limit is the bound."""
        bound = np.clip(self.bound, _SMALLEST, 1 - _SMALLEST)

        def excess(x: FloatArray, at: Int64Array) -> FloatArray:
            return np.asarray(self.tail[at] - special.betainc(x, items[at] - x + 1, bound[at]))

        least = root_between(excess, np.full(len(items), _SMALLEST), items) / items
        return np.where(bound**items > self.tail, np.inf, least)

    def _moments(self, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of u, if trials pass with this mean probability."""
        rho = np.clip(self.correlation, _SMALLEST, 1 - _SMALLEST)
        mu = np.clip(mean, _SMALLEST, 1 - _SMALLEST)
        alpha, beta = (part[:, None] * ((1 - rho) / rho)[:, None] for part in (mu, 1 - mu))
        n, passed = self.trials[:, None], np.arange(self.values.shape[1])
        left = np.maximum(n - passed, 0)
        log_share = (
            special.gammaln(n + 1) - special.gammaln(passed + 1) - special.gammaln(left + 1)
            + special.betaln(passed + alpha, left + beta) - special.betaln(alpha, beta)
        )  # fmt: skip
        share = np.where(passed <= n, np.exp(log_share), 0)
        theta = (share * self.values).sum(axis=1)
        square = (share * self.values**2).sum(axis=1)
        return np.asarray(theta), np.maximum(square - theta**2, 0)

    def _mean_of(self, score: FloatArray) -> FloatArray:
        """Return the mean probability of a trial at which the mean of u is this score."""

        def excess(mean: FloatArray, at: Int64Array) -> FloatArray:
            return self.at(at)._moments(mean)[0] - score[at]

        return root_between(excess, np.zeros(len(score)), np.ones(len(score)))

    def detectable_difference(self, power: FloatArray | float) -> FloatArray:
        """Return the smallest decrease of the score at which it fails with this probability.

        0 if it does so without a decrease, NaN if it never does.
        """
        power = np.broadcast_to(power, len(self.score))
        upper = self.mirrored

        def excess(mean: FloatArray, at: Int64Array) -> FloatArray:
            part = self.at(at)
            score, variance = part._moments(mean)
            return power[at] - upper.at(at)._probability(1 - score, variance, part.items)

        at_score = self._mean_of(self.score)
        lowest = root_between(excess, np.zeros(len(power)), at_score)
        every = np.arange(len(power))
        decrease = np.maximum(self.score - self._moments(lowest)[0], 0)
        never = excess(np.zeros(len(power)), every) > 0
        return np.where(never, np.nan, np.where(excess(at_score, every) <= 0, 0, decrease))

    def sample_size_factor(self, power: FloatArray | float) -> FloatArray:
        """Return the factor of the items with which the score passes with this probability.

        NaN if the score is not above its bound.
        """
        power = np.broadcast_to(power, len(self.score))
        factor = np.full(len(power), np.nan)
        rows = np.flatnonzero(self.score > self.bound + _SMALLEST)
        selected = self.at(rows)
        _, variance = selected._moments(selected._mean_of(selected.score))

        def excess(t: FloatArray, at: Int64Array) -> FloatArray:
            part = selected.at(at)
            passes = part._probability(part.score, variance[at], np.maximum(np.exp(t), 1))
            return np.asarray(passes - power[rows][at])

        distance = selected.score - selected.bound
        reach = special.ndtri(1 - selected.tail) + special.ndtri(power[rows])
        spread = np.maximum(selected.bound * (1 - selected.bound), 1e-3)
        guess = np.log(np.maximum(np.maximum(reach, 1) ** 2 * spread / distance**2, 1))
        factor[rows] = np.exp(increasing_root(excess, guess)) / selected.items
        return factor
