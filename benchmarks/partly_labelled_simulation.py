"""Simulate limits for rows of which only some have a true label, and write their tables.

`.venv/bin/python -m benchmarks.partly_labelled_simulation` prints the tables and puts them into
docs/pages/error-rates-evals.md; it takes about 45 minutes. With `--repetitions` it prints only.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from balframe.core.strata import Strata
from balframe.stats.partly_labelled import Completions, share_gate_limits, share_limits
from balframe.stats.partly_labelled_differences import (
    largest_share_difference,
    mover_limits_and_p_values,
    share_differences,
)
from balframe.stats.partly_labelled_recalls import MeanRecall
from balframe.stats.proportions import Limits, normal_quantile
from benchmarks.partly_labelled_samples import (
    ALPHA,
    HALF,
    LABELS,
    LEVEL,
    METHODS,
    ROUNDING,
    SAMPLINGS,
    SHIPPED,
    Design,
    Floats,
    Measured,
    Z,
    designs,
    measure,
    recalls,
    simulate,
)
from benchmarks.simulated import options, put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "error-rates-evals.md"
BEGIN, END = "<!-- partly labelled: begin -->", "<!-- partly labelled: end -->"
REPETITIONS = 4_000  # samples of each design of rates, verdicts of one segment, and doubt
GATE_FAMILIES = {1: 1, 6: 2, 60: 8}  # segments of a rule, and how often as many samples
FEW = 0.93  # the coverage below which designs are named

SOME_RATES, GATE_RATES = (0.5, 0.8, 0.95), (0.5, 0.8, 0.95, 0.99)
SOME_JUDGES = ((0.6, 0.5), (0.9, 0.8), (0.97, 0.6), (0.99, 0.97))
RATES_OF_PAIRS = ((0.5, 0.5), (0.8, 0.8), (0.95, 0.95), (0.5, 0.7), (0.8, 0.9), (0.95, 0.99))
RATES_OF_RULES, SEGMENTS_OF_RULES = ((0.8, 0.8), (0.95, 0.85), (0.8, 0.6)), (2, 6)
COUNTS = ("rows", "labelled", "right")  # of strata
SOME_LABELS, SOME_SAMPLINGS = (20, 50, 200), (SAMPLINGS[0], HALF, SAMPLINGS[-1])


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
