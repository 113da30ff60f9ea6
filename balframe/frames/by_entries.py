"""By-columns that are computed from a column: bins of numbers, and periods of time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from balframe._validate import is_list, is_whole_number
from balframe.core.array_types import Int64Array
from balframe.core.binning import (
    Values,
    format_bins,
    quantiles,
    read_edges,
    with_few_decimals,
)
from balframe.core.periods import PeriodLength
from balframe.errors import NAME, InvalidInputError, Spelled, UnsupportedTypeError
from balframe.frames.adapter import Adapter, Frame, Name, Series
from balframe.frames.thresholds import as_stored

PERIOD = "period"
BINS_ENTRY = Spelled("bf.bins", None, parameter="bins")
INTERSECTION_ENTRY = Spelled("bf.intersection", None, parameter="intersection")
MAX_BINS = 1000
MAX_NUMBERS = 50  # different ones in a by-column, from which bins are suggested


@dataclass(frozen=True, slots=True, repr=False)
class Bins:
    """Bins of a numeric column; without `edges`, `n_bins` of about equally many rows."""

    column: Name
    edges: tuple[float, ...] | None
    n_bins: int = 0
    labels: tuple[str, ...] | None = None

    @property
    def name(self) -> Name:
        """The name of the by-column."""
        return self.column

    @property
    def texts(self) -> Sequence[str]:
        """The texts of the bins in order; none before their edges are known."""
        if not self.edges:
            return ()
        return self.labels or format_bins(np.array(self.edges))

    def at_quantiles(self, values: Values, n: Int64Array | None) -> "Bins":
        """Return the bins between quantiles of values without null, which stand for n rows each."""
        if n is not None:
            values, n = values[n > 0], n[n > 0]
        edges = np.zeros(0)
        if len(values):
            edges = with_few_decimals(quantiles(values, n, self.n_bins), values)
            edges = edges if len(edges) else values[:1]  # all are equal: the lowest bin is empty
        if self.labels is not None and len(values) and len(self.labels) != len(edges) + 1:
            raise InvalidInputError(
                "column {!r} has values for {} bins of about equally many rows, but {} {labels}. "
                "Give edges, or omit {labels}.",
                self.column,
                len(edges) + 1,
                len(self.labels),
                labels=NAME,
            )
        labels = self.labels if len(edges) else None
        return replace(self, edges=tuple(edges.tolist()), labels=labels)

    def column_of(self, frame: Frame, adapter: Adapter) -> Series:
        """Return the texts of the bins of the numbers in the frame."""
        self.check_type(frame, adapter)
        edges = np.array(() if self.edges is None else self.edges)
        edges = as_stored(edges, adapter.dtype(frame, self.column))
        codes = np.searchsorted(edges, adapter.numbers(frame, self.column)[0], side="right")
        return self._take(codes, frame, self.column, adapter)

    def column_of_cells(self, cells: Frame, key: str, adapter: Adapter) -> Series:
        """Return the texts of the numbers of bins that an engine has returned."""
        return self._take(adapter.numbers(cells, key)[0].astype(np.int64), cells, key, adapter)

    def _take(self, codes: Any, frame: Frame, name: Name, adapter: Adapter) -> Series:  # noqa: ANN401
        is_null = adapter.numbers(frame, name)[1]
        codes = codes if is_null is None else np.where(is_null, len(self.texts), codes)
        return adapter.take(adapter.ordered_texts(self.texts), codes, nullable=True)

    def check_type(self, frame: Frame, adapter: Adapter) -> None:
        """Raise if the column does not hold numbers."""
        if not adapter.is_numeric(frame, self.column):
            raise self.type_error(adapter.dtype(frame, self.column))

    def type_error(self, dtype: object) -> UnsupportedTypeError:
        """Return the error for a column that does not hold numbers."""
        return UnsupportedTypeError(
            "column {!r} has the type {}, but {} needs numbers. Cast it first, or name the column "
            "itself in {by}.",
            self.column,
            dtype,
            BINS_ENTRY,
            by=NAME,
        )

    def __repr__(self) -> str:
        """Return the call that makes it."""
        bins = self.n_bins or [*(self.edges or ())]
        labels = "" if self.labels is None else f", labels={[*self.labels]!r}"
        return f"bf.bins({self.column!r}, {bins!r}{labels})"


@dataclass(frozen=True, slots=True, repr=False)
class Period:
    """Periods of a column of dates or datetimes."""

    column: Name
    every: PeriodLength

    @property
    def name(self) -> Name:
        """The name of the by-column."""
        return PERIOD

    def column_of(self, frame: Frame, adapter: Adapter) -> Series:
        """Return the first day of the period of each row."""
        days, is_null = adapter.days(frame, self.column)
        levels, codes = np.unique(self.every.starts(days), return_inverse=True)
        codes = codes.reshape(-1) if is_null is None else np.where(is_null, len(levels), codes)
        return adapter.take(adapter.date_series(levels), codes, nullable=True)

    def column_of_cells(self, cells: Frame, key: str, adapter: Adapter) -> Series:
        """Return the first day of the period of each day that an engine has returned."""
        return replace(self, column=key).column_of(cells, adapter)

    def __repr__(self) -> str:
        """Return the call that makes it."""
        return f"bf.period({self.column!r}, {self.every.text!r})"


@dataclass(frozen=True, slots=True, repr=False)
class Intersection:
    """Columns whose combinations of values an audit compares."""

    columns: tuple[Name, ...]

    def __repr__(self) -> str:
        """Return the call that makes it."""
        return f"bf.intersection({', '.join(map(repr, self.columns))})"


Computed = Bins | Period


def bins(column: Name, bins: int | Sequence[float], *, labels: Sequence[str] | None = None) -> Bins:
    """Return bins of a numeric column, for `by`.

    Each bin is a segment, with a text such as "25 to 45", which includes 25 and excludes 45. The
    first is "under 25" and the last "45 or more". Rows come in the order of the bins. The result
    has the texts in a column of the same name, as an ordered categorical or Enum.

    Parameters
    ----------
    column : column name
        A column of integers or floats. A null is a segment of its own.
    bins : int or list of numbers
        The number of bins of about equally many rows, from 2 to 1,000, or the edges between bins.
        Equal values are in one bin, so that there may be fewer. Edges of equally many rows are
        those of all rows of the data, which are read once more for them.
    labels : list of str, optional
        A text for each bin, in order: one more than edges.

    Returns
    -------
    by-column

    Raises
    ------
    BalframeError
        If the number, an edge or a label is invalid.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"age": [19, 25, 44, 51], "y": [1, 0, 1, 1], "yhat": [1, 1, 1, 0]})
    >>> out = bf.report(df, "y", "yhat", by=bf.bins("age", [25, 45]), metrics="accuracy")
    >>> out.select("age", "n", "accuracy").rows()
    [('under 25', 1, 1.0), ('25 to 45', 2, 0.5), ('45 or more', 1, 0.0)]
    """
    texts = None
    if labels is not None:
        texts = tuple(labels) if is_list(labels) else ()
        if not texts or not all(isinstance(t, str) for t in texts) or len({*texts}) < len(texts):
            raise InvalidInputError(
                "{labels} is not a list of different texts; give one for each bin, in order.",
                labels=labels,
            )
    if is_whole_number(bins) and 2 <= bins <= MAX_BINS:
        n_bins = int(bins)
        made = Bins(column, None, n_bins, texts)
    else:
        edges = read_edges(bins) if is_list(bins) else None
        if edges is None:
            raise InvalidInputError(
                "{bins} is not valid; give a number of bins from 2 to {:,}, or a list of the edges "
                "between bins, as in bf.bins('age', [25, 45]).",
                MAX_BINS,
                bins=bins,
            )
        made = Bins(column, tuple(edges.tolist()), 0, texts)
        n_bins = len(edges) + 1
    if texts is not None and len(texts) != n_bins:
        raise InvalidInputError(
            "{labels} has {} texts, but there are {} bins; give one for each, in order.",
            len(texts),
            n_bins,
            labels=NAME,
        )
    return made


def period(column: Name, every: str) -> Period:
    """Return the periods of a column of times, for `by` and for `time` of `monitor`.

    The result has the first day of each period in the column `period`, at the place of this entry.
    There is one in a call.

    Parameters
    ----------
    column : column name
        A column of dates or datetimes. The day of a datetime with a time zone is that of its local
        time. A null is a segment of its own.
    every : length, such as "1w"
        A number of days, weeks, months, quarters or years: "1d", "1w", "1mo", "1q" or "1y". Weeks
        begin on Monday.

    Returns
    -------
    by-column

    Raises
    ------
    BalframeError
        If the length is invalid.

    Examples
    --------
    >>> from datetime import date
    >>> import polars as pl
    >>> import balframe as bf
    >>> days = [date(2026, 1, 5), date(2026, 1, 31), date(2026, 2, 1)]
    >>> df = pl.DataFrame({"day": days, "y": [1, 0, 1], "yhat": [1, 1, 1]})
    >>> out = bf.report(df, "y", "yhat", by=bf.period("day", "1mo"), metrics="accuracy")
    >>> [(str(day), accuracy) for day, accuracy in out.select("period", "accuracy").rows()]
    [('2026-01-01', 0.5), ('2026-02-01', 1.0)]
    """
    return Period(column, PeriodLength.of(every))


def intersection(*columns: Name) -> Intersection:
    """Return columns whose combinations have a table of selection rates, for `by` of `audit`.

    By default, an audit has all pairs of two or three by-columns, and none of more. With entries of
    this kind it has those that they name; `bf.intersection()` without columns means none.

    Parameters
    ----------
    columns : column names
        At least two columns that are in `by` too, or none.

    Returns
    -------
    entry of `by`

    Examples
    --------
    >>> import balframe as bf
    >>> ["sex", "race", "age", bf.intersection("sex", "race")][-1]
    bf.intersection('sex', 'race')
    """
    return Intersection(columns)


def is_computed(entry: object) -> bool:
    """Return whether an entry of `by` is computed from a column."""
    return isinstance(entry, Computed)


def entry_name(entry: Any) -> Any:  # noqa: ANN401 (the name of a column)
    """Return the name that an entry of `by` has in the result."""
    return entry.name if isinstance(entry, Computed) else entry


def entry_column(entry: Any) -> Any:  # noqa: ANN401 (the name of a column)
    """Return the column that an entry of `by` is read from."""
    return entry.column if isinstance(entry, Computed) else entry
