"""Pandas and the room for its frames, loaded when there is one."""

from typing import TYPE_CHECKING

from balframe._lazy_import import LazyModule

if TYPE_CHECKING:
    import pandas as pandas

    from balframe.frames import pandas_adapter, pandas_encoding

    columns_of_pandas, encode_of_pandas = pandas_adapter, pandas_encoding
else:
    pandas = LazyModule("pandas")
    columns_of_pandas = LazyModule("balframe.frames.pandas_adapter")
    encode_of_pandas = LazyModule("balframe.frames.pandas_encoding")
