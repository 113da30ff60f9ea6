"""How often gates and gaps of weighted rows are wrong where the heavy rows are wrong more often."""

import numpy as np
import polars as pl
import pytest

import balframe as bf
from balframe.core.safe_divide import ratio
from balframe.stats import Proportion

N_ROWS = 1_000
INTERCEPT = 3.83  # a weighted accuracy of .92


def covariate_shift(n_segments, n_rows, intercept, seed):
    """Draw weights exp(x) of rows that are right with a chance that falls as x grows.

    Kish's size of 1,000 rows is 378.
    """
    x = np.random.default_rng(seed).standard_normal(n_segments * n_rows)
    is_right = np.random.default_rng(seed + 1).random(len(x)) < 1 / (1 + np.exp(x - intercept))
    return pl.DataFrame(
        {
            "g": np.repeat(np.arange(n_segments), n_rows),
            "y": np.ones(len(x), np.int64),
            "p": is_right.astype(np.int64),
            "w": np.exp(x),
        }
    )


def true_accuracy(intercept):
    """Integrate over x, which is normal with mean 1 where its density is weighted."""
    x = np.linspace(-9, 11, 200_001)
    density = np.exp(-((x - 1) ** 2) / 2)
    return (density / (1 + np.exp(x - intercept))).sum() / density.sum()


def test_limits_of_selected_labels_use_the_largest_weight_of_their_rows():
    """Labels selected with np.where have the limits of the rows that have these labels."""

    def parts(c):
        return tuple(c.sum(np.where(c.label > 0, rows, 0)) for rows in (c.correct, c.support))

    @bf.metric(range=(0, 1), interval=Proportion(parts))
    def recall_of_later_labels(c):
        return ratio(*parts(c))

    rng = np.random.default_rng(4)
    y, other = rng.integers(20, size=(2, 600))
    columns = {
        "y": y,
        "p": np.where(rng.random(600) < 0.8, y, other),
        "w": rng.exponential(size=600),
    }
    frame = pl.DataFrame(columns)
    options = {"sample_weight": "w", "labels": bf.label_set(absent="skip")}

    own = bf.check(frame, "y", "p", rules="recall_of_later_labels >= 0.5", **options)
    selected = bf.check(frame.filter(pl.col("y") > 0), "y", "p", rules="accuracy >= 0.5", **options)

    for limit in ("estimate", "lower", "upper"):
        assert own[limit].item() == pytest.approx(selected[limit].item(), rel=1e-12)


@pytest.mark.simulation
def test_gates_under_covariate_shift_rarely_pass_a_segment_at_its_bound():
    n_segments = 1_800
    frame = covariate_shift(n_segments, N_ROWS, INTERCEPT, seed=3)
    rules = [f"accuracy > {true_accuracy(INTERCEPT)}"]
    options = {"by": "g", "sample_weight": "w", "labels": [0, 1], "rules": rules, "adjust": None}
    # with the same rows for both limits: .049, .083 and .133
    for family in (1, 6, 60):
        out = bf.check(frame, "y", "p", level=1 - 0.05 / family, **options)

        passes = (out["status"] == "pass").to_numpy()

        share = passes.reshape(-1, family).any(axis=1).mean()
        assert share <= 0.025, family


def heavy_tails(n_segments, n_rows, index, seed):
    """Draw weights of a Pareto distribution, of rows that are right less often if they are heavy.

    Returns the rows and their weighted accuracy in infinitely many rows.
    """

    def chance(weight):
        return 1 / (1 + weight / np.exp(3))

    random = np.random.default_rng(seed)
    w = random.random(n_segments * n_rows) ** (-1 / index)
    is_right = random.random(len(w)) < chance(w)
    middles = (np.arange(1_000_000) + 0.5) / 1_000_000
    truth = chance(middles ** (-1 / (index - 1))).mean()  # weighted, the index is less by 1
    columns = {"g": np.repeat(np.arange(n_segments), n_rows), "y": 1, "p": is_right.astype(int)}
    return pl.DataFrame({**columns, "w": w}), truth


@pytest.mark.simulation
def test_gates_of_heavy_tailed_weights_rarely_pass_a_segment_at_its_bound():
    frame, truth = heavy_tails(3_600, 1_000, 2.5, seed=3)
    options = {"by": "g", "sample_weight": "w", "labels": [0, 1], "adjust": None}

    out = bf.check(frame, "y", "p", rules=[f"accuracy > {truth}"], level=1 - 0.05 / 6, **options)

    passes = (out["status"] == "pass").to_numpy().reshape(-1, 6).any(axis=1)
    assert passes.mean() <= 0.05  # with the same rows for both limits: .098


@pytest.mark.simulation
def test_gaps_under_covariate_shift_rarely_differ_where_nothing_does():
    n_families, n_segments = 150, 12
    n_false = 0
    frame = covariate_shift(n_families * n_segments, 500, INTERCEPT, seed=5).with_columns(
        family=pl.col("g") // n_segments
    )
    for _, family in frame.group_by("family", maintain_order=True):
        out = bf.gaps(family, "y", "p", by="g", metrics="accuracy", sample_weight="w")
        n_false += bool((out["p_adjusted"] < 0.05).any())

    assert n_false / n_families <= 0.05  # with the same rows for both limits: .107
