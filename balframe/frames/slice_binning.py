"""Numeric columns as levels: cut into bins, or each value on its own."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from balframe.core.array_types import BoolArray, Int64Array, IntegerArray, is_iterable
from balframe.core.binning import (
    Values,
    distinct,
    few_values,
    positions,
    quantiles,
    text_of_number,
    texts_of_bins,
)
from balframe.core.integer_codes import Codes
from balframe.errors import InvalidInputError, not_found, parameter
from balframe.frames.adapter import Adapter, EncodedColumn, Name
from balframe.frames.engines.column_names import Rows
from balframe.frames.engines.weighted_sums import column_of, is_nan
from balframe.frames.thresholds import Thresholds

BinsOption = int | Mapping[Name, int | Sequence[float] | None] | None

_FORMS = (
    "a number of bins from 2 to 1000, None to take each value on its own, or a mapping of columns "
    "to these or to the edges between bins, as in {'age': [18, 25, 45]}"
)
_MOST = 1000


@dataclass(frozen=True, slots=True)
class Cut:
    """The edges between the bins of a column; None where each value is a level."""

    edges: Values | None

    def column(self, values: Values, is_null: BoolArray | None, library: Adapter) -> EncodedColumn:
        """Take values as levels, or as bins, whose levels are texts."""
        if self.edges is None:
            known = distinct(values if is_null is None else values[~is_null])
            if is_null is not None:
                values = np.where(is_null, known[0] if len(known) else 0, values)
            codes: IntegerArray = positions(known, values)
            texts = [text_of_number(value) for value in known]
        else:
            codes = np.searchsorted(self.edges, values, side="right")
            texts = texts_of_bins(self.edges)
        return _column(codes, is_null, texts, library)

    def of_cells(
        self, values: Values, is_null: BoolArray | None, library: Adapter
    ) -> EncodedColumn:
        """Take as levels what an engine has found: numbers of bins, or values."""
        if self.edges is None:
            return self.column(values, is_null, library)
        return _column(values.astype(np.int64), is_null, texts_of_bins(self.edges), library)

    def bin_of(self, name: Name, rows: Rows) -> nw.Expr:
        """Write the number of the bin of a column's value, from 0; null where that is null."""
        assert self.edges is not None
        column = column_of(name)
        is_known = ~column.is_null()
        if rows.collect_schema()[str(name)].is_float():
            is_known = is_known & ~is_nan(column, rows)
        return nw.when(is_known).then(Thresholds(self.edges).counted(column))


def _column(
    codes: IntegerArray, is_null: BoolArray | None, texts: Sequence[str], library: Adapter
) -> EncodedColumn:
    codes = codes.astype(np.min_scalar_type(len(texts)), copy=False)  # of many columns at once
    if is_null is not None:
        codes[is_null] = len(texts)
    return EncodedColumn(Codes(codes, 0, len(texts) + 1), library.text(texts))


@dataclass(frozen=True)
class Bins:
    """What a caller asks of numeric columns: a number of bins, edges, or None for neither."""

    of_all: int | None
    of_columns: Mapping[Name, int | Values | None] = field(default_factory=dict)

    @classmethod
    def of(cls, asked: BinsOption, default: int) -> "Bins":
        """Check what a caller asks for."""
        if isinstance(asked, Mapping):
            return cls(default, {name: _checked(one, asked) for name, one in asked.items()})
        of_all = _checked(asked, asked)
        if isinstance(of_all, np.ndarray):
            raise _not_bins(asked)
        return cls(of_all)

    def check(self, names: Sequence[Name], numeric: Set[Name]) -> None:
        """Raise where a column of the mapping is not searched, or not numeric."""
        for name in self.of_columns:
            if name not in names:
                raise not_found("column", name, names)
            if name not in numeric:
                raise InvalidInputError(
                    f"{parameter('bins')} names the column {name!r}, which is not numeric; leave "
                    "it out. Its values are levels as they are."
                )

    def edges(self, name: Name) -> Values | None:
        """Give the edges of a column where they were given."""
        asked = self.of_columns.get(name, self.of_all)
        return asked if isinstance(asked, np.ndarray) else None

    def asks_for_quantiles(self, name: Name) -> bool:
        """Tell whether the values of a column decide how it is cut."""
        return isinstance(self.of_columns.get(name, self.of_all), int)

    def cut(self, name: Name, values: Values, n: Int64Array | None) -> Cut:
        """Cut a column at quantiles of its values, which stand for n rows each."""
        asked = self.of_columns.get(name, self.of_all)
        if not isinstance(asked, int):
            return Cut(asked)
        if n is not None:
            values, n = values[n > 0], n[n > 0]
        if not len(values) or few_values(values) is not None:
            return Cut(None)
        return Cut(quantiles(values, n, asked))


def _checked(asked: object, whole: object) -> int | Values | None:
    if asked is None:
        return None
    if isinstance(asked, (int, np.integer)) and not isinstance(asked, bool):
        if not 2 <= asked <= _MOST:
            raise _not_bins(whole)
        return int(asked)
    if isinstance(asked, (str, bytes, Set, Mapping)) or not is_iterable(asked):
        raise _not_bins(whole)
    edges: list[Any] = list(asked)
    numbers = all(isinstance(one, (int, float, np.number)) for one in edges)
    if not edges or not numbers or not all(np.isfinite(one) for one in edges):
        raise _not_bins(whole)
    return np.unique(np.array(edges) + 0)


def _not_bins(asked: object) -> InvalidInputError:
    return InvalidInputError(f"{parameter('bins', asked)} is not valid; give {_FORMS}.")
