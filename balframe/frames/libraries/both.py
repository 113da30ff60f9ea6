"""Both libraries, for what holds frames of either."""

from typing import cast

import pandas as pd
import polars as pl

from balframe.frames.libraries.in_pandas import columns as columns_of_pandas
from balframe.frames.libraries.in_pandas.encode import DType, Values
from balframe.frames.libraries.in_polars import columns as columns_of_polars
from balframe.frames.library import Library, LibraryOf, Name

_pandas: LibraryOf[pd.DataFrame, Name, Values, DType] = columns_of_pandas
_polars: LibraryOf[pl.DataFrame, str, pl.Series, pl.DataType] = columns_of_polars

# Each takes frames of its own only: a frame and its library always go together.
in_pandas = cast(Library, _pandas)
in_polars = cast(Library, _polars)
