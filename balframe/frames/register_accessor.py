"""Register a namespace as an attribute of frames, with the means of each library."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any

from balframe.frames import fork_detection  # noqa: F401 (records the process that loads balframe)

# Callbacks that run when a module is imported, by a finder of Python's import system.


Callback = Callable[[ModuleType], None]


def run_after_import(callbacks: Mapping[str, Callback]) -> None:
    """Run a callback once each module has been imported, at once if it is imported already."""
    finder = _Finder(callbacks)
    sys.meta_path.insert(0, finder)
    for name in callbacks:
        if sys.modules.get(name) is not None:
            finder.run_callback(name, import_module(name))  # complete: another thread may import it


class _Finder:
    """A finder that wraps the loaders of some modules, until each has been imported."""

    def __init__(self, callbacks: Mapping[str, Callback]) -> None:
        self._callbacks = dict(callbacks)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec that a later finder returns, with its loader wrapped."""
        finders = iter(sys.meta_path)
        if name not in self._callbacks or all(finder is not self for finder in finders):
            return None
        for finder in finders:  # those after this one
            find_spec = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if find_spec is None else find_spec(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, name, self)  # type: ignore[assignment]
                return spec
        return None

    def run_callback(self, name: str, module: ModuleType) -> None:
        """Run the callback of a module, once; the last one removes this finder."""
        callback = self._callbacks.pop(name, None)
        if not self._callbacks:  # in a new list, because another thread may iterate over this one
            sys.meta_path = [finder for finder in sys.meta_path if finder is not self]
        if callback is not None:
            callback(module)


class _Loader:
    """The loader of a module, which runs the callback after the module."""

    def __init__(self, loader: Any, name: str, finder: _Finder) -> None:  # noqa: ANN401
        self._loader, self._name, self._finder = loader, name, finder

    def __getattr__(self, attribute: str) -> Any:  # noqa: ANN401
        return getattr(self._loader, attribute)

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own loader back and execute it; then run the callback."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._finder.run_callback(self._name, module)


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
