"""Tables to search for slices: like Adult, of a million rows, and like the census of 1990."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

WRONG, SEED = 0.15, 22
# Shares of the levels in the 48,842 rows of Adult, without their names; numeric columns in bins.
ADULT: dict[str, Sequence[float]] = {
    "age": (0.25, 0.26, 0.25, 0.24),
    "workclass": (0.694, 0.079, 0.064, 0.057, 0.041, 0.035, 0.029, 0.0006, 0.0004),
    "fnlwgt": (0.25, 0.25, 0.25, 0.25),
    "education": (
        *(0.323, 0.223, 0.164, 0.054, 0.042, 0.037, 0.033, 0.028),
        *(0.020, 0.017, 0.015, 0.013, 0.012, 0.010, 0.007, 0.002),
    ),
    "education_num": (0.13, 0.32, 0.30, 0.25),
    "marital_status": (0.458, 0.330, 0.136, 0.031, 0.031, 0.013, 0.001),
    "occupation": (
        *(0.126, 0.125, 0.125, 0.115, 0.113, 0.101, 0.062, 0.058),
        *(0.048, 0.042, 0.031, 0.030, 0.019, 0.004, 0.001),
    ),
    "relationship": (0.404, 0.258, 0.155, 0.105, 0.048, 0.030),
    "race": (0.855, 0.096, 0.031, 0.010, 0.008),
    "sex": (0.668, 0.332),
    "capital_gain": (0.917, 0.083),
    "capital_loss": (0.953, 0.047),
    "hours_per_week": (0.24, 0.47, 0.29),
    "native_country": (0.897, 0.019, 0.018, *[0.066 / 39] * 39),
}
N_LEVELS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20)
OF_CENSUS = (2, 2, 3, 3, 4, 5, 5, 6, 8, 10, 13, 17)

Random = np.random.Generator
IntArray = npt.NDArray[np.int64]


def adult(n_rows: int) -> pl.DataFrame:
    """Draw columns with the shares of Adult, two labels, and errors that few slices raise."""
    random = np.random.default_rng(SEED)
    codes = {name: _levels(random, n_rows, shares) for name, shares in ADULT.items()}
    is_bad = (codes["education"] == 1) & (codes["age"] == 0)
    return _in_words(codes).with_columns(**_labels(random, is_bad, 2))


def million(n_rows: int) -> pl.DataFrame:
    """Draw ten columns of 2 to 20 levels whose shares are uneven."""
    random = np.random.default_rng(SEED)
    codes = {
        f"c{i}": _levels(random, n_rows, random.dirichlet(np.full(n, 2)))
        for i, n in enumerate(N_LEVELS)
    }
    is_bad = (codes["c1"] == 1) & (codes["c2"] == 1)
    return _in_words(codes).with_columns(**_labels(random, is_bad, 2))


def census(n_rows: int) -> pl.DataFrame:
    """Draw 68 columns of integers, in most of which one level is frequent, and four labels."""
    random = np.random.default_rng(SEED)
    columns: dict[str, IntArray] = {}
    for i, n in enumerate(random.choice(OF_CENSUS, 68)):
        shares = np.sort(random.dirichlet(np.full(n, 0.6)))[::-1]
        columns[f"c{i}"] = _levels(random, n_rows, shares).astype(np.uint8)
    is_bad = (columns["c0"] == 0) & (columns["c1"] == 0)
    return pl.DataFrame(columns).with_columns(**_labels(random, is_bad, 4))


def _levels(random: Random, n_rows: int, shares: Sequence[float]) -> IntArray:
    p = np.asarray(shares, np.float64)
    return random.choice(len(p), n_rows, p=p / p.sum())


def _labels(random: Random, is_bad: npt.NDArray[np.bool_], n_labels: int) -> dict[str, IntArray]:
    n_rows = len(is_bad)
    y = random.integers(0, n_labels, n_rows)
    other = (y + random.integers(1, n_labels, n_rows)) % n_labels
    is_wrong = random.random(n_rows) < np.where(is_bad, 3 * WRONG, WRONG)
    return {"y": y, "yhat": np.where(is_wrong, other, y)}


def _in_words(codes: dict[str, IntArray]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            name: pl.Series([f"{name} {i:02}" for i in range(int(values.max()) + 1)]).gather(values)
            for name, values in codes.items()
        }
    )
