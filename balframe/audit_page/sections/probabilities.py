"""Scores as probabilities, a part of the section on calibration: figures, sentences and table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from balframe.audit_page.document import Cell, Head, Table
from balframe.audit_page.groups import GroupFigures
from balframe.audit_page.numbers import DISTANCE, RATIO, Estimate, count, percent
from balframe.audit_page.queries import SCORE, Row, by_name
from balframe.audit_page.results import ModelFigures
from balframe.audit_page.scores import ScoreWords
from balframe.audit_page.tables import (
    estimate_cell,
    group_rows,
    large_groups,
    plot_head,
    ratio_range,
    total_row,
)
from balframe.audit_page.text import capitalize
from balframe.methods.calibration.calibration import calibration

QUESTION = "Are the scores the probabilities that they may be taken for?"
_PROMISE = ", so that differences between them promise"


@dataclass(frozen=True, slots=True)
class Probabilities:
    """The rows of `calibration`: of all rows, and by by-column and value."""

    overall: Row
    columns: Mapping[int, Mapping[Any, Row]]


def measure_probabilities(model: ModelFigures) -> Probabilities | None:
    """Measure scores as probabilities; None if they cannot be any.

    Scores that were rounded down are moved by half a step, so that their mean is right.
    """
    if model.scores is None or not model.scores.may_be_probabilities:
        return None
    return model.cells.once("probabilities", lambda: _measure(model))


def _measure(model: ModelFigures) -> Probabilities:
    cells, level = model.cells, model.request.level

    def moved(column: int | None) -> Any:  # noqa: ANN401 (a frame)
        frame = cells.scores_of(column)
        if cells.step is None:
            return frame
        return frame.with_columns((frame[SCORE] + cells.step / 2).clip(upper_bound=1.0))

    (overall,) = cells.query_scores(calibration, moved(None), level=overall_level(level))
    columns = {}
    for number in (column.number for column in model.columns):
        options = {"by": by_name(number), "adjust": None, "level": level}
        rows = cells.query_scores(calibration, moved(number), **options)
        columns[number] = {row[by_name(number)]: row for row in rows}
    return Probabilities(overall, columns)


def overall_level(level: float) -> float:
    """Return the level of the intervals of all rows, for a statement on the ratio and the slope."""
    return (1 + level) / 2


def definition(words: ScoreWords) -> str:
    """State what it is for scores to be probabilities."""
    return (
        f"All scores lie between 0 and 1. If they are probabilities, then of the {words.rows} with "
        f"a score of 0.3, 30% are {words.happened}, apart from chance."
    )


def level_sentence(row: Row, words: ScoreWords) -> str:
    """State whether scores, as probabilities, are too high or too low on average."""
    ratio = _ratio(row)
    if ratio.value is None:
        return ""
    start = (
        f"On average the scores are {percent(row['mean_score'])}, and {percent(row['observed'])} "
        f"were {words.happened}, {RATIO.with_limits(ratio)} times as many as the scores add up to: "
        "as probabilities, the scores are"
    )
    if ratio.upper is not None and ratio.upper < 1:
        return f"{start} established to be too high on average."
    if ratio.lower is not None and ratio.lower > 1:
        return f"{start} established to be too low on average."
    remainder = (
        ""
        if ratio.lower is None or ratio.upper is None
        else f"; there may be {DISTANCE.number(1 - ratio.lower)}% fewer, or "
        f"{DISTANCE.number(ratio.upper - 1)}% more, than they add up to"
    )
    return f"{start} not established to be too high or too low on average{remainder}."


def _ratio(row: Row) -> Estimate:
    return Estimate.from_row(row, "oe_ratio")


def slope_sentence(slope: Estimate) -> str:
    """State whether differences between scores promise more than comes true, or less."""
    if slope.value is None:
        return (
            "Whether the scores are too far apart cannot be computed. That needs scores that "
            "differ, that do not separate the outcomes without error, and none that is 0 or 1 and "
            "wrong."
        )
    start = f"The calibration slope is {RATIO.with_limits(slope)}, where 1 is right"
    if slope.upper is not None and slope.upper < 0:
        return f"{start}: higher scores are established to go with fewer, and not with more."
    if slope.upper is not None and slope.upper < 1:
        return (
            f"{start}: the scores are established to be too far apart{_PROMISE} more than comes "
            "true."
        )
    if slope.lower is not None and slope.lower > 1:
        return (
            f"{start}: the scores are established to be too close{_PROMISE} less than comes true."
        )
    return f"{start}: the scores are not established to be too far apart or too close."


def ratio_table(model: ModelFigures, probabilities: Probabilities) -> Table:
    """Show what happened in each group beside what its scores add up to."""
    error = model.rates.errors[0]

    def row(group: GroupFigures) -> Row:
        if group.column is None:
            return probabilities.overall
        return probabilities.columns[group.column][group.value]

    def cells(group: GroupFigures) -> list[Cell]:
        ratio = _ratio(row(group))
        return [
            Cell(count(row(group)["n"])),
            Cell(percent(row(group)["mean_score"])),
            Cell(percent(row(group)["observed"])),
            estimate_cell(ratio, RATIO),
            Cell(bar=span.bar(ratio)),
        ]

    span = ratio_range(_ratio(row(group)) for group in large_groups(model, error))
    heads = [
        Head("Group", "text"),
        Head("Out of"),
        Head("Mean score"),
        Head(capitalize(model.happened)),
        Head(f"Ratio ({model.request.percent_level} interval)", "estimate"),
        plot_head(span.axis(RATIO, 1.0)),
    ]
    note = (
        "The ratio is the share of what happened over the mean score: above 1, scores of the group "
        "are too low as probabilities; below 1, too high. The confidence intervals are of each row "
        f"alone; that of all {model.words.plural} allows for the slope as well. Hollow: too few to "
        "compare."
    )
    rows, total = group_rows(model, [error], cells), total_row(model, cells(model.overall))
    return Table("Scores as probabilities, by group", heads, rows, note, total)
