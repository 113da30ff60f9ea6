"""How each label of each segment scores against all others."""

from collections.abc import Sequence

from balframe.analyses import layouts
from balframe.analyses.limits import limits_of
from balframe.core.arrays import FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.class_counts import ClassCounts
from balframe.core.two_labels import POSITIVE, each_against_others
from balframe.frames.library import Name
from balframe.intervals.proportions import Limits
from balframe.intervals.request import Request
from balframe.metrics.catalogue import find, find_all


def scores_of_labels(
    c: ClassCounts, names: Sequence[str], request: Request | None
) -> dict[Name, Int64Array | FloatArray]:
    """Compute the columns of counts, scores and limits, one value for each segment and label."""
    c = each_against_others(c)
    own = c.label == POSITIVE
    metrics = find_all(names)
    scores = {name: metric(c) for name, metric in metrics.items()}
    if "f1" in scores:  # from the Jaccard index, as its limits are; `report` may differ by an ulp
        scores["f1"] = metrics["f1"].interval.rescaled(c, find("jaccard")(c))
    found: dict[str, Limits] = {}
    if request is not None:
        found = limits_of(metrics, c, _no_cells, scores, request)
    return {
        "support": c.n_support[own],
        "prevalence": find("prevalence")(c),
        "predicted": c.n_predicted[own],
        "correct": c.n_correct[own],
    } | layouts.wide(scores, found)


def _no_cells() -> Cells:
    raise AssertionError("the scores of a label are proportions, whose limits need no cells")
