"""How many rows a denominator has in a random sample: the values, with their probabilities.

The rows of a segment are planned. How many of them are positive, or predicted positive, differs
from sample to sample.
"""

from dataclasses import dataclass, replace

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.stats.lazy_scipy import special
from balframe.stats.proportions import log_combinations

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
