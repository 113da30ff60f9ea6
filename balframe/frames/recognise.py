"""Which library a frame is of."""

import pandas as pd
import polars as pl

from balframe.errors import UnsupportedTypeError, check_choice
from balframe.frames import in_pandas, in_polars
from balframe.frames.library import Library

_SUPPORTED = "pandas DataFrames, polars DataFrames and polars LazyFrames"


def library_of(frame: object) -> Library:
    """Find the room for an eager frame."""
    if isinstance(frame, pl.DataFrame):
        return in_polars
    if isinstance(frame, pd.DataFrame):
        return in_pandas
    raise UnsupportedTypeError(
        f"got {type(frame).__module__}.{type(frame).__qualname__}, which is not a frame that "
        f"balframe reads: it reads {_SUPPORTED}. Convert it to one of these first."
    )


def library_named(backend: object) -> Library:
    """Find the room for a library named by the caller."""
    check_choice("backend", backend, ("polars", "pandas"))
    return in_polars if backend == "polars" else in_pandas


def register_namespace(name: str, namespace: type) -> None:
    """Give the frames of all libraries an attribute that makes a namespace of them."""
    pl.api.register_dataframe_namespace(name)(namespace)
    pl.api.register_lazyframe_namespace(name)(namespace)
    pd.api.extensions.register_dataframe_accessor(name)(namespace)
