"""Random frames to audit, with and without differences between groups, many near the limits."""

import numpy as np
import polars as pl

SIZES = (60, 200, 800, 3_000)
NAMES = ("Ada", "Boa", "Cleo", "Dana", "Elin", "Fynn", "Gil", "Hugo", "Ines", "Jon", "Kim", "Lou")


def random_frame(seed: int, *, is_null: bool | None = None) -> tuple[pl.DataFrame, dict]:
    """Make rows, and the options of an audit of them; `is_null` is about differences."""
    random = np.random.default_rng(seed)
    n = int(random.choice(SIZES))
    n_groups = int(random.choice([2, 2, 3, 5, 12]))
    is_null = bool(random.integers(2)) if is_null is None else is_null
    shares = random.dirichlet(np.full(n_groups, random.choice([0.7, 3.0])))
    group = random.choice(n_groups, n, p=shares)
    other = random.integers(0, random.choice([2, 3]), n)
    prevalence, skill = random.uniform(0.1, 0.9), random.uniform(0.55, 0.98)
    tilt = np.zeros(n_groups) if is_null else random.normal(0, 0.06, n_groups)
    both = 0.0 if is_null else random.choice([0.0, 0.08]) * ((group == 0) & (other == 1))
    happened = random.random(n) < np.clip(prevalence + tilt[group] * random.integers(2), 0.01, 0.99)
    is_right = random.random(n) < np.clip(skill + tilt[group] - both, 0.02, 0.98)
    selected = np.where(is_right, happened, ~happened)
    columns = {
        "y": happened.astype(int),
        "p": selected.astype(int),
        "g": np.array(NAMES)[group],
        "h": np.array(["low", "middle", "high"])[other],
    }
    options = {
        "by": [["g"], ["g", "h"], ["h", "g"]][random.integers(3)],
        "favourable": [None, "selected", "not selected"][random.integers(3)],
        "min_support": int(random.choice([1, 10, 30])),
    }
    if random.integers(3) == 0:
        columns["q"] = np.where(random.random(n) < 0.9, columns["p"], 1 - columns["p"])
        options["y_pred"] = ["p", "q"]
    elif random.integers(2) == 0:
        noise = random.normal(0, 0.25, n)
        columns["s"] = np.clip(0.25 + 0.5 * selected + noise, 0, 1).round(random.choice([1, 2]))
        options["y_score"] = "s"
    return pl.DataFrame(columns), options
