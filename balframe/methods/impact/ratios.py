"""Selection rates and impact ratios of the categories of all tables."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from balframe.api.interval_estimates import metric_limits
from balframe.api.metric_selection import Adjust, MetricSelection, metric_values
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.core.counting_strategy import blocks
from balframe.core.label_set import standard_pair
from balframe.core.safe_divide import ratio
from balframe.errors import NAME, OPTION, InvalidInputError, listed, parameter
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame, SegmentGroup
from balframe.stats.base import IntervalRequest
from balframe.stats.lazy_scipy import special
from balframe.stats.multiple_testing import adjust_within_families
from balframe.stats.pairwise_ratios import ratio_limit, ratio_statistic
from balframe.stats.proportions import normal_quantile

# The ratio of each of many proportions to the largest of them: limits and a test.


_BLOCK_SIZE = 2**16  # pairs that are compared at a time, so that they stay in cache
_LIMIT_TOLERANCE = 1e-12  # relative difference up to which limits are equal


@dataclass(frozen=True, slots=True)
class RatiosToLargest:
    """Limits and p-values of the ratio of each proportion to the largest one; shape (k,)."""

    lower: FloatArray
    upper: FloatArray
    p_value: FloatArray


def ratios_to_largest(x: FloatArray, n: FloatArray, level: float) -> RatiosToLargest:
    """Return limits of each proportion's ratio to the largest one, which is not known, and a test.

    The lower limit is the smallest lower limit of the ratios to the other proportions. The upper
    limit is the smallest of their upper limits at the level 1 - (1 - level) / (k - 1), with which
    their coverage is simultaneous (Bonferroni). No limit is above 1. The p-value is that of the
    two-sided test that the proportion is equal to the largest one. It is 2 (k - 1) times the
    smallest of the one-sided p-values that another proportion is not larger, and at most 1. It is
    at most 1 - level exactly where the upper limit is below 1.

    Parameters
    ----------
    x, n : float arrays, shape (k,)
        Selected rows and all rows of each proportion; every n is at least 1.
    level : float
        Confidence level, between 0 and 1.

    Returns
    -------
    RatiosToLargest
        NaN where there is only one proportion, or no row is selected.

    References
    ----------
    J. C. Hsu, "Simultaneous confidence intervals for all distances from the 'best'", Annals of
    Statistics 1981; here for ratios of proportions, with the limits of J. J. Gart and J. Nam,
    "Approximate interval estimation of the ratio of binomial parameters: a review and corrections
    for skewness", Biometrics 1988.
    """
    k = len(n)
    if k < 2 or not (x > 0).any():
        return RatiosToLargest(*np.full((3, k), np.nan))
    rival, statistic = _closest_rivals(x, n, np.arange(k), np.ones(k))
    simultaneous_level = 1 - (1 - level) / (k - 1)
    lower, upper = (
        _smallest_limits(x, n, z, rival, statistic)
        for z in (normal_quantile(level), -normal_quantile(simultaneous_level))
    )
    observed = x / n / (x / n).max()
    return RatiosToLargest(
        np.minimum(lower, observed),
        np.maximum(upper, observed),
        np.minimum(2 * (k - 1) * special.ndtr(statistic), 1),
    )


def _smallest_limits(
    x: FloatArray, n: FloatArray, z: float, rival: Int64Array, statistic: FloatArray
) -> FloatArray:
    """Return the smallest of 1 and each proportion's ratios with the statistic z to the others.

    `rival` and `statistic` are the rivals with the smallest statistic at a ratio of 1. The
    statistic falls as the ratio grows. So only a rival whose statistic is below z at the smallest
    ratio so far has a smaller one, and the others need no search.
    """
    smallest, rows = np.ones(len(n)), np.arange(len(n))
    while (is_below := statistic < z).any():
        rows, rival = rows[is_below], rival[is_below]
        before = smallest[rows]
        limit = ratio_limit(x[rows], n[rows], x[rival], n[rival], z, largest=before)
        smallest[rows] = limit
        rows = rows[(limit > 0) & (limit < before * (1 - _LIMIT_TOLERANCE))]
        rival, statistic = _closest_rivals(x, n, rows, smallest[rows])
    return smallest


def _closest_rivals(
    x: FloatArray, n: FloatArray, rows: Int64Array, ratio: FloatArray
) -> tuple[Int64Array, FloatArray]:
    """Return the rivals with the smallest statistic at these ratios, and this statistic."""
    rival, statistic = np.zeros(len(rows), np.int64), np.zeros(len(rows))
    for part in blocks(slice(0, len(rows)), max(1, _BLOCK_SIZE // len(n))):
        own = rows[part]
        score = ratio_statistic(x[own, None], n[own, None], x, n, ratio[part, None])
        score[np.arange(len(own)), own] = np.inf
        rival[part] = np.argmin(score, axis=1)
        statistic[part] = score[np.arange(len(own)), rival[part]]
    return rival, statistic


# Bounds of impact ratios over all categories that rows of unknown category could be in.


Bounds = tuple[FloatArray, FloatArray]

_ROUNDING = 1e-15  # relative rounding error of a number of rows


def unknown_category_bounds(
    selected: Int64Array, n: Int64Array, n_selected_unknown: int, n_unknown: int
) -> Bounds:
    """Return the lowest and the highest ratio of each category's rate to the largest rate.

    The ratio is lowest if all unselected unknown rows are in the category, and all selected ones in
    the rival whose rate that makes largest. It is highest if all selected ones are in the category,
    and the unselected ones in its rivals, so that the largest of their rates is as low as possible.

    Parameters
    ----------
    selected, n : int64 arrays, shape (k,)
        Selected rows and all rows of each category; every n is at least 1.
    n_selected_unknown, n_unknown : int
        Selected rows and all rows whose category is unknown.

    Returns
    -------
    lower, upper : float arrays, shape (k,)
        NaN where there is only one category, or no row is selected.
    """
    k, misses = len(n), n_unknown - n_selected_unknown
    if k < 2:
        lower, upper = np.full((2, k), np.nan)
        return lower, upper
    with_hits = (selected + n_selected_unknown) / (n + n_selected_unknown)
    lower = _ratio_to_largest(selected / (n + misses), _largest_of_others(with_hits))
    rivals = [np.delete(np.arange(k), category) for category in range(k)]
    lowest = [_lowest_maximum(selected[others], n[others], misses) for others in rivals]
    return lower, _ratio_to_largest(with_hits, np.array(lowest))


def _ratio_to_largest(own: FloatArray, rival: FloatArray) -> FloatArray:
    """Return a rate over the larger of it and the largest rate of its rivals."""
    return ratio(own, np.maximum(own, rival))


def _largest_of_others(rates: FloatArray) -> FloatArray:
    """Return, for each category, the largest rate of all others."""
    first = np.argmax(rates)
    out = np.full(len(rates), rates[first])
    out[first] = np.delete(rates, first).max()
    return out


def _lowest_maximum(selected: Int64Array, n: Int64Array, rows: int) -> float:
    """Return the lowest possible largest rate, if unselected rows are added to the categories.

    A rate is possible if the rows that bring all categories down to it are at most `rows`.
    """
    high = float(np.max(selected / n))
    low = 0.0
    while rows and low < (middle := (low + high) / 2) < high:
        if _rows_needed(middle, selected, n).sum() <= rows:
            high = middle
        else:
            low = middle
    if not high:
        return high
    # once more in whole rows, without the rounding of the bisection
    return float(np.max(selected / (n + _rows_needed(high, selected, n))))


def _rows_needed(rate: float, selected: Int64Array, n: Int64Array) -> FloatArray:
    """Return the unselected rows that each category needs for at most this rate."""
    return np.maximum(np.ceil(selected / rate * (1 - _ROUNDING) - n), 0)


COMPARED, SMALL, UNKNOWN = ROLES = ("compared", "small", "unknown")
RATIOS = ("impact_ratio", "lower", "upper", "p_value", "unknown_lower", "unknown_upper")
SHORTFALLS = ("short_of_parity", "short_of_bound")


@dataclass(frozen=True, slots=True)
class ImpactRequest:
    """The request: the minimum share of a category that is compared, the bound, and options."""

    min_share: float
    bound: float
    level: float
    adjust: Adjust
    is_selected_good: bool


@dataclass(frozen=True)
class CategoryTable:
    """The categories of one margin and model: favourable rows, all rows, and which are unknown."""

    group: SegmentGroup
    n_favourable: Int64Array
    n: Int64Array
    is_unknown: BoolArray
    request: ImpactRequest

    @property
    def n_unknown(self) -> int:
        """Number of rows whose category is unknown."""
        return int(self.n[self.is_unknown].sum())

    @property
    def share(self) -> FloatArray:
        """Share of each category in the rows of known category; NaN for unknown categories."""
        n_known = int(self.n.sum()) - self.n_unknown
        return np.where(self.is_unknown, np.nan, self.n / max(n_known, 1))

    @property
    def compared_positions(self) -> Int64Array:
        """Positions of the categories that are compared."""
        return np.flatnonzero((self.share >= self.request.min_share) & (self.n > 0))

    @property
    def role(self) -> Int64Array:
        """Role of each category, as a position in `ROLES`."""
        role = np.where(self.is_unknown, ROLES.index(UNKNOWN), ROLES.index(SMALL))
        role[self.compared_positions] = ROLES.index(COMPARED)
        return role

    @property
    def top(self) -> int | None:
        """Position of the category compared with the highest rate; in a tie, the largest."""
        positions = self.compared_positions
        if not len(positions):
            return None
        rate = self.n_favourable[positions] / self.n[positions]
        leading = positions[rate == rate.max()]
        return int(leading[np.argmax(self.n[leading])])

    def ratios(self, top: int) -> dict[str, FloatArray]:
        """Return the ratios of the rates compared to the highest one, with limits, p and bounds.

        The category with the highest rate has no p-value.
        """
        x, n = self.n_favourable[self.compared_positions], self.n[self.compared_positions]
        n_favourable_unknown = int(self.n_favourable[self.is_unknown].sum())
        inference = ratios_to_largest(x.astype(float), n.astype(float), self.request.level)
        values = (
            x / n / (self.n_favourable[top] / self.n[top]),
            inference.lower,
            inference.upper,
            np.where(self.compared_positions == top, np.nan, inference.p_value),
            *unknown_category_bounds(x, n, n_favourable_unknown, self.n_unknown),
        )
        return dict(zip(RATIOS, values, strict=True))

    def shortfalls(self, top: int) -> dict[str, list[int]]:
        """Return how many more selections each category needs for the top rate and the bound."""
        shares = (Fraction(1), Fraction(str(self.request.bound)))  # .8 is four fifths
        return {
            name: [self._shortfall(share, category, top) for category in self.compared_positions]
            for name, share in zip(SHORTFALLS, shares, strict=True)
        }

    def _shortfall(self, share: Fraction, category: int, top: int) -> int:
        """Return the smallest d >= 0 with (x + d) / n >= share * highest rate."""
        (x, n), (x_top, n_top) = self._counts(category), self._counts(top)
        needed = -(-share.numerator * x_top * n // (share.denominator * n_top))
        return max(needed - x, 0)

    def is_reversed(self, category: int, top: int) -> bool:
        """Return whether one more selection here and one fewer at the top reverse their order."""
        (x, n), (x_top, n_top) = self._counts(category), self._counts(top)
        return x < n and (x + 1) * n_top > (x_top - 1) * n

    def _counts(self, category: int) -> tuple[int, int]:
        """Return selected and all rows of a category, as Python integers for exact products."""
        return int(self.n_favourable[category]), int(self.n[category])


_SELECTION = MetricSelection.of("selection_rate", None, ())
(_METRIC,) = _SELECTION.metrics.values()
_NULL = -1  # stands for a null in counts and positions
_NO_FLAG = 2


def impact_columns(
    counted_frame: CountedFrame, request: ImpactRequest, medians: Sequence[float] | None = None
) -> dict[Name, Any]:
    """Return the columns of `impact`: the categories of all tables."""
    sample = _SELECTION.sample(counted_frame)
    c, (_, first) = sample.counts, counted_frame.cells.segments
    n_selected, n_segments = _count_selected(c), c.n_segments
    n_favourable = n_selected if request.is_selected_good else c.n - n_selected
    tables = list(_iter_tables(counted_frame, c, n_favourable, request))
    if tables:
        _check_favourable(counted_frame, n_favourable, c.n, medians, request)
        _check_categories(tables)
    names = ("share", "highest", *RATIOS)
    floats = {name: np.full(n_segments, np.nan) for name in names}
    counts = {
        name: np.full(n_segments, _NULL) for name in (*SHORTFALLS, "role", "n_unknown", "top")
    }
    is_reversed = np.full(n_segments, _NO_FLAG)
    for table in tables:
        rows, compared, top = table.group.segments, table.compared_positions, table.top
        floats["share"][rows], counts["role"][rows] = table.share, table.role
        counts["n_unknown"][rows] = table.n_unknown
        if top is None:
            continue
        counts["top"][rows] = rows[top]
        floats["highest"][rows] = table.n_favourable[top] / table.n[top]
        if len(compared) < 2 or not table.n_favourable[top]:
            continue
        for name, ratios in table.ratios(top).items():
            floats[name][rows[compared]] = ratios
        for name, shortfalls in table.shortfalls(top).items():
            counts[name][rows[compared]] = shortfalls
        others = compared[compared != top]
        is_reversed[rows[others]] = [table.is_reversed(category, top) for category in others]
    rate = metric_values(_METRIC, c)
    interval = IntervalRequest(None, request.level)
    lower, upper = metric_limits(_METRIC, sample, rate, interval)
    if not request.is_selected_good:
        rate, lower, upper = ratio(n_favourable, c.n), 1 - upper, 1 - lower
    margin = counted_frame.segment_margins()
    adjusted, n_tests = adjust_within_families(floats["p_value"], margin, request.adjust)
    return {
        **counted_frame.by_columns(first),
        "role": counted_frame.text_column(ROLES, counts["role"]),
        "n": c.n,
        "n_favourable": n_favourable,
        "rate": rate,
        "rate_lower": lower,
        "rate_upper": upper,
        **_top_columns(counted_frame, counts["top"]),
        "bound": np.full(n_segments, float(request.bound)),
        "p_adjusted": adjusted,
        "n_tests": n_tests,
        **{name: counted_frame.count_column(counts[name]) for name in SHORTFALLS},
        "one_more_reverses": counted_frame.flag_column(is_reversed),
        "n_unknown": counts["n_unknown"],
        **dict(floats.items()),
        **_threshold_column(counted_frame, medians),
    }


def _threshold_column(
    counted_frame: CountedFrame, medians: Sequence[float] | None
) -> dict[Name, FloatArray]:
    """Return the column of the median score of each row's model, if scores were given."""
    if medians is None:
        return {}
    return {"threshold": np.array(medians)[counted_frame.segment_models()]}


def _count_selected(c: ClassCounts) -> Int64Array:
    """Return the selected rows of each segment, which are the correct ones without true labels."""
    at = np.flatnonzero(c.label == c.pos_label)
    n_selected = np.zeros(c.n_segments, np.int64)
    n_selected[c.segment[at]] = c.n_correct[at]
    return n_selected


def _iter_tables(
    counted_frame: CountedFrame, c: ClassCounts, n_favourable: Int64Array, request: ImpactRequest
) -> Iterator[CategoryTable]:
    """Yield the table of each margin and model; none if there are no rows."""
    _, first = counted_frame.cells.segments
    for group in counted_frame.groups() if c.n_segments else []:
        rows = group.segments
        is_null = [
            counted_frame.codes[name][first[rows]] == len(counted_frame.by[name])
            for name in group.by
        ]
        yield CategoryTable(group, n_favourable[rows], c.n[rows], np.any(is_null, axis=0), request)


def _top_columns(counted_frame: CountedFrame, top: Int64Array) -> dict[Name, Any]:
    """Return the by-columns of the category with the highest rate in each row's table."""
    _, first = counted_frame.cells.segments
    columns: dict[Name, Any] = {}
    for name in counted_frame.query.by:
        levels = counted_frame.by[name]
        codes = np.where(top == _NULL, len(levels), counted_frame.codes[name][first[top]])
        columns[f"highest_{name}"] = counted_frame.adapter.take(levels, codes, nullable=True)
    return columns


def _check_favourable(
    counted_frame: CountedFrame,
    n_favourable: Int64Array,
    n: Int64Array,
    medians: Sequence[float] | None,
    request: ImpactRequest,
) -> None:
    """Raise if a model has no rows, or gives nobody the favourable result of an unknown label."""
    model = counted_frame.segment_models()
    for code, name in enumerate(counted_frame.query.y_pred):
        if n_favourable[model == code].any():
            continue
        if not n[model == code].any():
            raise InvalidInputError(
                f"no row with a value in column {name!r} is left, so nobody is selected; name a "
                "column that has values."
            )
        if medians is not None:
            raise InvalidInputError(
                "no score in column {!r} is above the median, {:.15g}, which is also the highest "
                "score, so nobody counts as selected. Give finer scores, or a column of selections "
                "as {selected}.",
                name,
                medians[code],
                selected=NAME,
            )
        labels = counted_frame.labels
        pair = standard_pair(labels.values)
        is_known = pair is not None or len({*labels.values} | labels.declared) > 1
        if not request.is_selected_good and not is_known:
            raise InvalidInputError(
                "column {!r} selects every row, so nobody has the favourable result of "
                "{favourable}; give 'selected' or another {pos_label}, or list both labels in "
                "{labels}.",
                name,
                favourable="not selected",
                pos_label=NAME,
                labels=OPTION,
            )


def _check_categories(tables: Sequence[CategoryTable]) -> None:
    """Raise if no table has two categories to compare."""
    if any(len(table.compared_positions) > 1 for table in tables):
        return
    table = max(tables, key=lambda table: (~table.is_unknown).sum())
    n, n_compared = int((~table.is_unknown).sum()), len(table.compared_positions)
    least = parameter("min_share", table.request.min_share)
    columns = listed(map(repr, table.group.by))
    if n < 2:
        raise InvalidInputError(
            "{by} has {} that is known, in {}, but an impact ratio compares at least two; name a "
            "column with more.",
            "one category" if n else "no category",
            columns,
            by=NAME,
        )
    raise InvalidInputError(
        "{} of the {} categories of {} {} the share of the rows that {} requires, but an impact "
        "ratio compares at least two. Give a lower {min_share}, where 0 compares all categories, "
        "or combine small categories first.",
        n_compared or "none",
        n,
        columns,
        "has" if n_compared else "have",
        least,
        min_share=NAME,
    )
