"""Modules that are loaded on first use, because loading takes time."""

from importlib import import_module
from typing import Any


class LazyModule:
    """A module by its name, which is loaded when one of its names is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:  # noqa: ANN401 (anything)
        return getattr(import_module(self._name), attribute)
