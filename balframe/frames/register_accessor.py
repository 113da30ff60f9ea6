"""The attribute that makes a namespace of a frame, in each library's own way."""

from types import ModuleType

from balframe.frames import fork_detection  # noqa: F401 (notes in which process balframe is loaded)


def register_namespace(name: str, namespace: type) -> None:
    """Give the frames of pandas and polars the attribute, each when its library is imported."""
    from wrapt import register_post_import_hook  # which takes long, and the program does not need

    def in_polars(polars: ModuleType) -> None:
        polars.api.register_dataframe_namespace(name)(namespace)
        polars.api.register_lazyframe_namespace(name)(namespace)
        for frame in (polars.DataFrame, polars.LazyFrame):
            # IPython's completer without Jedi reads annotations where a class has `__getattr__`.
            frame.__annotations__ = frame.__annotations__ | {name: namespace}

    def in_pandas(pandas: ModuleType) -> None:
        pandas.api.extensions.register_dataframe_accessor(name)(namespace)

    register_post_import_hook(in_polars, "polars")
    register_post_import_hook(in_pandas, "pandas")


def register_in_dask(name: str, namespace: type) -> None:
    """Give the frames of Dask the attribute."""
    from balframe.frames.engines.registry import check_installed  # and what reads frames with it

    check_installed("dask", "dask", "Dask frames")
    from dask.dataframe import DataFrame
    from dask.dataframe.extensions import register_dataframe_accessor

    if getattr(DataFrame, name, None) is namespace:
        return
    register_dataframe_accessor(name)(namespace)  # type: ignore[no-untyped-call]
