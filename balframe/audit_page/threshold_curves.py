"""Charts of the errors of groups at all thresholds of a score."""

import math

from balframe.audit_page.document import Line, Steps
from balframe.audit_page.measured_scores import OfScore
from balframe.audit_page.measured_thresholds import NEVER, CurveOf, Curves
from balframe.audit_page.numbers import PERCENT, Estimate
from balframe.audit_page.rates import Rate
from balframe.audit_page.request import Asked
from balframe.audit_page.results import OfModel
from balframe.audit_page.scores_in_text import score_text, threshold_text
from balframe.audit_page.tables import caption_of, level_of
from balframe.audit_page.text import given, marked, name, plural, text_of, together

_WIDTH = 0.88  # of the chart, for thresholds that scores reach; `never` is at its end
_MOST_TICKS = (10, 5, 3)
_MOST_CHARACTERS = 45  # of the texts of all ticks
_Y_TICKS = [(one / 4, f"{25 * one}%") for one in range(5)]


def charts_of(model: OfModel, score: OfScore, asked: Asked) -> list[Steps]:
    """Draw both errors by group, at all thresholds."""
    curves = score.thresholds.curves
    if curves is None:
        return []
    return [_chart(rate, curves, model, score, asked) for rate in model.rates.errors]


def _chart(rate: Rate, curves: Curves, model: OfModel, score: OfScore, asked: Asked) -> Steps:
    values = [one.value for one in curves.thresholds]
    scores = [one for one in values if one != NEVER]
    places = [place(one, scores[0], scores[-1]) for one in values]
    used = score.thresholds.in_use.threshold
    column = model.columns[[one.number for one in model.columns].index(curves.column)]
    n_small = sum(one.is_small(rate, asked.min_support) for one in column.groups)
    n_others = len(column.groups) - len(curves.groups) - n_small
    lines = [
        Line(
            marked(text_of(one.value)),
            [(x, of.value or 0.0) for x, of in zip(places, one.rates[rate], strict=True)],
        )
        for one in curves.groups
    ]
    return Steps(
        f"{caption_of(rate)}, by {given(str(asked.by[curves.column]))}",
        f"{in_words(rate, curves, score, asked)}{left_out(n_small, n_others, asked)}",
        lines,
        x_ticks(scores[0], scores[-1]),
        _Y_TICKS,
        f"Threshold of {given(str(model.counted.model.y_score))}",
        None if used is None else place(used, scores[0], scores[-1]),
    )


def in_words(rate: Rate, curves: Curves, score: OfScore, asked: Asked) -> str:
    """Say what a chart shows at the threshold in use, or at the best one."""
    found = score.thresholds
    start = f"Share of {rate.of} at every threshold."
    at = found.in_use.threshold
    if at is None and found.best is not None:
        at = found.best.threshold.value
    positions = [i for i, one in enumerate(curves.thresholds) if one.value == at != NEVER]
    if not positions:
        return start
    (position,) = positions
    which = "the one in use" if found.in_use.threshold is not None else "the best for all together"
    shares = together([_share(one, rate, position) for one in curves.groups])
    text = threshold_text(curves.thresholds[position])
    return f"{start} At {text}, {which}, with {level_of(asked)} limits: {shares}."


def _share(group: CurveOf, rate: Rate, position: int) -> str:
    of: Estimate = group.rates[rate][position]
    return f"{name(group.value)} {PERCENT.written(of)}"


def left_out(n_small: int, n_others: int, asked: Asked) -> str:
    """Say which groups are not drawn; empty if all are."""
    said = []
    if n_small:
        said.append(
            f"{plural(n_small, 'group', 'groups')} with fewer than {asked.min_support} "
            f"{asked.words.many} of one of the outcomes"
        )
    if n_others:
        said.append(f"{plural(n_others, 'group', 'groups')} smaller than these")
    return f" Not drawn: {' and '.join(said)}." if said else ""


def place(threshold: float, low: float, high: float) -> float:
    """Tell where a threshold lies in a chart."""
    return 1.0 if threshold == NEVER else _WIDTH * (threshold - low) / (high - low)


def x_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Choose ticks at round numbers, and one at the end for a threshold that is never reached."""
    for most in _MOST_TICKS:
        step = _step((high - low) / most)
        multiples = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
        values = [float(f"{one * step:.12g}") for one in multiples]
        ticks = [(place(one, low, high), score_text(one)) for one in values]
        if sum(len(text) for _, text in ticks) <= _MOST_CHARACTERS:
            break
    return [*ticks, (1.0, "never")]


def _step(least: float) -> float:
    """Find the next larger one of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(one * power for one in (1, 2, 5, 10) if one * power >= least * (1 - 1e-9))
