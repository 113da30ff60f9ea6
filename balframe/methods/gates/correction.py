"""Rules on rows of which only some have a true label."""

from collections.abc import Iterable

from balframe.errors import OPTION, InvalidInputError
from balframe.methods.gates.rules import Rule
from balframe.metrics.partly_labelled import DECIDED, check_metrics


def check_can_decide(rules: Iterable[Rule], *, on_scores: bool, has_baseline: bool) -> None:
    """Raise for rules that are not decided if rows lack a true label."""
    rules = list(rules)
    if on_scores or has_baseline or any(rule.disparity is not None for rule in rules):
        raise InvalidInputError(
            "{missing} is for rules that compare a metric of predicted labels with a number; omit "
            "it, or give only such rules.",
            missing=OPTION,
        )
    names = [rule.metric.name for rule in rules if rule.metric is not None]
    check_metrics(names, DECIDED, "decided")
