"""Rows of which only some have a true label."""

import numpy as np
import polars as pl


def answers(n=3000, seed=3, share=0.08, *, rejected=None):
    """Draw answers with a judge's verdict, and people's labels for some of them."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.7
    judge = np.where(rng.random(n) < 0.85, truth, ~truth)
    has_label = rng.random(n) < np.where(judge, share, share if rejected is None else rejected)
    return pl.DataFrame(
        {
            "category": np.where(np.arange(n) % 3 == 0, "maths", "code"),
            "judge": judge.astype(int),
            "model": np.where(rng.random(n) < 0.8, truth, ~truth).astype(int),
            "human": pl.Series(truth.astype(int)).set(pl.Series(~has_label), None),
            "truth": truth.astype(int),
        }
    )


def chosen_unequally(n=4000, seed=7):
    """Draw answers whose labels depend on being right, with known probabilities."""
    rng = np.random.default_rng(seed)
    rows = answers(n, seed=seed).with_columns(hard=pl.Series(rng.random(n) < 0.5))
    right = np.where(rows["hard"], rng.random(n) < 0.6, rng.random(n) < 0.95)
    probability = np.where(rows["hard"], 0.12, 0.04)
    truth = np.where(right, rows["judge"], 1 - rows["judge"])
    has_label = rng.random(n) < probability
    return rows.with_columns(
        truth=truth,
        human=pl.Series(truth).set(pl.Series(~has_label), None),
        probability=pl.Series(probability).set(pl.Series(~has_label), None),
    )


def three_labels(n=6000, seed=1):
    """Draw rows of three labels, of which some are known, mostly of rows predicted to be 2."""
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    predicted = np.where(rng.random(n) < 0.75, y, rng.integers(0, 3, n))
    has_label = rng.random(n) < np.where(predicted == 2, 0.3, 0.1)
    return pl.DataFrame(
        {"y": pl.Series(y).set(pl.Series(~has_label), None), "p": predicted, "truth": y}
    )
