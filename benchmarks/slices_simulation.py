"""How often `slices` lists what is not there, and finds what is: simulated through the verb.

    python -m benchmarks.slices_simulation            # writes docs/pages/error-rates.md
    python -m benchmarks.slices_simulation --repetitions 50    # fewer data sets, printed only

It takes about five minutes on two cores.
"""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import special

import balframe as bf
from balframe.methods.slices.excess_test import ExcessTest
from benchmarks.simulated import options, put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "error-rates.md"
BEGIN, END = "<!-- slices: begin -->", "<!-- slices: end -->"
REPETITIONS, SEED, CORES = 2000, 22, 2
FIRST = 5  # slices of a list whose precision is reported

Conditions = Mapping[str, int]
Shares = Sequence[Sequence[float]]  # of the levels of each column
Codes = npt.NDArray[np.int8]


def even(*n_levels: int) -> Shares:
    """Give the levels of each column equal shares."""
    return [[1 / n] * n for n in n_levels]


@dataclass(frozen=True)
class Design:
    """Rows whose predictions are wrong at the rates `errors` of their labels.

    `copied` is the share of rows with the level of the column before. In the slices `planted`,
    predictions are wrong more often by `drop`.
    """

    metric: str
    n_rows: int
    errors: tuple[float, ...]  # by label; recall reads rows of the label 1 only
    columns: Shares
    copied: float = 0.0
    planted: tuple[Conditions, ...] = ()
    drop: float = 0.0

    def draw(self, random: np.random.Generator) -> pl.DataFrame:
        """Draw a data set."""
        n, columns = self.n_rows, self._levels(random)
        is_recall = self.metric == "recall"
        y = np.ones(n, np.int8) if is_recall else random.integers(0, len(self.errors), n, np.int8)
        rate = np.array(self.errors)[0 if is_recall else y] * np.ones(n)
        frame = pl.DataFrame(columns)
        for slice_ in self.planted:
            inside = np.logical_and.reduce([columns[name] == v for name, v in slice_.items()])
            rate = np.where(inside, np.maximum(rate, self.errors[0] + self.drop), rate)
        n_labels = max(len(self.errors), 2)
        other = (y + random.integers(1, n_labels, n, np.int8)) % n_labels
        return frame.with_columns(y=y, yhat=np.where(random.random(n) < rate, other, y))

    def _levels(self, random: np.random.Generator) -> dict[str, Codes]:
        out: dict[str, Codes] = {}
        for i, shares in enumerate(self.columns):
            own = random.choice(len(shares), self.n_rows, p=shares).astype(np.int8)
            if i and self.copied:
                before = out[f"c{i - 1}"] % len(shares)
                own = np.where(random.random(self.n_rows) < self.copied, before, own)
            out[f"c{i}"] = own
        return out


@dataclass(frozen=True)
class Found:
    """What the verb lists of one data set: conditions in order, and the number of tests."""

    listed: list[Conditions]
    n_tests: int


def zipf(n: int) -> list[float]:
    """Give shares in proportion to 1, 1/2, 1/3 ..."""
    shares = 1 / np.arange(1, n + 1)
    return list(shares / shares.sum())


RARE_ERRORS = Design("recall", 5_000, (0.05,), even(4, 4, 5, 5, 6, 6, 3))
NULL: Mapping[str, Design] = {
    "recall, 5% wrong": RARE_ERRORS,
    "balanced accuracy of three labels, 2,500 rows": Design(
        "balanced_accuracy", 2_500, (0.05, 0.1, 0.2), even(2, 2, 2, 3, 3, 2, 2, 2, 2)
    ),
    "recall, 5% wrong, rare levels": Design(
        "recall", 4_000, (0.05,), [zipf(25), zipf(20), zipf(15)]
    ),
    "accuracy, 10% wrong, correlated columns": Design(
        "accuracy", 5_000, (0.1, 0.1), even(3, 3, 3, 3, 3, 3, 3), copied=0.7
    ),
    "balanced accuracy of four labels, correlated columns": Design(
        "balanced_accuracy", 5_000, (0.02, 0.05, 0.1, 0.2), even(3, 3, 3, 3, 3), copied=0.7
    ),
}
OTHERS = even(3, 4, 4, 2, 3)  # columns without planted slices
SMALL = [[0.4, 0.05, 0.3, 0.25]]
PAIR = [[(1 - 0.05**0.5) / 2, 0.05**0.5, (1 - 0.05**0.5) / 2]] * 2
TRIPLE = [[(1 - 0.1 ** (1 / 3)) / 2, 0.1 ** (1 / 3), (1 - 0.1 ** (1 / 3)) / 2]] * 3
_planted = partial(Design, "recall", 10_000, (0.2,))
PLANTED: Mapping[str, Design] = {
    "one condition, 5% of the rows, recall lower by 0.10": _planted(
        SMALL + OTHERS, planted=({"c0": 1},), drop=0.1
    ),
    "two conditions, 5%, 0.20": _planted(PAIR + OTHERS, planted=({"c0": 1, "c1": 1},), drop=0.2),
    "three conditions, 10%, 0.10": _planted(
        TRIPLE + OTHERS, planted=({"c0": 1, "c1": 1, "c2": 1},), drop=0.1
    ),
    "two slices of two conditions, 5%, 0.20": _planted(
        PAIR + PAIR + OTHERS[:3],
        planted=({"c0": 1, "c1": 1}, {"c2": 1, "c3": 1}),
        drop=0.2,
    ),
}


def asked(design: Design, seed: np.random.SeedSequence) -> Found:
    """Draw a data set, and ask the verb."""
    frame = design.draw(np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no slice is listed")
        answer = bf.slices(frame, "y", "yhat", metrics=design.metric, bins=None, detail=True)
    names = frame.columns[:-2]
    listed = [
        {name: int(row[name]) for name in names if row[name] is not None}
        for row in answer.select(names).rows(named=True)
    ]
    return Found(listed, answer["n_tests"][0] if listed else 0)


def normal(design: Design, seed: np.random.SeedSequence) -> Found:
    """Ask with p-values of the normal distribution, for comparison."""

    def log_p(test: ExcessTest, log_level: float) -> npt.NDArray[np.float64]:
        with np.errstate(invalid="ignore"):
            z = np.nan_to_num(test.excess / test.sd, nan=-np.inf)
        return np.asarray(special.log_ndtr(-z))

    with (
        patch.object(ExcessTest, "decisive_log_p", log_p),
        patch.object(ExcessTest, "exact_log_p", lambda _, log_p: log_p),
    ):
        return asked(design, seed)


def n_tests(design: Design) -> int:
    """Count the slices tested in one data set, which is told where any is listed."""
    random = np.random.default_rng(SEED)
    frame = design.draw(random).with_columns(w=1.0)  # the list with weights is not of tests
    answer = bf.slices(
        frame, "y", "yhat", metrics=design.metric, bins=None, sample_weight="w", detail=True
    )
    return int(answer["n_tests"][0])


Way = Callable[[Design, np.random.SeedSequence], Found]


def repeated(design: Design, repetitions: int, way: Way = asked, cores: int = 1) -> list[Found]:
    """Ask about many data sets; every way gets the same ones."""
    seeds = np.random.SeedSequence(SEED).spawn(repetitions)
    if cores == 1:
        return [way(design, seed) for seed in seeds]
    with ProcessPoolExecutor(cores, get_context("spawn")) as pool:
        return list(pool.map(partial(way, design), seeds, chunksize=10))


def share_with_any(found: Sequence[Found]) -> float:
    """Give the share of data sets with any slice listed."""
    return sum(bool(one.listed) for one in found) / len(found)


@dataclass(frozen=True)
class Quality:
    """Shares of data sets, and means over them, where slices are planted.

    `listed`: a planted slice is in the list. `first`: it is the first. `precision`: share of
    planted ones among the first few listed. `n_planted` and `n_listed` are mean numbers.
    """

    listed: float
    first: float
    precision: float
    n_planted: float
    n_listed: float

    @classmethod
    def of(cls, found: Sequence[Found], design: Design) -> "Quality":
        """Look for exactly the planted slices."""
        hits = [[slice_ in design.planted for slice_ in one.listed] for one in found]
        first = [hit for one in hits for hit in one[:FIRST]]
        return cls(
            float(np.mean([any(one) for one in hits])),
            float(np.mean([one[:1] == [True] for one in hits])),
            float(np.mean(first)) if first else math.nan,
            float(np.mean([sum(one) for one in hits])),
            float(np.mean([len(one) for one in hits])),
        )


def standard_error(share: float, repetitions: int) -> float:
    """Give the Monte Carlo standard error of a share."""
    return math.sqrt(share * (1 - share) / repetitions)


def tables(repetitions: int, cores: int) -> str:
    """Simulate everything."""
    lines = [
        f"Nothing differs; {repetitions:,} data sets each:",
        "",
        "| data | slices tested | any slice listed | with p-values of the normal distribution |",
        "| --- | ---: | ---: | ---: |",
    ]
    for title, design in NULL.items():
        ours, theirs = (
            share_with_any(repeated(design, n, way, cores))
            for way, n in ((asked, repetitions), (normal, max(repetitions // 5, 1)))
        )
        error = standard_error(ours, repetitions)
        lines.append(f"| {title} | {n_tests(design):,} | {ours:.3f} ± {error:.3f} | {theirs:.2f} |")
        print(lines[-1], flush=True)
    n = max(repetitions // 2, 1)
    lines += [
        "",
        f"Recall of 10,000 rows, 20% wrong elsewhere; {n:,} data sets each:",
        "",
        "| planted | listed | first in the list | precision of the first five | planted slices "
        "listed | slices listed |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for title, design in PLANTED.items():
        q = Quality.of(repeated(design, n, cores=cores), design)
        of = len(design.planted)
        lines.append(
            f"| {title} | {q.listed:.2f} | {q.first:.2f} | {q.precision:.2f} "
            f"| {q.n_planted:.2f} of {of} | {q.n_listed:.2f} |"
        )
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    given = options(__doc__, "data sets", CORES)
    made = tables(given.repetitions or REPETITIONS, given.cores)
    if given.repetitions is not None:
        return
    put(made, PAGE, BEGIN, END)


if __name__ == "__main__":
    main()
