"""What the documentation says about the worst cases of intervals, by enumeration of all samples."""

import re
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import balframe as bf

PAGES = Path(__file__).parents[3] / "docs" / "pages"


def text_of(name):
    return " ".join((PAGES / name).read_text("utf-8").split())


def limits_of_counts(supports, method, **options):
    """Give both limits of balanced accuracy, for all numbers of right rows of each label."""
    counts = list(product(*(range(n + 1) for n in supports)))
    rows = [
        (f"{number:06}", label, predicted, n)
        for number, right in enumerate(counts)
        for label, (x, size) in enumerate(zip(right, supports, strict=True))
        for predicted, n in ((label, x), (1 - label, size - x))
    ]
    frame = pl.DataFrame(rows, schema=["g", "y", "p", "n"], orient="row").filter(pl.col("n") > 0)
    out = method(frame, "y", "p", by="g", counts="n", labels=[0, 1], **options)
    names = [name for name in out.columns if name.endswith(("lower", "upper"))]
    return [out[name].to_numpy() for name in names]


@cache
def score_limits(supports):
    return limits_of_counts(supports, bf.report, metrics="balanced_accuracy", interval=True)


def chances(supports, recalls):
    """Give the probability of each combination of right rows."""
    found = np.ones(1)
    for n, p in zip(supports, recalls, strict=True):
        found = np.outer(found, stats.binom.pmf(np.arange(n + 1), n, p)).ravel()
    return found


def test_true_recalls_are_above_wilsons_limit_as_often_as_documented():
    text = text_of("explanations/intervals.md")
    said = re.search(r"in (\d+)% of samples with one row, (\d+)% with 5, and (\d+)% with 30", text)
    for n, percent in zip((1, 5, 30), said.groups(), strict=True):
        _, upper = score_limits((n,))
        true = upper[(upper > 0.5) & (upper < 1)] + 1e-9  # just above a limit, where misses jump
        misses = [chances((n,), [p])[upper < p].sum() for p in true]
        assert round(100 * max(misses)) == int(percent), n
    assert "however many: with 500 rows at a true score of 0.9996." in text


@pytest.mark.thorough
def test_lowest_coverage_of_score_intervals_is_as_low_as_documented():
    """With one row of a label; other supports of one to three rows are not lower."""
    text = text_of("how-to/choosing-an-interval.md")
    lowest, with_three = re.search(
        r"lowest coverage known is (\d+)%, with one row of a label; with three rows of a label it "
        r"is (\d+)%",
        text,
    ).groups()
    found = {}
    for few, many in product((1, 3), (30, 100)):
        supports = few, many
        lower, upper = score_limits(supports)
        for recalls in product(np.linspace(0.5, 0.999, 60), repeat=2):
            truth = np.mean(recalls)
            held = chances(supports, recalls)[(lower <= truth) & (truth <= upper)].sum()
            found[few] = min(found.get(few, 1), held)
    assert 100 * found[1] >= int(lowest) - 1
    assert 100 * found[3] >= int(with_three) - 1
    assert 100 * found[1] < int(lowest) + 3


@pytest.mark.parametrize(("supports", "percent"), [((6, 40), 11)])
def test_errors_of_one_limit_of_check_at_90_percent_are_as_documented(supports, percent):
    assert f"labels of {supports[0]} and {supports[1]} rows, one limit of `check` at " in text_of(
        "how-to/choosing-an-interval.md"
    )
    rule = {"rules": "balanced_accuracy >= 0.5", "level": 0.9, "adjust": None}
    lower, upper = limits_of_counts(supports, bf.check, **rule)
    worst = 0
    grid = np.append(np.linspace(0.02, 0.98, 25), [0.99, 0.995, 0.999])
    for recalls in product(grid, repeat=2):
        truth, chance = np.mean(recalls), chances(supports, recalls)
        worst = max(worst, chance[lower > truth].sum(), chance[upper < truth].sum())
    assert 0.08 < worst <= (percent + 0.5) / 100
