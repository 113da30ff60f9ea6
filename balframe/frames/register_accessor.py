"""Register a namespace as an attribute of frames, with the means of each library."""

from types import ModuleType

from balframe.frames import fork_detection  # noqa: F401 (records the process that loads balframe)
from balframe.frames.import_hook import run_after_import


def register_namespace(name: str, namespace: type) -> None:
    """Add the attribute to frames of pandas and polars, each when its library is imported."""

    def in_polars(polars: ModuleType) -> None:
        polars.api.register_dataframe_namespace(name)(namespace)
        polars.api.register_lazyframe_namespace(name)(namespace)
        for frame in (polars.DataFrame, polars.LazyFrame):
            # IPython's completer without Jedi reads annotations if a class has `__getattr__`.
            frame.__annotations__ = frame.__annotations__ | {name: namespace}

    def in_pandas(pandas: ModuleType) -> None:
        pandas.api.extensions.register_dataframe_accessor(name)(namespace)

    run_after_import({"polars": in_polars, "pandas": in_pandas})


def register_in_dask(name: str, namespace: type) -> None:
    """Add the attribute to frames of Dask."""
    from balframe.frames.engines.registry import check_installed  # loads engines too

    check_installed("dask", "dask", "Dask frames")
    from dask.dataframe import DataFrame
    from dask.dataframe.extensions import register_dataframe_accessor

    if getattr(DataFrame, name, None) is namespace:
        return
    register_dataframe_accessor(name)(namespace)  # type: ignore[no-untyped-call]
