"""Whether the rates of all rows change from one period to another."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from balframe.audit_page.document import (
    Block,
    Cell,
    Head,
    Paragraph,
    RowGroup,
    Section,
    Table,
    TableRow,
)
from balframe.audit_page.groups import Difference, GroupFigures, measure_groups
from balframe.audit_page.numbers import PERCENT, UNDEFINED, count
from balframe.audit_page.queries import (
    CLUSTER,
    PREDICTION,
    SCORE,
    TRUTH,
    ModelCells,
    N,
    by_name,
    leave_out,
)
from balframe.audit_page.rates import BALANCED, Rate
from balframe.audit_page.request import Request
from balframe.audit_page.results import Audit, LeftOut, ModelFigures, report_models
from balframe.audit_page.tables import (
    estimate_cell,
    plot_head,
    share_range,
    total_row,
    withheld_row,
)
from balframe.audit_page.text import caller_text, capitalize, join_words, label, plural
from balframe.frames.by_entries import PERIOD, Period
from balframe.methods.comparisons.disparity import disparity
from balframe.methods.scores.confusion import confusion

QUESTION = "Does it change over time?"
NO_TIME = "no periods were given (`bf.period` in `by`)"
ONE_PERIOD = "all rows are of one period"
_PERIOD = 0  # the only by-column of the cells of periods
_UNITS = {"d": "day", "w": "week", "mo": "month", "q": "quarter", "y": "year"}
_MAX_ROWS = 60


@dataclass(frozen=True, slots=True)
class Periods:
    """The periods of a model in their order, and the test that a rate is the same in all.

    A rate that cannot be tested has no test.
    """

    groups: Sequence[GroupFigures]
    tests: Sequence[tuple[Rate, Difference]]


def measure(audit: Audit, level: float) -> list[Periods]:
    """Measure the rates of each model in every period, and test whether they are the same.

    The tests have no limits, so that they are the same at every level.
    """
    request = audit.request
    if request.period is None:
        return []
    return [_measure(model, audit.frame, request.period) for model in audit.models]


def _measure(model: ModelFigures, frame: Any, period: Period) -> Periods:  # noqa: ANN401
    cells = _count(frame, model.cells, period)
    groups = measure_groups(cells, model.rates, _PERIOD)
    tests = [(rate, test) for rate in followed_rates(model) if (test := _test(cells, groups, rate))]
    return Periods(groups, tests)


def followed_rates(model: ModelFigures) -> list[Rate]:
    """Return the rates that are followed: both errors of two labels, or the balanced accuracy.

    Of outcomes, it is the pass rate.
    """
    if model.request.is_of_outcomes:
        return [model.rates.main]
    accuracy = model.rates.by_metric("accuracy")
    if model.cells.is_binary:
        return [accuracy, *model.rates.errors]
    return [accuracy, model.rates.by_metric(BALANCED)]


def _count(frame: Any, cells: ModelCells, period: Period) -> ModelCells:  # noqa: ANN401
    """Count the rows of each period, without those that have no score where there are scores."""
    request, model = cells.request, cells.model
    has_scores = model.y_score is not None
    options = {**request.options, "labels": list(cells.labels), "backend": "polars"}
    matrices = confusion(
        frame,
        request.y_true,
        model.y_pred,
        by=[*([model.y_score] if has_scores else []), period],
        **options,
    )
    names = [*([SCORE] if has_scores else []), by_name(_PERIOD)]
    names += [CLUSTER] if request.cluster is not None else []
    names += [TRUTH, PREDICTION, N]
    matrices = matrices.rename(dict(zip(matrices.columns[: len(names)], names, strict=True)))
    days = matrices[by_name(_PERIOD)].cast(date)  # which pandas has as datetimes
    matrices = matrices.with_columns(days)
    if has_scores:
        matrices = matrices.filter(matrices[SCORE].is_not_null())
    return replace(
        cells,
        request=replace(request, by=[PERIOD]),  # the only by-column of these cells
        frame=matrices,
        selections=None,
        weighted_scores=None,
        baseline=None,
        _computed={},
    )


def _test(cells: ModelCells, groups: Sequence[GroupFigures], rate: Rate) -> Difference | None:
    """Test whether a rate is the same in all periods that have enough rows."""
    small = [group.value for group in groups if group.is_small(rate)]
    if len(groups) - len(small) < 2:
        return None
    (row,) = cells.query(
        disparity,
        leave_out(cells.of_column(_PERIOD), _PERIOD, small),
        by=by_name(_PERIOD),
        metrics=rate.metric,
        pos_label=rate.positive,
        min_support=1,
    )
    p: float | None = row["p_value_all"]
    return None if p is None else Difference(UNDEFINED, p)


def differences(models: Sequence[Periods]) -> Iterator[Difference]:
    """Return the tests whose p-values are adjusted with all others."""
    for periods in models:
        yield from (test for _, test in periods.tests)


def section(audit: Audit, periods: Sequence[Periods]) -> Section | LeftOut:
    """State whether rates change over time."""
    if not periods:
        return LeftOut(QUESTION, NO_TIME, is_listed=False)
    if len(periods[0].groups) < 2:
        return LeftOut(QUESTION, ONE_PERIOD)
    blocks, brief = report_models(
        audit, lambda model, own: (_blocks(model, own), [summary(model, own)]), periods
    )
    return Section("time", QUESTION, blocks, brief)


def summary(model: ModelFigures, periods: Periods) -> str:
    """State in brief which rates differ between the periods."""
    n = plural(len(periods.groups), "period", "periods")
    if not periods.tests:
        return f"Over {n}, no rate could be compared."
    differing = [rate.term for rate, test in periods.tests if test.is_significant]
    others = [rate.term for rate, test in periods.tests if not test.is_significant]
    parts = []
    if differing:
        parts.append(f"a change in {join_words(differing)} is established")
    if others:
        parts.append(f"no change in {join_words(others, 'or')} is established")
    return f"Over {n}, {'; '.join(parts)}."


def _blocks(model: ModelFigures, periods: Periods) -> list[Block]:
    period = _period(model.request)
    introduction = (
        f"The {model.words.plural} are of {plural(len(periods.groups), 'period', 'periods')} of "
        f"{length_text(model.request)}, by {caller_text(period.column)}. For each rate, one test "
        "asks whether it is the same in all periods that have enough rows. It does not show since "
        "when a rate has been different, nor whether it will stay so."
    )
    sentences = [test_sentence(model, periods, rate, test) for rate, test in periods.tests]
    return [*map(Paragraph, [introduction, *sentences]), _table(model, periods)]


def length_text(request: Request) -> str:
    """Write the length of periods: `1 month`."""
    length = _period(request).every
    unit = _UNITS[length.unit]
    return plural(length.number, unit, f"{unit}s")


def _period(request: Request) -> Period:
    assert request.period is not None, "periods are shown only where they are requested"
    return request.period


def test_sentence(model: ModelFigures, periods: Periods, rate: Rate, test: Difference) -> str:
    """State whether a rate is the same in all periods, and if not, where it is lowest."""
    p = test.p_text if test.p_text.startswith("<") else f"= {test.p_text}"
    p = f"adjusted p {p.replace('<', '< ')}"
    start = capitalize(rate.term)
    if not test.is_significant:
        return f"{start}: no difference between the periods is established ({p})."
    compared = [group for group in periods.groups if not group.is_small(rate)]
    by_rate = sorted(compared, key=lambda group: group.rates[rate].value or 0.0)
    (low, lowest), (high, highest) = (
        (PERCENT.with_limits(group.rates[rate]), label(group.value))
        for group in (by_rate[0], by_rate[-1])
    )
    return (
        f"{start}: a difference between the periods is established ({p}). It was lowest in the "
        f"period from {lowest}, {low}, and highest in the one from {highest}, {high}."
    )


def _table(model: ModelFigures, periods: Periods) -> Table:
    rates, groups = followed_rates(model), list(periods.groups[-_MAX_ROWS:])
    drawn = rates[0]
    overall = model.overall.rates[drawn]
    large = [group.rates[drawn] for group in groups if not group.is_small(drawn)]
    span = share_range([*large, overall])

    def cells(group: GroupFigures) -> list[Cell]:
        estimates = [estimate_cell(group.rates[rate], PERCENT) for rate in rates]
        first, *others = estimates
        return [Cell(count(group.n)), first, Cell(bar=span.bar(group.rates[drawn])), *others]

    rows = [
        withheld_row(group, 3 + len(rates) - 1, 0)
        if group.is_withheld
        else TableRow(
            label(group.value),
            cells(group),
            is_small=any(group.is_small(rate) for rate in rates),
        )
        for group in groups
    ]
    level = f"{model.request.percent_level} interval"
    heads = [
        Head("Period from", "text"),
        Head("Out of"),
        Head(f"{capitalize(drawn.term)} ({level})", "estimate"),
        plot_head(span.axis(PERCENT, overall.value)),
        *(Head(capitalize(rate.term), "estimate") for rate in rates[1:]),
    ]
    n_more = len(periods.groups) - len(groups)
    more = f" {plural(n_more, 'earlier period', 'earlier periods')} not shown." if n_more else ""
    return Table(
        "Rates by period",
        heads,
        [RowGroup("", rows)],
        f"Solid line: all {model.words.plural}. Confidence intervals of each row alone. Italics: "
        f"too few to compare.{more}",
        total_row(model, cells(model.overall)),
    )
