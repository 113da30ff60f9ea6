"""What verbs answer about the scores of a model: thresholds, and what scores mean."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from balframe.audit_page.counted import SCORE, TRUTH, Counted, N, key_of
from balframe.audit_page.groups import ColumnOf, Difference
from balframe.audit_page.measured_thresholds import OfThresholds, Spread, thresholds_of
from balframe.audit_page.numbers import Estimate
from balframe.audit_page.queries import Asking, Row, quietly
from balframe.audit_page.rates import Rates
from balframe.audit_page.shown_groups import MOST_COLUMNS
from balframe.methods.calibration.calibration import calibration
from balframe.methods.calibration.calibration_gaps import calibration_gaps


@dataclass(frozen=True, slots=True)
class SameScore:
    """A group beside all others of its column who have the same scores."""

    observed: float | None
    expected: float | None
    difference: Difference


@dataclass(frozen=True, slots=True)
class SameScores:
    """The groups of a by-column at the same scores, by value.

    `crossing` is the test that also finds differences that change with the score.
    """

    column: int
    groups: Mapping[Any, SameScore]
    crossing: Difference


@dataclass(frozen=True, slots=True)
class Probability:
    """What scores promise, read as probabilities, beside what happened."""

    n: int
    mean_score: float | None
    observed: float | None
    ratio: Estimate
    slope: Estimate
    p: float | None


@dataclass(frozen=True, slots=True)
class Probabilities:
    """Scores as probabilities: of all rows, and by by-column and value."""

    overall: Probability
    columns: Mapping[int, Mapping[Any, Probability]]


@dataclass(frozen=True)
class OfScore:
    """The answers about a score that has `n_scores` different values."""

    n_scores: int
    thresholds: OfThresholds
    same: Sequence[SameScores]
    probabilities: Probabilities | None

    @property
    def differences(self) -> Iterator[Difference]:
        """List the differences between groups at the same scores."""
        for column in self.same:
            yield from (one.difference for one in column.groups.values())
            yield column.crossing


def score_of(asking: Asking, rates: Rates, columns: Sequence[ColumnOf]) -> OfScore:
    """Measure the score of a model of two labels."""
    spread = Spread.of(asking.counted)
    numbers = [column.number for column in columns[:MOST_COLUMNS]]
    return OfScore(
        len(spread.scores),
        thresholds_of(asking, rates, columns, spread),
        [_same_scores(asking, number) for number in numbers],
        _probabilities(asking, numbers) if are_probabilities(spread.scores) else None,
    )


def are_probabilities(scores: Sequence[float]) -> bool:
    """Tell whether scores may be probabilities: from 0 to 1, and not only certain ones."""
    return all(0 <= one <= 1 for one in scores) and any(0 < one < 1 for one in scores)


def _same_scores(asking: Asking, column: int) -> SameScores:
    by = key_of(column)
    rows = _ask(asking, calibration_gaps, asking.counted.cells, by=by, adjust=None)
    groups = {
        row[by]: SameScore(
            row["observed"],
            row["expected_at_same_scores"],
            Difference(
                Estimate(row["difference"], row["lower"], row["upper"], row["n"]), row["p_value"]
            ),
        )
        for row in rows
    }
    crossing = Difference(Estimate(None, None, None), rows[0]["p_value_crossing"])
    return SameScores(column, groups, crossing)


def _ask(
    asking: Asking,
    verb: Any,  # noqa: ANN401 (a verb on scores)
    cells: Any,  # noqa: ANN401 (a frame)
    **options: Any,  # noqa: ANN401 (as the verb's own)
) -> Sequence[Row]:
    """Ask a verb on scores."""
    shared = {"counts": N, "pos_label": asking.counted.positive, "level": asking.asked.level}
    return quietly(verb, cells, TRUTH, SCORE, **shared, **options)


def _probabilities(asking: Asking, columns: Sequence[int]) -> Probabilities:
    cells = in_the_middle(asking.counted)
    (overall,) = _ask(asking, calibration, cells)
    found = {}
    for column in columns:
        by = key_of(column)
        rows = _ask(asking, calibration, cells, by=by, adjust=None)
        found[column] = {row[by]: _probability(row) for row in rows}
    return Probabilities(_probability(overall), found)


def in_the_middle(counted: Counted) -> Any:  # noqa: ANN401 (a frame)
    """Move scores that were rounded down by half a step, so that their mean is right."""
    if counted.step is None:
        return counted.cells
    moved = (counted.cells[SCORE] + counted.step / 2).clip(upper_bound=1.0)
    return counted.cells.with_columns(moved)


def _probability(row: Row) -> Probability:
    return Probability(
        row["n"],
        row["mean_score"],
        row["observed"],
        _estimate(row, "oe_ratio"),
        _estimate(row, "slope"),
        row["p_value"],
    )


def _estimate(row: Row, name: str) -> Estimate:
    return Estimate(row[name], row[f"{name}_lower"], row[f"{name}_upper"], row["n"])
