"""The namespace `.bal` of pandas and polars frames: every method, page and chart, as a method."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib import import_module
from types import MethodType
from typing import Any, Literal

from balframe import plot
from balframe.errors import check_choice
from balframe.frames.register_accessor import register_in_dask, register_namespace
from balframe.methods import CHARTS, METHODS, load_method


class _Method:
    """A function of a frame as a method, loaded on first use."""

    def __init__(self, load: Callable[[str], Callable[..., Any]], name: str, group: str) -> None:
        self._load = load
        self._name = name
        self.group = group

    def loads(self, load: Callable[[str], Callable[..., Any]]) -> bool:
        """Tell whether this is where its function comes from."""
        return self._load is load

    def __get__(self, namespace: "_OfFrame | None", _: type) -> Callable[..., Any]:
        function = self._load(self._name)
        return function if namespace is None else MethodType(function, namespace._frame)


class _OfFrame:
    _frame: Any = None  # a completer that knows only the type makes an object without one

    def __init__(self, frame: Any) -> None:  # noqa: ANN401 (a frame of any library)
        self._frame = frame

    def __repr__(self) -> str:
        """List the methods, one line for each group."""
        listed = groups(type(self))
        width = max(map(len, listed))
        lines = [f"{group:<{width}}  {', '.join(names)}" for group, names in listed.items()]
        return "\n".join([str(type(self).__doc__).partition("\n")[0], *lines])


def groups(namespace: type) -> dict[str, list[str]]:
    """List the methods of a namespace by group, in the order of the class body."""
    found: dict[str, list[str]] = {}
    for name, method in vars(namespace).items():
        if isinstance(method, _Method):
            found.setdefault(method.group, []).append(name)
    return found


def _page(name: str) -> Callable[..., Any]:
    page: Callable[..., Any] = getattr(import_module(f"balframe.audit_page.{name}"), name)
    return page


def _chart(name: str) -> Callable[..., Any]:
    chart: Callable[..., Any] = getattr(plot, name)
    return chart


class Plots(_OfFrame):
    """Charts of a frame: `df.bal.plot.report("y", "yhat", by="group")`.

    Each chart is also a function, `bf.plot.report(df, "y", "yhat", by="group")`. Charts need the
    extra `plot`.
    """


class Bal(_OfFrame):
    """The methods of balframe on a frame: `df.bal.report("y", "yhat")`.

    Each method is also a function, `bf.report(df, "y", "yhat")`.
    """

    @cached_property  # completers do not evaluate a property
    def plot(self) -> Plots:
        """Charts of the frame, each with the name of the method whose result it draws."""
        return Plots(self._frame)

    def __repr__(self) -> str:
        """List the methods, one line for each group, and the charts."""
        charts = ", ".join(name for names in groups(Plots).values() for name in names)
        return f"{super().__repr__()}\nplot: {charts}"


def _add_methods(
    namespace: type,
    groups: Mapping[str, Iterable[str]],
    load: Callable[[str], Callable[..., Any]],
) -> None:
    for group, names in groups.items():
        for name in names:
            setattr(namespace, name, _Method(load, name, group))


_add_methods(Plots, CHARTS, _chart)
_add_methods(Bal, METHODS, load_method)
_add_methods(Bal, {"pages": ["audit"]}, _page)


def public_functions() -> list[str]:
    """List the names of all methods of a frame, in the order of their groups."""
    return [name for names in groups(Bal).values() for name in names]


def methods() -> list[str]:
    """List the names of the methods, whose answers are frames, in the order of their groups."""
    return [name for name in public_functions() if vars(Bal)[name].loads(load_method)]


def register(library: Literal["dask"]) -> None:
    """Add the attribute `bal` to frames of a library that `import balframe` does not cover.

    Parameters
    ----------
    library : {"dask"}
        The library. Frames of pandas and polars have the attribute already. For frames of other
        libraries, call the functions: `bf.report(frame, ...)`.

    Raises
    ------
    InvalidInputError
        If the library is not one of the options.
    MissingExtraError
        If the library is not installed. The message has the command that installs it.

    Examples
    --------
    >>> import balframe as bf
    >>> bf.register("dask")
    """
    check_choice("library", library, ("dask",))
    register_in_dask("bal", Bal)


def register_here() -> None:
    """Add the attribute to the frames of pandas and polars."""
    register_namespace("bal", Bal)
