"""Settings of all calls: how much is computed, and how results come back."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import EllipsisType, TracebackType
from typing import Any, Literal, TypedDict

from balframe._validate import check_choice, is_whole_number
from balframe.errors import InvalidInputError

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


class options:  # noqa: N801 (called as a function, as polars.Config and pandas.option_context are)
    """Set what all following calls do, or those of a `with` block.

    Every method also takes these as keywords, for one call. They hold for all threads. Pages,
    charts and tables read `max_cells` only.

    Parameters
    ----------
    detail : bool, optional
        Add the columns of details after the others: supports, raw p-values, the score of the
        reference and similar ones. False at first.
    layout : {"wide", "long"}, optional
        Of a report, one column per metric ("wide", at first), or one row per metric with the
        columns `metric` and `estimate` ("long").
    backend : {"pandas", "polars", "pyarrow"} or None, optional
        Library of returned frames. None, as at first, is that of the input frame, or the one that
        suits its engine.
    max_cells : int or None, optional
        Maximum number of confusion cells collected from a lazy or distributed frame, and of those
        in the roll-ups of `margins="all"`. A query that needs more raises an error. None, as at
        first, is 50 million.

    Raises
    ------
    InvalidInputError
        If a value is not one of these.

    Examples
    --------
    >>> import balframe as bf
    >>> import polars as pl
    >>> df = pl.DataFrame({"y": [1, 0], "yhat": [1, 1]})
    >>> with bf.options(detail=True):
    ...     print(bf.report(df, "y", "yhat", metrics="recall").columns)
    ['n', 'recall', 'n_labels', 'min_support']
    >>> bf.report(df, "y", "yhat", metrics="recall").columns
    ['n', 'recall']
    """

    def __init__(
        self,
        *,
        detail: bool | EllipsisType = ...,
        layout: Layout | EllipsisType = ...,
        backend: Backend | EllipsisType = ...,
        max_cells: int | EllipsisType | None = ...,
    ) -> None:
        named = {"detail": detail, "layout": layout, "backend": backend, "max_cells": max_cells}
        values: dict[str, Any] = {key: value for key, value in named.items() if value is not ...}
        check_choice("detail", values.get("detail", False), (False, True))
        check_choice("layout", values.get("layout", "wide"), ("wide", "long"))
        check_choice("backend", values.get("backend"), ("pandas", "polars", "pyarrow", None))
        most = values.get("max_cells")
        if most is not None and not is_whole_number(most, 1):
            raise InvalidInputError(
                "{max_cells} is not a number of cells; give a whole number of at least 1.",
                max_cells=most,
            )
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
