"""Simulate limits for rows of which only some have a true label, and write their tables.

`.venv/bin/python -m benchmarks.partly_labelled_simulation` prints the tables and puts them into
docs/pages/error-rates-evals.md; it takes about half an hour. With `--repetitions` it prints only.

Rows are positive at a rate, and a judge has a sensitivity and a specificity. Labels are drawn at
random, half of them for each verdict, or mostly where the judge rejects. Strata are the two
verdicts, and beside the limits of balframe stand three that others use.

References
----------
A. N. Angelopoulos, J. C. Duchi and T. Zrnic, "PPI++: Efficient prediction-powered inference",
arXiv:2311.01453, 2023. W. J. Rogan and B. Gladen, "Estimating prevalence from the results of a
screening test", American Journal of Epidemiology 1978.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from balframe.core.strata import Strata
from balframe.stats.completions import Completions
from balframe.stats.partly_labelled import share_gate_limits, share_limits
from balframe.stats.partly_labelled_differences import (
    largest_share_difference,
    mover_limits_and_p_values,
    share_differences,
)
from balframe.stats.partly_labelled_recalls import MeanRecall, Recall
from balframe.stats.proportions import Limits, normal_quantile, wilson
from benchmarks.simulated import options, put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "error-rates-evals.md"
BEGIN, END = "<!-- partly labelled: begin -->", "<!-- partly labelled: end -->"
REPETITIONS = 4_000  # samples of each design of rates, verdicts of one segment, and doubt
GATE_FAMILIES = {1: 1, 6: 2, 60: 8}  # segments of a rule, and how often as many samples
LEVEL, ALPHA = 0.95, 0.05
Z = normal_quantile(LEVEL)
SEED = 20261129
FEW, ROUNDING = 0.93, 1e-9

RATES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
JUDGES = ((0.6, 0.5), (0.9, 0.8), (0.95, 0.7), (0.97, 0.6), (0.98, 0.5), (0.99, 0.97))
LABELS = (10, 20, 50, 100, 200)
ROWS = (500, 1_000, 4_000)
SOME_RATES, GATE_RATES = (0.5, 0.8, 0.95), (0.5, 0.8, 0.95, 0.99)
SOME_JUDGES = ((0.6, 0.5), (0.9, 0.8), (0.97, 0.6), (0.99, 0.97))
RATES_OF_PAIRS = ((0.5, 0.5), (0.8, 0.8), (0.95, 0.95), (0.5, 0.7), (0.8, 0.9), (0.95, 0.99))
RATES_OF_RULES, SEGMENTS_OF_RULES = ((0.8, 0.8), (0.95, 0.85), (0.8, 0.6)), (2, 6)
COUNTS = ("rows", "labelled", "right")  # of strata
HALF = "half for each verdict"
RATIOS = {"at random": 1, "3 to 1 where rejected": 3, "8 to 1 where rejected": 8}  # of labelled
SAMPLINGS = ("at random", HALF, "3 to 1 where rejected", "8 to 1 where rejected")
SOME_LABELS, SOME_SAMPLINGS = (20, 50, 200), (SAMPLINGS[0], HALF, SAMPLINGS[-1])

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


class FewCovered(NamedTuple):
    """A design whose limits hold too rarely."""

    limits: str
    design: str
    coverage: float


def header(*names: str) -> Iterator[str]:
    """Write the first two lines of a table."""
    yield f"| {' | '.join(names)} |"
    texts = ("labels", "design", "difference", "odds", "metric")
    rules = ("---" if name.startswith(("worst design", *texts)) else "---:" for name in names)
    yield f"| {' | '.join(rules)} |"


def mean_and_worst(results: Sequence[Measured]) -> str:
    """Write a mean and a worst coverage, and the mean width."""
    coverage = [each.coverage for each in results]
    width = np.nanmean([each.width for each in results])
    return f"{np.nanmean(coverage):.3f} / {np.nanmin(coverage):.3f} ({width:.2f})"


def worst(designs: Sequence[str], results: Sequence[Measured]) -> str:
    """Name the design with the lowest coverage."""
    return designs[int(np.nanargmin([each.coverage for each in results]))]


def few_covered(
    limits: str, designs: Sequence[str], results: Sequence[Measured]
) -> list[FewCovered]:
    """Return the designs whose limits hold too rarely."""
    return [
        FewCovered(limits, design, each.coverage)
        for design, each in zip(designs, results, strict=True)
        if each.coverage < FEW
    ]


def rates_at_random(n: int, few: list[FewCovered]) -> Iterator[str]:
    """Write a row for each number of labels that are drawn at random."""
    yield from header("labels", *METHODS, "not defined", "worst design of `report`")
    for labels in LABELS:
        used = [design for design in designs(SAMPLINGS[0]) if design.labels == labels]
        names = [design.name for design in used]
        columns = list(zip(*(simulate(design, n) for design in used), strict=True))
        for limits, column in zip(SHIPPED, columns, strict=False):
            few += few_covered(limits, names, column)
        undefined = np.mean([1 - each.limits for each in columns[-1]])
        cells = " | ".join(map(mean_and_worst, columns))
        yield f"| {labels} | {cells} | {undefined:.2f} | {worst(names, columns[0])} |"


def rates_by_sampling(n: int, few: list[FewCovered]) -> Iterator[str]:
    """Write a row for each other way to draw labels."""
    methods = [*SHIPPED, "labelled rows only"]
    yield from header("labels", *methods, "worst design of `report`")
    for sampling in SAMPLINGS[1:]:
        used = designs(sampling)
        names = [design.name for design in used]
        columns = list(zip(*(simulate(design, n, methods) for design in used), strict=True))
        for limits, column in zip(SHIPPED, columns, strict=False):
            few += few_covered(limits, names, column)
        cells = " | ".join(map(mean_and_worst, columns))
        yield f"| {sampling} | {cells} | {worst(names, columns[0])} |"


def recalls(s: Strata) -> tuple[Recall, Recall]:
    """Return the recall and the specificity of the verdicts."""
    right = np.stack([s.right[:, 0], (s.labelled - s.right)[:, 1]], axis=1)
    of_verdicts, accepted = replace(s, right=right), s.prediction == 1
    return Recall(of_verdicts, accepted), Recall(of_verdicts, ~accepted)


def precision_limits(s: Strata) -> Limits:
    """Return the limits of the share of positive rows among those accepted."""
    return share_limits(s.only(s.prediction == 1), LEVEL)


METRICS: Mapping[str, tuple[Callable[[Strata], Limits], Callable[[Design], float]]] = {
    "precision": (precision_limits, lambda d: float(d.positive[0])),
    "recall": (lambda s: recalls(s)[0].limits(Z), lambda d: d.judge[0]),
    "specificity": (lambda s: recalls(s)[1].limits(Z), lambda d: d.judge[1]),
    "balanced accuracy": (
        lambda s: MeanRecall(*recalls(s)).limits(Z),
        lambda d: sum(d.judge) / 2,
    ),
}


def metrics_of_judge(n: int, few: list[FewCovered]) -> Iterator[str]:
    """Write a row for each number of labels, with the metrics of the judge."""
    yield from header("labels", *METRICS, "worst design of the recall")
    for labels in LABELS[1:]:
        used = [
            Design(rate, judge, 1_000, labels, sampling)
            for rate, judge, sampling in product(SOME_RATES, SOME_JUDGES, SAMPLINGS)
        ]
        names = [design.name for design in used]
        columns = list(zip(*(metrics_of(design, n) for design in used), strict=True))
        for metric, column in zip(METRICS, columns, strict=True):
            few += few_covered(metric, names, column)
        cells = " | ".join(map(mean_and_worst, columns))
        yield f"| {labels} | {cells} | {worst(names, columns[1])} |"


def metrics_of(design: Design, n: int) -> list[Measured]:
    """Draw samples of a design, and judge the limits of all metrics."""
    s = design.draw(design.random(), n)
    return [measure(limits(s), truth(design)) for limits, truth in METRICS.values()]


def difference_of_rates(first: Strata, second: Strata) -> tuple[Limits, Floats]:
    """Return limits of the difference of two rates, and p-values."""
    return share_differences(first, second, LEVEL)


def difference_of_recalls(first: Strata, second: Strata) -> tuple[Limits, Floats]:
    """Return MOVER limits of the difference of two recalls, and p-values."""
    return mover_limits_and_p_values(recalls(first)[0], recalls(second)[0], LEVEL)


@dataclass(frozen=True)
class Pair:
    """Two segments, and how often the limits of their difference hold, and p is under .05."""

    name: str
    is_equal: bool
    result: Measured
    rejected: float


DIFFERENCES = {  # how they are computed, the labels of both, and the part of the samples
    "rate": (difference_of_rates, [(20, 20), (20, 200), (50, 50), (200, 200)], 1.0),
    "recall": (difference_of_recalls, [(50, 50), (50, 200), (200, 200)], 0.25),
}


def pairs(metric: str, n: int) -> Iterator[Pair]:
    """Draw segments of several rates, in which the recalls of the judge are equal."""
    difference, labels, part = DIFFERENCES[metric]
    rates = [each for each in RATES_OF_PAIRS if metric == "rate" or each[0] == each[1]]
    for both, judge, of_both, sampling in product(rates, SOME_JUDGES[1:], labels, SAMPLINGS):
        first, second = (
            Design(rate, judge, 1_000, labelled, sampling)
            for rate, labelled in zip(both, of_both, strict=True)
        )
        random = first.random()
        sides = [design.draw(random, max(int(n * part), 1)) for design in (first, second)]
        (lower, upper), p = difference(*sides)
        result = measure(((lower + 1) / 2, (upper + 1) / 2), (both[0] - both[1] + 1) / 2)
        yield Pair(
            f"{first.name}; second segment {second.rate:g}, {second.labels} of {second.rows}",
            both[0] == both[1],
            result._replace(width=2 * result.width),
            float((p < ALPHA).mean()),
        )


def differences(n: int, few: list[FewCovered]) -> Iterator[str]:
    """Write a row for the differences of each metric between two segments."""
    yield from header("difference", "coverage", "`p < .05` of equal segments", "worst design")
    for metric in DIFFERENCES:
        every = list(pairs(metric, n))
        names, results = [pair.name for pair in every], [pair.result for pair in every]
        few += few_covered(f"difference of {metric}s", names, results)
        rejected = [pair.rejected for pair in every if pair.is_equal]
        yield (
            f"| {metric} | {mean_and_worst(results)} | {np.mean(rejected):.3f} / "
            f"{max(rejected):.3f} | {worst(names, results)} |"
        )


class Gated(NamedTuple):
    """A metric that rules are on, the limits that decide, and the samples of all, as a part."""

    limits: Callable[[Strata, float], Limits]
    truth: Callable[[Design], float]
    labels: Sequence[int]
    part: float


def _recall_gates(s: Strata, level: float) -> Limits:
    return recalls(s)[0].limits(normal_quantile(level), "rule")


def _mean_gates(s: Strata, level: float) -> Limits:
    return MeanRecall(*recalls(s)).limits(normal_quantile(level), "rule")


GATED: Mapping[str, Gated] = {
    "rate": Gated(share_gate_limits, lambda d: d.truth, SOME_LABELS, 1),
    "recall": Gated(_recall_gates, lambda d: d.judge[0], SOME_LABELS[1:], 0.5),
    "balanced accuracy": Gated(_mean_gates, lambda d: sum(d.judge) / 2, SOME_LABELS[1:], 0.5),
}


def gates(n: int) -> Iterator[str]:
    """Write a row for each metric and number of segments: how often a verdict is wrong."""
    yield from header("metric", "segments", "false pass", "false fail", "worst design of both")
    for metric, gated in GATED.items():
        used = [
            Design(*each)
            for each in product(GATE_RATES, SOME_JUDGES, [1_000], gated.labels, SOME_SAMPLINGS)
        ]
        for segments, factor in GATE_FAMILIES.items():
            samples = max(int(factor * gated.part * n), 1)
            wrong = np.array([false_verdicts(each, segments, samples, metric) for each in used])
            cells = (f"{side.mean():.3f} / {side.max():.3f}" for side in wrong.T)
            name = used[int(wrong.max(axis=1).argmax())].name
            yield f"| {metric} | {segments} | {' | '.join(cells)} | {name} |"


def false_verdicts(
    design: Design, segments: int, n: int, metric: str = "rate"
) -> tuple[float, float]:
    """Return how often some of independent segments passes, and fails, at its own truth."""
    s, gated = design.draw(design.random(), n), GATED[metric]
    lower, upper = gated.limits(s, 1 - ALPHA / segments)
    truth = gated.truth(design)
    wrong = (lower > truth + ROUNDING, upper < truth - ROUNDING)
    passes, fails = (float(1 - (1 - side.mean()) ** segments) for side in wrong)
    return passes, fails


def rules_on_differences(n: int) -> Iterator[str]:
    """Write a row for each true difference: how often a rule at this bound is judged wrongly."""
    yield from header("difference", "segments", "false pass", "false fail", "worst design of both")
    for rates, segments in product(RATES_OF_RULES, SEGMENTS_OF_RULES):
        used = [
            [Design(rate, judge, 1_000, labels, sampling) for rate in (rates[0], rates[1])]
            for judge, labels, sampling in product(SOME_JUDGES, SOME_LABELS[1:], SOME_SAMPLINGS[:2])
        ]
        wrong = np.array([false_verdicts_on_difference(*pair, segments, n) for pair in used])
        cells = (f"{side.mean():.3f} / {side.max():.3f}" for side in wrong.T)
        name = used[int(wrong.max(axis=1).argmax())][0].name
        yield f"| {rates[0] - rates[1]:.1f} | {segments} | {' | '.join(cells)} | {name} |"


def false_verdicts_on_difference(
    highest: Design, others: Design, segments: int, n: int
) -> tuple[float, float]:
    """Return how often a rule passes, and fails, whose bound is the difference of one segment."""
    random = highest.random()
    drawn = [design.draw(random, n) for design in (highest, *[others] * (segments - 1))]
    true, wrong = highest.rate - others.rate, np.zeros(2)
    for sample in range(n):
        parts = [each.at(np.array([sample])) for each in drawn]
        s = Strata(
            *(np.concatenate([getattr(each, name) for each in parts]) for name in COUNTS),
            np.concatenate([each.prediction for each in parts]),
        )
        shares = (s.share * s.right / np.maximum(s.labelled, 1)).sum(axis=1)
        (lower, upper), _ = largest_share_difference(s, shares, LEVEL)
        wrong += upper < true - ROUNDING, lower > true + ROUNDING
    passes, fails = (float(side) for side in wrong / n)
    return passes, fails


def doubts(n: int, few: list[FewCovered]) -> Iterator[str]:
    """Write a row for each change of odds: coverage without doubt, with doubt, and of bounds."""
    methods = ("without `doubt`", "`doubt=2`", '`missing="bounds"`')
    yield from header("odds", "metric", *methods, "worst design of `doubt=2`")
    for (odds, name), (metric, (limits_of, truth)) in product(
        ((2.0, "twice"), (0.5, "half")), DOUBTED.items()
    ):
        used = [
            Design(*each, odds=odds)
            for each in product(SOME_RATES, SOME_JUDGES, [1_000], SOME_LABELS, SOME_SAMPLINGS)
        ]
        names, results = [design.name for design in used], []
        for design in used:
            s = design.draw(design.random(), n)
            limits = (limits_of(each) for each in (s, replace(s, doubt=2.0), _bounded(s)))
            results.append([measure(each, truth(design)) for each in limits])
        columns = list(zip(*results, strict=True))
        few += few_covered(f"doubt=2, {metric}, odds {name}", names, columns[1])
        cells = " | ".join(map(mean_and_worst, columns))
        yield f"| {name} | {metric} | {cells} | {worst(names, columns[1])} |"


def _bounded(s: Strata) -> Strata:
    return replace(s, is_bounded=True)


def _rate_limits(s: Strata) -> Limits:
    return Completions.of_share(s).limits(LEVEL, None) if s.is_bounded else share_limits(s, LEVEL)


def _recall_limits(s: Strata) -> Limits:
    recall, _ = recalls(s)
    if s.is_bounded:
        return Completions.of_recall(recall.strata, recall.predicted).limits(LEVEL, None)
    return recall.limits(Z)


DOUBTED: Mapping[str, tuple[Callable[[Strata], Limits], Callable[[Design], float]]] = {
    "rate": (_rate_limits, lambda d: d.truth),
    "recall": (_recall_limits, lambda d: d.true_recall),
}


def tables(n: int, few: list[FewCovered]) -> Iterator[str]:
    """Write all tables."""
    yield "Rates, labels of rows drawn at random:\n"
    yield from rates_at_random(n, few)
    yield "\nRates, other labels:\n"
    yield from rates_by_sampling(n, few)
    yield "\nMetrics of the judge:\n"
    yield from metrics_of_judge(max(n // 2, 1), few)
    yield "\nDifferences of two segments:\n"
    yield from differences(max(n // 2, 1), few)
    yield "\nRules whose bound is the true rate, some wrong verdict among all segments:\n"
    yield from gates(n)
    yield "\nRules on the largest difference of segments, whose bound is the true one:\n"
    yield from rules_on_differences(max(n // 8, 1))
    yield "\nOdds of rows without a label:\n"
    yield from doubts(n, few)


if __name__ == "__main__":
    requested = options(__doc__, "samples of each design")
    rarely: list[FewCovered] = []
    made = "\n".join(tables(requested.repetitions or REPETITIONS, rarely))
    print(made)
    print(f"\nLimits that hold in less than {FEW} of samples:")
    for each in sorted(rarely, key=lambda each: each.coverage):
        print(f"{each.coverage:.3f} {each.limits}: {each.design}")
    if requested.repetitions is None:
        put(made, PAGE, BEGIN, END)
