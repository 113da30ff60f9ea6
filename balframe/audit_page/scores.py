"""The different scores of a model, the thresholds between them, and the words for scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from balframe.audit_page.numbers import score_text, threshold_text
from balframe.audit_page.queries import PREDICTION, SCORE, ModelCells, N
from balframe.audit_page.text import caller_text
from balframe.frames.convert_result import row_dicts
from balframe.frames.thresholds import Thresholds

NEVER = float("inf")  # a threshold that no score reaches
_NEAR = 100  # parts of the range of scores


class Threshold(NamedTuple):
    """A score. Any number greater than `above` and up to it, as a threshold, predicts the same."""

    value: float
    above: float

    @property
    def text(self) -> str:
        """Write the shortest number that predicts the same."""
        return threshold_text(self.value, self.above)

    @property
    def rule(self) -> str:
        """Return which scores reach it: `5 or more`, or `never`."""
        return "never" if self.value == NEVER else f"{self.text} or more"


@dataclass(frozen=True)
class ScoreCounts:
    """The different scores of a model, ascending, each with its rows, and those selected."""

    scores: Sequence[float]
    n_predicted: Sequence[int]
    n: Sequence[int]
    step: float | None

    @classmethod
    def from_cells(cls, cells: ModelCells) -> Self:
        """Count the rows of each score."""
        counts: dict[float, tuple[int, int]] = {}
        keys = [SCORE, PREDICTION]
        for row in row_dicts(cells.frame.select(*keys, N).group_by(keys).sum()):
            n_predicted, n = counts.get(row[SCORE], (0, 0))
            is_predicted = row[PREDICTION] == cells.positive
            counts[row[SCORE]] = (n_predicted + row[N] * is_predicted, n + row[N])
        scores = sorted(score for score, (_, n) in counts.items() if n)
        return cls(
            [float(score) for score in scores],
            [counts[score][0] for score in scores],
            [counts[score][1] for score in scores],
            cells.step,
        )

    @property
    def may_be_probabilities(self) -> bool:
        """Return whether all scores lie between 0 and 1, and not only at the ends."""
        return all(0 <= x <= 1 for x in self.scores) and any(0 < x < 1 for x in self.scores)

    def threshold(self, value: float) -> Threshold:
        """Return a score as a threshold; where scores are rounded, only it predicts the same."""
        if value == NEVER or self.step is not None:
            return Threshold(value, value)
        i = self.scores.index(value)
        near = value - (self.scores[-1] - self.scores[0]) / _NEAR
        return Threshold(value, near if i == 0 else max(near, self.scores[i - 1]))

    def choose(self, limit: int, n_quantiles: int, *others: float | None) -> list[float]:
        """Choose all scores if they are few, and quantiles otherwise; and others, and never."""
        scores = list(self.scores)
        if len(scores) > limit:
            quantiles = Thresholds(quantiles=n_quantiles).at_quantiles(
                np.array(scores), np.array(self.n, np.int64)
            )
            assert quantiles.values is not None
            scores = quantiles.values.tolist()
        return sorted({*scores, *(value for value in others if value is not None), NEVER})


@dataclass(frozen=True, slots=True)
class ScoreWords:
    """The words on a score: of the score, of what happened, of the prediction and of rows."""

    score: str
    happened: str
    predicted: str
    rows: str
    predictions: str = "predictions"


def rounding_note(cells: ModelCells) -> str:
    """State how scores were rounded; empty if they were not."""
    if cells.step is None:
        return ""
    return (
        f"There are very many different values of {caller_text(cells.model.y_score)}. They were "
        f"rounded down to multiples of {score_text(cells.step)}."
    )
