"""Rows without a true label on a page: the sentences on them, and on the rates of all rows.

On a page, the outcome of such rows is not known.
"""

from collections.abc import Mapping

from balframe.audit_page.groups import GroupFigures
from balframe.audit_page.numbers import count, percent
from balframe.audit_page.queries import PREDICTION, TRUTH, ModelCells, N, by_name, verdict_name
from balframe.audit_page.request import Request
from balframe.audit_page.results import ModelFigures
from balframe.audit_page.text import caller_text, join_words, spell_number
from balframe.core.strata import MIN_LABELS

_METHODS = {  # of terms of the section on methods, if rows lack a true label
    "Confidence interval of a rate": "score interval of a share that is added up over strata of "
    "{strata}, of each row alone; of false positive and false negative rates, and the like, that "
    "of a ratio of two such shares (Begg and Greenes 1983 for the estimate)",
    "Interval of balanced accuracy": "from the intervals of its two rates and their correlation",
    "Difference from all others": "of accuracy, precision and prevalence, the score interval and "
    "the p-value of a difference of shares; of other rates, from the intervals of both sides, with "
    "the p-value of the level at which they reach 0",
    "Rules": "judged by decision limits that are wide enough for few errors: the wider of two "
    "score intervals, one of them corrected for skewness, and wider still in strata of few known "
    "outcomes; with Bonferroni over the groups of a rule",
}


def labelled_share(group: GroupFigures) -> str:
    """Return the share of the rows of a group whose outcome is known."""
    return percent(group.n_labelled / group.n if group.n else None)


def labelled_clause(group: GroupFigures, request: Request) -> str:
    """Return how many outcomes are known, behind a number of rows: `, 229 of them with ...`."""
    if not request.is_corrected:
        return ""
    return f", {count(group.n_labelled)} of them with a known outcome"


def _alike(request: Request) -> str:
    """Return what rows of a stratum have in common: `the same prediction and the same judge`."""
    names = [request.words.prediction, *map(caller_text, request.verdicts)]
    return join_words([f"the same {name}" for name in names])


def assumption(model: ModelFigures) -> str:
    """State what estimates of the rates of all rows take for granted."""
    return f"Rates are those of all {model.words.plural}. They are estimated {_how(model)}."


def _how(model: ModelFigures) -> str:
    request, probability = model.request, model.request.label_probability
    whose = f"{model.words.plural} with {_alike(request)}"
    if probability is None:
        return f"from the known outcomes, which stand for those of {whose}"
    name = caller_text(probability)
    return (
        f"from the known outcomes, which stand for those of {whose}, each with the weight 1 / "
        f"{name}, where {name} is the probability with which it came to be known"
    )


def few_labels(model: ModelFigures) -> str:
    """Count the groups with too few known outcomes of some prediction; empty if none has."""
    n_few = 0
    for column in model.columns:
        few = _groups_of_few(model.cells, column.number)
        n_few += sum(group.value in few for group in column.largest_groups)
    if not n_few:
        return ""
    n = sum(len(column.largest_groups) for column in model.columns)
    return (
        f"In {count(n_few)} of {count(n)} groups, the outcome of fewer than "
        f"{spell_number(MIN_LABELS)} {model.words.plural} with {_alike(model.request)} is known, "
        "so estimates vary widely and intervals are wide."
    )


def _groups_of_few(cells: ModelCells, column: int) -> list[object]:
    """Return the groups that have a stratum with unknown and with few known outcomes."""
    verdicts = map(verdict_name, range(len(cells.request.verdicts)))
    keys = [by_name(column), PREDICTION, *verdicts]
    frame = cells.of_column(column)
    is_labelled = frame[TRUTH].is_not_null()
    parts = frame.with_columns(labelled=frame[N] * is_labelled, others=frame[N] * ~is_labelled)
    strata = parts.select(*keys, "labelled", "others").group_by(keys).sum()
    few = strata.filter((strata["others"] > 0) & (strata["labelled"] < MIN_LABELS))
    values: list[object] = few[by_name(column)].unique().to_list()
    return values


def limitation(model: ModelFigures) -> tuple[str, str]:
    """Return what cannot be said of rows whose outcome is not known."""
    n_unknown = model.overall.n - model.overall.n_labelled
    return (
        "Whether the known outcomes are like the others.",
        f"The outcome of {model.words.rows(n_unknown)} is not known. The rates of all are "
        f"estimated {_how(model)}. If anything else influences which outcomes are known, the "
        "estimates are wrong, and no confidence interval here shows it.",
    )


def method_meanings(request: Request) -> Mapping[str, str]:
    """Return the meanings of methods, by their terms, that differ if rows lack a true label."""
    if not request.is_corrected:
        return {}
    strata = join_words([f"the {request.words.prediction}", *map(caller_text, request.verdicts)])
    return {term: meaning.format(strata=strata) for term, meaning in _METHODS.items()}
