"""The attribute that makes a namespace of a frame, in each library's own way."""

import pandas as pd
import polars as pl

from balframe.frames import forks  # noqa: F401 (notes in which process balframe is loaded)


def register_namespace(name: str, namespace: type) -> None:
    """Give the frames of pandas and polars the attribute."""
    pl.api.register_dataframe_namespace(name)(namespace)
    pl.api.register_lazyframe_namespace(name)(namespace)
    pd.api.extensions.register_dataframe_accessor(name)(namespace)
    for frame in (pl.DataFrame, pl.LazyFrame):
        # IPython's completer without Jedi reads annotations where a class has `__getattr__`.
        frame.__annotations__ = frame.__annotations__ | {name: namespace}


def register_in_dask(name: str, namespace: type) -> None:
    """Give the frames of Dask the attribute."""
    from balframe.frames.engines.supported import check_installed  # and what reads frames with it

    check_installed("dask", "dask", "Dask frames")
    from dask.dataframe import DataFrame
    from dask.dataframe.extensions import register_dataframe_accessor

    if getattr(DataFrame, name, None) is namespace:
        return
    register_dataframe_accessor(name)(namespace)  # type: ignore[no-untyped-call]
