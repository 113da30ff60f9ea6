"""Selection rates and impact ratios of the categories of all tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from balframe.api.interval_estimates import limits_of
from balframe.api.metric_selection import Adjust, Scoring, value_of
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.sample import Sample
from balframe.errors import InvalidInputError, bare_parameter, listed, parameter
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame, Group
from balframe.methods.comparisons.segments import differences
from balframe.methods.impact.risk_ratio import limits_of_ratio_to_largest
from balframe.methods.impact.unknown_bounds import bounds_with_unknowns
from balframe.stats.base import IntervalRequest
from balframe.stats.multiple_testing import adjusted_within

# The categories of a table of selections, compared with the most selected one.


COMPARED, SMALL, UNKNOWN = ROLES = ("compared", "small", "unknown")
RATIOS = ("impact_ratio", "lower", "upper", "unknown_lower", "unknown_upper")
SHORT = ("short_of_parity", "short_of_bound")


@dataclass(frozen=True, slots=True)
class Terms:
    """What is asked: the least share of a category that is compared, the bound, and the rest."""

    min_share: float
    bound: float
    level: float
    adjust: Adjust


@dataclass(frozen=True)
class Table:
    """The categories of one margin and model: rows selected, all rows, and which are unknown."""

    group: Group
    n_selected: Int64Array
    n: Int64Array
    is_unknown: BoolArray
    terms: Terms

    @property
    def n_unknown(self) -> int:
        """Count the rows whose category is unknown."""
        return int(self.n[self.is_unknown].sum())

    @property
    def share(self) -> FloatArray:
        """Their share of the rows whose category is known; NaN where it is not."""
        n_known = int(self.n.sum()) - self.n_unknown
        return np.where(self.is_unknown, np.nan, self.n / max(n_known, 1))

    @property
    def compared(self) -> Int64Array:
        """The positions of the categories that are compared."""
        return np.flatnonzero((self.share >= self.terms.min_share) & (self.n > 0))

    @property
    def role(self) -> Int64Array:
        """The position among the roles of each category."""
        role = np.where(self.is_unknown, ROLES.index(UNKNOWN), ROLES.index(SMALL))
        role[self.compared] = ROLES.index(COMPARED)
        return role

    @property
    def top(self) -> int | None:
        """The most selected of those compared, in a tie the one with the most rows."""
        compared = self.compared
        if not len(compared):
            return None
        rate = self.n_selected[compared] / self.n[compared]
        leading = compared[rate == rate.max()]
        return int(leading[np.argmax(self.n[leading])])

    def ratios(self, top: int) -> dict[str, FloatArray]:
        """Divide the rates of those compared by the highest one."""
        x, n = self.n_selected[self.compared], self.n[self.compared]
        n_selected_unknown = int(self.n_selected[self.is_unknown].sum())
        found = (
            x / n / (self.n_selected[top] / self.n[top]),
            *limits_of_ratio_to_largest(x.astype(float), n.astype(float), self.terms.level),
            *bounds_with_unknowns(x, n, n_selected_unknown, self.n_unknown),
        )
        return dict(zip(RATIOS, found, strict=True))

    def short(self, top: int) -> dict[str, list[int]]:
        """Count the selections that those compared lack to reach the highest rate, or the bound."""
        shares = (Fraction(1), Fraction(str(self.terms.bound)))  # .8 is four fifths
        return {
            name: [self._short_of(share, one, top) for one in self.compared]
            for name, share in zip(SHORT, shares, strict=True)
        }

    def _short_of(self, share: Fraction, one: int, top: int) -> int:
        """Find the least d with (x + d) / n >= share * highest rate."""
        (x, n), (most, of) = self._counts(one), self._counts(top)
        needed = -(-share.numerator * most * n // (share.denominator * of))
        return max(needed - x, 0)

    def is_reversed(self, one: int, top: int) -> bool:
        """Tell whether one selection more here, and one fewer at the top, turns their order."""
        (x, n), (most, of) = self._counts(one), self._counts(top)
        return x < n and (x + 1) * of > (most - 1) * n

    def _counts(self, one: int) -> tuple[int, int]:
        """Take the rows selected, and all rows, of a category; products of them may be large."""
        return int(self.n_selected[one]), int(self.n[one])


_SELECTION = Scoring.of("selection_rate", None, ())
((_NAME, _METRIC),) = _SELECTION.metrics.items()
_NULL = -1  # in the place of counts and positions
_NO_FLAG = 2


def impact_in_rows(
    reading: CountedFrame, terms: Terms, medians: Sequence[float] | None = None
) -> dict[Name, Any]:
    """Put the categories of all tables one below the other."""
    sample = _SELECTION.sample(reading)
    c, (_, first) = sample.counts, reading.cells.segments
    n_selected, n_segments = _selected(c), c.n_segments
    tables = list(_tables(reading, c, n_selected, terms))
    if tables:
        _check_selected(reading, n_selected, c.n, medians)
        _check_compared(tables)
    names = ("share", "highest", "p_value", *RATIOS)
    floats = {name: np.full(n_segments, np.nan) for name in names}
    counts = {name: np.full(n_segments, _NULL) for name in (*SHORT, "role", "n_unknown", "top")}
    is_reversed = np.full(n_segments, _NO_FLAG)
    for table in tables:
        rows, compared, top = table.group.segments, table.compared, table.top
        floats["share"][rows], counts["role"][rows] = table.share, table.role
        counts["n_unknown"][rows] = table.n_unknown
        if top is None:
            continue
        counts["top"][rows] = rows[top]
        floats["highest"][rows] = table.n_selected[top] / table.n[top]
        if len(compared) < 2 or not table.n_selected[top]:
            continue
        for name, ratios in table.ratios(top).items():
            floats[name][rows[compared]] = ratios
        for name, short in table.short(top).items():
            counts[name][rows[compared]] = short
        others = compared[compared != top]
        is_reversed[rows[others]] = [table.is_reversed(one, top) for one in others]
        floats["p_value"][rows[others]] = _p_values(sample, rows[others], rows[top], terms)
    rate = value_of(_METRIC, c)
    request = IntervalRequest(None, terms.level)
    lower, upper = limits_of({_NAME: _METRIC}, sample, {_NAME: rate}, request)[_NAME]
    margin = reading.margin_of_segments()
    adjusted, n_tests = adjusted_within(floats["p_value"], margin, terms.adjust)
    return {
        **reading.by_columns(first),
        "role": reading.text_column(ROLES, counts["role"]),
        "n": c.n,
        "n_selected": n_selected,
        "rate": rate,
        "rate_lower": lower,
        "rate_upper": upper,
        **_most_selected(reading, counts["top"]),
        "bound": np.full(n_segments, float(terms.bound)),
        "p_adjusted": adjusted,
        "n_tests": n_tests,
        **{name: reading.count_column(counts[name]) for name in SHORT},
        "one_more_reverses": reading.flag_column(is_reversed),
        "n_unknown": counts["n_unknown"],
        **dict(floats.items()),
        **_thresholds(reading, medians),
    }


def _thresholds(reading: CountedFrame, medians: Sequence[float] | None) -> dict[Name, FloatArray]:
    """Give the median score of each row's model, where scores were given."""
    if medians is None:
        return {}
    return {"threshold": np.array(medians)[reading.model_of_segments()]}


def _selected(c: ClassCounts) -> Int64Array:
    """Count the rows of each segment that are selected; without a truth, these are correct."""
    at = np.flatnonzero(c.label == c.pos_label)
    n_selected = np.zeros(c.n_segments, np.int64)
    n_selected[c.segment[at]] = c.n_correct[at]
    return n_selected


def _tables(
    reading: CountedFrame, c: ClassCounts, n_selected: Int64Array, terms: Terms
) -> Iterator[Table]:
    """Give the categories of each margin and model; none where there are no rows."""
    _, first = reading.cells.segments
    for group in reading.groups() if c.n_segments else []:
        rows = group.segments
        is_null = [reading.codes[name][first[rows]] == len(reading.by[name]) for name in group.by]
        yield Table(group, n_selected[rows], c.n[rows], np.any(is_null, axis=0), terms)


def _p_values(sample: Sample, rows: Int64Array, top: int, terms: Terms) -> FloatArray:
    """Test that each rate is the highest one, which was chosen among all k.

    That comparison is one of k (k - 1) / 2 pairs. With p-values times k / 2, the first step of Holm
    over k - 1 of them is Bonferroni over all pairs.
    """
    sides = sample.at(rows), sample.at(np.full(len(rows), top))
    found = differences(_SELECTION.metrics, *sides, "", IntervalRequest(None, terms.level))[_NAME]
    k = len(rows) + 1
    return np.minimum(found.p_value * k / 2, 1)


def _most_selected(reading: CountedFrame, top: Int64Array) -> dict[Name, Any]:
    """Look up the by-columns of the most selected category of each row's table."""
    _, first = reading.cells.segments
    named: dict[Name, Any] = {}
    for name in reading.query.by:
        levels = reading.by[name]
        codes = np.where(top == _NULL, len(levels), reading.codes[name][first[top]])
        named[f"highest_{name}"] = reading.library.take(levels, codes, nullable=True)
    return named


def _check_selected(
    reading: CountedFrame, n_selected: Int64Array, n: Int64Array, medians: Sequence[float] | None
) -> None:
    """Raise where nobody is selected by some model."""
    model = reading.model_of_segments()
    for code, name in enumerate(reading.query.y_pred):
        if n_selected[model == code].any():
            continue
        if not n[model == code].any():
            raise InvalidInputError(
                f"no row with a value in column {name!r} is left, so nobody is selected; name a "
                "column that has values."
            )
        if medians is not None:
            raise InvalidInputError(
                f"no score in column {name!r} is above the median, {medians[code]:.15g}, which is "
                "also the highest score, so nobody counts as selected. Give finer scores, or a "
                f"column of selections as {bare_parameter('selected')}."
            )
        label = 1 if reading.query.pos_label is None else reading.query.pos_label
        raise InvalidInputError(
            f"nobody is selected: no row of column {name!r} has the positive label {label!r}. Its "
            f"labels are {reading.labels}; give the one that means selected as "
            f"{parameter('pos_label')}."
        )


def _check_compared(tables: Sequence[Table]) -> None:
    """Raise where no table has two categories to compare."""
    if any(len(table.compared) > 1 for table in tables):
        return
    table = max(tables, key=lambda one: (~one.is_unknown).sum())
    n, n_compared = int((~table.is_unknown).sum()), len(table.compared)
    least = parameter("min_share", table.terms.min_share)
    of = listed(map(repr, table.group.by))
    if n < 2:
        raise InvalidInputError(
            f"{bare_parameter('by')} has {'one category' if n else 'no category'} that is known, "
            f"in {of}, but an impact ratio compares at least two; name a column with more."
        )
    raise InvalidInputError(
        f"{n_compared or 'none'} of the {n} categories of {of} "
        f"{'has' if n_compared else 'have'} the share of the rows that {least} requires, but an "
        f"impact ratio compares at least two. Give a lower {bare_parameter('min_share')}, where 0 "
        "compares all categories, or combine small categories first."
    )
