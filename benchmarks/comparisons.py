"""Simulate how well the limits and tests of comparisons hold.

`.venv/bin/python benchmarks/comparisons.py` prints the tables, and with `--write` puts them into
docs/pages/explanations/comparisons.md; it takes about a minute.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from balframe.intervals.differences import mover_difference, p_value, paired_limits
from balframe.intervals.families import extreme_difference, homogeneity, simultaneous
from balframe.intervals.recalls import score

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "explanations" / "comparisons.md"
BEGIN, END = "<!-- comparisons -->", "<!-- /comparisons -->"
LEVEL, SAME = 0.95, 1e-12
RECALLS = (0.6, 0.7, 0.8, 0.9, 0.95)
PAIRS = [
    ((5, 5), (5, 5)),
    ((10, 50), (100, 500)),
    ((29, 40), (200, 200)),
    ((50, 50), (500, 500)),
    ((10,), (1000,)),
    ((20,), (20,)),
    ((10,) * 5, (100,) * 5),
]
PAIRED = [
    *((n,) * labels for labels in (1, 2, 5) for n in (10, 30, 100)),
    (10, 100),
    (10, 1000),
    (10, 10, 100, 100, 100),
]
# shares of the rows that only the first, and only the second, of two models gets right
DISCORDANT = [
    *[(0.02, 0.02), (0.05, 0.05), (0.1, 0.1), (0.2, 0.2)],
    *[(0.02, 0.1), (0.05, 0.2), (0.1, 0.3), (0.0, 0.05), (0.0, 0.2)],
]
SEGMENTS = {"6 of 10": [(10,)] * 6, "6 of 30": [(30,)] * 6, "6 of 10, 10": [(10, 10)] * 6}
SEGMENTS |= {
    "6 of 10, 10, 10, 10, 10": [(10,) * 5] * 6,
    "10, 10, 20, 50, 200, 1000": [(10,), (10,), (20,), (50,), (200,), (1000,)],
    "(10, 50) to (30, 300)": [(10, 50), (20, 20), (100, 10), (30, 300), (10, 10), (50, 50)],
}

Array = npt.NDArray[np.float64]
Supports = tuple[int, ...]
RNG = np.random.default_rng(20)


def grid(labels: int) -> list[tuple[float, ...]]:
    """List recalls of the labels: the same for all, and different ones."""
    if labels == 2:
        return list(product((0.6, 0.8, 0.95), repeat=2))
    alike = [(p,) * labels for p in RECALLS]
    return alike if labels == 1 else [*alike, RECALLS]


def drawn(supports: Supports, recalls: Sequence[float], rows: int) -> tuple[Array, Array, Array]:
    """Draw how many rows are right; give these, the rows and equal weights of the labels."""
    x = RNG.binomial(supports, recalls, (rows, len(supports))).astype(np.float64)
    return x, np.tile(np.array(supports, np.float64), (rows, 1)), np.full_like(x, 1 / len(supports))


def share_of(limits: tuple[Array, Array], truth: float) -> float:
    """Find the share of limits that hold the truth."""
    return float(((limits[0] <= truth + SAME) & (truth - SAME <= limits[1])).mean())


def sizes(one: Supports, other: Supports) -> list[float]:
    """Test equal recalls, at 0.05."""
    rows = 4_000 if len(one) > 2 else 10_000
    out = []
    for recalls in grid(len(one)):
        (x, n, a), (y, m, _) = (drawn(supports, recalls, rows) for supports in (one, other))
        out.append(float((p_value(x, n, y, m, a) < 1 - LEVEL).mean()))
    return out


def coverage_of_differences(one: Supports, other: Supports) -> list[float]:
    """Cover differences of scores, of the same recalls and of others."""
    recalls = grid(len(one))
    out = []
    for mine, theirs in [*zip(recalls, recalls, strict=True), *pairwise(recalls)]:
        (x, n, a), (y, m, _) = drawn(one, mine, 4_000), drawn(other, theirs, 4_000)
        limits = mover_difference(
            *((a * x / n).sum(axis=1), score(x, n, a, LEVEL)),
            *((a * y / m).sum(axis=1), score(y, m, a, LEVEL)),
        )
        out.append(share_of(limits, float(np.mean(mine) - np.mean(theirs))))
    return out


def situations(labels: int) -> Iterator[list[tuple[float, float]]]:
    """Let the models differ on all labels alike, or on one only."""
    for shares in DISCORDANT:
        yield [shares] * labels
        if labels > 1:
            yield [shares] + [(0.0, 0.0)] * (labels - 1)


def coverage_of_paired(supports: Supports) -> list[float]:
    """Cover differences of the scores of two models on the same rows."""
    rows, out = 10_000, []
    for shares in situations(len(supports)):
        of_labels = [
            RNG.multinomial(n, [one, other, 1 - one - other], rows)
            for n, (one, other) in zip(supports, shares, strict=True)
        ]
        x = np.stack(of_labels, axis=1).astype(np.float64)
        n = np.tile(np.array(supports, np.float64), (rows, 1))
        a = np.full_like(n, 1 / len(supports))
        limits = paired_limits(x[:, :, 0], x[:, :, 1], n, a, LEVEL)
        out.append(share_of(limits, float(np.mean([one - other for one, other in shares]))))
    return out


def coverage_of_extremes(supports: Supports, segments: int) -> tuple[list[float], list[float]]:
    """Cover the difference of 0 of equal segments, and by the naive limits of the extreme two."""
    axes = np.meshgrid(*(np.arange(n + 1.0) for n in supports), indexing="ij")
    results = np.stack(axes, axis=-1).reshape(-1, len(supports))
    n = np.tile(np.array(supports, np.float64), (len(results), 1))
    a = np.full_like(n, 1 / len(supports))
    theta, alone = (a * results / n).sum(axis=1), score(results, n, a, LEVEL)
    together = score(results, n, a, simultaneous(LEVEL, segments))
    held, naive = [], []
    for recall in RECALLS:
        x = RNG.binomial(supports, recall, (2_000, segments, len(supports)))
        which = np.ravel_multi_index(tuple(np.moveaxis(x, 2, 0)), [n + 1 for n in supports])
        pairs = zip(together[0][which], together[1][which], strict=True)
        low, high = np.transpose([extreme_difference(*limits) for limits in pairs])
        held.append(share_of((low, high), 0.0))
        best, worst = (
            np.take_along_axis(which, found(theta[which], axis=1)[:, None], axis=1)[:, 0]
            for found in (np.argmax, np.argmin)
        )
        of_best, of_worst = ((alone[0][at], alone[1][at]) for at in (best, worst))
        naive.append(share_of(mover_difference(theta[best], of_best, theta[worst], of_worst), 0.0))
    return held, naive


def sizes_of_homogeneity(segments: Sequence[Supports]) -> list[float]:
    """Test that segments of equal recalls are alike, at 0.05."""
    n = np.array(segments, np.float64)
    a = np.full_like(n, 1 / n.shape[1])
    out = []
    for recall in RECALLS:
        draws = RNG.binomial(n.astype(np.int64), recall, (8_000, *n.shape)).astype(np.float64)
        out.append(float(np.mean([homogeneity(x, n, a)[1] < 1 - LEVEL for x in draws])))
    return out


def named(supports: Supports) -> str:
    """Name supports, many equal ones by their number."""
    if len(supports) > 2 and len(set(supports)) == 1:
        return f"{len(supports)} labels of {supports[0]}"
    return ", ".join(map(str, supports))


def size(shares: Sequence[float]) -> str:
    return f"{np.mean(shares):.3f} / {np.max(shares):.3f}"


def coverage(shares: Sequence[float]) -> str:
    return f"{np.mean(shares):.3f} / {np.min(shares):.3f}"


def table(header: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables() -> str:
    """Make all tables; every cell has the mean over recalls and the worst of them."""
    return "\n\n".join(
        [
            table(
                ("two segments, rows of each label", "size of the test", "coverage of limits"),
                (
                    (
                        f"{named(one)} and {named(other)}",
                        size(sizes(one, other)),
                        coverage(coverage_of_differences(one, other)),
                    )
                    for one, other in PAIRS
                ),
            ),
            table(
                ("two models, rows of each label", "coverage of limits"),
                ((named(supports), coverage(coverage_of_paired(supports))) for supports in PAIRED),
            ),
            table(
                (
                    *("equal segments", "rows of each label", "coverage of the extremes' limits"),
                    "of the naive limits",
                ),
                (
                    (str(segments), named(supports), *map(coverage, found))
                    for supports in ((100,), (50, 50))
                    for segments in (6, 20, 100)
                    for found in (coverage_of_extremes(supports, segments),)
                ),
            ),
            table(
                ("segments, rows of each label", "size of the test that all are alike"),
                (
                    (name, size(sizes_of_homogeneity(segments)))
                    for name, segments in SEGMENTS.items()
                ),
            ),
        ]
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    asked = parser.parse_args()
    made = tables()
    print(made)
    if asked.write:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{rest.split(END)[1]}")
