"""Pandas and the room for its frames, loaded when there is one."""

from typing import TYPE_CHECKING

from balframe.core.loading import Later

if TYPE_CHECKING:
    import pandas as pandas

    from balframe.frames.libraries.in_pandas import columns, encode

    columns_of_pandas, encode_of_pandas = columns, encode
else:
    pandas = Later("pandas")
    columns_of_pandas = Later("balframe.frames.libraries.in_pandas.columns")
    encode_of_pandas = Later("balframe.frames.libraries.in_pandas.encode")
