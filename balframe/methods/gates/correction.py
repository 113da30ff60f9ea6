"""Rules on rows of which only some have a true label."""

from collections.abc import Iterable

from balframe.errors import InvalidInputError
from balframe.methods.gates.rules import BY_ESTIMATE, Rule
from balframe.metrics.partly_labelled import PARTLY_LABELLED, check_metrics


def check_can_decide(
    rules: Iterable[Rule],
    missing: object,
    doubt: object,
    decide: str,
    *,
    on_scores: bool,
    has_baseline: bool,
) -> None:
    """Raise for rules that are not decided if rows lack a true label."""
    if on_scores or has_baseline:
        raise InvalidInputError(
            "{missing} is for rules on metrics of predicted labels without a baseline; give only "
            "such rules, or drop the rows without a true label.",
            missing=missing,
        )
    if decide == "estimate" and (missing == "bounds" or doubt is not None):
        raise InvalidInputError(
            "{decide} leaves the limits aside, and doubt and bounds change nothing else; omit one.",
            decide=BY_ESTIMATE,
        )
    names = [rule.metric.name for rule in rules if rule.metric is not None]
    check_metrics(names, PARTLY_LABELLED, "decided")
