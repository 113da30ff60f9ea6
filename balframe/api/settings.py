"""Settings of all calls: how much is computed, and how results come back."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Literal, TypedDict

from balframe._validate import check_choice, check_max_cells

Backend = Literal["pandas", "polars", "pyarrow"] | None
Layout = Literal["wide", "long"]


class Settings(TypedDict, total=False):
    """The settings, which every call takes too."""

    detail: bool
    layout: Layout
    backend: Backend
    max_cells: int | None


_DEFAULTS: dict[str, Any] = {"detail": False, "layout": "wide", "backend": None, "max_cells": None}
_current = dict(_DEFAULTS)
_is_nested = ContextVar("is_nested", default=False)


class SettingsBlock:
    """Changes settings, and changes them back at the end of a `with` block."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        check_choice("detail", values.get("detail", False), (False, True))
        check_choice("layout", values.get("layout", "wide"), ("wide", "long"))
        check_choice("backend", values.get("backend"), ("pandas", "polars", "pyarrow", None))
        most = values.get("max_cells")
        if most is not None:
            check_max_cells(most)
        self._before = dict(_current)
        _current.update(values)

    def __enter__(self) -> None:
        """Begin a block, whose settings are those given."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Return to the settings before."""
        _current.update(self._before)


def is_within_call() -> bool:
    """Return whether a call of balframe runs, whose own calls take the parts of values."""
    return _is_nested.get()


@contextmanager
def settings_of_call() -> Iterator[Mapping[str, Any]]:
    """Yield the settings that differ from the defaults; in calls within calls, only `max_cells`."""
    is_nested = _is_nested.get()
    names = ("max_cells",) if is_nested else tuple(_current)
    token = _is_nested.set(True)
    try:
        yield {name: _current[name] for name in names if _current[name] != _DEFAULTS[name]}
    finally:
        _is_nested.reset(token)
