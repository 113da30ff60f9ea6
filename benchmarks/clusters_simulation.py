"""How often limits and tests for rows in clusters err, simulated on many designs.

    python -m benchmarks.clusters_simulation    # writes docs/pages/explanations/intervals.md
    python -m benchmarks.clusters_simulation --repetitions 100    # fewer data sets, printed only

It takes about five minutes on two free cores. A data set is a segment, so that a verb is called
once for all data sets of a design.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import polars as pl

import balframe as bf
from balframe.api.metric_selection import MetricSelection
from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.label_counts import LabelCounts
from balframe.core.row_sums import RowSums
from balframe.core.sample import Clusters, Sample
from balframe.methods.comparisons.segments import differences
from balframe.stats.base import IntervalRequest
from benchmarks.clusters_data import BEHIND, DESIGNS, Design, FloatArray, Random
from benchmarks.simulated import options, put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "explanations" / "intervals.md"
BEGIN, END = "<!-- clusters: begin -->", "<!-- clusters: end -->"
REPETITIONS, SEED, CORES = 2000, 24, 2
FAMILY, FEWER = 5, 10  # segments of a test of equality, and by how much fewer data sets it has
ALPHA = 0.05
BALANCED = "balanced_accuracy"


@dataclass(frozen=True)
class Shares:
    """Shares of data sets: with the clusters named, and without; data sets without limits."""

    named: float
    ignored: float
    without_limits: int = 0


Question = Callable[[Design, int, Random], Shares]


def share_within(lower: FloatArray, upper: FloatArray, truth: float) -> tuple[float, int]:
    """Give the share of known limits that contain the truth, and how many are not known."""
    known = np.isfinite(lower) & np.isfinite(upper)
    inside = (lower <= truth) & (truth <= upper)
    return float(inside[known].mean()), int((~known).sum())


def of_both(named: tuple[float, int], ignored: tuple[float, int]) -> Shares:
    """Put both shares together."""
    return Shares(named[0], ignored[0], named[1])


def covers(metric: str, design: Design, repetitions: int, random: Random) -> Shares:
    """Ask `report` about a metric."""
    frame = design.of_segments(repetitions, 1, random)

    def ask(cluster: str | None) -> tuple[float, int]:
        out = bf.report(
            *(frame, "y", "yhat"), by="set", counts="n", metrics=metric, interval=True,
            cluster=cluster, pos_label=1,
        )  # fmt: skip
        limits = (out[f"{metric}_{end}"].to_numpy() for end in ("lower", "upper"))
        return share_within(*limits, design.recall)

    return of_both(ask("cluster"), ask(None))


def covers_area(
    design: Design, repetitions: int, random: Random, *, one_label: bool = False
) -> Shares:
    """Ask `ranking` about the area under the ROC curve."""
    frame = design.of_scores(repetitions, random, one_label=one_label)

    def ask(cluster: str | None) -> tuple[float, int]:
        out = bf.ranking(frame, "y", "score", by="set", cluster=cluster, pos_label=1, detail=True)
        limits = (out[f"roc_auc_{end}"].to_numpy() for end in ("lower", "upper"))
        return share_within(*limits, design.recall)

    return of_both(ask("cluster"), ask(None))


def covers_paired(design: Design, repetitions: int, random: Random) -> Shares:
    """Ask `compare` about two models."""
    frame = design.of_models(repetitions, random)

    def ask(cluster: str | None) -> tuple[float, int]:
        out = bf.compare(
            frame,
            "y",
            "a",
            baseline="b",
            by="set",
            counts="n",
            metrics=BALANCED,
            cluster=cluster,
            detail=True,
        )
        return share_within(out["lower"].to_numpy(), out["upper"].to_numpy(), BEHIND)

    return of_both(ask("cluster"), ask(None))


def covers_difference(
    design: Design, repetitions: int, random: Random, *, shared: bool = False
) -> Shares:
    """Find the limits that `gaps` has of the difference of two segments, in all data sets."""
    sample = counted(design.of_segments(repetitions, 2, random, shared=shared))
    sides = [sample.at(np.arange(side, 2 * repetitions, 2)) for side in range(2)]
    metrics = MetricSelection.of(BALANCED, None, ()).metrics

    def ask(one: Sample, other: Sample) -> tuple[float, int]:
        found = differences(metrics, one, other, "", IntervalRequest(None, 1 - ALPHA))[BALANCED]
        return share_within(found.lower, found.upper, 0)

    return of_both(ask(*sides), ask(*(replace(side, clusters=None) for side in sides)))


def counted(frame: pl.DataFrame) -> Sample:
    """Count the rows of pairs of data set and segment, which are the segments of the sample."""
    segment = (frame["set"] * (frame["segment"].max() + 1) + frame["segment"]).to_numpy()
    cluster, y, yhat, n = (frame[name].to_numpy() for name in ("cluster", "y", "yhat", "n"))
    cells = Cells((segment, cluster), y, yhat, RowSums(n)).regrouped()
    of_segments = cells.sorted_by([0])
    counts = ClassCounts.of(LabelCounts.of(of_segments, 2), pos_label=1)
    return Sample(counts, lambda: of_segments, Clusters.of(cells, counts))


def rejects_equality(
    design: Design, repetitions: int, random: Random, *, shared: bool = False
) -> Shares:
    """Ask `disparity` whether equal segments are equal, one data set after the other."""
    frame = design.of_segments(max(repetitions // FEWER, 1), FAMILY, random, shared=shared)

    def ask(cluster: str | None) -> tuple[float, int]:
        p = [
            bf.disparity(
                *(one, "y", "yhat"),
                by="segment",
                counts="n",
                metrics=BALANCED,
                min_support=1,
                cluster=cluster,
                detail=True,
            )["p_value"].item()
            for one in frame.partition_by("set", include_key=False)
        ]
        known = [value for value in p if value is not None]
        return float(np.mean([value < ALPHA for value in known])), len(p) - len(known)

    return of_both(ask("cluster"), ask(None))


COVERAGE: Mapping[str, Question] = {
    "accuracy": partial(covers, "accuracy"),
    "balanced accuracy": partial(covers, BALANCED),
    "area under the ROC curve": covers_area,
    "area under the ROC curve, one label in each cluster": partial(covers_area, one_label=True),
    "difference of two segments with other clusters": covers_difference,
    "difference of two segments with the same clusters": partial(covers_difference, shared=True),
    "difference of two models": covers_paired,
}
SIZE: Mapping[str, Question] = {
    f"{FAMILY} segments with other clusters": rejects_equality,
    f"{FAMILY} segments with the same clusters": partial(rejects_equality, shared=True),
}
OF_TESTS = (5, 20)  # sizes of the clusters for which tests are simulated, as they take longer
BY_DESIGN = "balanced accuracy"  # the question whose shares are shown for each kind of design


def asked(question: Question, repetitions: int, numbered: tuple[int, Design]) -> Shares:
    """Draw the data sets of a design, and ask."""
    number, design = numbered
    random = np.random.default_rng([SEED, number])
    return question(design, repetitions, random)


def of_designs(
    question: Question, designs: Sequence[Design], repetitions: int, cores: int = 1
) -> list[Shares]:
    """Ask about all designs."""
    ask = partial(asked, question, repetitions)
    if cores == 1:
        return list(map(ask, enumerate(designs)))
    with ProcessPoolExecutor(cores, get_context("spawn")) as pool:
        return list(pool.map(ask, enumerate(designs), chunksize=4))


def row(title: str, shares: Sequence[Shares], worst: Callable[[Iterable[float]], float]) -> str:
    """Write the mean and the worst of the shares of all designs."""
    named, ignored = ([getattr(one, name) for one in shares] for name in ("named", "ignored"))
    cells = (f"{np.mean(values):.3f} / {worst(values):.3f}" for values in (named, ignored))
    return f"| {title} | {' | '.join(cells)} |"


def by_design(designs: Sequence[Design], shares: Sequence[Shares]) -> list[str]:
    """Write the mean shares for each number of clusters and each correlation."""
    correlations = sorted({design.correlation for design in designs})
    lines = [
        f"| clusters | {' | '.join(f'correlation {r:g}' for r in correlations)} |",
        f"| --- {'| --- ' * len(correlations)}|",
    ]
    pairs = zip(designs, shares, strict=True)
    for n, of_number in groupby(pairs, lambda pair: pair[0].n_clusters):
        held = list(of_number)
        cells = []
        for r in correlations:
            chosen = [share for design, share in held if design.correlation == r]
            means = (np.mean([getattr(s, name) for s in chosen]) for name in ("named", "ignored"))
            cells.append(" and ".join(f"{mean:.3f}" for mean in means))
        lines.append(f"| {n} | {' | '.join(cells)} |")
    return lines


def tables(designs: Sequence[Design], repetitions: int, cores: int = 1) -> str:
    """Simulate everything."""
    lines, shown = ["| 95% interval | with `cluster=` | without |", "| --- | --- | --- |"], []
    left_out = 0
    for title, question in COVERAGE.items():
        shares = of_designs(question, designs, repetitions, cores)
        left_out += sum(one.without_limits for one in shares)
        lines.append(row(title, shares, min))
        print(lines[-1], flush=True)
        if title == BY_DESIGN:
            shown = by_design(designs, shares)
    lines += ["", *shown, "", "| test of equality | with `cluster=` | without |"]
    lines += ["| --- | --- | --- |"]
    for title, question in SIZE.items():
        chosen = [design for design in designs if design.sizes == OF_TESTS]
        lines.append(row(title, of_designs(question, chosen, repetitions, cores), max))
        print(lines[-1], flush=True)
    print(f"without limits: {left_out} data sets")
    return "\n".join(lines)


def main() -> None:
    given = options(__doc__, "data sets", CORES)
    made = tables(DESIGNS, given.repetitions or REPETITIONS, given.cores)
    if given.repetitions is not None:
        print(made)
        return
    put(made, PAGE, BEGIN, END)


if __name__ == "__main__":
    main()
