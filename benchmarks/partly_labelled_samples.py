"""Samples of rows of which only some have a true label, and limits of their rates.

Rows are positive at a rate, and a judge has a sensitivity and a specificity. Labels are drawn at
random, half of them for each verdict, or mostly where the judge rejects. Strata are the two
verdicts, and beside the limits of balframe stand three that others use.

References
----------
A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++: Efficient prediction-powered inference",
arXiv:2311.01453, 2023. W. J. Rogan and B. Gladen, "Estimating prevalence from the results of a
screening test", American Journal of Epidemiology 1978.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from balframe.core.strata import Strata
from balframe.stats.partly_labelled import share_limits
from balframe.stats.partly_labelled_recalls import Recall
from balframe.stats.proportions import Limits, normal_quantile, wilson

LEVEL, ALPHA = 0.95, 0.05
Z = normal_quantile(LEVEL)
SEED = 20261129
ROUNDING = 1e-9  # of limits and rates

RATES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
JUDGES = ((0.6, 0.5), (0.9, 0.8), (0.95, 0.7), (0.97, 0.6), (0.98, 0.5), (0.99, 0.97))
LABELS = (10, 20, 50, 100, 200)
ROWS = (500, 1_000, 4_000)
HALF = "half for each verdict"
RATIOS = {"at random": 1, "3 to 1 where rejected": 3, "8 to 1 where rejected": 8}  # of labelled
SAMPLINGS = ("at random", HALF, "3 to 1 where rejected", "8 to 1 where rejected")

Floats = npt.NDArray[np.float64]
Random = np.random.Generator


@dataclass(frozen=True)
class Design:
    """A rate, the sensitivity and specificity of a judge, and how many rows have a label.

    `odds` multiplies the odds of being positive of rows without a label, in each stratum.
    """

    rate: float
    judge: tuple[float, float]
    rows: int
    labels: int
    sampling: str = SAMPLINGS[0]
    odds: float = 1.0

    @property
    def name(self) -> str:
        """What is simulated, in few words."""
        sensitivity, specificity = self.judge
        judge = f"judge {sensitivity:g}/{specificity:g}"
        return f"{self.rate:g}, {judge}, {self.labels} of {self.rows}, {self.sampling}"

    @property
    def accepted(self) -> float:
        """The share of rows that the judge accepts."""
        sensitivity, specificity = self.judge
        return self.rate * sensitivity + (1 - self.rate) * (1 - specificity)

    @property
    def positive(self) -> Floats:
        """The share of positive rows among those that the judge accepts, and rejects."""
        both = self.rate * self.judge[0]  # positive and accepted
        return np.array([both / self.accepted, (self.rate - both) / (1 - self.accepted)])

    @property
    def labelled(self) -> Floats:
        """The share of rows with a label among those that the judge accepts, and rejects."""
        share = np.array([self.accepted, 1 - self.accepted])
        if self.sampling == HALF:
            return np.minimum(self.labels / 2 / (self.rows * share), 1)
        ratio = np.array([1, RATIOS[self.sampling]])
        return np.minimum(self.labels / self.rows * ratio / (share * ratio).sum(), 1)

    @property
    def positive_of_all(self) -> Floats:
        """The share of rows that are positive and accepted, and positive and rejected."""
        p, labelled = self.positive, self.labelled
        unlabelled = self.odds * p / (self.odds * p + 1 - p)
        share = np.array([self.accepted, 1 - self.accepted])
        return np.asarray(share * (labelled * p + (1 - labelled) * unlabelled))

    @property
    def truth(self) -> float:
        """The rate of all rows, with and without a label."""
        return float(self.positive_of_all.sum())

    @property
    def true_recall(self) -> float:
        """The recall of the judge in all rows, with and without a label."""
        return float(self.positive_of_all[0] / self.truth)

    def random(self) -> Random:
        """Return a generator that is seeded by the design."""
        parts = (1_000 * self.rate, 100 * self.judge[0], 100 * self.judge[1], 10 * self.odds)
        whole = (round(part) for part in parts)
        return np.random.default_rng(
            [SEED, self.rows, self.labels, SAMPLINGS.index(self.sampling), *whole]
        )

    def draw(self, random: Random, n: int) -> Strata:
        """Draw samples: rows accepted and rejected, labels among them, and those positive."""
        accepted = random.binomial(self.rows, self.accepted, n)
        rows = np.stack([accepted, self.rows - accepted], axis=1)
        labelled = self._labels(random, rows)
        positive = random.binomial(labelled, self.positive)
        codes = np.tile([1, 0], (n, 1))
        return Strata(rows.astype(float), labelled.astype(float), positive.astype(float), codes)

    def _labels(self, random: Random, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        if self.sampling == HALF:
            return np.minimum(rows, self.labels // 2)
        if RATIOS[self.sampling] == 1:
            first = random.hypergeometric(rows[:, 0], rows[:, 1], self.labels)
            return np.stack([first, self.labels - first], axis=1)
        return random.binomial(rows, self.labelled)


def labelled_only(s: Strata) -> Limits:
    """Return Wilson's limits of the rows that have a label, as if these were all."""
    return wilson(s.right.sum(axis=1), np.maximum(s.n_labelled, 1), LEVEL)


def power_tuned(s: Strata) -> Limits:
    """Return the normal limits of PPI++ with the weight of verdicts that it estimates."""
    n, rest = s.n_labelled, s.n - s.n_labelled
    share = s.right.sum(axis=1) / n  # of positive rows
    verdict, others = s.labelled[:, 0] / n, (s.rows - s.labelled)[:, 0] / rest
    of_all = s.share[:, 0]
    covariance = s.right[:, 0] / n - share * verdict
    variance = of_all * (1 - of_all) * s.n / (s.n - 1)
    weight = np.clip(covariance / ((1 + n / rest) * np.maximum(variance, 1e-12)), 0, 1)
    of_rectifier = share * (1 - share) - 2 * weight * covariance
    of_rectifier = np.maximum(of_rectifier + weight**2 * verdict * (1 - verdict), 0)
    error = np.sqrt(of_rectifier / n + weight**2 * others * (1 - others) / rest)
    estimate = share + weight * (others - verdict)
    return estimate - Z * error, estimate + Z * error


def rogan_gladen(s: Strata) -> Limits:
    """Return delta-method limits of the rate of accepted rows, corrected by the judge's recalls.

    NaN where the labels lack positive or negative rows, or the judge seems no better than chance.
    """
    positive, negative = s.right.sum(axis=1), (s.labelled - s.right).sum(axis=1)
    accepted = s.share[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        sensitivity = s.right[:, 0] / positive
        specificity = (s.labelled - s.right)[:, 1] / negative
        youden = sensitivity + specificity - 1
        youden = np.where(youden > 0, youden, np.nan)
        rate = (accepted + specificity - 1) / youden
        variance = accepted * (1 - accepted) / s.n
        variance += rate**2 * sensitivity * (1 - sensitivity) / positive
        variance += (1 - rate) ** 2 * specificity * (1 - specificity) / negative
    error = np.sqrt(variance) / youden
    return rate - Z * error, rate + Z * error


METHODS: Mapping[str, Callable[[Strata], Limits]] = {
    "`report`": partial(share_limits, level=LEVEL),
    '`interval="scas"`': partial(share_limits, level=LEVEL, skewness=True),
    "labelled rows only": labelled_only,
    "PPI++": power_tuned,
    "Rogan-Gladen": rogan_gladen,
}


SHIPPED = tuple(METHODS)[:2]


class Measured(NamedTuple):
    """Shares of samples that have limits, and of these that hold the truth, and a mean width."""

    coverage: float
    width: float
    limits: float


def measure(limits: Limits, truth: float) -> Measured:
    """Judge limits, cut off at 0 and 1."""
    lower, upper = limits
    used = np.isfinite(lower) & np.isfinite(upper)
    if not used.any():
        return Measured(np.nan, np.nan, 0.0)
    lower, upper = np.clip(lower[used], 0, 1), np.clip(upper[used], 0, 1)
    covers = (lower - ROUNDING <= truth) & (truth <= upper + ROUNDING)
    return Measured(float(covers.mean()), float((upper - lower).mean()), float(used.mean()))


def simulate(design: Design, n: int, methods: Sequence[str] = tuple(METHODS)) -> list[Measured]:
    """Draw samples of a design, and judge the limits of each method."""
    s = design.draw(design.random(), n)
    return [measure(METHODS[name](s), design.truth) for name in methods]


def designs(sampling: str) -> list[Design]:
    """Return all designs whose labels are drawn in one way."""
    return [Design(*each, sampling) for each in product(RATES, JUDGES, ROWS, LABELS)]


def recalls(s: Strata) -> tuple[Recall, Recall]:
    """Return the recall and the specificity of the verdicts."""
    right = np.stack([s.right[:, 0], (s.labelled - s.right)[:, 1]], axis=1)
    of_verdicts, accepted = replace(s, right=right), s.prediction == 1
    return Recall(of_verdicts, accepted), Recall(of_verdicts, ~accepted)
