"""The rates of a page: those of all rows, those that groups are compared in, and the errors."""

from collections.abc import Sequence
from dataclasses import dataclass

from balframe.audit_page.queries import ModelCells
from balframe.audit_page.text import capitalize
from balframe.core.label_set import Label

BALANCED = "balanced_accuracy"
_MAX_LABELS = 8


@dataclass(frozen=True, slots=True)
class Rate:
    """A metric at a positive label, and its words.

    `among` are the rows in its denominator, `event` is what happened to the rows counted: of `those
    not re-arrested` some `had been called high risk`. `caption` names these rows, `share` what they
    are a share of, and `term` names the metric.
    """

    metric: str
    positive: Label | None
    term: str
    among: str = ""
    event: str = ""
    caption: str = ""
    share: str = ""

    @property
    def title(self) -> str:
        """Return the caption as a heading."""
        return capitalize(self.caption)


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of a page: those of all rows, and the errors."""

    overall: Sequence[Rate]
    errors: Sequence[Rate]

    @property
    def compared(self) -> Sequence[Rate]:
        """Return those that groups are compared in."""
        return [self.by_metric(BALANCED), *self.errors]

    @property
    def ranked(self) -> Sequence[Rate]:
        """Return those whose lowest and highest groups are sought."""
        return [*self.compared, *(rate for rate in self.overall if rate.metric == "prevalence")]

    @property
    def all(self) -> Sequence[Rate]:
        """Return all, each once."""
        return list(dict.fromkeys([*self.overall, *self.errors]))

    def by_metric(self, metric: str) -> Rate:
        """Return the first rate of a metric."""
        return next(rate for rate in self.all if rate.metric == metric)


def page_rates(cells: ModelCells) -> Rates:
    """Return the rates of a page."""
    if cells.positive is None:
        return _multiclass_rates(cells)
    label, words = cells.positive, cells.request.words
    happened, called = words.happened(label), words.called(label)
    positives, negatives = f"those {happened}", f"those not {happened}"
    was_called, was_not_called = f"had been {called}", f"had not been {called}"
    errors = (
        Rate(
            "false_positive_rate",
            label,
            "false positive rate",
            negatives,
            was_called,
            caption=f"{called}, but not {happened}",
            share=f"{called}, of {negatives}",
        ),
        Rate(
            "false_negative_rate",
            label,
            "false negative rate",
            positives,
            was_not_called,
            caption=f"not {called}, but {happened}",
            share=f"not {called}, of {positives}",
        ),
    )
    overall = (
        Rate("accuracy", label, "accuracy", "all calls", "are right", share="share of right calls"),
        Rate(BALANCED, label, "balanced accuracy"),
        Rate("recall", label, "recall", positives, was_called, share=f"{called}, of {positives}"),
        Rate("specificity", label, "specificity", negatives, was_not_called),
        Rate(
            "precision",
            label,
            "precision",
            f"those {called}",
            f"were {happened}",
            share=f"{happened}, of those {called}",
        ),
        Rate(
            "selection_rate", label, "selection rate", "all", was_called, share=f"{called}, of all"
        ),
        Rate("prevalence", label, "prevalence", "all", f"were {happened}"),
    )
    return Rates(overall, errors)


def _multiclass_rates(cells: ModelCells) -> Rates:
    """Return the misses of each label as the errors, of the most frequent where labels are many."""
    words = cells.request.words
    frequent = sorted(cells.labels, key=lambda label: -cells.n_true[label])[:_MAX_LABELS]
    overall = (
        Rate("accuracy", None, "accuracy", "all calls", "are right"),
        Rate(BALANCED, None, "balanced accuracy"),
    )
    errors = [
        Rate(
            "false_negative_rate",
            label,
            "miss rate",
            f"those {words.happened(label)}",
            f"had not been {words.called(label)}",
            caption=f"not {words.called(label)}, but {words.happened(label)}",
        )
        for label in cells.labels
        if label in frequent
    ]
    return Rates(overall, errors)
