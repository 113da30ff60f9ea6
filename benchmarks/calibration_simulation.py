"""How often tests and limits of calibration err, and what they find: simulated.

    python -m benchmarks.calibration_simulation    # writes docs/pages/error-rates.md
    python -m benchmarks.calibration_simulation --repetitions 400    # fewer, printed only

It takes about ten minutes on two cores.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from scipy import special, stats

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.binning import quantiles
from balframe.core.probability_scores import ProbabilityScores
from balframe.methods.calibration import strata
from balframe.methods.calibration.calibration import Recalibration, kuiper, recalibrate
from balframe.methods.calibration.calibration_gaps import compare_at_same_scores
from balframe.metrics.definitions.probability import miscalibration
from benchmarks.simulated import options, put

PAGE = Path(__file__).parents[1] / "docs" / "pages" / "error-rates.md"
BEGIN, END = "<!-- calibration: begin -->", "<!-- calibration: end -->"
REPETITIONS, SEED = 20_000, 26
LEVEL, ALPHA = 0.95, 0.05
BLOCK = 2**21  # rows that are drawn at a time
TEN = 10  # bins, or strata

Random = np.random.Generator
Shape = tuple[int, int]


def tied(segment: Int64Array, score: FloatArray, y: BoolArray) -> ProbabilityScores:
    """Add up rows of a segment with the same score."""
    order = np.lexsort((score, segment))
    segment, score, y = segment[order], score[order], y[order]
    changes = np.ones(len(y), np.bool_)
    changes[1:] = (np.diff(segment) != 0) | (np.diff(score) != 0)
    starts = np.flatnonzero(changes)
    n, k = np.diff(np.append(starts, len(y))), np.add.reduceat(y, starts, dtype=np.int64)
    return ProbabilityScores(segment[starts], score[starts], n, k, int(segment[-1]) + 1)


def right(score: FloatArray) -> FloatArray:
    """Give scores that are the chances they say."""
    return score


def beta(a: float, b: float) -> Callable[[Random, Shape], FloatArray]:
    """Draw scores of a beta distribution."""
    return lambda random, shape: random.beta(a, b, shape)


def normal(random: Random, shape: Shape) -> FloatArray:
    """Draw scores whose log odds are normal."""
    return np.asarray(special.expit(random.normal(-0.5, 1.2, shape)))


def ten(random: Random, shape: Shape) -> FloatArray:
    """Draw one of ten scores."""
    return random.integers(0, TEN, shape) / TEN + 0.05


@dataclass(frozen=True)
class Design:
    """Segments of n rows: how scores are drawn, and what the chance of a positive row is."""

    n: int
    scores: Callable[[Random, Shape], FloatArray]
    chance: Callable[[FloatArray], FloatArray] = right

    def draw(self, repetitions: int) -> Iterator[ProbabilityScores]:
        """Draw segments, some at a time."""
        random = np.random.default_rng(SEED)
        size = max(BLOCK // self.n, 1)
        for start in range(0, repetitions, size):
            shape = min(size, repetitions - start), self.n
            score = self.scores(random, shape)
            y = random.random(shape) < self.chance(score)
            yield tied(np.repeat(np.arange(shape[0]), self.n), score.ravel(), y.ravel())


def recalibrated(change: Callable[[FloatArray], FloatArray]) -> Callable[[FloatArray], FloatArray]:
    """Let the chance have other log odds than the score."""
    return lambda score: np.asarray(special.expit(change(special.logit(score))))


RIGHT: Mapping[str, Design] = {
    "mean 0.4, 50 rows": Design(50, beta(2, 3)),
    "mean 0.4, 2,000 rows": Design(2000, beta(2, 3)),
    "mean 0.05, 200 rows": Design(200, beta(1, 19)),
    "mean 0.01, 200 rows": Design(200, beta(1, 99)),
    "mean 0.01, 5,000 rows": Design(5000, beta(1, 99)),
    "mean 0.95, 50 rows": Design(50, beta(19, 1)),
    "most near 0 or 1, 200 rows": Design(200, beta(0.5, 0.5)),
    "ten scores, 1,000 rows": Design(1000, ten),
}
WRONG: Mapping[str, Design] = {
    "too low by 0.25 throughout, 500 rows": Design(
        500, normal, recalibrated(lambda odds: odds + 0.25)
    ),
    "too extreme, slope 0.7, 500 rows": Design(500, normal, recalibrated(lambda odds: 0.7 * odds)),
    "too low and too high in turn, 2,000 rows": Design(
        2000, normal, recalibrated(lambda odds: odds + 0.4 * np.sin(2.5 * odds))
    ),
}


def held(limits: Sequence[FloatArray], truth: float) -> FloatArray:
    """Say which limits contain the truth; those that are null do not exclude it."""
    lower, upper = limits
    return 1.0 - ((lower > truth) | (upper < truth))


def of_design(repetitions: int, design: Design) -> dict[str, float]:
    """Give shares of segments in which tests find a fault, and in which limits hold the truth."""

    def measure(p: ProbabilityScores, r: Recalibration) -> dict[str, FloatArray | BoolArray]:
        return {
            "`p_value`": r.p_value < ALPHA,
            "`kuiper_p_value`": kuiper(p)[1] < ALPHA,
            "limits of `oe_ratio`": held((r.oe_ratio_lower, r.oe_ratio_upper), 1),
            "limits of `slope`": held((r.slope_lower, r.slope_upper), 1),
        }

    found = [measure(p, recalibrate(p, LEVEL)) for p in design.draw(repetitions)]
    return {name: float(np.concatenate([one[name] for one in found]).mean()) for name in found[0]}


@dataclass(frozen=True)
class Groups:
    """Rows of segments with these shares, whose scores differ in the mean of their log odds.

    `change` adds to the log odds of the first segment what the scores do not say.
    """

    n: int
    shares: tuple[float, ...]
    means: tuple[float, ...]
    has_deciles: bool = False
    change: Callable[[FloatArray], FloatArray] | None = None

    def draw(self, seed: int) -> ProbabilityScores:
        """Draw a data set."""
        random = np.random.default_rng([SEED, seed])
        segment = random.choice(len(self.shares), self.n, p=self.shares)
        odds = random.normal(np.array(self.means)[segment], 1)
        score = np.asarray(special.expit(odds))
        if self.has_deciles:
            score = np.clip(np.floor(TEN * score), 0, TEN - 1) / TEN + 0.05
        truth = special.logit(score)
        if self.change is not None:
            truth = truth + np.where(segment == 0, self.change(truth), 0)
        return tied(segment, score, random.random(self.n) < special.expit(truth))


def spread(segments: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Give equally large segments, and means of their log odds."""
    return (1 / segments,) * segments, tuple(np.linspace(-1.5, 0.5, segments))


TWO = (0.3, 0.7), (-1.0, 0.0)
FIVE = (0.4, 0.3, 0.15, 0.1, 0.05), (-0.5, 0.0, -1.0, 0.5, -1.5)
SAME: Mapping[str, Groups] = {
    "2 segments, 1,000 rows": Groups(1_000, *TWO),
    "2 segments, 100,000 rows": Groups(100_000, *TWO),
    "5 segments, 1,000 rows": Groups(1_000, *FIVE),
    "5 segments, 10,000 rows": Groups(10_000, *FIVE),
    "5 segments, 10,000 rows, ten scores": Groups(10_000, *FIVE, has_deciles=True),
    "100 segments, 1,000 rows": Groups(1_000, *spread(100)),
    "100 segments, 10,000 rows": Groups(10_000, *spread(100)),
}
OTHER: Mapping[str, Groups] = {
    "log odds higher by 0.2": Groups(5_000, *FIVE, change=lambda odds: 0.2 + 0 * odds),
    "log odds times 1.25": Groups(5_000, *FIVE, change=lambda odds: 0.25 * odds),
}


def ten_strata(score: FloatArray, n: Int64Array) -> Int64Array:
    """Cut scores into ten quantile strata."""
    edges = quantiles(score, None if n.sum() == len(n) else n, TEN)
    return np.searchsorted(edges, score, side="right")


def of_groups(groups: Groups, seed: int) -> dict[str, float]:
    """Say which tests find a difference, and how many limits hold that there is none."""
    p = groups.draw(seed)
    found = compare_at_same_scores(p, LEVEL)
    with patch.object(strata, "score_strata", ten_strata):
        of_ten = compare_at_same_scores(p, LEVEL)
    return {
        "`p_value_all`": found.all_equal.p_value < ALPHA,
        "`p_value_crossing`": found.crossing.p_value < ALPHA,
        "`p_value`": float((found.p_value < ALPHA).mean()),
        "`lower`, `upper`": float(held((found.lower, found.upper), 0).mean()),
        "`p_value_all` of ten quantiles": of_ten.all_equal.p_value < ALPHA,
    }


def mean_of(ask: Callable[[int], Mapping[str, float]], repetitions: int) -> dict[str, float]:
    """Average over data sets."""
    found = [ask(seed) for seed in range(repetitions)]
    return {name: float(np.mean([one[name] for one in found])) for name in found[0]}


SIZES = np.geomspace(50, 20_000, 60).astype(np.int64)
AT_FAULT = 40  # with 2,903 rows, whose scores are too low by 0.3 log odds
PLACE, CORRELATION = ": place", ": correlation"
IN_BINS = "calibration error of ten bins"


def of_ranking(seed: int) -> dict[str, float]:
    """Find the place of the segment at fault, and the rank correlation with the number of rows."""
    random = np.random.default_rng([SEED, seed])
    segment = np.repeat(np.arange(len(SIZES)), SIZES)
    score = normal(random, (len(segment), 1))[:, 0]
    chance = special.expit(special.logit(score) + 0.3 * (segment == AT_FAULT))
    p = tied(segment, score, random.random(len(segment)) < chance)
    statistic, of_statistic = kuiper(p)
    measures = {
        IN_BINS: calibration_error(p),
        "`miscalibration`": miscalibration(p),
        "`kuiper`": statistic,
        "`p_value`": -recalibrate(p, LEVEL).p_value,
        "`kuiper_p_value`": -of_statistic,
    }
    out = {}
    for name, values in measures.items():
        out[name + PLACE] = float((values > values[AT_FAULT]).sum() + 1)
        out[name + CORRELATION] = float(stats.spearmanr(values, SIZES).statistic)
    return out


def calibration_error(p: ProbabilityScores) -> FloatArray:
    """Average the distance of observed shares and mean scores over ten bins of equal width."""
    bins = np.minimum((p.score * TEN).astype(np.int64), TEN - 1) + TEN * p.segment
    apart = np.bincount(bins, p.k - p.n * p.score, TEN * p.n_segments)
    return np.asarray(np.abs(apart).reshape(-1, TEN).sum(axis=1) / p.n_rows)


def table(title: str, found: Mapping[str, Mapping[str, float]], columns: int = 9) -> Iterator[str]:
    """Write the first columns of a table."""
    head = [*next(iter(found.values()))][:columns]
    yield f"| {title} | {' | '.join(head)} |"
    yield f"| --- {'| ---: ' * len(head)}|"
    for name, shares in found.items():
        yield f"| {name} | {' | '.join(f'{shares[column]:.3f}' for column in head)} |"


def table_of_places(found: Mapping[str, float]) -> Iterator[str]:
    """Write how segments are sorted."""
    yield "| sorted by | mean place | rank correlation with the number of rows |"
    yield "| --- | ---: | ---: |"
    for name in [key.removesuffix(PLACE) for key in found if key.endswith(PLACE)]:
        place, correlation = found[name + PLACE], found[name + CORRELATION]
        yield f"| {name} | {place:.1f} | {correlation:.2f} |"


def tables(repetitions: int) -> str:
    """Simulate everything."""
    few = max(repetitions // 10, 1)
    of_right = {name: of_design(repetitions, design) for name, design in RIGHT.items()}
    of_wrong = {name: of_design(few, design) for name, design in WRONG.items()}
    same = {name: mean_of(partial(of_groups, groups), few) for name, groups in SAME.items()}
    other = {name: mean_of(partial(of_groups, groups), few) for name, groups in OTHER.items()}
    places = mean_of(of_ranking, max(repetitions // 100, 1))
    parts = [
        [f"Scores are calibrated; {repetitions:,} segments each:"],
        table("scores", of_right),
        [f"Scores are not calibrated; {few:,} segments each:"],
        table("scores", of_wrong, 2),
        [f"The same score means the same in all segments; {few:,} data sets each:"],
        table("data", same),
        [f"The same score means something else in one of five segments; {few:,} data sets each:"],
        table("that segment, of 2,000 rows", other, 2),
        ["One of 60 segments is at fault. Its place, if segments are sorted by:"],
        table_of_places(places),
    ]
    return "\n\n".join("\n".join(part) for part in parts)


def main() -> None:
    given = options(__doc__, "segments")
    made = tables(given.repetitions or REPETITIONS)
    print(made)
    if given.repetitions is not None:
        return
    put(made, PAGE, BEGIN, END)


if __name__ == "__main__":
    main()
