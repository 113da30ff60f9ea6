"""Pandas and the modules that read its frames, imported on first use."""

from typing import TYPE_CHECKING

from balframe._lazy_import import LazyModule

if TYPE_CHECKING:
    import pandas as pandas

    from balframe.frames import pandas_adapter as pandas_adapter
    from balframe.frames import pandas_encoding as pandas_encoding
else:
    pandas = LazyModule("pandas")
    pandas_adapter = LazyModule("balframe.frames.pandas_adapter")
    pandas_encoding = LazyModule("balframe.frames.pandas_encoding")
