"""How often decisions on many segments err where nothing differs, simulated through the verbs.

Each function draws families of segments whose true scores are known, asks a verb, and returns the
share of families in which it says what is not so.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import special

import balframe as bf
from balframe.stats.multiple_testing import adjust_p_values

ERROR = 0.05

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Design:
    """Rows and recalls of the labels of a segment; several are taken in turn by the segments."""

    supports: tuple[tuple[int, ...], ...]
    recalls: tuple[tuple[float, ...], ...]

    @property
    def metric(self) -> str:
        """The metric that has one true score in all segments."""
        return "recall" if len(self.supports[0]) == 1 else "balanced_accuracy"

    @property
    def score(self) -> float:
        """That score."""
        (score,) = {round(float(np.mean(recalls)), 12) for recalls in self.recalls}
        return score

    def of_segments(self, n_segments: int) -> tuple[Counts, Array]:
        """Give supports and recalls of so many segments."""
        turn = np.arange(n_segments)
        supports, recalls = np.array(self.supports), np.array(self.recalls)
        return supports[turn % len(supports)], recalls[turn % len(recalls)]


def equal(*supports: int, recall: float) -> Design:
    """Design segments of the same supports whose labels have the same recall."""
    return Design((supports,), ((recall,) * len(supports),))


@dataclass
class Draws:
    """Families of segments that are drawn, as a frame of counted rows."""

    design: Design
    n_segments: int
    n_families: int
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(20))

    def frame(self) -> pl.DataFrame:
        """Draw predictions: one row for each family, segment, label and whether it is right."""
        supports, recalls = self.design.of_segments(self.n_segments)
        right = self.random.binomial(supports, recalls, (self.n_families, *supports.shape))
        return _predictions(supports, right)

    def of_models(self, only_one: float, only_other: float) -> pl.DataFrame:
        """Draw predictions of two models: these shares only one of them gets right."""
        supports, _ = self.design.of_segments(self.n_segments)
        shares = [only_one, only_other, 1 - only_one - only_other]
        counts = self.random.multinomial(supports, shares, (self.n_families, *supports.shape))
        other = (pl.col("y") - 1) % _n_labels(supports)
        return _table(counts).with_columns(
            a=pl.when(pl.col("kind") == 1).then(other).otherwise("y"),
            b=pl.when(pl.col("kind") == 0).then(other).otherwise("y"),
        )

    def weighted(self, weights: "Weights") -> pl.DataFrame:
        """Draw predictions of light and of heavy rows."""
        supports, _ = self.design.of_segments(self.n_segments)
        heavy = self.random.binomial(
            supports, weights.share_heavy, (self.n_families, *supports.shape)
        )
        of_light, of_heavy = weights.recalls(self.design.score)
        parts = []
        for rows, recall, weight in (
            (supports - heavy, of_light, 1.0),
            (heavy, of_heavy, weights.heavy),
        ):
            right = self.random.binomial(rows, recall)
            parts.append(_predictions(rows, right).with_columns(w=pl.lit(float(weight))))
        return pl.concat(parts)


@dataclass(frozen=True)
class Weights:
    """A share of the rows is heavy, and right as often as the others or less often."""

    share_heavy: float
    heavy: float
    recall_of_heavy: float | None = None

    def recalls(self, score: float) -> tuple[float, float]:
        """Find the recalls of light and of heavy rows under which the weighted one is this."""
        if self.recall_of_heavy is None:
            return score, score
        of_heavy = self.share_heavy * self.heavy
        of_light = 1 - self.share_heavy
        light = (score * (of_light + of_heavy) - of_heavy * self.recall_of_heavy) / of_light
        assert 0 <= light <= 1
        return light, self.recall_of_heavy


def _n_labels(supports: Counts) -> int:
    return max(2, supports.shape[-1])


def _predictions(rows: Counts, right: Counts) -> pl.DataFrame:
    """Write down how many rows of each label are right; the others have the label before it."""
    predicted = (pl.col("y") - pl.col("kind")) % _n_labels(rows)
    return _table(np.stack([right, rows - right], axis=-1)).with_columns(yhat=predicted)


def _table(counts: Counts) -> pl.DataFrame:
    """Write counts of kinds of rows down, those of one label as rows of the positive one."""
    family, segment, label, kind = (index.ravel() for index in np.indices(counts.shape))
    positive = 1 if counts.shape[2] == 1 else 0
    columns = {"family": family, "g": segment, "y": label + positive, "kind": kind}
    return pl.DataFrame(columns | {"n": counts.ravel()}).filter(pl.col("n") > 0)


def _each(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    yield from frame.partition_by("family", include_key=False)


def false_verdicts(
    draws: Draws, *, frame: pl.DataFrame | None = None, **options: object
) -> tuple[float, float]:
    """Share of families in which `check` fails, or passes, a rule whose bound is the true score.

    All families are asked in one call, each at the level that its number of segments needs.
    """
    frame = draws.frame() if frame is None else frame
    bound, metric = draws.design.score, draws.design.metric
    rules = [f"{metric} >= {bound}", f"{metric} <= {bound}"]
    out = bf.check(
        frame, "y", "yhat", by=["family", "g"], counts="n", rules=rules,
        level=1 - ERROR / draws.n_segments, adjust=None, pos_label=1, detail=True, **options,
    )  # fmt: skip
    failed = out.filter(status="fail")
    fails, passes = (
        failed.filter(rule=rule)["family"].n_unique() / draws.n_families for rule in rules
    )
    return fails, passes


def passes_or_fails(now: Draws, before: Draws, margin: float, *, passes: bool) -> float:
    """Share of families in which a segment passes, or fails, a rule against an earlier run."""
    cells = bf.confusion(before.frame(), "y", "yhat", by=["family", "g"], counts="n")
    return _decided(now.frame(), "yhat", cells, now, margin, passes=passes)


def passes_or_fails_paired(
    draws: Draws, only_new: float, only_old: float, margin: float, *, passes: bool
) -> float:
    """Share of families in which a segment passes, or fails, a rule against another model."""
    frame = draws.of_models(only_new, only_old)
    return _decided(frame, "a", "b", draws, margin, passes=passes)


def _decided(
    frame: pl.DataFrame, model: str, baseline: object, draws: Draws, margin: float, *, passes: bool
) -> float:
    """Ask all families in one call, each at the level that its number of segments needs."""
    out = bf.check(
        frame, "y", model, by=["family", "g"], counts="n", baseline=baseline,
        rules=f"{draws.design.metric} >= baseline - {margin}", pos_label=1,
        level=1 - ERROR / draws.n_segments, adjust=None, detail=True,
    )  # fmt: skip
    decided = out.filter(status="pass" if passes else "fail")
    return decided["family"].n_unique() / draws.n_families


def _shares(
    frame: pl.DataFrame, ask: Callable[[pl.DataFrame], tuple[bool, ...]]
) -> tuple[float, ...]:
    """Ask for each family, and average."""
    return tuple(map(float, np.mean([ask(one) for one in _each(frame)], axis=0)))


def false_disparities(
    draws: Draws, *, frame: pl.DataFrame | None = None, **options: object
) -> tuple[float, ...]:
    """Share of families in which the limits of the extremes exclude 0, or a test is significant.

    The tests are that of equal scores and that of equal recalls.
    """
    frame = draws.frame() if frame is None else frame

    def ask(one: pl.DataFrame) -> tuple[bool, ...]:
        row = bf.disparity(
            one,
            "y",
            "yhat",
            by="g",
            counts="n",
            metrics=draws.design.metric,
            min_support=1,
            pos_label=1,
            detail=True,
            **options,
        ).row(0, named=True)
        tests = (row["p_value_all"], row["p_value_recalls"])
        return row["lower"] > 0, *(p is not None and p < ERROR for p in tests)

    return _shares(frame, ask)


def false_gaps(
    draws: Draws, *, frame: pl.DataFrame | None = None, **options: object
) -> tuple[float, ...]:
    """Share of single gaps that are significant, and of families where one is by Holm, or BH."""
    frame = draws.frame() if frame is None else frame

    def ask(one: pl.DataFrame) -> tuple[Any, ...]:
        p = bf.gaps(
            one, "y", "yhat", by="g", counts="n", metrics=draws.design.metric, pos_label=1,
            adjust=None, detail=True, **options,
        )["p_value"].drop_nulls().to_numpy()  # fmt: skip
        of_families = ((adjust_p_values(p, method) < ERROR).any() for method in ("holm", "bh"))
        return (p < ERROR).mean(), *of_families

    return _shares(frame, ask)


def false_differences_of_models(draws: Draws, only_one: float) -> tuple[float, ...]:
    """Share of segments where equal models differ significantly, and of families by Holm."""
    out = bf.compare(
        draws.of_models(only_one, only_one), "y", ["a", "b"], by=["family", "g"], counts="n",
        metrics=draws.design.metric, pos_label=1, adjust=None, detail=True,
    )  # fmt: skip
    p = out["p_value"].to_numpy().reshape(draws.n_families, draws.n_segments)
    by_holm = [(adjust_p_values(of_family, "holm") < ERROR).any() for of_family in p]
    return float((p < ERROR).mean()), float(np.mean(by_holm))


@dataclass(frozen=True)
class Ranks:
    """Normal scores of so many positives and negatives, those of positives with another spread.

    Their area under the ROC curve is `area`.
    """

    n_positive: int
    n_negative: int
    area: float
    spread: float = 1.0

    def frame(self, n_segments: int, random: np.random.Generator) -> pl.DataFrame:
        """Draw scores, with a row for each."""
        y = np.repeat([1, 0], [self.n_positive, self.n_negative])
        size = (n_segments, len(y))
        mean = float(special.ndtri(self.area)) * np.hypot(1, self.spread)
        score = random.standard_normal(size) * np.where(y == 1, self.spread, 1) + mean * y
        segment, label = np.indices(size)
        return pl.DataFrame({"g": segment.ravel(), "y": y[label.ravel()], "score": score.ravel()})


def false_areas(ranks: Ranks, n_segments: int, n_families: int) -> tuple[float, float]:
    """Share of areas that their limits miss, and of differences from the rest that are not 0."""
    random = np.random.default_rng(20)
    missed, differ = [], []
    for _ in range(n_families):
        out = bf.ranking(
            ranks.frame(n_segments, random), "y", "score", by="g", reference="rest", detail=True
        )
        area = out.select("roc_auc_lower", "roc_auc_upper").to_numpy()
        ends = out.select("roc_auc_difference_lower", "roc_auc_difference_upper").to_numpy()
        missed.append(_share_outside(area, ranks.area))
        differ.append(_share_outside(ends, 0))
    return float(np.mean(missed)), float(np.mean(differ))


def _share_outside(limits: Array, truth: float) -> float:
    return float(((limits[:, 0] > truth) | (truth > limits[:, 1])).mean())
