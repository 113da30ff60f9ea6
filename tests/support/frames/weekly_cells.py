"""Cells of weeks with chosen counts, and rows of weeks drawn at random, for tests of `monitor`."""

from datetime import date, timedelta

import numpy as np
import polars as pl

import balframe as bf

MONDAY = date(2026, 1, 5)
UNTIL = {"until": (MONDAY - timedelta(1)).isoformat()}


def week(number, *sides, **columns):
    """Return the cells of a week, of (label, rows, correct rows) each."""
    rows = [
        {"day": MONDAY + timedelta(7 * number + number % 7), "y": label, "p": predicted, "n": n}
        for label, rows, correct in sides
        for predicted, n in ((label, correct), (1 - label, rows - correct))
    ]
    return pl.DataFrame(rows).filter(pl.col("n") > 0).with_columns(**columns)


def launch(rows=20_000, correct=18_000):
    """Return the cells of a baseline with the same recall of both labels, without days."""
    return week(0, (0, rows, correct), (1, rows, correct)).drop("day")


def monitor_cells(cells, **options):
    """Monitor cells, by default beside `launch`, and as if periods were alike."""
    defaults = {"time": bf.period("day", "1w"), "baseline": launch()}
    return bf.monitor(cells, "y", "p", detail=True, **(defaults | {"dispersion": None} | options))


def draw_rows(seed=1, n_weeks=16, models=("p",), before=14):
    """Draw rows of two segments; the recall of one falls in the fourth monitored week."""
    random = np.random.default_rng(seed)
    n_days = 7 * (n_weeks + before)
    n = 20 * n_days
    frame = pl.DataFrame(
        {
            "day": [MONDAY + timedelta(int(i)) for i in random.integers(0, n_days, n)],
            "g": random.choice(["a", "b"], n),
            "y": random.integers(0, 2, n),
        }
    ).with_columns(day=pl.col("day") - pl.duration(days=7 * before))
    falls = (frame["g"] == "a") & (frame["day"] > MONDAY + timedelta(20))
    for name in models:
        wrong = random.random(n) < np.where(falls, 0.3, 0.1)
        frame = frame.with_columns(pl.Series(name, np.where(wrong, 1 - frame["y"], frame["y"])))
    return frame


def monitor_rows(frame, y_pred="p", **options):
    """Monitor rows, of which those before `MONDAY` are the baseline, as if periods were alike."""
    defaults = {"time": bf.period("day", "1w"), "baseline": UNTIL, "dispersion": None}
    return bf.monitor(frame, "y", y_pred, detail=True, **(defaults | options))


def draw_weeks(n=26, size=2_000, deviations=0.0, seed=4):
    """Draw the cells of n weeks before `MONDAY`; `deviations` are added to the recalls of .85."""
    random = np.random.default_rng(seed)
    recalls = np.clip(0.85 + np.broadcast_to(deviations, n), 0, 1)
    correct = random.binomial(size, np.stack([recalls, recalls], axis=1)).tolist()
    return [week(i - n, (0, size, x), (1, size, y)) for i, (x, y) in enumerate(correct)]
