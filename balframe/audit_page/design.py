"""Weights and clusters of rows on a page: the shares that they change, and sentences on them."""

from collections.abc import Mapping
from dataclasses import dataclass

from balframe.audit_page.groups import GroupFigures
from balframe.audit_page.numbers import count
from balframe.audit_page.queries import ModelCells, sum_matrix
from balframe.audit_page.request import Request
from balframe.audit_page.text import caller_text
from balframe.core.label_set import Label

_FEW_CLUSTERS = 8  # below it, the coverage of limits is unknown
_FEW_EFFECTIVE = 30


@dataclass(frozen=True, slots=True)
class LabelShares:
    """The share of a group in all rows, and those of labels in the group; weighted with weights.

    They are None where all weights are 0.
    """

    of_all: float | None
    true: Mapping[Label, float | None]
    predicted: Mapping[Label, float | None]


def label_shares(cells: ModelCells, group: GroupFigures) -> LabelShares:
    """Return the shares of labels in a group."""
    true: Mapping[Label, float] = group.n_true
    predicted: Mapping[Label, float] = group.n_predicted
    total, whole = float(group.n), float(sum(cells.matrix.values()))
    if cells.is_weighted:
        matrix = cells.weights_of(group.column)[group.value]
        true, predicted = sum_matrix(matrix, cells.labels)
        total, whole = sum(matrix.values()), sum(cells.weights_of(None)[None].values())
    if cells.request.is_corrected:
        true, _ = sum_matrix(cells.weights_of(group.column).get(group.value, {}), cells.labels)
    n_true = sum(true.values())
    return LabelShares(
        _share(total, whole),
        {label: _share(part, n_true) for label, part in true.items()},
        {label: _share(part, total) for label, part in predicted.items()},
    )


def outcome_shares(cells: ModelCells) -> list[float | None]:
    """Return the share of each true label in all rows."""
    true, _ = sum_matrix(cells.weights_of(None)[None], cells.labels)
    total = sum(true.values())
    return [_share(part, total) for part in true.values()]


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def rate_sentence(cells: ModelCells) -> str:
    """State that rates are weighted; empty without weights."""
    if not cells.is_weighted:
        return ""
    column = cells.request.sample_weight
    by = "the weights of the cells" if column is None else caller_text(column)
    return f"Rates and shares are weighted by {by}; counts are of {cells.request.words.plural}"


def design_sentences(cells: ModelCells) -> list[str]:
    """State in the section on what was examined which weights and clusters the rows have."""
    sentences = []
    words = cells.request.words
    if cells.is_weighted:
        n = cells.n_effective
        few = (
            f", so few that the confidence intervals do not hold: a few {words.plural} decide"
            if n < _FEW_EFFECTIVE
            else ""
        )
        sentences.append(
            f"{rate_sentence(cells)}. For the confidence intervals, these count as about "
            f"{count(n)} {words.plural} of equal weight (Kish's effective sample size){few}."
        )
    if cells.has_clusters:
        sentences.append(f"The {words.plural} come in {_clusters(cells)}.{_too_few(cells)}")
    return sentences


def _clusters(cells: ModelCells) -> str:
    n, column = cells.n_clusters, caller_text(cells.request.cluster)
    return f"{count(n)} cluster{'s' * (n != 1)} (the values of {column})"


def _too_few(cells: ModelCells) -> str:
    if cells.n_clusters >= _FEW_CLUSTERS:
        return ""
    return f" With fewer than {_FEW_CLUSTERS} clusters, the confidence intervals are unreliable."


def independence(cells: ModelCells) -> str:
    """Return the limitation on what limits take as independent."""
    words = cells.request.words
    if cells.has_clusters:
        return (
            f"The confidence intervals and tests treat the {_clusters(cells)} as independent of "
            f"each other, not the {words.plural} in a cluster. If clusters belong together too, "
            f"the intervals are too narrow.{_too_few(cells)}"
        )
    if cells.request.is_of_outcomes:
        return (
            f"The confidence intervals treat the {words.plural} as independent of each other. If "
            f"several {words.plural} are trials of the same item, they are too narrow."
        )
    subject = "person or thing" if words.singular == "row" else words.singular
    return (
        "The confidence intervals treat the rows as independent of each other. If several rows "
        f"are about the same {subject}, or rows come in clusters, they are too narrow."
    )


def weights_limitation(cells: ModelCells) -> str:
    """Return the limitation on weights; empty without weights."""
    if not cells.is_weighted:
        return ""
    return (
        f"{rate_sentence(cells)}. The confidence intervals treat the weights as exact: they do not "
        "allow for inaccurate weights."
    )


def design_terms(cells: ModelCells) -> list[tuple[str, str]]:
    """Return how limits and tests are computed with weights or clusters."""
    terms = []
    if cells.is_weighted:
        rows = (
            "intervals and tests use sums of weights in each cluster, and are never narrower than "
            "for the effective number of independent rows"
            if cells.has_clusters
            else "intervals and tests use effective numbers of rows, one for each limit, in the "
            "place of the number of rows"
        )
        terms.append(
            (
                "Weights",
                f"{rows}; whether a group is large enough to compare follows from its number of "
                "rows",
            )
        )
    if cells.has_clusters:
        terms.append(
            (
                "Clusters",
                "intervals and tests use the variation between clusters and a t distribution: an "
                "effective number of rows for a rate, and the intervals of both sides for a "
                "difference (Newcombe 1998)",
            )
        )
    return terms


def design_of_baseline(cells: ModelCells) -> str:
    """State how clusters of the data and of the baseline belong together; empty without."""
    if not cells.has_clusters:
        return ""
    column = caller_text(cells.request.cluster)
    return f" Clusters with the same value of {column} then and now are taken as the same."


def design_columns(request: Request) -> list[object]:
    """Return the columns of weights, of clusters and of times."""
    time = None if request.period is None else request.period.column
    names = (request.sample_weight, request.cluster, time)
    return [name for name in names if name is not None]


def design_values(cells: ModelCells) -> list[str]:
    """Return which values of weights and clusters may be missing."""
    weight = ["of the weight"] if cells.is_weighted else []
    return [*weight, *(["of the cluster"] if cells.has_clusters else [])]
