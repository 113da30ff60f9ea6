"""What `fairness` and `impact` answer: named criteria, and ratios of selection rates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from balframe.audit_page.counted import CALL, N, key_of
from balframe.audit_page.groups import ColumnOf, Difference, too_small
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.queries import Asking, quietly
from balframe.audit_page.rates import Rate, Rates
from balframe.errors import InvalidInputError
from balframe.methods.comparisons.fairness import fairness
from balframe.methods.impact.impact import impact

CRITERIA = (  # those on shares, whose differences are points
    "demographic_parity",
    "equal_opportunity",
    "equalized_odds",
    "predictive_parity",
    "accuracy_equality",
)


@dataclass(frozen=True, slots=True)
class CriterionOf:
    """A criterion in a by-column: how far apart the furthest groups are, in which rate."""

    name: str
    rate: Rate
    apart: Estimate
    lowest: tuple[Any, float | None]
    highest: tuple[Any, float | None]


@dataclass(frozen=True, slots=True)
class Selected:
    """A category: how many of it are selected, and its ratio to the most selected one.

    `role` is "compared", "small" or "unknown". The difference is that of the test on the ratio.
    """

    value: Any
    role: str
    n_selected: int
    rate: Estimate
    ratio: Estimate
    difference: Difference


@dataclass(frozen=True, slots=True)
class Selections:
    """The categories of a by-column, and the one that is selected most often."""

    column: int
    categories: Sequence[Selected]
    highest: Any
    bound: float


def criteria_of(asking: Asking, rates: Rates, column: ColumnOf) -> list[CriterionOf]:
    """Measure the criteria between the groups of a by-column that are large enough to rank."""
    by, asked = key_of(column.number), asking.asked
    positive = asking.counted.positive
    options = {"min_support": asked.min_support, "level": asked.level}
    large = asking.of_column(column.number).without(column.number, too_small(column.groups, asked))
    rows = large.rows(fairness, positive, by=by, **options)
    return [
        CriterionOf(
            row["criterion"],
            rates.named(row["metric"]),
            Estimate(row["estimate"], row["lower"], row["upper"], row["n_segments"]),
            (row[f"lowest_{by}"], row["lowest"]),
            (row[f"highest_{by}"], row["highest"]),
        )
        for row in rows
        if row["measure"] == "difference" and row["criterion"] in CRITERIA
    ]


def selections_of(asking: Asking, column: int) -> Selections | None:
    """Measure impact ratios by a by-column; None where none can be computed."""
    by, asked, counted = key_of(column), asking.asked, asking.counted
    options = {"labels": list(counted.labels), "pos_label": counted.positive, "adjust": None}
    cells = asking.of_column(column).cells
    try:
        rows = quietly(impact, cells, CALL, by=by, counts=N, level=asked.level, **options)
    except InvalidInputError:  # nobody is selected, or there is one category
        return None
    categories = [_selected(row, by) for row in rows]
    compared = [row for row in rows if row["role"] == "compared"]
    if not compared:
        return None
    return Selections(column, categories, compared[0][f"highest_{by}"], compared[0]["bound"])


def _selected(row: Mapping[Any, Any], by: str) -> Selected:
    ratio = Estimate(row["impact_ratio"], row["lower"], row["upper"], row["n"])
    return Selected(
        row[by],
        row["role"],
        row["n_selected"],
        Estimate(row["rate"], row["rate_lower"], row["rate_upper"], row["n"]),
        ratio,
        Difference(ratio, row["p_value"]),
    )
