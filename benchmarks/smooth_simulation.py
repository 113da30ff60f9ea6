"""Simulate limits of averages, F-scores, kappas and ratios, and write their table.

`.venv/bin/python -m benchmarks.smooth_simulation` prints the table and puts it into
docs/pages/error-rates.md; it takes about five minutes. With `--repetitions` it prints only.

The rows of each label are drawn with its recall, and errors are spread evenly over the other
labels. Each segment is reported, and checked against its true value: alone, and in families of 60
whose limits share the error.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

import balframe as bf
from benchmarks.simulated import options, put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "error-rates.md"
BEGIN, END = "<!-- smooth: begin -->", "<!-- smooth: end -->"
REPETITIONS = 18_000  # segments of each design: 300 families of 60
FAMILY = 60
LEVEL = 0.95
SEED = 20261127
POPULATION = 10**12  # rows, in which shares are exact

BINARY = ["f1_macro", "f1_weighted", "jaccard_macro", "jaccard_weighted", "precision_weighted"]
BINARY += ["precision_macro", "jaccard_micro", "fbeta(2)", "fbeta(0.5)"]
RATIOS = ["positive_likelihood_ratio", "negative_likelihood_ratio", "diagnostic_odds_ratio"]
ORDERED = ["cohen_kappa_linear", "cohen_kappa_quadratic"]


@dataclass(frozen=True)
class Design:
    """The rows of each label in a segment, and their recalls."""

    supports: tuple[int, ...]
    recalls: tuple[float, ...]

    @property
    def name(self) -> str:
        """Rows and recalls; equal ones are written once."""
        if len(set(self.supports)) == len(set(self.recalls)) == 1 < len(self.supports) - 1:
            return f"{len(self.supports)} labels of {self.supports[0]}, recall {self.recalls[0]}"
        return f"{', '.join(map(str, self.supports))}, recalls {', '.join(map(str, self.recalls))}"

    @property
    def metrics(self) -> list[str]:
        """The metrics simulated: ratios and F-beta of two labels, weighted kappas of more."""
        averages = [name for name in BINARY if "fbeta" not in name]
        return [*BINARY, *RATIOS] if len(self.supports) == 2 else [*averages, *ORDERED]

    @property
    def shares(self) -> npt.NDArray[np.float64]:
        """How rows of each label are predicted."""
        k = len(self.supports)
        shares = np.repeat((1 - np.array(self.recalls)) / (k - 1), k).reshape(k, k)
        np.fill_diagonal(shares, self.recalls)
        return shares

    def draw(self, random: np.random.Generator, n: int) -> npt.NDArray[np.int64]:
        """Draw the confusion matrices of n segments."""
        rows = [random.multinomial(*of, n) for of in zip(self.supports, self.shares, strict=True)]
        return np.stack(rows, axis=1)

    def truth(self) -> dict[str, float]:
        """Return the metrics of the population."""
        share = np.array(self.supports)[:, None] / sum(self.supports)
        matrix = np.rint(POPULATION * self.shares * share).astype(np.int64)
        out = bf.report(
            cells(matrix[None]), "y", "p", counts="n", metrics=self.metrics, pos_label=1
        )
        return {name: out[name].item() for name in self.metrics}


DESIGNS = (
    Design((50, 50), (0.8, 0.8)),
    Design((15, 15), (0.7, 0.8)),
    Design((200, 20), (0.9, 0.5)),
    Design((1_000, 100), (0.99, 0.6)),
    Design((500, 20), (0.95, 0.2)),
    Design((2_000, 2_000), (0.99, 0.97)),
    Design((40, 30, 10), (0.8, 0.7, 0.6)),
    Design((300, 100, 30, 10), (0.9, 0.8, 0.7, 0.6)),
    Design((20,) * 5, (0.8,) * 5),
    Design((10,) * 10, (0.7,) * 10),
)


def cells(matrices: npt.NDArray[np.int64]) -> pl.DataFrame:
    """Return a row for each cell of each matrix."""
    segment, true, predicted = (index.ravel() for index in np.indices(matrices.shape))
    return pl.DataFrame({"g": segment, "y": true, "p": predicted, "n": matrices.ravel()})


@dataclass(frozen=True)
class Simulated:
    """What limits of a metric do in a design, as shares of segments or families.

    `alone` and `together` are the larger of two shares, of segments judged too good and of those
    judged too bad, of one segment and of families.
    """

    coverage: float
    alone: float
    together: float
    undecided: float


def simulate(design: Design, n: int) -> dict[str, Simulated]:
    """Simulate all metrics of a design."""
    random = np.random.default_rng([SEED, *design.supports, len(design.name)])
    frame, truth = cells(design.draw(random, n)), design.truth()
    request = {"by": "g", "counts": "n", "pos_label": 1}
    report = bf.report(
        frame, "y", "p", metrics=design.metrics, interval=True, level=LEVEL, **request
    )
    out = {}
    for name in design.metrics:
        low, high = (
            report[f"{name}_{end}"].fill_null(np.nan).to_numpy() for end in ("lower", "upper")
        )
        is_defined = np.isfinite(low)
        is_covered = (low <= truth[name] + 1e-9) & (truth[name] - 1e-9 <= high)
        verdicts = []
        for size in (1, FAMILY):
            level, labels = 1 - (1 - LEVEL) / size, bf.label_set(absent="skip")
            own = {"rules": f"{name} >= 0", "adjust": None, "level": level, "labels": labels}
            checked = bf.check(frame, "y", "p", **own, **request)
            low, high = (checked[end].fill_null(np.nan).to_numpy() for end in ("lower", "upper"))
            families = n // size * size
            wrong = [low > truth[name] + 1e-9, high < truth[name] - 1e-9]
            verdicts.append(
                max(each[:families].reshape(-1, size).any(axis=1).mean() for each in wrong)
            )
        out[name] = Simulated(
            float(is_covered[is_defined].mean()), *map(float, verdicts), float(np.isnan(low).mean())
        )
    return out


def table(found: Sequence[tuple[Design, dict[str, Simulated]]]) -> Iterator[str]:
    """Write a row for each metric: coverage, and false verdicts in the worst design."""
    head = (
        "metric",
        "coverage of `report`, mean / worst",
        "`check`, one segment",
        "`check`, 60 segments",
        "no limits that decide, mean",
        "design of the worst coverage",
    )
    yield f"| {' | '.join(head)} |"
    yield "| --- | ---: | ---: | ---: | ---: | --- |"
    for name in dict.fromkeys(name for _, metrics in found for name in metrics):
        of_metric = [(design, metrics[name]) for design, metrics in found if name in metrics]
        results = [result for _, result in of_metric]
        worst = min(of_metric, key=lambda pair: pair[1].coverage)
        coverage = np.mean([result.coverage for result in results])
        yield (
            f"| `{name}` | {coverage:.3f} / {worst[1].coverage:.3f} "
            f"| {max(result.alone for result in results):.3f} "
            f"| {max(result.together for result in results):.3f} "
            f"| {np.mean([result.undecided for result in results]):.2f} | {worst[0].name} |"
        )


if __name__ == "__main__":
    requested = options(__doc__, "segments of each design")
    n = requested.repetitions or REPETITIONS
    made = "\n".join(table([(design, simulate(design, n)) for design in DESIGNS]))
    print(made)
    if requested.repetitions is None:
        put(made, PAGE, BEGIN, END)
