"""The rates of a page: those of all rows, those that groups are compared in, and the errors."""

from collections.abc import Sequence
from dataclasses import dataclass

from balframe.audit_page.counted import Counted
from balframe.audit_page.request import Words
from balframe.core.label_set import Label

BALANCED = "balanced_accuracy"
MOST_LABELS = 8


@dataclass(frozen=True, slots=True)
class Rate:
    """A metric at a positive label, and its words.

    `of` are the rows in its denominator, `befell` is what happened to the rows counted: `of those
    not re-arrested` `had been called high risk`. `caption` names these rows, `share` says what they
    are a share of, and `term` names the metric.
    """

    metric: str
    positive: Label | None
    term: str
    of: str = ""
    befell: str = ""
    caption: str = ""
    share: str = ""


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of a page: those of all rows, those compared between groups, and the errors."""

    overall: Sequence[Rate]
    errors: Sequence[Rate]

    @property
    def compared(self) -> Sequence[Rate]:
        """List those that groups are compared in."""
        return [next(one for one in self.overall if one.metric == BALANCED), *self.errors]

    @property
    def ranked(self) -> Sequence[Rate]:
        """List those whose lowest and highest groups are found."""
        return [*self.compared, *(one for one in self.overall if one.metric == "prevalence")]

    @property
    def every(self) -> Sequence[Rate]:
        """List all, each once."""
        return list(dict.fromkeys([*self.overall, *self.errors]))

    def named(self, metric: str) -> Rate:
        """Find a rate by its metric."""
        return next(one for one in self.every if one.metric == metric)


def rates_of(counted: Counted, words: Words) -> Rates:
    """List the rates of a page."""
    if counted.positive is None:
        return _rates_of_many(counted, words)
    at = counted.positive
    happened, called = words.happened(at), words.called(at)
    of_true, of_false = f"those {happened}", f"those not {happened}"
    errors = (
        Rate(
            "false_positive_rate",
            at,
            "false positive rate",
            of_false,
            f"had been {called}",
            f"{called}, but not {happened}",
            f"{called}, of {of_false}",
        ),
        Rate(
            "false_negative_rate",
            at,
            "false negative rate",
            of_true,
            f"had not been {called}",
            f"not {called}, but {happened}",
            f"not {called}, of {of_true}",
        ),
    )
    overall = (
        Rate("accuracy", at, "accuracy", "all calls", "are right", share="share of right calls"),
        Rate(BALANCED, at, "balanced accuracy"),
        Rate(
            "recall", at, "recall", of_true, f"had been {called}", share=f"{called}, of {of_true}"
        ),
        Rate("specificity", at, "specificity", of_false, f"had not been {called}"),
        Rate(
            "precision",
            at,
            "precision",
            f"those {called}",
            f"were {happened}",
            share=f"{happened}, of those {called}",
        ),
        Rate(
            "selection_rate",
            at,
            "selection rate",
            "all",
            f"had been {called}",
            share=f"{called}, of all",
        ),
        Rate("prevalence", at, "prevalence", "all", f"were {happened}"),
    )
    return Rates(overall, errors)


def _rates_of_many(counted: Counted, words: Words) -> Rates:
    """Take the misses of each label as the errors, of the most frequent where labels are many."""
    frequent = sorted(counted.labels, key=lambda one: -counted.n_true[one])[:MOST_LABELS]
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
            f"not {words.called(label)}, but {words.happened(label)}",
        )
        for label in counted.labels
        if label in frequent
    ]
    return Rates(overall, errors)
