"""The posterior of a mean of recalls under independent Beta priors, one row for each segment.

With x_k of n_k rows of label k correct, recall k has the posterior Beta(x_k + c, n_k - x_k + c),
c = 1 for the uniform prior and 1/2 for the Jeffreys prior, and theta = sum_k a_k recall_k. Its mean
and variance have closed forms. Its distribution is a convolution on a lattice whose step depends on
the segment: the mass of each cell is split over three nodes so that its mean and variance are kept.
The error of quantiles is at most 2e-6 under the uniform prior. Under the Jeffreys prior a density
may be unbounded at its ends: the error is up to 1e-4 where one label has a few rows, all right or
all wrong, and others have thousands.

References
----------
K. H. Brodersen, C. S. Ong, K. E. Stephan and J. M. Buhmann, "The balanced accuracy and its
posterior distribution", ICPR 2010 (two labels). H. Carrillo, K. H. Brodersen and J. A.
Castellanos, "Probabilistic performance evaluation for multiclass classification using the
posterior balanced accuracy", ROBOT 2013 (more labels).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.threads import run_on_all_cores
from balframe.stats.lazy_scipy import fft, special
from balframe.stats.proportions import beta_quantile

PRIORS = {"uniform": 1.0, "jeffreys": 0.5}

_WINDOW = 14.0  # standard deviations of theta that the cells span
_CELLS = {np.inf: 192, 5.0: 768, 2.0: 2048, 1.5: 8192}  # by the largest exponent at an end
_WIDE = 6  # times the largest cells: recalls of a larger standard deviation smooth the ends
_MAX_BATCH_CELLS = 2**20  # computed at once
_ROUNDING = 1e-9  # of counts: sums of weights get the same cells as equal whole counts


@dataclass(frozen=True)
class Posterior:
    """Mean, standard deviation and distribution of theta for every segment.

    The arrays have the shape (segments, labels); every weight `a` is above 0.
    """

    alpha: FloatArray
    beta: FloatArray
    a: FloatArray

    @classmethod
    def of(cls, x: FloatArray, n: FloatArray, a: FloatArray, prior: str) -> "Posterior":
        """Update the prior by x correct of n rows of each label."""
        return cls(x + PRIORS[prior], n - x + PRIORS[prior], a)

    @property
    def mean(self) -> FloatArray:
        """Posterior mean, shape (segments,)."""
        return np.asarray(_means(self).sum(axis=1))

    @property
    def sd(self) -> FloatArray:
        """Posterior standard deviation, shape (segments,)."""
        return np.asarray(np.sqrt((_sds(self) ** 2).sum(axis=1)))

    def quantiles(self, probabilities: Sequence[float]) -> list[FloatArray]:
        """Return the quantiles of each segment at these probabilities, shape (segments,) each."""
        if self.a.shape[1] == 1:
            alpha, beta, a = self.alpha[:, 0], self.beta[:, 0], self.a[:, 0]
            return [np.asarray(a * beta_quantile(alpha, beta, p)) for p in probabilities]
        quantiles = np.empty((len(probabilities), len(self.a)))

        def fill(rows: Int64Array, lattice: "_Lattice") -> None:
            for quantile, probability in zip(quantiles, probabilities, strict=True):
                quantile[rows] = lattice.quantile(probability)

        _run_on_lattices(self, fill)
        return list(np.clip(quantiles, 0, self.a.sum(axis=1)))

    def probability_above(self, value: FloatArray) -> FloatArray:
        """Return the probability that theta exceeds a value, shape (segments,)."""
        if self.a.shape[1] == 1:
            share = np.clip(value / self.a[:, 0], 0, 1)
            return np.asarray(special.betainc(self.beta[:, 0], self.alpha[:, 0], 1 - share))
        probability = np.empty(len(self.a))

        def fill(rows: Int64Array, lattice: "_Lattice") -> None:
            probability[rows] = 1 - lattice.probability_below(value[rows])

        _run_on_lattices(self, fill)
        return np.clip(probability, 0, 1)


@dataclass(frozen=True, slots=True)
class _Lattice:
    """Distribution functions of segments, on evenly spaced edges of cells."""

    first: FloatArray
    step: FloatArray
    cdf: FloatArray

    def quantile(self, probability: float) -> FloatArray:
        """Invert the distribution functions by cubic interpolation."""
        cell = np.argmax(self.cdf >= probability, axis=1).clip(2, self.cdf.shape[1] - 2) - 1
        low, high = np.zeros(len(cell)), np.ones(len(cell))
        for _ in range(50):
            middle = (low + high) / 2
            is_below = self._cubic(cell, middle) < probability
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return np.asarray(self.first + self.step * (cell + low))

    def probability_below(self, value: FloatArray) -> FloatArray:
        """Evaluate the distribution functions by cubic interpolation."""
        position = (value - self.first) / self.step
        cell = np.clip(np.floor(position), 1, self.cdf.shape[1] - 3).astype(np.int64)
        inside = self._cubic(cell, np.clip(position - cell, 0, 1))
        return np.where(position < 1, 0, np.where(position > self.cdf.shape[1] - 2, 1, inside))

    def _cubic(self, cell: Int64Array, t: FloatArray) -> FloatArray:
        rows = np.arange(len(cell))
        before, left, right, after = (self.cdf[rows, cell + i] for i in (-1, 0, 1, 2))
        cubic: FloatArray = (
            -before * t * (t - 1) * (t - 2) / 6
            + left * (t + 1) * (t - 1) * (t - 2) / 2
            - right * (t + 1) * t * (t - 2) / 2
            + after * (t + 1) * t * (t - 1) / 6
        )
        return cubic


def _means(p: Posterior) -> FloatArray:
    return p.a * p.alpha / (p.alpha + p.beta)


def _sds(p: Posterior) -> FloatArray:
    total = p.alpha + p.beta
    return np.asarray(p.a / total * np.sqrt(p.alpha * p.beta / (total + 1)))


def _run_on_lattices(p: Posterior, fill: Callable[[Int64Array, _Lattice], None]) -> None:
    """Call `fill` with the positions and the lattice of each batch of segments."""

    def run(batch: tuple[Int64Array, int]) -> None:
        rows, n_cells = batch
        fill(rows, _lattice(Posterior(p.alpha[rows], p.beta[rows], p.a[rows]), n_cells))

    run_on_all_cores(run, _batches(p))


def _batches(p: Posterior) -> Iterator[tuple[Int64Array, int]]:
    """Yield segments grouped by the number of cells: the steeper the density's ends, the more.

    Each recall has a density like t^(exponent - 1) at its ends. Where ends meet, the density of
    theta rises with the sum of the exponents of the recalls that extend over several cells.
    """
    is_wide = _sds(p) > p.sd[:, None] * _WIDE * _WINDOW / _CELLS[np.inf]
    exponent = np.where(is_wide, np.minimum(p.alpha, p.beta), 0).sum(axis=1)
    tier = np.digitize(exponent - _ROUNDING, sorted(_CELLS)[:-1], right=True)
    for number, bound in enumerate(sorted(_CELLS)):
        rows = np.flatnonzero(tier == number)
        size = max(1, _MAX_BATCH_CELLS // (_CELLS[bound] * p.a.shape[1]))
        for start in range(0, len(rows), size):
            yield rows[start : start + size], _CELLS[bound]


def _lattice(p: Posterior, n_cells: int) -> _Lattice:
    """Convolve the recalls: a product of Fourier transforms, unwrapped around the mean."""
    step = _WINDOW / n_cells * p.sd
    low = _first_edges(p, step[:, None], n_cells)
    period = 2 * n_cells
    transform = fft.rfft(_node_masses(p, low, step[:, None], n_cells), period, axis=2).prod(axis=1)
    wrapped = fft.irfft(transform, period, axis=1)
    # the nodes are the middles of the cells, with one more before the first cell
    base = low.sum(axis=1) - step * p.a.shape[1] / 2
    start = np.round((p.mean - base) / step).astype(np.int64) - n_cells
    mass = np.take_along_axis(wrapped, (start[:, None] + np.arange(period)) % period, axis=1)
    cdf = np.cumsum(mass, axis=1)[:, :-1] + np.diff(mass, axis=1) / 24
    return _Lattice(base + step * (start + 0.5), step, cdf)


def _first_edges(p: Posterior, step: FloatArray, n_cells: int) -> FloatArray:
    """Return where the cells of each recall begin: aligned with 0 or 1 in reach, else centred."""
    mean, half = _means(p), _WINDOW / 2 * _sds(p)
    reaches_zero, reaches_one = mean < half, mean + half > p.a
    ends_at_one = reaches_one & (~reaches_zero | (p.beta < p.alpha * (1 - _ROUNDING)))
    centred = mean - step * (n_cells // 2)
    return np.where(ends_at_one, p.a - step * n_cells, np.where(reaches_zero, 0.0, centred))


def _moments_below(p: Posterior, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return integrals of 1, p and p^2 times each Beta density up to x, by recurrence in alpha."""
    alpha, beta = p.alpha[:, :, None], p.beta[:, :, None]
    total = alpha + beta
    log_power = special.xlogy(alpha, x) + special.xlog1py(beta, -x) - special.betaln(alpha, beta)
    power = np.exp(log_power)
    below = np.asarray(special.betainc(alpha, beta, x), np.float64)
    below1 = below - power / alpha
    below2 = below1 - power * x * total / (alpha * (alpha + 1))
    mean = alpha / total
    return below, mean * below1, mean * (alpha + 1) / (total + 1) * below2


def _node_masses(p: Posterior, low: FloatArray, step: FloatArray, n_cells: int) -> FloatArray:
    """Split the mass of each cell over three nodes, keeping its first two moments."""
    width = (step / p.a)[:, :, None]
    edges = (low / p.a)[:, :, None] + width * np.arange(n_cells + 1)
    middle = (edges[:, :, 1:] + edges[:, :, :-1]) / 2
    mass, first, second = _moments_below(p, np.clip(edges, 0, 1))
    mass, first, second = (np.diff(values, axis=2) for values in (mass, first, second))
    second = (second - 2 * middle * first + middle**2 * mass) / width**2
    first = (first - middle * mass) / width
    nodes = np.zeros((*mass.shape[:2], n_cells + 2))
    nodes[:, :, 1:-1] += mass - second
    nodes[:, :, 2:] += (second + first) / 2
    nodes[:, :, :-2] += (second - first) / 2
    return nodes
