"""Areas under ROC curves and their limits from every pair of rows, and frames to compare them."""

import math
from functools import partial

import numpy as np
import polars as pl
import pytest
from scipy import optimize, stats

import balframe as bf

CARRIED = [{}, {"sample_weight": "w"}, {"counts": "k"}, {"sample_weight": "w", "counts": "k"}]
NAMES = ["reference", "reference_roc_auc", "roc_auc_difference"]
NAMES += ["roc_auc_difference_lower", "roc_auc_difference_upper"]
close = partial(pytest.approx, rel=1e-9, abs=1e-12)


def area(y, s, w=None):
    """Give the area, DeLong's variance, and the effective rows of both sides."""
    w = np.ones(len(y)) if w is None else np.asarray(w, float)
    is_positive = (y == 1) & (w > 0)
    is_negative = (y == 0) & (w > 0)
    p, q = w[is_positive], w[is_negative]
    above = np.sign(s[is_positive][:, None] - s[is_negative]) / 2 + 0.5
    of_positives, of_negatives = above @ q / q.sum(), p @ above / p.sum()
    auc = p @ of_positives / p.sum()
    sizes = [v.sum() ** 2 / (v**2).sum() for v in (p, q)]
    sides = zip((of_positives, of_negatives), (p, q), sizes, strict=True)
    variance = sum(
        v @ (placed - auc) ** 2 / v.sum() / (n - 1) for placed, v, n in sides if len(v) > 1
    )
    return auc, variance, sizes


def limits(auc, variance, sizes, level=0.95):
    """Newcombe's method 5, its variance scaled towards DeLong's, by Brent's search."""
    half, fewer = sum(sizes) / 2 - 1, min(sizes) - 1

    def v(t):
        spread = (1 - t) / (2 - t) + t / (1 + t)
        return t * (1 - t) * (1 + half * spread) / math.prod(sizes)

    r = variance / v(auc) if 0 < auc < 1 else 1
    s = (fewer * r + 50 * max(r, 1)) / (fewer + 50)
    z = stats.norm.ppf((1 + level) / 2)
    found = []
    for end in (0, 1):
        if auc == end:
            found.append(end)
            continue
        inside = auc - (auc - end) * 1e-9
        beyond = lambda t: (auc - t) ** 2 - z * z * s * v(t)  # noqa: E731
        found.append(optimize.brentq(beyond, end, inside, xtol=1e-300, rtol=1e-14))
    return tuple(found)


def of_difference(one, of_one, other, of_other):
    """Recover the variances of a difference from the limits of its parts."""
    below = math.hypot(one - of_one[0], of_other[1] - other)
    above = math.hypot(of_one[1] - one, other - of_other[0])
    return max(one - other - below, -1), min(one - other + above, 1)


def draw(seed=0, levels=40, rows=400, shares=(0.4, 0.3, 0.2, 0.1)):
    """Draw rows of segments whose scores differ in level; g has nulls, and `lone` no positives."""
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < 0.4).astype(int)
    segment = rng.choice(len(shares), rows, p=shares)
    score = rng.normal(size=rows) + y * rng.uniform(0, 2, len(shares))[segment] + segment / 2
    names = np.array([None, "b", "a", "c", "d", "e"], object)[: len(shares)]
    g = names[segment]
    g[(y == 0) & (rng.random(rows) < 0.05)] = "lone"
    return pl.DataFrame(
        {
            "g": g.tolist(),
            "h": rng.choice(["x", "y", None], rows).tolist(),
            "y": y,
            "s": np.round(score * levels / 8) / levels * 8,
            "t": rng.normal(size=rows),
            "w": rng.uniform(0.1, 5, rows),
            "k": rng.integers(0, 4, rows),
        },
        schema_overrides={"g": pl.String, "h": pl.String},
    )


def dropping(frame, row, columns, score="s", **options):
    """Rank what is left of a frame without the rows of a segment."""
    inside = [pl.col(name).eq_missing(pl.lit(row[name], pl.String)) for name in columns]
    return bf.ranking(
        frame.filter(~pl.all_horizontal(inside)), "y", score, detail=True, **options
    ).to_dicts()


def limits_in(row, name="roc_auc"):
    return row[f"{name}_lower"], row[f"{name}_upper"]


def check(row, other):
    """Compare a row with its reference, ranked on its own."""
    one, theirs = row["roc_auc"], other["roc_auc"]
    assert row["reference_roc_auc"] == (None if theirs is None else close(theirs))
    if one is None or theirs is None:
        assert [row[name] for name in NAMES[2:]] == [None] * 3
        return
    expected = of_difference(one, limits_in(row), theirs, limits_in(other))
    assert row["roc_auc_difference"] == close(one - theirs)
    assert limits_in(row, "roc_auc_difference") == close(expected)
