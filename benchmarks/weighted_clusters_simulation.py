"""How often limits and rules err for weighted rows in clusters, simulated on many designs.

    python -m benchmarks.weighted_clusters_simulation    # writes docs/pages/error-rates.md
    python -m benchmarks.weighted_clusters_simulation --repetitions 100    # printed only

It takes about five minutes on two free cores. A data set is a segment, so that a method is called
once for all data sets of a design.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import optimize, special

import balframe as bf
from benchmarks.simulated import options, put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "error-rates.md"
BEGIN, END = "<!-- weighted clusters: begin -->", "<!-- weighted clusters: end -->"
REPETITIONS, SEED, CORES = 400, 31, 2
LEVEL = 0.95
FAMILIES = {1: 1.5, 6: 0.5, 60: 0.075}  # segments of a rule, and families by repetition
N_WORST = 6  # designs that are named
MEAN_ROWS, LARGEST_CLUSTER = 8, 100  # of unequal clusters
AHEAD = 0.05  # the difference of two models
GRID = (np.arange(4000) + 0.5) / 4000  # shares of the rows, by weight

FloatArray = npt.NDArray[np.float64]
Random = np.random.Generator

LAWS: Mapping[str, FloatArray] = {  # the quantiles of the weights
    "uniform, 0.5 to 1.5": 0.5 + GRID,
    "lognormal, sd 0.8": np.exp(0.8 * special.ndtri(GRID)),
    "5% weigh 10": np.where(GRID < 0.05, 10.0, 1.0),
}


@dataclass(frozen=True)
class Design:
    """Clusters of rows with weights, which may go with being right.

    `slope` is the change of the log odds with a standard deviation of the log weight. `rows` is the
    size of all clusters, or 0 for very different ones. If `of_clusters`, the rows of a cluster have
    one weight.
    """

    n_clusters: int
    rows: int
    correlation: float
    law: str
    slope: float
    of_clusters: bool
    share: float

    @property
    def title(self) -> str:
        """The design in words."""
        sizes = f"of {self.rows}" if self.rows else "of different size"
        weights = f"weights {self.law}{' (of clusters)' * self.of_clusters}"
        return (
            f"{self.n_clusters} clusters {sizes}, correlation {self.correlation:g}, {weights}, "
            f"log odds {self.slope:+g}, score {self.share:g}"
        )

    def draw(self, n_sets: int, random: Random) -> pl.DataFrame:
        """Draw data sets of rows: true label y, predictions a and b, score, cluster c, weight w.

        Of the rows of a cluster, some share one draw, so that their correlation is the one given.
        """
        n_all = n_sets * self.n_clusters
        size = np.full(n_all, self.rows)
        if not self.rows:
            drawn = np.exp(random.normal(np.log(MEAN_ROWS), 1, n_all)).round()
            size = np.clip(drawn, 1, LARGEST_CLUSTER).astype(np.int64)
        cluster = np.repeat(np.arange(n_all), size)
        n = len(cluster)
        share_of_row = random.integers(len(GRID), size=n_all)[cluster]
        if not self.of_clusters:
            share_of_row = random.integers(len(GRID), size=n)
        weight = LAWS[self.law][share_of_row]
        is_common = random.random(n) < np.sqrt(self.correlation)
        ease = np.where(is_common, random.random(n_all)[cluster], random.random(n))
        y = random.integers(2, size=n)
        columns = {"set": cluster // self.n_clusters, "c": cluster, "w": weight, "y": y}
        is_right = ease < self._right(self.share)[share_of_row]
        is_other_right = ease < self._right(self.share - AHEAD)[share_of_row]
        turned = random.random(n) < AHEAD  # so that each model is alone right in some rows
        both = (
            np.where(turned, is_other_right, is_right),
            np.where(turned, is_right, is_other_right),
        )
        predictions = {
            name: np.where(right, y, 1 - y) for name, right in zip("ab", both, strict=True)
        }
        yhat = np.where(is_right, y, 1 - y)
        of_label = random.standard_normal(2 * n_all)[2 * cluster + y]
        noise = np.where(is_common, of_label, random.standard_normal(n))
        score = noise + np.sqrt(2) * special.ndtri(self.share) * y
        return pl.DataFrame({**columns, "yhat": yhat, **predictions, "score": score})

    def _right(self, share: float) -> FloatArray:
        """Return the probability of being right by weight, of which this is the weighted mean."""
        weight = LAWS[self.law]
        log = np.log(weight)
        slopes = self.slope * (log - log.mean()) / log.std()

        def excess(start: float) -> float:
            return float((weight * special.expit(start + slopes)).sum() / weight.sum()) - share

        return np.asarray(special.expit(optimize.brentq(excess, -40, 40) + slopes))

    @property
    def difference(self) -> float:
        """The true score of the first model less that of the second."""
        return (1 - 2 * AHEAD) * AHEAD


DESIGNS = [
    Design(m, rows, correlation, law, slope, of_clusters, share)
    for m, rows, correlation, (law, slope, of_clusters), share in product(
        (12, 40),
        (10, 0),
        (0.0, 0.2, 0.5),
        (
            ("uniform, 0.5 to 1.5", 0, False),
            ("lognormal, sd 0.8", 0, False),
            ("lognormal, sd 0.8", 0, True),
            ("lognormal, sd 0.8", -0.8, False),
            ("lognormal, sd 0.8", 0.8, False),
            ("5% weigh 10", 0, False),
            ("5% weigh 10", -0.6, False),
        ),
        (0.7, 0.95),
    )
]
BOTH, WEIGHTS = {"cluster": "c", "sample_weight": "w"}, {"sample_weight": "w"}
METRICS = {"accuracy": "accuracy", "uar": "balanced accuracy", "cohen_kappa": "Cohen's kappa"}
VERDICTS = ("pass", "fail")

Shares = dict[str, tuple[float, float]]
Simulation = Callable[["Design", int, Random], Shares]


def coverage(design: Design, repetitions: int, random: Random) -> Shares:
    """Return the share of limits that hold the truth: with both options, and with weights alone."""
    frame = design.draw(repetitions, random)
    both, alone = (_coverage(design, frame, options_) for options_ in (BOTH, WEIGHTS))
    return {title: (share, alone[title]) for title, share in both.items()}


def _coverage(
    design: Design, frame: pl.DataFrame, options_: Mapping[str, object]
) -> dict[str, float]:
    shared = {"by": "set", "pos_label": 1, **options_}
    truth = {"cohen_kappa": 2 * design.share - 1}
    report = bf.report(frame, "y", "yhat", metrics=[*METRICS], interval=True, **shared)
    shares = {
        title: _holding(report, f"{metric}_", truth.get(metric, design.share))
        for metric, title in METRICS.items()
    }
    area = bf.ranking(frame, "y", "score", **shared)
    paired = bf.compare(frame, "y", "a", baseline="b", metrics="accuracy", **shared)
    return shares | {
        "area under the ROC curve": _holding(area, "roc_auc_", design.share),
        "difference of two models": _holding(paired, "", design.difference),
    }


def _holding(result: pl.DataFrame, prefix: str, truth: float) -> float:
    """Return the share of the limits there are that hold the truth."""
    lower, upper = (result[f"{prefix}{end}"].to_numpy() for end in ("lower", "upper"))
    has_limits = np.isfinite(lower)
    return float(((lower <= truth) & (truth <= upper))[has_limits].mean())


def wrong_verdicts(design: Design, repetitions: int, random: Random) -> Shares:
    """Return how often a rule at its bound passes and fails in any segment of a family."""
    out = {}
    for n_segments, families in FAMILIES.items():
        n_families = int(np.ceil(repetitions * families))
        frame = design.draw(n_families * n_segments, random)
        for metric in ("accuracy", "uar"):
            verdicts = bf.check(
                frame,
                "y",
                "yhat",
                by="set",
                rules=f"{metric} >= {design.share}",
                level=1 - (1 - LEVEL) / n_segments,
                adjust=None,
                pos_label=1,
                min_support=1,
                **BOTH,
            )
            status = verdicts["status"].to_numpy().reshape(n_families, n_segments)
            shares = [float((status == word).any(axis=1).mean()) for word in VERDICTS]
            out[f"{METRICS[metric]} | {n_segments}"] = shares[0], shares[1]
    return out


def _simulated(
    simulation: Simulation, repetitions: int, numbered: tuple[int, Design]
) -> tuple[Design, Shares]:
    number, design = numbered
    return design, simulation(design, repetitions, np.random.default_rng([SEED, number]))


def _all_simulated(
    simulation: Simulation, designs: Sequence[Design], repetitions: int, cores: int
) -> list[tuple[Design, Shares]]:
    simulate = partial(_simulated, simulation, repetitions)
    if cores == 1:
        return list(map(simulate, enumerate(designs)))
    with ProcessPoolExecutor(cores, get_context("spawn")) as pool:
        return list(pool.map(simulate, enumerate(designs), chunksize=4))


def tables(designs: Sequence[Design], repetitions: int, cores: int = 1) -> str:
    """Simulate everything, and write it down: means and worst of the designs, and the worst."""
    results = _all_simulated(coverage, designs, repetitions, cores)
    lines = ["| 95% interval | with both | with weights alone |", "| --- | --- | --- |"]
    for title in results[0][1]:
        both, alone = zip(*(shares[title] for _, shares in results), strict=True)
        cells = (f"{np.mean(values):.3f} / {min(values):.3f}" for values in (both, alone))
        lines.append(f"| {title} | {' | '.join(cells)} |")
    lines += ["", "| lowest coverage of accuracy | accuracy | balanced accuracy |"]
    lines.append("| --- | --- | --- |")
    for design, shares in sorted(results, key=lambda result: result[1]["accuracy"])[:N_WORST]:
        of_metrics = (f"{shares[METRICS[metric]][0]:.3f}" for metric in ("accuracy", "uar"))
        lines.append(f"| {design.title} | {' | '.join(of_metrics)} |")
    lines += ["", "| rule at its bound | segments | passes | fails |", "| --- | --- | --- | --- |"]
    verdicts = _all_simulated(wrong_verdicts, designs[1::2], repetitions, cores)
    for title in verdicts[0][1]:
        by_word = zip(*(shares[title] for _, shares in verdicts), strict=True)
        cells = (f"{np.mean(values):.3f} / {max(values):.3f}" for values in by_word)
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Write the tables into the page, or print those of fewer repetitions."""
    given = options(__doc__, "data sets", CORES)
    made = tables(DESIGNS, given.repetitions or REPETITIONS, given.cores)
    if given.repetitions is not None:
        print(made)
        return
    put(made, PAGE, BEGIN, END)


if __name__ == "__main__":
    main()
