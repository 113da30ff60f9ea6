"""The figures that sections share, and how a section reports on every model."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from balframe.audit_page.document import Block, Heading
from balframe.audit_page.groups import ColumnFigures, Difference, GroupFigures
from balframe.audit_page.queries import ModelCells
from balframe.audit_page.rates import Rate, Rates
from balframe.audit_page.request import Request, Words
from balframe.audit_page.scores import ScoreCounts, ScoreWords
from balframe.audit_page.text import caller_text
from balframe.core.label_set import Label
from balframe.stats.multiple_testing import adjust_p_values

NO_GROUPS = "no columns of groups were given"
NO_SCORE = "no score was given (`y_score`)"


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """The figures of a model; `name` is isolated, and empty where there is one model.

    `scores` is None without scores of one of two labels.
    """

    name: str
    cells: ModelCells
    rates: Rates
    overall: GroupFigures
    columns: Sequence[ColumnFigures]
    scores: ScoreCounts | None

    @property
    def request(self) -> Request:
        """Return what was requested."""
        return self.cells.request

    @property
    def words(self) -> Words:
        """Return the words of the page."""
        return self.cells.request.words

    @property
    def positive(self) -> Label:
        """Return the positive label of two."""
        assert self.cells.positive is not None, "there are two labels"
        return self.cells.positive

    @property
    def happened(self) -> str:
        """Return the words for the positive label of the outcome."""
        return self.words.happened(self.positive)

    @property
    def called(self) -> str:
        """Return the words for the positive label of the predictions."""
        return self.words.called(self.positive)

    @property
    def score_words(self) -> ScoreWords:
        """Return the words on the score."""
        score = caller_text(self.cells.model.y_score)
        return ScoreWords(score, self.happened, self.called, self.words.plural)

    @property
    def defined_errors(self) -> list[Rate]:
        """Return the errors that can be made: those whose outcome occurs."""
        return [rate for rate in self.rates.errors if self.overall.rates[rate].is_defined]

    @property
    def groups(self) -> list[GroupFigures]:
        """Return the groups of all columns."""
        return [group for column in self.columns for group in column.groups]

    @property
    def differences(self) -> Iterator[Difference]:
        """Return the differences of the groups."""
        for group in self.groups:
            yield from group.differences.values()


@dataclass(frozen=True, slots=True)
class Audit:
    """The request, the frame, and the figures of every model that sections share."""

    request: Request
    frame: Any
    models: Sequence[ModelFigures]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question that the page does not treat, and why; a listed one may be missed by a reader."""

    question: str
    reason: str
    is_listed: bool = True


def adjust_differences(differences: Sequence[Difference], alpha: float) -> None:
    """Adjust all p-values of a page together, by the method of Benjamini and Hochberg."""
    p = np.array(
        [np.nan if difference.p is None else difference.p for difference in differences], np.float64
    )
    for difference, value in zip(differences, adjust_p_values(p, "bh"), strict=True):
        difference.p_adjusted = None if np.isnan(value) else float(value)
        difference.alpha = alpha


def report_models(
    audit: Audit,
    report: Callable[..., tuple[Sequence[Block], Sequence[str]]],
    *figures: Sequence[Any],
) -> tuple[list[Block], list[str]]:
    """Return the blocks and the sentences in brief of every model, under its name if it has one.

    `report` makes those of one model from its figures, and from its own figures of a section.
    """
    blocks: list[Block] = []
    brief: list[str] = []
    for model, *own in zip(audit.models, *figures, strict=True):
        model_blocks, sentences = report(model, *own)
        blocks += (
            [Heading(model.name), *model_blocks] if model.name and model_blocks else model_blocks
        )
        brief += [f"{model.name}: {text}" if model.name else text for text in sentences]
    return blocks, brief
