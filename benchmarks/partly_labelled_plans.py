"""Simulate how often rules pass with the labels that `power` plans, and write a table.

`.venv/bin/python -m benchmarks.partly_labelled_plans` prints the table and puts it into
docs/pages/error-rates-evals.md; it takes about four minutes. With `--repetitions` it prints only.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from balframe.core.strata import Strata
from balframe.methods.gates.plan_labels import LabelPlan
from balframe.stats.partly_labelled_recalls import LinearScore, MeanRecall
from balframe.stats.proportions import normal_quantile
from benchmarks.partly_labelled_samples import LEVEL, Design, Floats, recalls
from benchmarks.partly_labelled_simulation import GATED, PAGE, header
from benchmarks.simulated import options, put

BEGIN, END = "<!-- partly labelled plans: begin -->", "<!-- partly labelled plans: end -->"
REPETITIONS = 1_500  # samples of each plan
POWERS = (0.5, 0.8, 0.95)
RATES = {"rate": (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)}
RATES_OF_RECALLS = (0.1, 0.3, 0.5, 0.8)
JUDGES = ((0.6, 0.5), (0.9, 0.8), (0.95, 0.7), (0.97, 0.6), (0.99, 0.95))
ROWS, MARGINS, SEGMENTS = (1_000, 4_000), (0.02, 0.05, 0.1), (1, 6)
KNOWN = 1e9  # labels of a stratum whose share of right rows is known


class Plan(NamedTuple):
    """A design, by how much its metric is above the bound of a rule, and how many share errors."""

    design: Design
    margin: float
    segments: int

    @property
    def level(self) -> float:
        """The level of the limits that decide."""
        return 1 - (1 - LEVEL) / self.segments

    @property
    def name(self) -> str:
        """What is planned, in few words."""
        sensitivity, specificity = self.design.judge
        judge = f"judge {sensitivity:g}/{specificity:g}"
        of = f"{self.segments} segment{'s' * (self.segments > 1)}"
        return f"{self.design.rate:g}, {judge}, {self.design.rows} rows, {self.margin:g}, {of}"

    def strata(self, n: int, random: np.random.Generator, labels: Floats) -> Strata:
        """Draw samples with these labels of strata, or fewer where there are fewer rows."""
        accepted = random.binomial(self.design.rows, self.design.accepted, n)
        rows = np.stack([accepted, self.design.rows - accepted], axis=1).astype(float)
        labelled = np.minimum(labels, rows)
        positive = random.binomial(labelled.astype(np.int64), self.design.positive)
        return Strata(rows, labelled, positive.astype(float), np.tile([1, 0], (n, 1)))

    def known(self) -> Strata:
        """Return strata as of a pilot so large that all shares are known."""
        share = np.array([self.design.accepted, 1 - self.design.accepted])
        labelled = np.full((1, 2), KNOWN)
        rows = (self.design.rows * share)[None]
        return Strata(rows, labelled, labelled * self.design.positive, np.array([[1, 0]]))

    def of(self, metric: str) -> LabelPlan:
        """Return the plan of labels for a metric."""
        strata, z = self.known(), np.array([normal_quantile(self.level)])
        bound = GATED[metric].truth(self.design) - self.margin
        if metric == "rate":
            return LabelPlan.of(LinearScore.of_share(strata), bound, z)
        recall, specificity = recalls(strata)
        if metric == "recall":
            return LabelPlan.of(recall.contrast(bound), 0, z)
        mean = MeanRecall(recall, specificity)
        return LabelPlan.of(mean.linearised(), bound, z, recall.predicted)

    def pass_share(self, metric: str, labels: Floats, n: int) -> float:
        """Return the share of samples in which the rule passes, NaN without a plan."""
        if np.isnan(labels).any():
            return np.nan
        strata = self.strata(n, self.design.random(), labels)
        lower, _ = GATED[metric].limits(strata, self.level)
        return float((lower > GATED[metric].truth(self.design) - self.margin).mean())


def together(plans: Sequence[LabelPlan]) -> LabelPlan:
    """Return several plans as one: a search for all of them takes hardly longer than one."""

    def both(parts: Iterable[object], names: Iterable[str]) -> dict[str, Any]:
        each = list(parts)
        return {name: np.concatenate([getattr(part, name) for part in each]) for name in names}

    strata = [plan.strata for plan in plans]
    names = ["slope", "offset", "scale", "row_variance", "bound", "z"]
    names += ["predicted"] * (plans[0].predicted is not None)
    columns = both(strata, ["rows", "labelled", "right", "prediction"])
    return replace(plans[0], strata=replace(strata[0], **columns), **both(plans, names))


def table(n: int) -> Iterator[str]:
    """Write a row for each metric and power."""
    yield from header(
        "metric", "power", "plans", "passed", "9 of 10 plans", "worst design: lowest share"
    )
    for metric, power in product(GATED, POWERS):
        designs = product(RATES.get(metric, RATES_OF_RECALLS), JUDGES, ROWS)
        plans = [
            Plan(Design(*design, labels=0), margin, segments)
            for design, margin, segments in product(designs, MARGINS, SEGMENTS)
        ]
        labels = together([plan.of(metric) for plan in plans]).for_power(np.full(len(plans), power))
        passed = np.array(
            [plan.pass_share(metric, each, n) for plan, each in zip(plans, labels, strict=True)]
        )
        have = np.isfinite(passed)
        low, high = np.nanquantile(passed, [0.05, 0.95])
        name = plans[int(np.nanargmin(passed))].name
        yield (
            f"| {metric} | {power} | {have.sum()} | {np.nanmin(passed):.2f} to "
            f"{np.nanmax(passed):.2f} | {low:.2f} to {high:.2f} | {name} |"
        )


if __name__ == "__main__":
    requested = options(__doc__, "samples of each plan")
    made = "\n".join(table(requested.repetitions or REPETITIONS))
    print(made)
    if requested.repetitions is None:
        put(made, PAGE, BEGIN, END)
