"""The power of rules on proportions: binomial probabilities of Clopper-Pearson limits.

Given its denominator, a proportion has exact probabilities. They are averaged over the denominators
of a random sample. Arrays have one value for each segment, unless stated otherwise.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import log_combinations
from balframe.stats.root_finding import increasing_root

REACH = 7  # standard deviations on either side of the mean
_MAX_SAMPLES = 17  # of a smooth function: enough for a mean that is exact to 1e-6


@dataclass(frozen=True, slots=True)
class RandomDenominators:
    """Numbers of rows of denominators, and their probabilities, of the shape (segments, values).

    The values of a segment are `step` rows apart.
    """

    rows: FloatArray
    probability: FloatArray
    step: FloatArray

    @classmethod
    def of(
        cls, n: FloatArray, share: FloatArray, max_values: Int64Array | int
    ) -> "RandomDenominators":
        """Return binomial denominators of `n` rows, of which each belongs to it with this share.

        At most `max_values` evenly spaced values of a segment are used, within 7 standard
        deviations of the mean. Segments with fewer values are padded with values of probability 0.
        """
        reach = REACH * np.sqrt(n * share * (1 - share))
        low = np.maximum(np.floor(n * share - reach), 0)
        high = np.minimum(np.ceil(n * share + reach), np.floor(n))
        low, high = (np.where(share == 1, n, end) for end in (low, high))
        step = np.maximum(np.ceil((high - low) / (max_values - 1)), 1)
        count = np.floor((high - low) / step).astype(np.int64) + 1
        index = np.arange(count.max(initial=1))
        rows = np.minimum(low[:, None] + index * step[:, None], high[:, None])
        log_probability = np.where(
            index < count[:, None], _log_binomial(rows, n[:, None], share[:, None]), -np.inf
        )
        probability = np.exp(log_probability - log_probability.max(axis=1, keepdims=True))
        return cls(rows, probability / probability.sum(axis=1, keepdims=True), step)


@dataclass(frozen=True, slots=True)
class RandomRows:
    """Random samples of `total` rows: the rows of the first label, or first two labels, vary.

    Of one label the mean number of rows may be below `total`. Two labels have all rows together:
    the rows of the rarer one are random, and the other has the rest. Samples with fewer than
    `min_support` rows of one of these labels, or none, decide nothing.
    """

    total: FloatArray
    n_labels: int
    min_support: int

    def at(self, segments: Int64Array) -> "RandomRows":
        """Return these segments."""
        return replace(self, total=self.total[segments])

    def scaled(self, factor: FloatArray) -> "RandomRows":
        """Multiply the rows by a factor."""
        return replace(self, total=self.total * factor)

    def supports(self, mean: FloatArray) -> tuple[Int64Array, FloatArray, FloatArray]:
        """Return the segments, the rows of all labels and the probabilities of samples.

        `mean` has the mean rows of each label, of the shape (segments, labels).
        """
        if self.n_labels == 1:
            return self._supports_of(0, mean, np.ones(len(mean)))
        first, second = mean[:, 0], mean[:, 1]
        # equally frequent labels take turns, so that their order makes no difference
        weights = (np.heaviside(second - first, 0.5), np.heaviside(first - second, 0.5))
        parts = [self._supports_of(label, mean, weights[label]) for label in range(2)]
        segments, supports, probability = map(np.concatenate, zip(*parts, strict=True))
        return segments, supports, probability

    def _supports_of(
        self, label: int, mean: FloatArray, weight: FloatArray
    ) -> tuple[Int64Array, FloatArray, FloatArray]:
        """Return what `supports` does for a random label; probabilities are times the weights."""
        share = np.minimum(mean[:, label] / self.total, 1)
        own = RandomDenominators.of(self.total, share, _MAX_SAMPLES)
        probability = own.probability * weight[:, None]
        rows = {label: own.rows}
        if self.n_labels == 2:
            rows[1 - label] = self.total[:, None] - own.rows
        is_decided = (np.array([*rows.values()]) >= self.min_support).all(axis=0)
        segments, value = np.nonzero(is_decided & (probability > 0))
        supports = mean[segments]
        for number, of_label in rows.items():
            supports[:, number] = of_label[segments, value]
        return segments, supports, probability[segments, value]


def _log_binomial(k: FloatArray, n: FloatArray, p: FloatArray) -> FloatArray:
    coefficient = log_combinations(n, k)
    return np.asarray(coefficient + special.xlogy(k, p) + special.xlog1py(n - k, -p))


_SAME = 1e-12  # proportions closer than this are equal
_MAX_DENOMINATORS = 401
_SMOOTH_DENOMINATORS = 33
_N_ERRORS_AHEAD = 24  # numbers of errors to try beyond the first that suffices
_MAX_ROWS = 1e15  # beyond, binomial probabilities have few digits
_STEP = 1.04  # factor of the rows, where their search begins
_PRECISION = 1e-4  # of many rows
_SMOOTH = 0.6  # errors by which denominators vary: with more, probabilities hardly dip
_SHARE_AHEAD = 0.04  # of the rows: how far ahead to look for dips
_ERRORS_AHEAD = 1.5  # errors that are allowed in addition as far ahead, at least
_MIN_RATE = 0.01
_N_CANDIDATES_AHEAD = 32


@dataclass(frozen=True)
class ProportionPower:
    """The power of rules on proportions x / n with lower bounds, by Clopper-Pearson limits.

    `tail` is the probability of an error on either side. The denominator of a sample of `total`
    rows is binomial with the mean n; if n is `total`, it is fixed. Samples whose denominator is
    below `min_support`, or 0, neither pass nor fail.
    """

    x: FloatArray
    n: FloatArray
    bound: FloatArray
    tail: FloatArray
    total: FloatArray
    min_support: int = 1

    @property
    def mirrored(self) -> "ProportionPower":
        """The power with pass and fail exchanged."""
        return replace(self, x=self.n - self.x, bound=1 - self.bound)

    def at(self, segments: BoolArray | Int64Array) -> "ProportionPower":
        """Return these segments."""
        columns = (self.x, self.n, self.bound, self.tail, self.total)
        x, n, bound, tail, total = (column[segments] for column in columns)
        return ProportionPower(x, n, bound, tail, total, self.min_support)

    def with_total(self, total: FloatArray) -> "ProportionPower":
        """Return the power with this number of rows, of which the same share is right."""
        factor = total / self.total
        return replace(self, x=self.x * factor, n=self.n * factor, total=total)

    @cached_property
    def _is_smooth(self) -> BoolArray:
        """Whether there are many denominators, and the steps between them average out."""
        sd = np.sqrt(self.n * (1 - self.n / self.total))
        rate = np.minimum(self.bound, 1 - self.bound)
        is_decided = self.n - REACH * sd >= self.min_support
        is_smooth = is_decided & (2 * REACH * sd >= _MAX_DENOMINATORS) & (sd * rate >= 1)
        return np.asarray(is_smooth)

    @cached_property
    def _denominators(self) -> RandomDenominators:
        max_values = np.where(self._is_smooth, _SMOOTH_DENOMINATORS, _MAX_DENOMINATORS)
        return RandomDenominators.of(self.total, self.n / self.total, max_values)

    @cached_property
    def _max_failing_count(self) -> FloatArray:
        """The most correct rows that fail, of the shape (segments, denominators); -1 if none do.

        Of smooth segments, it is the mean over neighbouring denominators.
        """
        n, bound, tail = self._denominators.rows, self.bound, self.tail
        most = _once_for_each(_max_failing_count, n, bound, tail)
        at = np.nonzero(self._is_smooth[:, None] & (self._denominators.probability > 0))
        most[at] = _mean_failing_count(most[at], n[at], bound[at[0]], tail[at[0]])
        return most

    @cached_property
    def _log_coefficients(self) -> FloatArray:
        """Logarithms of the binomial coefficients that `_fail_probability_of` uses."""
        return log_combinations(self._denominators.rows[:, :-1], self._max_failing_count[:, 1:])

    def fail_probability(self, score: FloatArray) -> FloatArray:
        """Return the probability that the upper limit is below the bound, at a true proportion."""
        return self._fail_probability_of(np.arange(len(score)), score)

    def _fail_probability_of(self, segments: Int64Array, score: FloatArray) -> FloatArray:
        """Return the probability of these segments.

        With n rows, at most k fail. With n + 1, these are k or k + 1. The probability is lower by
        p P(k of n), or higher by (1 - p) P(k + 1 of n).
        """
        d, p = self._denominators, score[:, None]
        n, most = d.rows[segments], self._max_failing_count[segments]
        before, k = n[:, :-1], np.maximum(most[:, 1:], 0)
        log_powers = special.xlogy(k, p) + special.xlog1py(before - k, -p)
        change = np.exp(self._log_coefficients[segments] + log_powers)
        change *= np.where(most[:, 1:] > most[:, :-1], 1 - p, -p)
        fails = _binomial_cdf(most[:, :1], n[:, :1], p) + np.pad(
            np.cumsum(change, axis=1), ((0, 0), (1, 0))
        )
        probability = np.where(n < self.min_support, 0, d.probability[segments])
        apart = np.nonzero((d.step[segments] > 1)[:, None] & (probability > 0))
        fails[apart] = _binomial_cdf(most[apart], n[apart], score[apart[0]])
        return np.asarray((probability * fails).sum(axis=1))

    def pass_probability(self) -> FloatArray:
        """Return the probability that the lower limit is above the bound, at x / n."""
        mirrored = self.mirrored
        return mirrored.fail_probability(mirrored.x / mirrored.n)

    def detectable_difference(self, power: FloatArray | float) -> FloatArray:
        """Return the smallest decrease of the proportion at which it fails with this probability.

        0 if it does so without a decrease, NaN if it never does.
        """
        p = self.x / self.n
        power = np.broadcast_to(power, len(p))
        decrease = np.where(self.fail_probability(p) >= power, 0, np.nan)
        can_fail = self.fail_probability(np.zeros(len(p))) > power
        rows = np.flatnonzero(np.isnan(decrease) & can_fail)

        def excess(t: FloatArray, at: Int64Array) -> FloatArray:
            decreased = p[rows[at]] * special.expit(-t)
            return self._fail_probability_of(rows[at], decreased) - power[rows[at]]

        guess = special.logit(np.clip(1 - self.bound[rows] / p[rows], 0.02, 0.98))
        decrease[rows] = p[rows] * special.expit(increasing_root(excess, guess))
        return decrease

    def sample_size_factor(self, power: FloatArray | float) -> FloatArray:
        """Return the factor of the rows from which the proportion passes with this probability.

        NaN if it is not above its bound, or by so little that no plan could have enough rows.
        """
        p = self.x / self.n
        rows = np.full(len(p), np.nan)
        above = np.flatnonzero(p > self.bound + _SAME)
        part, power = self.at(above), np.broadcast_to(power, len(p))[above]
        denominators = _sample_size(1 - p[above], 1 - part.bound, part.tail, power)
        rows[above] = denominators / (part.n / part.total)
        is_random = part.n < part.total
        rows[above[is_random]] = _random_sample_size(
            part.at(is_random), rows[above[is_random]], power[is_random]
        )
        return rows / self.total


def _binomial_cdf(k: FloatArray, n: FloatArray, p: FloatArray | float) -> FloatArray:
    """Return the probability of at most k of n rows, each with probability p; k is below n."""
    possible = np.maximum(k, 0)
    wrong = np.maximum(n - possible, 1)
    return np.where(k < 0, 0.0, special.betainc(wrong, possible + 1, 1 - p))


def _once_for_each(
    function: Callable[[FloatArray, float, float], FloatArray],
    counts: FloatArray,
    bound: FloatArray,
    tail: FloatArray,
) -> FloatArray:
    """Return `function(counts, bound, tail)`, computed once for each distinct combination.

    Counts are of the shape (segments, values).
    """
    out = np.empty_like(counts)
    limits, code = np.unique(bound + 1j * tail, return_inverse=True)
    for number, limit in enumerate(limits):
        at = code == number
        distinct, position = np.unique(counts[at], return_inverse=True)
        values = function(distinct, limit.real, limit.imag)
        out[at] = values[position].reshape(counts[at].shape)
    return out


def _max_failing_count(n: FloatArray, bound: float, tail: float) -> FloatArray:
    """Return the most correct rows with an upper limit below the bound, -1 if there are none.

    The search begins where the normal distribution, corrected for skewness, puts it.
    """
    z = -special.ndtri(tail)
    center = n * bound - z * np.sqrt(n * bound * (1 - bound))
    guess = np.floor(center + (z * z - 1) * (1 - 2 * bound) / 6 - 0.5)
    count = np.clip(guess, -1, n - 1)

    def going(rows: Int64Array, k: FloatArray, *, is_failing: bool) -> Int64Array:
        fails = _binomial_cdf(k, n[rows], bound) < tail
        return np.asarray(rows[(fails == is_failing) & (k > -1) & (k < n[rows])])

    rows = np.arange(len(count))
    while len(rows := going(rows, count[rows], is_failing=False)):
        count[rows] -= 1
    rows = np.arange(len(count))
    while len(rows := going(rows, count[rows] + 1, is_failing=True)):
        count[rows] += 1
    return count


def _mean_failing_count(
    most: FloatArray, n: FloatArray, bound: FloatArray, tail: FloatArray
) -> FloatArray:
    """Return the mean of the most correct rows that fail, over neighbouring denominators.

    It is half a row less than the count, not whole, whose upper limit is the bound.
    """
    low, high = (np.log(_binomial_cdf(k, n, bound)) for k in (most, most + 1))
    return np.asarray(most + (np.log(tail) - low) / (high - low) - 0.5)


# Sample sizes.


def _sample_size(
    q: FloatArray, q_at_bound: FloatArray, tail: FloatArray, power: FloatArray
) -> FloatArray:
    """Return the rows from which a share of errors q passes with this probability.

    With more rows, more errors are allowed from time to time. In between, the probability
    decreases, so it is lowest just before. NaN where more than `_MAX_ROWS` are needed.
    """

    def min_rows(errors: FloatArray) -> FloatArray:
        return _once_for_each(_min_passing_rows, errors, q_at_bound, tail)

    def is_likely(errors: FloatArray) -> BoolArray:
        return _binomial_cdf(errors, min_rows(errors + 1) - 1, q[:, None]) >= power[:, None]

    high, max_errors = np.zeros((len(q), 1)), _MAX_ROWS * q_at_bound[:, None]
    while (unlikely := ~is_likely(high) & (high < max_errors)).any():
        high = np.where(unlikely, 2 * high + 1, high)
    low = np.floor((high - 1) / 2)
    while (going := high - low > 1).any():
        middle = np.floor((low + high) / 2)
        likely = is_likely(middle)
        high = np.where(going & likely, middle, high)
        low = np.where(going & ~likely, middle, low)
    ahead = high + np.arange(1, _N_ERRORS_AHEAD)
    first = np.where(is_likely(ahead), high, ahead + 1).max(axis=1, keepdims=True)
    return _null_if_too_many(min_rows(first)[:, 0])


def _min_passing_rows(errors: FloatArray, q_at_bound: float, tail: float) -> FloatArray:
    """Return the fewest rows with which so many errors still pass."""
    high = np.ceil(2 * (errors + 1) / q_at_bound) + 8
    while (is_low := _binomial_cdf(errors, high, q_at_bound) >= tail).any():
        high = np.where(is_low, 2 * high, high)
    low = errors + 0.0
    while (going := high - low > 1).any():
        middle = np.floor((low + high) / 2)
        is_enough = _binomial_cdf(errors, middle, q_at_bound) < tail
        high = np.where(going & is_enough, middle, high)
        low = np.where(going & ~is_enough, middle, low)
    return high


def _null_if_too_many(rows: FloatArray) -> FloatArray:
    return np.where(rows <= _MAX_ROWS, rows, np.nan)


def _random_sample_size(part: ProportionPower, guess: FloatArray, power: FloatArray) -> FloatArray:
    """Return the rows from which proportions of random denominators pass with this probability.

    Above 10,000 rows, it is at most 0.01% more than the fewest. NaN where more than `_MAX_ROWS` are
    needed.
    """

    def passes(n: FloatArray, at: Int64Array) -> BoolArray:
        return part.at(at).with_total(n).pass_probability() >= power[at]

    low, high, step = np.zeros(len(guess)), np.ceil(guess), _STEP
    rows = np.flatnonzero(high <= _MAX_ROWS)
    while len(rows := rows[~passes(high[rows], rows) & (high[rows] <= _MAX_ROWS)]):
        low[rows], high[rows] = high[rows], np.ceil(step * high[rows])
        step *= step
    high, step = _null_if_too_many(high), _STEP
    rows = np.flatnonzero((low == 0) & (high > 1))
    while len(rows):
        low[rows] = np.maximum(np.floor(high[rows] / step), 1)
        rows = rows[passes(low[rows], rows)]
        high[rows] = low[rows]
        rows, step = rows[high[rows] > 1], step * step
    while len(rows := np.flatnonzero(high - low > np.maximum(_PRECISION * high, 1))):
        middle = np.floor((low[rows] + high[rows]) / 2)
        is_enough = passes(middle, rows)
        high[rows] = np.where(is_enough, middle, high[rows])
        low[rows] = np.where(is_enough, low[rows], middle)
    return _after_last_dip(part, high, passes)


def _after_last_dip(
    part: ProportionPower, n: FloatArray, passes: Callable[[FloatArray, Int64Array], BoolArray]
) -> FloatArray:
    """Return the rows after the last number ahead that does not suffice again.

    With more rows, more errors are allowed from time to time. In between, the probability
    decreases, unless denominators vary by more than the rows of one error.
    """
    share, rate = part.n / part.total, np.minimum(part.bound, 1 - part.bound)
    rows = np.flatnonzero(np.sqrt(n * share * (1 - share)) * rate < _SMOOTH)
    rows_of_error = 1 / (np.maximum(rate, _MIN_RATE) * share)
    ahead = np.maximum(_SHARE_AHEAD * n, _ERRORS_AHEAD * rows_of_error)[rows]
    first, step = n[rows], np.ceil(ahead / _N_CANDIDATES_AHEAD)
    n = n.copy()
    for k in range(1, _N_CANDIDATES_AHEAD + 1 if len(rows) else 1):
        candidate = first + k * step
        n[rows] = np.where(passes(candidate, rows), n[rows], candidate + 1)
    return n
