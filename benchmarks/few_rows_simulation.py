"""Simulate how often `compare` tells equally good scores apart, with few rows of a class.

`.venv/bin/python -m benchmarks.few_rows_simulation` prints the table and puts it into
docs/pages/error-rates.md; it takes about five minutes. With `--repetitions` it prints only.

Both scores of a row have the same distribution, given its class. The floors of
`metrics.score_intervals` follow from the table, so they are lowered here to two rows.
"""

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

import balframe as bf
from balframe.metrics import score_intervals
from benchmarks.simulated import options, put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "error-rates.md"
BEGIN, END = "<!-- few rows: begin -->", "<!-- few rows: end -->"
REPETITIONS, ROWS = 2_000, 300_000  # samples of a design, and rows at most
SEED = 20261129
DESIGNS = [(2, 20), (2, 200), (3, 30), (3, 1_000), (4, 100), (5, 5), (5, 50), (5, 1_000), (8, 100)]
DESIGNS += [(50, 3), (50, 5), (200, 5), (20, 20), (20, 30), (50, 50), (20, 200)]
METRICS = ("roc_auc", "roc_auc(max_fpr=0.1)", "average_precision", "brier_score", "log_loss")
CORRELATIONS = (0.0, 0.8)
WITH_CLUSTERS = "clusters of 1 to 9 rows"
WITH_WEIGHTS = "lognormal weights"

Values = npt.NDArray[np.float64]
LAWS: dict[str, Callable[[Values], Any]] = {
    "smooth": lambda z: 1 / (1 + np.exp(-z)),
    "three levels": lambda z: np.digitize(z, [0, 1]) * 0.4 + 0.1,
    "two levels": lambda z: (z > 0.5) * 0.8 + 0.1,
    "mostly constant": lambda z: (z > 2) * 0.8 + 0.1,
    "heavy tails": lambda z: 1 / (1 + np.exp(-1.5 * np.sign(z) * z**2)),
}


def draw(
    n_positive: int, n_negative: int, law: str, correlation: float, n: int, kind: str
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Draw samples, each of which is a segment, and return the options of its kind."""
    random = np.random.default_rng([SEED, n_positive, n_negative, len(law), len(kind)])
    size = n_positive + n_negative
    y = np.arange(size) < n_positive
    cluster = np.sort(random.integers(0, max(size // 5, 2), (n, size)), axis=1)
    cluster = np.take_along_axis(
        cluster, random.permuted(np.tile(np.arange(size), (n, 1)), axis=1), 1
    )
    common = random.normal(size=(n, size))
    columns: dict[str, Values] = {}
    for name in "st":
        own = random.normal(size=(n, size))
        if kind == WITH_CLUSTERS:
            own = (own + np.take_along_axis(random.normal(size=(n, size)), cluster, 1)) / np.sqrt(2)
        z = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
        columns[name] = LAWS[law](z + y)
    columns["w"] = random.lognormal(0, 0.7, (n, size))
    frame = pl.DataFrame({name: values.ravel() for name, values in columns.items()}).with_columns(
        g=np.repeat(np.arange(n), size), y=np.tile(y, n), c=cluster.ravel()
    )
    return frame, {WITH_CLUSTERS: {"cluster": "c"}, WITH_WEIGHTS: {"sample_weight": "w"}}.get(
        kind, {}
    )


def shares(frame: pl.DataFrame, **names: Any) -> dict[str, tuple[float, ...]]:  # noqa: ANN401
    """Return the shares of samples with p below .05 and below .005, of each metric."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bf.BalframeWarning)
        out = bf.compare(
            frame,
            "y",
            y_score=["s", "t"],
            by="g",
            metrics=[*METRICS],
            adjust=None,
            detail=True,
            **names,
        )
    n = frame["g"].n_unique()
    return {
        metric: tuple(
            out.filter(pl.col("metric") == metric, pl.col("p_value") < p).height / n
            for p in (0.05, 0.005)
        )
        for metric in METRICS
    }


def worst(
    n_positive: int, n_negative: int, repetitions: int, kind: str = ""
) -> dict[str, tuple[float, ...]]:
    """Return the largest shares over the laws of scores and their correlations."""
    n = min(repetitions, ROWS // (n_positive + n_negative))
    found = []
    for law in LAWS:
        for correlation in CORRELATIONS:
            frame, names = draw(n_positive, n_negative, law, correlation, n, kind)
            found.append(shares(frame, **names))
    return {m: tuple(max(each[m][i] for each in found) for i in range(2)) for m in METRICS}


def table(repetitions: int) -> Iterator[str]:
    """Write a row for each design: shares at .05 / .005, those under the floors in italics."""
    floors = score_intervals.FEWEST_OF_CLASS, score_intervals.FEWEST_OF_MEAN
    designs = [(p, n, "") for p, n in DESIGNS]
    designs += [
        (p, n, kind) for kind in (WITH_WEIGHTS, WITH_CLUSTERS) for p, n in ((15, 100), (40, 200))
    ]
    yield f"| positive and negative rows | {' | '.join(f'`{metric}`' for metric in METRICS)} |"
    yield f"| --- |{' ---: |' * len(METRICS)}"
    score_intervals.FEWEST_OF_CLASS = score_intervals.FEWEST_OF_MEAN = 2
    for n_positive, n_negative, kind in designs:
        found = worst(n_positive, n_negative, repetitions, kind)
        cells = []
        for metric, (at_05, at_005) in found.items():
            share = 0.1 if "max_fpr" in metric else 1
            fewest = min(n_positive, n_negative * share)
            is_mean = metric in ("brier_score", "log_loss")
            is_under = n_positive + n_negative < floors[1] if is_mean else fewest < floors[0]
            text = f"{at_05:.3f} / {at_005:.4f}"
            cells.append(f"*{text}*" if is_under else text)
        name = ", ".join(filter(None, (str(n_positive), f"{n_negative:,}", kind)))
        yield f"| {name} | {' | '.join(cells)} |"
    score_intervals.FEWEST_OF_CLASS, score_intervals.FEWEST_OF_MEAN = floors


if __name__ == "__main__":
    requested = options(__doc__, "samples of each design")
    made = "\n".join(table(requested.repetitions or REPETITIONS))
    print(made)
    if requested.repetitions is None:
        put(made, PAGE, BEGIN, END)
