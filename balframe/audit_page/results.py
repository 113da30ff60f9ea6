"""The figures that sections share, and how a section reports on every model."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from balframe.audit_page.document import Block, Heading
from balframe.audit_page.groups import (
    MAX_COLUMNS,
    ColumnFigures,
    Difference,
    GroupFigures,
    compare_groups,
)
from balframe.audit_page.queries import ModelCells
from balframe.audit_page.rates import Rate, Rates
from balframe.audit_page.request import Request, Words
from balframe.audit_page.scores import ScoreCounts, ScoreWords
from balframe.audit_page.text import caller_text
from balframe.core.label_set import Label
from balframe.stats.multiple_testing import adjust_p_values

NO_GROUPS = "no columns of groups were given"
NO_SCORE = "no column of scores was named"


@dataclass(frozen=True, slots=True)
class ModelFigures:
    """The figures of a model; `name` is isolated, and empty where there is one model.

    `groups_by_column` are those of all by-columns, `columns` those that a page compares. `scores`
    is None without scores of one of two labels.
    """

    name: str
    cells: ModelCells
    rates: Rates
    overall: GroupFigures
    groups_by_column: Sequence[Sequence[GroupFigures]]
    scores: ScoreCounts | None
    columns: Sequence[ColumnFigures] = ()

    def compare(self, level: float) -> Self:
        """Return the figures with comparisons of groups, whose limits are at a level."""
        columns = [
            compare_groups(self.cells, self.rates, column, groups, level)
            for column, groups in enumerate(self.groups_by_column[:MAX_COLUMNS])
        ]
        return replace(self, columns=columns)

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
    def predicted(self) -> str:
        """Return the words for the positive label of the predictions."""
        return self.words.predicted(self.positive)

    @property
    def score_words(self) -> ScoreWords:
        """Return the words on the score."""
        score = caller_text(self.cells.model.y_score)
        return ScoreWords(
            score, self.happened, self.predicted, self.words.plural, self.words.predictions
        )

    @property
    def defined_errors(self) -> list[Rate]:
        """Return the errors that can be made: those whose outcome occurs."""
        return [rate for rate in self.rates.errors if self.overall.rates[rate].is_defined]

    @property
    def defined_tested(self) -> list[Rate]:
        """Return the rates whose differences the page tests and whose outcome occurs."""
        return [rate for rate in self.rates.tested if self.overall.rates[rate].is_defined]

    @property
    def harm(self) -> Rate | None:
        """Return the error that is to the disadvantage of a person, where that is known."""
        return next((rate for rate in self.defined_errors if rate.is_harm), None)

    @property
    def tests(self) -> Iterator[Difference]:
        """Return the tests of differences between groups."""
        for column in self.columns:
            for comparison in column.comparisons.values():
                yield from comparison.tests


@dataclass(frozen=True, slots=True)
class Adjustment:
    """How p-values were adjusted together: how many of each kind, and how many are significant.

    Limits at `level` exclude 0 exactly where the adjusted p-value is below `alpha` (Benjamini and
    Yekutieli 2005): a p-value is significant where it is below 1 - `level`.
    """

    n_by_kind: Mapping[str, int]
    n_significant: int
    alpha: float

    @property
    def n_tests(self) -> int:
        """Return how many p-values were adjusted."""
        return sum(self.n_by_kind.values())

    @property
    def kinds(self) -> str:
        """Return how many comparisons there are of each kind."""
        return ", ".join(f"{n:,} of {kind}" for kind, n in self.n_by_kind.items() if n)

    @property
    def level(self) -> float:
        """Return the level of the limits of each difference."""
        return 1 - max(self.n_significant, 1) * self.alpha / max(self.n_tests, 1)


@dataclass(frozen=True, slots=True)
class Audit:
    """The request, the frame, the figures that sections share, and the adjustment of p-values."""

    request: Request
    frame: Any
    models: Sequence[ModelFigures]
    fingerprint: str
    adjustment: Adjustment


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question that the page does not treat, and why; a listed one may be missed by a reader."""

    question: str
    reason: str
    is_listed: bool = True


def adjust_differences(differences: Mapping[str, Iterable[Difference]], alpha: float) -> Adjustment:
    """Adjust all p-values of a page together, by the method of Benjamini and Hochberg.

    The keys are the kinds of comparisons.
    """
    by_kind = {
        kind: [difference for difference in some if difference.p is not None]
        for kind, some in differences.items()
    }
    tested = [difference for some in by_kind.values() for difference in some]
    p_values = np.array([difference.p for difference in tested], np.float64)
    for difference, value in zip(tested, adjust_p_values(p_values, "bh"), strict=True):
        difference.p_adjusted = float(value)
        difference.alpha = alpha
    n_significant = sum(difference.is_significant for difference in tested)
    n_by_kind = {kind: len(some) for kind, some in by_kind.items()}
    return Adjustment(n_by_kind, n_significant, alpha)


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
