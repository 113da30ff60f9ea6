"""Numeric columns encoded as levels: cut into bins, or each value on its own."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

import narwhals as nw
import numpy as np

from balframe._validate import is_list, is_whole_number
from balframe.core.array_types import BoolArray, Int64Array, IntegerArray
from balframe.core.binning import (
    Values,
    format_bins,
    format_number,
    parse_number,
    positions_among,
    quantiles,
    read_edges,
    unique_values,
    unique_values_if_few,
    with_few_decimals,
)
from balframe.core.integer_codes import Codes
from balframe.errors import OPTION, InvalidInputError, not_found
from balframe.frames.adapter import Adapter, EncodedColumn, Name
from balframe.frames.by_entries import MAX_BINS
from balframe.frames.engines.column_names import Rows
from balframe.frames.engines.weighted_sums import column_expr, has_value
from balframe.frames.thresholds import Thresholds, as_stored, float_type

BinsOption = int | Mapping[Name, int | Sequence[float] | None] | None

_FORMS = (
    "a number of bins from 2 to 1000, None to take each value on its own, or a mapping of columns "
    "to these or to the edges between bins, as in {'age': [18, 25, 45]}"
)


@dataclass(frozen=True, slots=True)
class Cut:
    """The edges between the bins of a column; None if each value is a level.

    `edges_if_rare` are those of few values, to be used if most of them are too rare to be searched.
    `dtype` is the type of the column, in whose floats values are compared with edges, and written.
    """

    edges: Values | None
    edges_if_rare: Values | None = None
    dtype: object = None

    def encode(self, values: Values, is_null: BoolArray | None, adapter: Adapter) -> EncodedColumn:
        """Encode values, each as a level or by its bin; the levels are texts."""
        if self.edges is None:
            levels = unique_values(values if is_null is None else values[~is_null])
            if is_null is not None:
                values = np.where(is_null, levels[0] if len(levels) else 0, values)
            codes: IntegerArray = positions_among(levels, values)
            is_float = levels.dtype.kind == "f"
            exact = levels.astype(float_type(self.dtype)) if is_float else levels
            texts = [format_number(value) for value in exact]
        else:
            codes = np.searchsorted(as_stored(self.edges, self.dtype), values, side="right")
            texts = format_bins(self.edges)
        return _encode_bins(codes, is_null, texts, adapter)

    def encode_reduced(
        self, values: Values, is_null: BoolArray | None, adapter: Adapter
    ) -> EncodedColumn:
        """Encode what an engine has returned: numbers of bins, or values."""
        if self.edges is None:
            return self.encode(values, is_null, adapter)
        return _encode_bins(values.astype(np.int64), is_null, format_bins(self.edges), adapter)

    def bin_expr(self, name: Name, rows: Rows) -> nw.Expr:
        """Write the number of the bin of each value, from 0; null stays null."""
        assert self.edges is not None
        schema, column = rows.collect_schema(), column_expr(name)
        if schema[str(name)].is_float():
            column = column.cast(nw.Float64)  # engines may compare with an edge in 32 bits
        bin_number = Thresholds(as_stored(self.edges, self.dtype)).count_expr(column)
        return nw.when(has_value(name, schema, rows)).then(bin_number)


def merge_levels(column: Codes, texts: Sequence[str], edges: Values) -> tuple[Codes, list[str]]:
    """Merge levels that are numbers, as these texts, into bins; the last code is for null."""
    bounds, bins = edges.tolist(), format_bins(edges)
    codes = [bisect_right(bounds, parse_number(text)) for text in texts]
    table = np.array([*codes, len(bins)], np.min_scalar_type(len(bins)))
    return Codes(table[column.values], 0, len(bins) + 1), bins


def _encode_bins(
    codes: IntegerArray, is_null: BoolArray | None, texts: Sequence[str], adapter: Adapter
) -> EncodedColumn:
    # of few bytes, because many columns are held at once
    codes = codes.astype(np.min_scalar_type(len(texts)), copy=False)
    if is_null is not None:
        codes[is_null] = len(texts)
    return EncodedColumn(Codes(codes, 0, len(texts) + 1), adapter.text_series(texts))


@dataclass(frozen=True)
class Bins:
    """The option `bins`: a number of bins, edges, or None for neither, of each numeric column."""

    default: int | None
    by_column: Mapping[Name, int | Values | None] = field(default_factory=dict)

    @classmethod
    def from_option(cls, option: BinsOption, default: int | None) -> "Bins":
        """Parse the value of the option."""
        if isinstance(option, Mapping):
            return cls(default, {name: _parse_bins(bins, option) for name, bins in option.items()})
        bins = _parse_bins(option, option)
        if isinstance(bins, np.ndarray):
            raise _invalid_bins_error(option)
        return cls(bins)

    def check(self, names: Sequence[Name], numeric: Set[Name]) -> None:
        """Raise if a column of the mapping is not searched, or not numeric."""
        for name in self.by_column:
            if name not in names:
                raise not_found("column", name, names)
            if name not in numeric:
                raise InvalidInputError(
                    "{bins} names the column {!r}, which is not numeric; leave it out. Its values "
                    "are levels as they are.",
                    name,
                    bins=OPTION,
                )

    def fixed_edges(self, name: Name) -> Values | None:
        """Return the edges that the caller gives for a column, if any."""
        bins = self.by_column.get(name, self.default)
        return bins if isinstance(bins, np.ndarray) else None

    def needs_quantiles(self, name: Name) -> bool:
        """Return whether a column is cut at quantiles of its values."""
        return isinstance(self.by_column.get(name, self.default), int)

    def cut(self, name: Name, values: Values, n: Int64Array | None, dtype: object) -> Cut:
        """Cut a column at quantiles of its values, which stand for n rows each."""
        bins = self.by_column.get(name, self.default)
        if not isinstance(bins, int):
            return Cut(bins, dtype=dtype)
        if n is not None:
            values, n = values[n > 0], n[n > 0]
        if not len(values):
            return Cut(None, dtype=dtype)
        few_values = unique_values_if_few(values)
        edges = with_few_decimals(quantiles(values, n, bins), values)
        if few_values is None:
            return Cut(edges, dtype=dtype)
        return Cut(None, edges if 0 < len(edges) < len(few_values) - 1 else None, dtype)


def _parse_bins(bins: object, option: object) -> int | Values | None:
    if bins is None:
        return None
    if is_whole_number(bins):
        if not 2 <= bins <= MAX_BINS:
            raise _invalid_bins_error(option)
        return int(bins)
    edges = read_edges(bins) if is_list(bins) else None
    if edges is None:
        raise _invalid_bins_error(option)
    return edges


def _invalid_bins_error(option: object) -> InvalidInputError:
    return InvalidInputError("{bins} is not valid; give {}.", _FORMS, bins=option)
