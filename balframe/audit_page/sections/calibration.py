"""Whether the same score means the same in every group, and whether scores are probabilities."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from balframe.audit_page.document import Block, Cell, Head, Paragraph, Section, Table, TableRow
from balframe.audit_page.groups import (
    ColumnFigures,
    Difference,
    GroupFigures,
    one_of_two,
    possible_difference,
)
from balframe.audit_page.numbers import UNDEFINED, Estimate, count, percent, points_more
from balframe.audit_page.queries import Row, by_name, leave_out
from balframe.audit_page.results import (
    NO_GROUPS,
    NO_SCORE,
    Audit,
    LeftOut,
    ModelFigures,
    report_models,
)
from balframe.audit_page.scores import ScoreWords, rounding_note
from balframe.audit_page.sections import probabilities
from balframe.audit_page.sections.probabilities import Probabilities, measure_probabilities
from balframe.audit_page.tables import (
    Range,
    column_rows,
    compared_groups,
    difference_cells,
    difference_heads,
    difference_range,
    withheld_row,
)
from balframe.audit_page.text import capitalize, first_names, join_words, plural, quote
from balframe.methods.calibration.calibration_gaps import calibration_gaps

QUESTION = "Does the same score mean the same for everyone?"
ONE_OUTCOME = (
    "One of the outcomes does not occur, so nothing can be said of what different scores mean."
)
_MAX_STRATA = 30  # different scores, up to which rows of exactly the same score are compared
_MAX_NAMED, _MAX_BRIEF = 12, 4


class ScoreComparison(NamedTuple):
    """A group of a column and its difference from all others who have the same scores.

    `column` is the name of the column, `row` that of `calibration_gaps`.
    """

    column: str
    value: Any
    difference: Difference
    row: Row

    @property
    def estimate(self) -> Estimate:
        """Return the difference with its limits."""
        return self.difference.estimate

    @property
    def size(self) -> float:
        """Return how large the difference is, in either direction."""
        return abs(self.estimate.value or 0.0)


class ColumnComparisons(NamedTuple):
    """The comparisons of the groups of a by-column, by value; of two groups, that of one of them.

    `crossing` is the test that also finds differences that change with the score; None without it.
    """

    name: str
    groups: Mapping[Any, ScoreComparison]
    crossing: Difference | None


@dataclass(frozen=True, slots=True)
class CalibrationFigures:
    """The figures on what scores mean: by column at the same scores, and as probabilities."""

    columns: Sequence[ColumnComparisons]
    probabilities: Probabilities | None


def measure(audit: Audit, level: float) -> list[CalibrationFigures | None]:
    """Measure what scores mean, for each model that has scores of one of two labels."""
    return [None if model.scores is None else _measure(model, level) for model in audit.models]


def _measure(model: ModelFigures, level: float) -> CalibrationFigures:
    columns = [_compare(model, column, level) for column in model.columns]
    return CalibrationFigures(columns, measure_probabilities(model))


def _compare(model: ModelFigures, column: ColumnFigures, level: float) -> ColumnComparisons:
    """Compare the groups that are large enough, with limits at a level."""
    cells, error = model.cells, model.rates.errors[0]
    by, name = by_name(column.number), model.request.column(column.number)
    compared = [group.value for group in column.compared(error)]
    if len(compared) < 2 or not all(cells.n_true.values()):
        return ColumnComparisons(name, {}, None)
    others = [group.value for group in column.groups if group.value not in compared]
    frame = leave_out(cells.scores_of(column.number), column.number, others)
    rows = cells.query_scores(calibration_gaps, frame, by=by, adjust=None, level=level)
    comparisons = {
        row[by]: ScoreComparison(name, row[by], Difference.from_row(row), row) for row in rows
    }
    crossing = Difference(UNDEFINED, rows[0]["p_value_crossing"])
    return ColumnComparisons(name, one_of_two(comparisons), crossing)


def differences(calibrations: Sequence[CalibrationFigures | None]) -> Iterator[Difference]:
    """Return the differences whose p-values are adjusted with all others."""
    for calibration in calibrations:
        for column in calibration.columns if calibration is not None else ():
            yield from (group.difference for group in column.groups.values())
            if column.crossing is not None:
                yield column.crossing


def section(audit: Audit, calibrations: Sequence[CalibrationFigures | None]) -> Section | LeftOut:
    """State whether the same score means the same in every group, and whether it is right."""
    if all(model.y_score is None for model in audit.request.models):
        return LeftOut(QUESTION, NO_SCORE)
    with_scores = [calibration for calibration in calibrations if calibration is not None]
    if not with_scores:
        return LeftOut(QUESTION, "a score is of one of two outcomes, and there are more")
    if not audit.request.by and all(figures.probabilities is None for figures in with_scores):
        return LeftOut(QUESTION, NO_GROUPS)
    blocks, brief = report_models(audit, _report, calibrations)
    question = QUESTION if audit.request.by else probabilities.QUESTION
    return Section("calibrated", question, blocks, brief)


def _report(
    model: ModelFigures, calibration: CalibrationFigures | None
) -> tuple[list[Block], list[str]]:
    if calibration is None:
        return [], []
    if not all(model.cells.n_true.values()):
        return [Paragraph(ONE_OUTCOME)], []
    blocks, brief = _report_same_scores(model, calibration) if model.request.by else ([], [])
    rounding = rounding_note(model.cells)
    if calibration.probabilities is not None:
        overall, words = calibration.probabilities.overall, model.score_words
        level = probabilities.level_sentence(overall, words)
        slope = probabilities.slope_sentence(Estimate.from_row(overall, "slope"))
        question = f"{probabilities.QUESTION} " if model.request.by else ""
        start = f"{question}{probabilities.definition(words)} {level}".rstrip()
        blocks += [Paragraph(start), Paragraph(slope)]
        brief = brief or [text for text in [level] if text]
        if model.request.by:
            blocks.append(probabilities.ratio_table(model, calibration.probabilities))
        if rounding:
            rounding += " For the means, half a step was added to each."
    if rounding:
        blocks.append(Paragraph(rounding, is_note=True))
    return blocks, brief


# Groups beside others who have the same scores


def _report_same_scores(
    model: ModelFigures, calibration: CalibrationFigures
) -> tuple[list[Block], list[str]]:
    words = model.score_words
    assert model.scores is not None, "scores are compared"
    start = (
        f"How many points more or less often were {words.rows} {words.happened} than others with "
        "the same score?"
    )
    sentences = [
        column_sentence(column.name, list(column.groups.values()), column.crossing)
        for column in calibration.columns
    ]
    paragraphs = [meaning(len(model.scores.scores), words), " ".join([start, *sentences])]
    prevalence = model.rates.by_metric("prevalence")
    differing = [
        model.request.column(column.number)
        for column in model.columns
        if column.extremes(prevalence).is_significant
    ]
    if differing:
        paragraphs.append(errors_sentence(differing, words))
    every = [group for column in calibration.columns for group in column.groups.values()]
    return [*map(Paragraph, paragraphs), _table(model, calibration)], [summary(every, words)]


def meaning(n_scores: int, words: ScoreWords) -> str:
    """State what it is for a score to mean the same, and who is compared."""
    same = "the same score"
    if n_scores > _MAX_STRATA:
        same = f"about the same score, since there are {count(n_scores)} different ones"
    return (
        f"If a score means the same for everyone, then of two {words.rows} with the same score, "
        f"whatever their groups, one is as likely to be {words.happened} as the other. Here the "
        f"{words.rows} of each group are compared with all others with {same}."
    )


def column_sentence(
    column: str, comparisons: Sequence[ScoreComparison], crossing: Difference | None
) -> str:
    """State which groups of a column differ from others at the same scores."""
    significant = _significant(comparisons)
    others = [group for group in comparisons if not group.difference.is_significant]
    if significant:
        parts = [part for part in (_names(significant, 1), _names(significant, -1)) if part]
        end = (
            f" For the others no difference is established{_furthest_limit(others)}."
            if others
            else ""
        )
        return f"By {column}, {'; and '.join(parts)}.{end}"
    if not any(comparison.estimate.has_limits for comparison in comparisons):
        return f"By {column}, no groups with the same scores could be compared."
    if crossing is not None and crossing.is_significant:
        return (
            f"By {column}, no difference over all scores together is established"
            f"{_furthest_limit(others)}. That differences change with the score is established."
        )
    return f"By {column}, no difference is established{_furthest_limit(others)}."


def _significant(comparisons: Sequence[ScoreComparison]) -> list[ScoreComparison]:
    return [group for group in comparisons if group.difference.is_significant]


def _names(significant: Sequence[ScoreComparison], sign: int) -> str:
    """Name the groups in which it happens more often, or less often."""
    groups = [group for group in significant if (group.estimate.value or 0.0) * sign > 0]
    if not groups:
        return ""
    groups.sort(key=lambda group: -group.size)
    names = [f"{quote(group.value)}, {points_more(group.estimate)}" for group in groups]
    listed = join_words(first_names(names, _MAX_NAMED, _more_groups))
    return f"{'more' if sign > 0 else 'less'} often for {listed}"


def _more_groups(n: int) -> str:
    return plural(n, "more group", "more groups")


def _furthest_limit(comparisons: Sequence[ScoreComparison]) -> str:
    """State how large a difference may still be."""
    limits = [group.estimate.furthest_limit for group in comparisons]
    furthest = max((limit for limit in limits if limit is not None), default=None)
    return "" if furthest is None else f"; {possible_difference(furthest)}"


def summary(comparisons: Sequence[ScoreComparison], words: ScoreWords) -> str:
    """State in brief which groups differ from others at the same scores, the furthest first."""
    if not any(comparison.estimate.has_limits for comparison in comparisons):
        return "At the same score, no groups could be compared."
    significant = _significant(comparisons)
    if not significant:
        return (
            "At the same score, no difference between groups in the share "
            f"{words.happened} is established{_furthest_limit(comparisons)}."
        )
    significant.sort(key=lambda group: -group.size)
    parts = [
        f"{quote(group.value)} ({group.column}) by {points_more(group.estimate)}"
        for group in significant[:_MAX_BRIEF]
    ]
    if n_more := len(significant) - len(parts):
        parts.append(_more_groups(n_more))
    return (
        f"At the same score, these were {words.happened} more often (+) or less often than the "
        f"other groups: {join_words(parts)}."
    )


def errors_sentence(columns: Sequence[str], words: ScoreWords) -> str:
    """State that errors differ where the outcome does, which is significant in the columns."""
    return (
        "Scores that mean the same for everyone do not make errors equal: where the share "
        f"{words.happened} differs between groups, as is established by {join_words(columns)}, "
        "error rates differ at most thresholds."
    )


def _table(model: ModelFigures, calibration: CalibrationFigures) -> Table:
    error = model.rates.errors[0]
    span = difference_range(
        comparison.estimate
        for column in calibration.columns
        for comparison in column.groups.values()
    )

    def rows(column: ColumnFigures) -> list[TableRow]:
        groups = calibration.columns[column.number].groups
        return [
            _row(group, heading, groups.get(group.value), span)
            for group, heading in compared_groups(column, error, groups)
        ]

    heads = [
        Head("Group", "text"),
        Head("Out of"),
        Head(capitalize(model.happened)),
        Head("Expected at the same scores"),
        *difference_heads("Points more than others", span),
    ]
    note = (
        f"Expected: if {model.words.plural} of the group were {model.happened} as often as all "
        "with the same scores, themselves included. The points compare with the other groups "
        "alone. Above 0, scores of the group are too low compared with those of the others; below "
        "0, too high. Diamonds, or bold: established."
    )
    return Table(
        "Groups compared with others with the same scores", heads, column_rows(model, rows), note
    )


def _row(
    group: GroupFigures, heading: str, comparison: ScoreComparison | None, span: Range
) -> TableRow:
    if group.is_withheld:
        return withheld_row(group, 3 + len(difference_cells(None, span)))
    if comparison is None:
        cells = [Cell(count(group.n)), Cell(), Cell(), *difference_cells(None, span)]
        return TableRow(heading, cells, is_small=True)
    return TableRow(
        heading,
        [
            Cell(count(comparison.estimate.n)),
            Cell(percent(comparison.row["observed"])),
            Cell(percent(comparison.row["expected_at_same_scores"])),
            *difference_cells(comparison.difference, span),
        ],
        differs=comparison.difference.is_significant,
    )
