"""Register a namespace as an attribute of frames, with the means of each library."""

import sys
from types import FrameType, ModuleType

from balframe.frames import fork_detection  # noqa: F401 (records the process that loads balframe)
from balframe.frames.import_hook import run_after_import

_LIBRARIES = ("polars", "pandas")
_libraries_of_caller: set[str] = set()


def only_library_of_caller() -> str | None:
    """Return the library that the caller has imported, if it is only one of polars and pandas.

    One that is in `sys.modules` because balframe needed it first does not count.
    """
    return next(iter(_libraries_of_caller)) if len(_libraries_of_caller) == 1 else None


def _is_imported_by_balframe() -> bool:
    """Return whether a module of balframe is importing, other than those of the import hook."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("balframe.") and name not in (__name__, run_after_import.__module__):
            return True
        frame = frame.f_back
    return False


def _note_library(name: str) -> None:
    if not _is_imported_by_balframe():
        _libraries_of_caller.add(name)


def register_namespace(name: str, namespace: type) -> None:
    """Add the attribute to frames of pandas and polars, each when its library is imported."""
    _libraries_of_caller.update(name for name in _LIBRARIES if sys.modules.get(name) is not None)

    def in_polars(polars: ModuleType) -> None:
        _note_library("polars")
        polars.api.register_dataframe_namespace(name)(namespace)
        polars.api.register_lazyframe_namespace(name)(namespace)
        for frame in (polars.DataFrame, polars.LazyFrame):
            # IPython's completer without Jedi reads annotations if a class has `__getattr__`.
            frame.__annotations__ = frame.__annotations__ | {name: namespace}

    def in_pandas(pandas: ModuleType) -> None:
        _note_library("pandas")
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
