"""What other thresholds of a score would do."""

import math
from collections.abc import Sequence
from dataclasses import replace

from balframe.audit_page.document import (
    Block,
    Cell,
    Head,
    Line,
    Paragraph,
    RowGroup,
    Section,
    SideBySide,
    StepChart,
    Table,
    TableRow,
)
from balframe.audit_page.numbers import PERCENT, Estimate, Scale, count, score_text
from balframe.audit_page.rates import BALANCED, Rate
from balframe.audit_page.request import Request
from balframe.audit_page.results import NO_SCORE, Audit, LeftOut, ModelFigures, report_models
from balframe.audit_page.scores import NEVER, ScoreCounts, ScoreWords, Threshold, rounding_note
from balframe.audit_page.sections.threshold_figures import (
    Best,
    Curves,
    InUse,
    Point,
    ThresholdFigures,
)
from balframe.audit_page.tables import estimate_cell
from balframe.audit_page.text import capitalize, join_words, label, plural, quote

QUESTION = "What would another threshold do?"
TRADE = (
    "A threshold trades one error for the other: the higher it is, the fewer are selected, and "
    "the more are missed."
)
OPTIMISTIC = (
    "In new data, the balanced accuracy at a threshold picked this way is lower on average."
)
_ACCURACY = Scale(decisive=(0.0, 50.0, 100.0), unit="%")  # 50% is guessing
_GUESSING = 0.5
_MAX_DECIMALS = 6

_WIDTH = 0.88  # of a chart, for thresholds that scores reach; `never` is at its end
_MAX_TICKS = (10, 5, 3)
_MAX_CHARACTERS = 45  # of the texts of all ticks
_Y_TICKS = [(quarter / 4, f"{25 * quarter}%") for quarter in range(5)]


def section(audit: Audit, thresholds: Sequence[ThresholdFigures | None]) -> Section | LeftOut:
    """State what other thresholds would do."""
    if all(model.y_score is None for model in audit.request.models):
        return LeftOut(QUESTION, NO_SCORE)
    if not any(thresholds):
        return LeftOut(QUESTION, "a threshold is between two outcomes, and there are more")
    blocks, brief = report_models(audit, _report, thresholds)
    return Section("threshold", QUESTION, blocks, brief)


def _report(model: ModelFigures, figures: ThresholdFigures | None) -> tuple[list[Block], list[str]]:
    if figures is None or model.scores is None:
        return [], []
    words, in_use = model.score_words, figures.in_use
    used = next(
        (x.threshold for x in figures.points if gives_predictions(x.threshold, in_use)), None
    )
    sentences = [
        f"{in_use_sentence(in_use, used, words)} {TRADE}",
        area_sentence(figures.area, words),
    ]
    if figures.best is not None:
        balanced = model.overall.rates[model.rates.by_metric(BALANCED)]
        sentences.append(best_sentence(figures.best, balanced, in_use, words))
    blocks: list[Block] = [*map(Paragraph, sentences)]
    if note := rounding_note(model.cells):
        blocks.append(Paragraph(note, is_note=True))
    blocks.append(_table(model, model.scores, figures))
    if curves := figures.curves:
        charts = [_chart(rate, curves, figures, model) for rate in model.rates.errors]
        blocks.append(SideBySide(charts))
    return blocks, summary(figures.area, words)


def gives_predictions(threshold: Threshold, in_use: InUse) -> bool:
    """Return whether a threshold gives the predictions; where nobody is selected, `never` does."""
    return threshold.value == (NEVER if in_use.reason == "nobody" else in_use.threshold)


def in_use_sentence(in_use: InUse, threshold: Threshold | None, words: ScoreWords) -> str:
    """State which threshold gives the predictions, or that none does."""
    if in_use.reason == "nobody":
        return (
            f"None of the {words.rows} had been {words.predicted}, as with a threshold above all "
            "scores."
        )
    if in_use.reason == "everybody":
        return f"All {words.rows} had been {words.predicted}, as with a threshold below all scores."
    if threshold is not None:
        return f"The {words.predictions} are those of {words.score} at {threshold.text} or more."
    if in_use.between is not None:
        low, high = map(score_text, in_use.between)
        return (
            f"The {words.predictions} may be those of a threshold of {words.score} between {low} "
            f"and {high}; the rounding of the scores hides which one."
        )
    return (
        f"The {words.predictions} do not follow from a threshold of {words.score}: some "
        f"{words.rows} had been {words.predicted}, and others with the same score or a higher one "
        f"had not. What follows is about {words.predictions} that thresholds would give."
    )


def area_sentence(area: Estimate, words: ScoreWords) -> str:
    """State how well the score separates the outcomes, and whether it does better than guessing."""
    if area.value is None:
        return (
            "One of the outcomes does not occur, so nothing can be said of how well the score "
            "separates outcomes."
        )
    return (
        f"{_pairs(area, words)}, at whatever threshold (area under the ROC curve; two equal scores "
        f"count as half a pair). {guessing_comparison(area)}"
    )


def summary(area: Estimate, words: ScoreWords) -> list[str]:
    """State in brief how well the score separates the outcomes."""
    if area.value is None:
        return []
    return [f"{_pairs(area, words)}. {guessing_comparison(area)}"]


def _pairs(area: Estimate, words: ScoreWords) -> str:
    return (
        f"Of two {words.rows}, one {words.happened} and one not, the score is higher for the "
        f"first in {_ACCURACY.with_limits(area)} of pairs"
    )


def guessing_comparison(area: Estimate) -> str:
    """State whether the score ranks pairs better than guessing."""
    if area.lower is not None and area.lower > _GUESSING:
        return "Guessing would give 50%, and the difference is established."
    if area.upper is not None and area.upper < _GUESSING:
        return (
            "That is established to be less than the 50% of guessing: the score runs the other way."
        )
    return "That is not established to differ from the 50% of guessing."


def best_sentence(best: Best, actual: Estimate, in_use: InUse, words: ScoreWords) -> str:
    """State which threshold is best if both outcomes count equally, beside the predictions."""
    threshold = best.threshold
    which = "one that no score reaches" if threshold.value == NEVER else threshold.text
    is_used = in_use.threshold == threshold.value
    actual_text = (
        ""
        if is_used
        else f" The {words.predictions} as they are have {_ACCURACY.with_limits(actual)}."
    )
    return (
        f"If both outcomes count equally, however many {words.rows} each is about, the best "
        f"threshold in these data is {which}{', the one in use' if is_used else ''}, with a "
        f"balanced accuracy of {_ACCURACY.estimate(best.balanced)}% "
        f"({_ACCURACY.limits(best.balanced)}, an interval that allows for having picked it)."
        f"{actual_text} {OPTIMISTIC}{_by_chance(best)}"
    )


def _by_chance(best: Best) -> str:
    """State whether scores without information could do as well."""
    chance, value = best.by_chance, best.balanced.value
    if chance is None or value is None:
        return ""
    limit, own = distinct_numbers(chance, value)
    where = "more" if value > chance else "less"
    return (
        f" With useless scores, the best threshold would have more than {limit}% in 5 of 100 such "
        f"data sets; {own}% is {where} than that."
    )


def distinct_numbers(first: float, second: float) -> tuple[str, str]:
    """Write two shares with as many decimals as it takes to see which is larger."""
    for decimals in range(_MAX_DECIMALS + 1):
        scale = replace(PERCENT, decimals=decimals)
        texts = scale.number(first), scale.number(second)
        if texts[0] != texts[1]:
            return texts
    return PERCENT.number(first), PERCENT.number(second)


def _table(model: ModelFigures, scores: ScoreCounts, figures: ThresholdFigures) -> Table:
    """Show what chosen thresholds give, the one in use among them."""
    words, errors = model.score_words, model.rates.errors
    rates = {**dict.fromkeys(errors, PERCENT), model.rates.by_metric(BALANCED): _ACCURACY}
    is_all = len(figures.points) > len(scores.scores)
    some = "" if is_all else f" Some of {count(len(scores.scores))} different scores are shown."
    return Table(
        "Every threshold" if is_all else "Thresholds",
        [
            Head(f"{capitalize(words.score)} to be {words.predicted}", "text"),
            Head(capitalize(words.predicted)),
            *(Head(capitalize(rate.share), "estimate") for rate in errors),
            Head("Balanced accuracy", "estimate"),
        ],
        [RowGroup("", [_row(point, rates, figures.in_use) for point in figures.points])],
        f"In brackets: {model.request.percent_level} confidence intervals of each row alone.{some}",
    )


def _row(point: Point, rates: dict[Rate, Scale], in_use: InUse) -> TableRow:
    is_used = gives_predictions(point.threshold, in_use)
    cells = [estimate_cell(point.rates[rate], scale) for rate, scale in rates.items()]
    return TableRow(
        f"{point.threshold.rule}{' (in use)' if is_used else ''}",
        [Cell(count(point.n_predicted)), *cells],
        is_in_use=is_used,
    )


# Charts of the errors of groups at all thresholds


def _chart(rate: Rate, curves: Curves, figures: ThresholdFigures, model: ModelFigures) -> StepChart:
    values = [threshold.value for threshold in curves.thresholds]
    low, high = values[0], max(value for value in values if value != NEVER)
    places = [place(value, low, high) for value in values]
    used, column, request = figures.in_use.threshold, curves.column, model.request
    scores = model.scores.scores if model.scores is not None else ()
    n_small = sum(group.is_small(rate) for group in column.groups)
    n_others = len(column.groups) - len(curves.groups) - n_small
    lines = [
        Line(
            label(group.value),
            [(x, y.value or 0.0) for x, y in zip(places, group.rates[rate], strict=True)],
        )
        for group in curves.groups
    ]
    return StepChart(
        f"{rate.title}, by {request.column(column.number)}",
        f"{chart_text(rate, figures, curves)}{not_drawn(n_small, n_others, request)}",
        lines,
        x_ticks(low, high),
        _Y_TICKS,
        f"Threshold of {model.score_words.score}",
        None if used is None else place(_middle(used, scores), low, high),
    )


def _middle(threshold: float, scores: Sequence[float]) -> float:
    """Return the number halfway to the score below, at which a threshold selects the same rows."""
    below = [score for score in scores if score < threshold]
    return (max(below, default=threshold) + threshold) / 2


def chart_text(rate: Rate, figures: ThresholdFigures, curves: Curves) -> str:
    """State what a chart shows at the threshold in use, or at the best one."""
    start = f"Share of {rate.among} at every threshold."
    value, which = figures.in_use.threshold, "the one in use"
    if value is None and figures.best is not None:
        value, which = figures.best.threshold.value, "the best for all together"
    values = [threshold.value for threshold in curves.thresholds]
    if value not in values or value == NEVER:
        return start
    i = values.index(value)
    shares = [
        f"{quote(group.value)} {PERCENT.with_limits(group.rates[rate][i])}"
        for group in curves.groups
    ]
    text = curves.thresholds[i].text
    return f"{start} At {text}, {which}: {join_words(shares)}."


def not_drawn(n_small: int, n_others: int, request: Request) -> str:
    """State which groups are not drawn; empty if all are."""
    parts = []
    if n_small:
        parts.append(
            f"{plural(n_small, 'group', 'groups')} with fewer than {request.min_support} "
            f"{request.words.plural} of one of the outcomes"
        )
    if n_others:
        parts.append(f"{plural(n_others, 'group', 'groups')} smaller than these")
    return f" Not drawn: {' and '.join(parts)}." if parts else ""


def place(threshold: float, low: float, high: float) -> float:
    """Return where a threshold lies in a chart."""
    return 1.0 if threshold == NEVER else _WIDTH * (threshold - low) / (high - low)


def x_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Choose ticks at round numbers, and one at the end for a threshold that is never reached."""
    for n_ticks in _MAX_TICKS:
        step = _round_step((high - low) / n_ticks)
        multiples = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
        values = [float(f"{multiple * step:.12g}") for multiple in multiples]
        ticks = [(place(value, low, high), score_text(value)) for value in values]
        if sum(len(text) for _, text in ticks) <= _MAX_CHARACTERS:
            break
    return [*ticks, (1.0, "never")]


def _round_step(least: float) -> float:
    """Return the next larger one of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(digit * power for digit in (1, 2, 5, 10) if digit * power >= least * (1 - 1e-9))
