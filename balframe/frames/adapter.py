"""The protocol of an adapter for a dataframe library, and the types that adapters share."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.integer_codes import Codes
from balframe.core.label_set import Categories, Label
from balframe.errors import InvalidInputError, Spelled, UnsupportedTypeError

if TYPE_CHECKING:
    import pandas as pd
    from pandas.api.extensions import ExtensionArray, ExtensionDtype

PERIOD_ENTRY = Spelled("bf.period", None, parameter="time")

Name = Hashable  # the name of a column
Frame: TypeAlias = "pd.DataFrame | pl.DataFrame"
Series: TypeAlias = "npt.NDArray[Any] | ExtensionArray | pl.Series"  # arrays are of pandas
DType: TypeAlias = "np.dtype[Any] | ExtensionDtype | pl.DataType"
FrameT = TypeVar("FrameT", "pd.DataFrame", pl.DataFrame, pl.LazyFrame, object)


# Values, 0 where null, and which rows are null; None if no row is.
MaskedNumbers = tuple[npt.NDArray[Any], BoolArray | None]
MaskedDays = tuple[Int64Array, BoolArray | None]


def mask_nan(values: npt.NDArray[Any], is_null: BoolArray | None) -> MaskedNumbers:
    """Mask NaN as null."""
    if values.dtype.kind != "f" or not np.isnan(values.min(initial=0)):
        return values, is_null
    is_nan = np.isnan(values)
    return np.where(is_nan, 0, values), is_nan if is_null is None else is_nan | is_null


def not_time_error(name: object, dtype: object) -> UnsupportedTypeError:
    """Return the error for a column that holds no times."""
    return UnsupportedTypeError(
        "column {!r} has the type {}, but {} needs dates or datetimes. Cast it first.",
        name,
        dtype,
        PERIOD_ENTRY,
    )


def unsortable_type_error(name: object, dtype: object) -> UnsupportedTypeError:
    """Return the error for a column whose values have no order."""
    return UnsupportedTypeError(
        f"column {name!r} has the type {dtype}, whose values cannot be sorted, so it cannot define "
        "segments; cast it, or select a part of it."
    )


def odd_days_error(name: object) -> InvalidInputError:
    """Return the error for times that Python cannot show."""
    return InvalidInputError(
        f"column {name!r} has dates outside the years 1 to 9999, such as infinity. Cast it to text "
        "or replace them."
    )


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """An encoded column: `levels` are its distinct values, ascending, without null.

    The code of a row is its position in the levels, or their number where the row is null; with
    `rank` it is a number of the encoder's own and `rank[code]` is that position.
    """

    codes: Codes
    levels: Series
    rank: Int64Array | None = None

    def level_positions(self, codes: Int64Array) -> Int64Array:
        """Convert codes to positions in the levels."""
        return codes if self.rank is None else self.rank[codes]


_Frame = TypeVar("_Frame")
_Name = TypeVar("_Name")
_Series = TypeVar("_Series")
_DType = TypeVar("_DType")


class AdapterOf(Protocol[_Frame, _Name, _Series, _DType]):
    """The functions that a dataframe library needs; each adapter is a module of them."""

    def is_name(self, name: object) -> bool:
        """Return whether this can name a column."""

    def column_names(self, frame: _Frame) -> list[_Name]:
        """List the columns' names."""

    def expand_selector(self, frame: _Frame, columns: Any) -> Any:  # noqa: ANN401
        """Convert a selector of columns to their names; anything else stays as it is."""

    def dtype(self, frame: _Frame, name: _Name) -> _DType:
        """Return the dtype of a column."""

    def n_rows(self, frame: _Frame) -> int:
        """Count the rows."""

    def gather_every(self, frame: _Frame, step: int) -> _Frame:
        """Take every n-th row, from the first."""

    def label_kind(self, frame: _Frame, name: _Name) -> str | None:
        """Return the kind of the labels in a column; None where it depends on the values."""

    def is_numeric(self, frame: _Frame, name: _Name) -> bool:
        """Return whether a column holds integers, floats or decimals."""

    def is_searched(self, frame: _Frame, name: _Name) -> bool:
        """Return whether `slices` searches a column by default: no times, lists or structs."""

    def has_odd_days(self, frame: _Frame, name: _Name) -> bool:
        """Return whether dates or datetimes are outside the years 1 to 9999."""

    def has_direct_codes(self, frame: _Frame, name: _Name) -> bool:
        """Return whether the type of a column allows values to be codes themselves."""

    def encode_direct(self, frame: _Frame, name: _Name, *, guess: bool) -> EncodedColumn | None:
        """Take codes from the values themselves; None where that needs a hash table.

        With a guess at the range of integers, not all of them are read.
        """

    def encode_hashed(self, frame: _Frame, name: _Name) -> EncodedColumn:
        """Look values up in a hash table of the distinct ones."""

    def python_values(self, levels: _Series) -> list[Any]:
        """Convert levels to Python values."""

    def numbers(self, frame: _Frame, name: _Name) -> MaskedNumbers:
        """Read a numeric column as integers or floats, decimals too, and which rows are null."""

    def days(self, frame: _Frame, name: _Name) -> MaskedDays:
        """Read a column of dates or datetimes as days since 1970-01-01, and which rows are null.

        The day of a datetime with a time zone is that of its local time.
        """

    def date_series(self, days: Int64Array) -> _Series:
        """Make a column of dates from days since 1970-01-01."""

    def categories(self, dtype: _DType) -> Categories | None:
        """Return the categories that a dtype declares, if it does."""

    def label_levels(self, labels: Sequence[Label], dtypes: Sequence[_DType]) -> _Series:
        """Make a column of labels, of the dtype that the dtypes of the inputs agree on."""

    def label_series(self, labels: Sequence[Label]) -> _Series:
        """Make a column of labels, of the dtype that suits them."""

    def take(self, levels: _Series, codes: Int64Array, *, nullable: bool) -> _Series:
        """Look up levels by position, null past their end; `nullable` if that may be."""

    def count_series(self, values: Int64Array) -> _Series:
        """Make a column of integers."""

    def text_series(self, values: Sequence[str]) -> _Series:
        """Make a column of strings."""

    def ordered_texts(self, values: Sequence[str]) -> _Series:
        """Make a column of texts that are ordered as they are given, each once."""

    def with_columns(self, frame: _Frame, columns: Mapping[str, _Series]) -> _Frame:
        """Return a frame with further columns, in the order of its rows."""

    def build_frame(self, columns: Mapping[_Name, _Series | npt.NDArray[Any]]) -> _Frame:
        """Make a frame of columns; NaN becomes null."""


Adapter = AdapterOf[Frame, Name, Series, DType]  # always that of the frame beside it
