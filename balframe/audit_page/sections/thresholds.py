"""What other thresholds of a score would do."""

from collections.abc import Sequence

from balframe.audit_page.document import (
    Beside,
    Block,
    Cell,
    Group,
    Head,
    Paragraph,
    Section,
    Table,
    TableRow,
)
from balframe.audit_page.measured_scores import OfScore
from balframe.audit_page.measured_thresholds import NEVER, Best, InUse, Point, Threshold
from balframe.audit_page.numbers import PERCENT, Estimate, Scale, count
from balframe.audit_page.rates import BALANCED, Rate
from balframe.audit_page.request import Asked
from balframe.audit_page.results import Answer, Audited, LeftOut, OfModel, of_every_model
from balframe.audit_page.scores_in_text import at_or_above, rounded, score_text, threshold_text
from balframe.audit_page.sections.same_scores_in_text import Words
from balframe.audit_page.tables import level_of
from balframe.audit_page.text import given, sentence
from balframe.audit_page.threshold_curves import charts_of

QUESTION = "What would another threshold do?"
NO_SCORE = "no score was given (`y_score`)"
TRADE = (
    "A threshold trades one error for the other: the higher it is, the fewer are called, and the "
    "more are missed."
)
OPTIMISTIC = "A best threshold found in the same data looks better than it will be."
SCORES = Scale(decisive=(0.0, 50.0, 100.0), unit="%")  # 50% is guessing
_HALF = 0.5
_MOST_DECIMALS = 6


def threshold(audited: Audited) -> Answer:
    """Say what other thresholds would do."""
    if all(one.y_score is None for one in audited.asked.models):
        return LeftOut(QUESTION, NO_SCORE)
    if all(model.score is None for model in audited.models):
        return LeftOut(QUESTION, "a threshold is between two outcomes, and there are more")
    blocks, brief = of_every_model(audited, lambda model: _of_model(model, audited.asked))
    return Section("threshold", QUESTION, blocks, brief)


def words_of(model: OfModel, asked: Asked) -> Words:
    """Find the words on the score of a model."""
    positive, words = model.counted.positive, asked.words
    assert positive is not None, "scores are of two labels"
    score = given(str(model.counted.model.y_score))
    return Words(score, words.happened(positive), words.called(positive), words.many)


def _of_model(model: OfModel, asked: Asked) -> tuple[list[Block], list[str]]:
    if model.score is None:
        return [], []
    found, words = model.score.thresholds, words_of(model, asked)
    balanced = model.rates.named(BALANCED)
    used = next((one for one in found.points if _is_used(one, found.in_use)), None)
    said = [
        f"{in_use(found.in_use, used.threshold if used else None, words)} {TRADE}",
        ranking(found.area, words),
    ]
    if found.best is not None:
        said.append(best(found.best, model.overall.rates[balanced], found.in_use, words))
    blocks: list[Block] = [Paragraph(one) for one in said]
    if note := rounded(model.counted):
        blocks.append(Paragraph(note, is_note=True))
    blocks.append(_table(model, model.score, asked, words))
    charts = charts_of(model, model.score, asked)
    return [*blocks, *([Beside(charts)] if charts else [])], in_brief(found.area, words)


def _is_used(point: Point, found: InUse) -> bool:
    """Tell whether a threshold gives the calls; where nobody is called, `never` does."""
    if found.why == "nobody":
        return point.threshold.value == NEVER
    return point.threshold.value == found.threshold


def in_use(found: InUse, at: Threshold | None, words: Words) -> str:
    """Say which threshold gives the calls, or that none does."""
    if found.why == "nobody":
        return (
            f"None of the {words.many} had been {words.called}, as with a threshold above all "
            "scores."
        )
    if found.why == "everybody":
        return f"All {words.many} had been {words.called}, as with a threshold below all scores."
    if at is not None:
        return f"The calls are those of {words.score} at {threshold_text(at)} or more."
    if found.between is not None:
        low, high = map(score_text, found.between)
        return (
            f"The calls may be those of a threshold of {words.score} between {low} and {high}; "
            "which one, the rounding of the scores hides."
        )
    return (
        f"The calls do not follow from a threshold of {words.score}: some {words.many} had been "
        f"{words.called}, and others with the same score or a higher one had not. What follows is "
        "about calls that thresholds would give."
    )


def ranking(area: Estimate, words: Words) -> str:
    """Say how well the score tells the outcomes apart, and whether that is more than guessing."""
    if area.value is None:
        return (
            "One of the outcomes does not occur, so nothing can be said of how well the score "
            "tells outcomes apart."
        )
    return (
        f"{_pairs(area, words)}, at whatever threshold (area under the ROC curve; two equal scores "
        f"count as half a pair). {beside_guessing(area)}"
    )


def in_brief(area: Estimate, words: Words) -> list[str]:
    """Say in brief how well the score tells the outcomes apart."""
    if area.value is None:
        return []
    return [f"{_pairs(area, words)}. {beside_guessing(area)}"]


def _pairs(area: Estimate, words: Words) -> str:
    return (
        f"Of two {words.many}, one {words.happened} and one not, the score is the higher for the "
        f"first in {SCORES.written(area)} of pairs"
    )


def beside_guessing(area: Estimate) -> str:
    """Say whether pairs are told apart more often than by guessing."""
    if area.lower is not None and area.lower > _HALF:
        return "Guessing would give 50%."
    if area.upper is not None and area.upper < _HALF:
        return "That is less than the 50% of guessing: the score runs the other way."
    return "That is not shown to differ from the 50% of guessing."


def best(found: Best, calls: Estimate, used: InUse, words: Words) -> str:
    """Say which threshold is best if both outcomes count alike, beside the calls as they are."""
    which = (
        "is one that no score reaches"
        if found.threshold.value == NEVER
        else f"is {threshold_text(found.threshold)}"
    )
    is_used = used.threshold == found.threshold.value
    beside = "" if is_used else f" The calls as they are have {SCORES.written(calls)}."
    return (
        f"If both outcomes count alike, however many {words.many} each is about, the best "
        f"threshold in these data {which}{', the one in use' if is_used else ''}, with a balanced "
        f"accuracy of {SCORES.estimate(found.balanced)}% ({SCORES.limits(found.balanced)}, "
        f"limits that allow for having picked it).{beside} {OPTIMISTIC}{_by_chance(found)}"
    )


def _by_chance(found: Best) -> str:
    """Say whether scores without information could do as well."""
    chance, value = found.by_chance, found.balanced.value
    if chance is None or value is None:
        return ""
    if value > chance:
        limit, _ = told_apart(chance, value)
        return f" Scores without information would exceed {limit}% in only 5% of such data."
    limit, own = told_apart(chance, value)
    return (
        f" Scores without information would exceed {limit}% in 5% of such data, so that {own}% is "
        "no evidence that the score has any."
    )


def told_apart(one: float, other: float) -> tuple[str, str]:
    """Write two shares with as many decimals as it takes to see which is larger."""
    for decimals in range(_MOST_DECIMALS + 1):
        scale = Scale(decimals=decimals)
        texts = scale.text(one), scale.text(other)
        if texts[0] != texts[1]:
            return texts
    return Scale().text(one), Scale().text(other)


def _table(model: OfModel, score: OfScore, asked: Asked, words: Words) -> Table:
    """Show what chosen thresholds give, the one in use among them."""
    rates = [*model.rates.errors, model.rates.named(BALANCED)]
    points = score.thresholds.points
    is_all = len(points) > score.n_scores
    heads = [
        Head(f"{sentence(words.score)} to be {words.called}", "text"),
        Head(sentence(words.called)),
        *(Head(sentence(one.share), "estimate") for one in model.rates.errors),
        Head("Balanced accuracy", "estimate"),
    ]
    rows = [_row(one, rates, _is_used(one, score.thresholds.in_use)) for one in points]
    which = "" if is_all else f" Some of {count(score.n_scores)} different scores are shown."
    return Table(
        "Every threshold" if is_all else "Thresholds",
        heads,
        [Group("", rows)],
        f"In brackets: {level_of(asked)} limits, of each row alone.{which}",
    )


def _row(point: Point, rates: Sequence[Rate], is_used: bool) -> TableRow:
    heading = at_or_above(point.threshold) + (" (in use)" if is_used else "")
    cells = [
        _cell(point.rates[one], SCORES if one.metric == BALANCED else PERCENT) for one in rates
    ]
    return TableRow(heading, [Cell(count(point.n_called)), *cells], is_here=is_used)


def _cell(of: Estimate, scale: Scale) -> Cell:
    if of.value is None:
        return Cell("undefined")
    return Cell(f"{scale.estimate(of)}%", scale.limits(of) if of.has_limits else "")
