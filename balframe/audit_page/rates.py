"""The rates of a page: those of all rows, those that groups are compared in, and the errors."""

from collections.abc import Sequence
from dataclasses import dataclass

from balframe.api.outcomes import RATE
from balframe.audit_page.queries import ModelCells
from balframe.audit_page.text import capitalize
from balframe.core.label_set import Label

BALANCED = "balanced_accuracy"
_MAIN = (BALANCED, RATE)  # of which a page has one
_MAX_LABELS = 8
_RANKED = ("accuracy", "precision", "prevalence")  # beside those compared


@dataclass(frozen=True, slots=True)
class Rate:
    """A metric at a positive label, and its words.

    `among` are the rows in its denominator, `event` is what happened to the rows counted: of `those
    not re-arrested` some `had been called high risk`. `caption` names these rows, `share` what they
    are a share of, and `term` names the metric. `is_error` is true of errors, and `is_harm` of the
    error that is to the disadvantage of a person.
    """

    metric: str
    positive: Label | None
    term: str
    among: str = ""
    event: str = ""
    caption: str = ""
    share: str = ""
    is_error: bool = False
    is_harm: bool = False

    @property
    def is_compared(self) -> bool:
        """Return whether each group is compared with all others in it."""
        return self.is_error or self.metric in _MAIN

    @property
    def subject(self) -> str:
        """Return the term as the subject of a sentence: `balanced accuracy`, `the pass rate`."""
        return f"the {self.term}" if self.term.endswith("rate") else self.term

    @property
    def title(self) -> str:
        """Return the caption as a heading."""
        return capitalize(self.caption)


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of a page: those of all rows, and the errors, of which outcomes have none."""

    overall: Sequence[Rate]
    errors: Sequence[Rate]

    @property
    def main(self) -> Rate:
        """Return the rate that says how good all is: balanced accuracy, or the pass rate."""
        return next(rate for rate in self.overall if rate.metric in _MAIN)

    @property
    def tested(self) -> Sequence[Rate]:
        """Return the rates whose differences are tested one by one: the errors, or the main one."""
        return self.errors or [self.main]

    @property
    def noun(self) -> str:
        """Return what the rates that are tested are called."""
        return "error rate" if self.errors else self.main.term

    @property
    def noun_with_article(self) -> str:
        """Return the noun as a sentence has it: `an error rate`."""
        return f"{'an' if self.errors else 'the'} {self.noun}"

    @property
    def compared(self) -> Sequence[Rate]:
        """Return those that groups are compared in."""
        return [self.main, *self.errors]

    @property
    def ranked(self) -> Sequence[Rate]:
        """Return those in which the groups of a column are compared."""
        return [*self.compared, *(rate for rate in self.overall if rate.metric in _RANKED)]

    @property
    def all(self) -> Sequence[Rate]:
        """Return all, each once."""
        return list(dict.fromkeys([*self.overall, *self.errors]))

    def by_metric(self, metric: str) -> Rate:
        """Return the first rate of a metric."""
        return next(rate for rate in self.all if rate.metric == metric)


def page_rates(cells: ModelCells) -> Rates:
    """Return the rates of a page."""
    if cells.request.is_of_outcomes:
        return _outcome_rates(cells)
    if cells.positive is None:
        return _multiclass_rates(cells)
    label, words = cells.positive, cells.request.words
    happened, predicted = words.happened(label), words.predicted(label)
    positives, negatives = f"those {happened}", f"those not {happened}"
    was_predicted, was_not_predicted = f"had been {predicted}", f"had not been {predicted}"
    errors = (
        Rate(
            "false_positive_rate",
            label,
            "false positive rate",
            negatives,
            was_predicted,
            caption=f"{predicted}, but not {happened}",
            share=f"{predicted}, of {negatives}",
            is_error=True,
            is_harm=cells.request.favourable == "not selected",
        ),
        Rate(
            "false_negative_rate",
            label,
            "false negative rate",
            positives,
            was_not_predicted,
            caption=f"not {predicted}, but {happened}",
            share=f"not {predicted}, of {positives}",
            is_error=True,
            is_harm=cells.request.favourable == "selected",
        ),
    )
    overall = (
        Rate(
            "accuracy",
            label,
            "accuracy",
            f"all {words.predictions}",
            "are right",
            share=f"right {words.predictions}, of all",
        ),
        Rate(BALANCED, label, "balanced accuracy"),
        Rate(
            "recall",
            label,
            "recall",
            positives,
            was_predicted,
            share=f"{predicted}, of {positives}",
        ),
        Rate("specificity", label, "specificity", negatives, was_not_predicted),
        Rate(
            "precision",
            label,
            "precision",
            f"those {predicted}",
            f"were {happened}",
            share=f"{happened}, of those {predicted}",
        ),
        Rate(
            "selection_rate",
            label,
            "selection rate",
            "all",
            was_predicted,
            share=f"{predicted}, of all",
        ),
        Rate("prevalence", label, "prevalence", "all", f"were {happened}"),
    )
    return Rates(overall, errors)


def _outcome_rates(cells: ModelCells) -> Rates:
    """Return the only rate of outcomes, which is not an error rate: more is better."""
    words = cells.request.words
    return Rates(
        [
            Rate(
                RATE,
                cells.positive,
                "pass rate",
                f"the {words.plural}",
                words.passed,
                caption=words.passed,
                share=f"{words.passed}, of all",
            )
        ],
        [],
    )


def _multiclass_rates(cells: ModelCells) -> Rates:
    """Return the misses of each label as the errors, of the most frequent where labels are many."""
    words = cells.request.words
    frequent = sorted(cells.labels, key=lambda label: -cells.n_true[label])[:_MAX_LABELS]
    overall = (
        Rate("accuracy", None, "accuracy", f"all {words.predictions}", "are right"),
        Rate(BALANCED, None, "balanced accuracy"),
    )
    errors = [
        Rate(
            "false_negative_rate",
            label,
            "miss rate",
            f"those {words.happened(label)}",
            f"had not been {words.predicted(label)}",
            caption=f"not {words.predicted(label)}, but {words.happened(label)}",
            is_error=True,
        )
        for label in cells.labels
        if label in frequent
    ]
    return Rates(overall, errors)
