"""Limits of areas miss often where some positive rows score below all negative rows.

The area is then the share of the other positive rows, so coverage is a sum over all samples.
"""

from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats

import balframe as bf
from tests.support.cases import cases

PAGE = Path(__file__).parents[3] / "docs" / "pages" / "explanations" / "score-intervals.md"
HEAD = (
    "| positive and negative rows | positive rows that score below all negative rows | coverage |"
)
LOW, NEGATIVE, HIGH = range(3)


def documented():
    """Read the numbers of rows, the share and the coverage of the rows of the table."""
    lines = PAGE.read_text("utf-8").partition(HEAD)[2].splitlines()[2:]
    for line in lines[: lines.index("")]:
        rows, share, coverage = line.strip("| ").split(" | ")
        positives, negatives = (int(n.replace(",", "")) for n in rows.split(", "))
        yield positives, negatives, float(share.rstrip("%")) / 100, float(coverage)


def limits_of_all_samples(positives, negatives):
    """Give the limits for each number of positive rows that score below all negative rows."""
    n_low = np.arange(positives + 1)
    parts = [
        pl.DataFrame({"n_low": np.char.mod("%04d", n_low), "y": y, "s": score, "n": n})
        for score, y, n in (
            (LOW, 1, n_low),
            (NEGATIVE, 0, np.full(positives + 1, negatives)),
            (HIGH, 1, positives - n_low),
        )
    ]
    frame = pl.concat(parts).filter(pl.col("n") > 0)
    out = bf.ranking(frame, "y", "s", by="n_low", counts="n")
    return n_low, out["roc_auc_lower"].to_numpy(), out["roc_auc_upper"].to_numpy()


@cases(("positives", "negatives", "share", "coverage"), list(documented()))
def test_documented_coverage_is_the_lowest_of_all_shares(positives, negatives, share, coverage):
    n_low, lower, upper = limits_of_all_samples(positives, negatives)
    ends = 1 - np.concatenate([lower, upper])  # between which coverage changes continuously
    shares = np.add.outer([-1e-9, 1e-9], ends[(ends > 1e-6) & (ends < 0.5)]).ravel()

    held = [
        stats.binom.pmf(n_low, positives, low)[(lower <= 1 - low) & (1 - low <= upper)].sum()
        for low in shares
    ]

    worst = int(np.argmin(held))
    assert round(held[worst], 2) == coverage
    assert abs(shares[worst] - share) <= 0.0055 * (share >= 0.2) + 0.00055
