"""All that a page is made from: what verbs answer about each model."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from balframe.audit_page.counted import Counted
from balframe.audit_page.document import Block, Heading, Section
from balframe.audit_page.groups import ColumnOf, Difference, GroupOf
from balframe.audit_page.measured_criteria import CriterionOf, Selections
from balframe.audit_page.measured_models import Pair
from balframe.audit_page.measured_rules import Verdict
from balframe.audit_page.measured_scores import OfScore
from balframe.audit_page.measured_slices import Search
from balframe.audit_page.rates import Rates
from balframe.audit_page.request import Asked
from balframe.stats.multiple_testing import adjust_p_values


@dataclass(frozen=True, slots=True)
class OfModel:
    """The answers about a model; `name` is marked, and empty where there is one model."""

    name: str
    counted: Counted
    rates: Rates
    overall: GroupOf
    columns: Sequence[ColumnOf]
    searches: Sequence[Search]
    criteria: Sequence[Sequence[CriterionOf]]
    selections: Sequence[Selections | None]
    verdicts: Sequence[Verdict]
    score: OfScore | None

    @property
    def differences(self) -> Iterator[Difference]:
        """List the differences that the page shows."""
        for column in self.columns:
            for group in column.groups:
                yield from group.differences.values()
        for found in self.selections:
            if found is not None:
                yield from (one.difference for one in found.categories)
        if self.score is not None:
            yield from self.score.differences


@dataclass(frozen=True, slots=True)
class Audited:
    """What was asked, and the answers about every model."""

    asked: Asked
    models: Sequence[OfModel]
    pairs: Sequence[Pair]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question without an answer, and why."""

    question: str
    why: str


Answer = Section | LeftOut


def adjust(differences: Sequence[Difference]) -> None:
    """Adjust all p-values of a page together, by the method of Benjamini and Hochberg."""
    p = np.array([np.nan if one.p is None else one.p for one in differences], np.float64)
    for one, value in zip(differences, adjust_p_values(p, "bh"), strict=True):
        one.adjusted = None if np.isnan(value) else float(value)


def of_every_model(
    audited: Audited, make: Callable[[OfModel], tuple[Sequence[Block], Sequence[str]]]
) -> tuple[list[Block], list[str]]:
    """Make the blocks and the sentences in brief of every model, under its name if it has one."""
    blocks: list[Block] = []
    brief: list[str] = []
    for model in audited.models:
        own, sentences = make(model)
        blocks += [Heading(model.name), *own] if model.name and own else own
        brief += [f"{model.name}: {one}" if model.name else one for one in sentences]
    return blocks, brief
