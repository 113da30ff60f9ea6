"""Callbacks that run when a module is imported, by a finder of Python's import system."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

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
