"""Whether the same score means the same in every group, and whether scores are probabilities."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from balframe.audit_page.document import Block, Cell, Head, Paragraph, Section, Table
from balframe.audit_page.groups import (
    MAX_COLUMNS,
    ColumnFigures,
    Difference,
    GroupFigures,
    compatible_difference,
)
from balframe.audit_page.numbers import (
    POINTS,
    UNDEFINED,
    Estimate,
    count,
    percent,
    points_more,
)
from balframe.audit_page.queries import Row, by_name
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
    choose_groups,
    difference_cells,
    difference_heads,
    difference_range,
    group_rows,
    large_groups,
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
    is_small: bool
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
    """The comparisons of the groups of a by-column, by value.

    `crossing` is the test that also finds differences that change with the score.
    """

    name: str
    groups: Mapping[Any, ScoreComparison]
    crossing: Difference


@dataclass(frozen=True, slots=True)
class CalibrationFigures:
    """The figures on what scores mean: by column at the same scores, and as probabilities."""

    columns: Sequence[ColumnComparisons]
    probabilities: Probabilities | None


def figures(audit: Audit) -> list[CalibrationFigures | None]:
    """Measure what scores mean, for each model that has scores of one of two labels."""
    return [None if model.scores is None else _measure(model) for model in audit.models]


def _measure(model: ModelFigures) -> CalibrationFigures:
    columns = [_compare(model, column) for column in model.columns[:MAX_COLUMNS]]
    return CalibrationFigures(columns, measure_probabilities(model))


def _compare(model: ModelFigures, column: ColumnFigures) -> ColumnComparisons:
    by, name = by_name(column.number), model.request.column(column.number)
    level, error = model.request.level, model.rates.errors[0]
    rows = model.cells.query_scores(calibration_gaps, by=by, adjust=None, level=level)
    by_value = {row[by]: row for row in rows}
    comparisons = {}
    for group in column.groups:
        row = by_value[group.value]
        comparisons[group.value] = ScoreComparison(
            name, group.value, Difference.from_row(row), group.is_small(error), row
        )
    crossing = Difference(UNDEFINED, rows[0]["p_value_crossing"])
    return ColumnComparisons(name, comparisons, crossing)


def differences(calibrations: Sequence[CalibrationFigures | None]) -> Iterator[Difference]:
    """Return the differences whose p-values are adjusted with all others."""
    for calibration in calibrations:
        for column in calibration.columns if calibration is not None else ():
            yield from (group.difference for group in column.groups.values())
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
        test = probabilities.joint_sentence(overall["p_value"], model.request.alpha)
        question = f"{probabilities.QUESTION} " if model.request.by else ""
        start = f"{question}{probabilities.definition(words)} {level}".rstrip()
        blocks += [Paragraph(start), Paragraph(f"{slope}{test}")]
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
        f"the same score ({model.request.percent_level} limits)?"
    )
    sentences = [
        column_sentence(column.name, list(column.groups.values()), column.crossing)
        for column in calibration.columns
    ]
    paragraphs = [meaning(len(model.scores.scores), words), " ".join([start, *sentences])]
    prevalence = model.rates.by_metric("prevalence")
    differing = [
        model.request.column(column.number)
        for column in model.columns[:MAX_COLUMNS]
        if column.extremes[prevalence].is_significant
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
    column: str, comparisons: Sequence[ScoreComparison], crossing: Difference
) -> str:
    """State which groups of a column differ from others at the same scores."""
    significant = _significant(comparisons)
    if significant:
        parts = [part for part in (_names(significant, 1), _names(significant, -1)) if part]
        others = (
            " For the others no difference is shown, which is not to say that there is none."
            if len(significant) < len(comparisons)
            else ""
        )
        return f"By {column} {'; '.join(parts)}.{others}"
    if not any(comparison.estimate.has_limits for comparison in comparisons):
        return f"By {column} no groups with the same scores could be compared."
    if crossing.is_significant:
        return (
            f"By {column} no group is shown to differ over all scores together, but differences "
            f"that change with the score are shown{_furthest_limit(comparisons)}."
        )
    return f"By {column} no difference is shown{_furthest_limit(comparisons)}."


def _significant(comparisons: Sequence[ScoreComparison]) -> list[ScoreComparison]:
    return [group for group in comparisons if group.difference.is_significant]


def _names(significant: Sequence[ScoreComparison], sign: int) -> str:
    """Name the groups in which it happens more often, or less often."""
    groups = [group for group in significant if (group.estimate.value or 0.0) * sign > 0]
    if not groups:
        return ""
    groups.sort(key=lambda group: (group.is_small, -group.size))
    names = [
        f"{quote(group.value)} ({POINTS.estimate(group.estimate)}, {POINTS.limits(group.estimate)})"
        for group in groups
    ]
    listed = join_words(first_names(names, _MAX_NAMED, _more_groups))
    return f"{'more' if sign > 0 else 'less'} often for {listed}"


def _more_groups(n: int) -> str:
    return plural(n, "more group", "more groups")


def _furthest_limit(comparisons: Sequence[ScoreComparison]) -> str:
    """State how large a difference may still be, of groups that are large enough to rank."""
    limits = [group.estimate.furthest_limit for group in comparisons if not group.is_small]
    furthest = max((limit for limit in limits if limit is not None), default=None)
    if furthest is None:
        return ", and no group is large enough to say how large one may be"
    return f"; {compatible_difference(furthest)}"


def summary(comparisons: Sequence[ScoreComparison], words: ScoreWords) -> str:
    """State in brief which groups differ from others at the same scores, the furthest first."""
    if not any(comparison.estimate.has_limits for comparison in comparisons):
        return "No groups with the same scores could be compared."
    significant = _significant(comparisons)
    if not significant:
        return (
            f"At the same score, no group is shown to be {words.happened} more or less often than "
            f"others of its column{_furthest_limit(comparisons)}."
        )
    large = [group for group in significant if not group.is_small]
    large.sort(key=lambda group: -group.size)
    parts = [
        f"{quote(group.value)} ({group.column}) by {points_more(group.estimate)}"
        for group in large[:_MAX_BRIEF]
    ]
    if n_more := len(significant) - len(parts):
        small = f"{plural(n_more, 'group', 'groups')} too small to rank"
        parts.append(_more_groups(n_more) if parts else small)
    return (
        f"At the same score, {words.happened} more or less often than others of the same column: "
        f"{join_words(parts)}."
    )


def errors_sentence(columns: Sequence[str], words: ScoreWords) -> str:
    """State that errors differ where the outcome does, which is significant in the columns."""
    return (
        "Scores that mean the same for everyone do not make errors equal: where the share "
        f"{words.happened} differs between groups, as it is shown to do by {join_words(columns)}, "
        "error rates differ at most thresholds."
    )


def _table(model: ModelFigures, calibration: CalibrationFigures) -> Table:
    chosen, error = choose_groups(model), model.rates.errors[0]

    def comparison(group: GroupFigures) -> ScoreComparison:
        assert group.column is not None, "groups are compared"
        return calibration.columns[group.column].groups[group.value]

    def cells(group: GroupFigures) -> list[Cell]:
        compared = comparison(group)
        return [
            Cell(count(compared.estimate.n)),
            Cell(percent(compared.row["observed"])),
            Cell(percent(compared.row["expected_at_same_scores"])),
            *difference_cells(compared.difference, span),
        ]

    span = difference_range(comparison(group).estimate for group in large_groups(chosen, error))
    heads = [
        Head("Group", "text"),
        Head("Out of"),
        Head(capitalize(model.happened)),
        Head("Expected at the same scores"),
        *difference_heads("Points more than others", span, model.request),
    ]
    n_more = len(model.columns) - len(chosen)
    more = f" {plural(n_more, 'more column', 'more columns')} not examined." if n_more else ""
    note = (
        f"Expected: if {model.words.plural} of the group were {model.happened} as often as all "
        "with the same scores. Above 0, scores of the group are low for what happened, beside "
        "those of others; below 0, high. p is adjusted. Diamonds: shown to differ. Hollow: too few "
        f"to rank.{more}"
    )
    rows = group_rows(chosen, [error], cells, lambda group: comparison(group).difference)
    return Table("Groups beside others with the same scores", heads, rows, note)
