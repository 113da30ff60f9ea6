"""The namespace `.bal` of pandas and polars frames: every method, page, chart and table.

Its attributes follow from the lists of methods and charts. `accessor.pyi` spells them out for type
checkers; `.ci/accessor_stub.py` writes it.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib import import_module
from types import MethodType
from typing import Any, Literal

from balframe._traceback import short_traceback
from balframe._validate import check_choice
from balframe.errors import no_attribute
from balframe.frames.register_accessor import register_in_dask, register_namespace
from balframe.methods import CHARTS, METHODS, load_method
from balframe.presentation import METHODS_WITH_TABLES, load_method_chart, load_method_table

_Load = Callable[[str], Callable[..., Any]]


class _NamespaceFunction:
    """A function of a frame as a method of a namespace, loaded on first use."""

    def __init__(self, load: _Load, name: str, group: str) -> None:
        self._load = load
        self._name = name
        self.group = group

    def is_loaded_by(self, load: _Load) -> bool:
        """Return whether `load` loads the function."""
        return self._load is load

    def __get__(self, namespace: "_Namespace | None", _: type) -> Callable[..., Any]:
        function = self._load(self._name)
        return function if namespace is None else MethodType(function, namespace._frame)


class _Namespace:
    _public_name = "df.bal"
    _frame: Any = None  # a completer that knows only the type makes an object without one

    def __init__(self, frame: Any) -> None:  # noqa: ANN401 (a frame of any library)
        self._frame = frame

    @short_traceback
    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Raise for an unknown name; Jedi offers options of attributes because this is here."""
        raise no_attribute(self._public_name, name, dir(self))

    def __repr__(self) -> str:
        """List the methods, one line for each group."""
        names = groups(type(self))
        width = max(map(len, names))
        lines = [f"{group:<{width}}  {', '.join(names[group])}" for group in names]
        summary = (type(self).__doc__ or type(self).__name__).partition("\n")[0]
        return "\n".join([summary, *lines])


def groups(namespace: type) -> dict[str, list[str]]:
    """Return the names of the methods of a namespace by their group, in order."""
    names: dict[str, list[str]] = {}
    for name, function in vars(namespace).items():
        if isinstance(function, _NamespaceFunction):
            names.setdefault(function.group, []).append(name)
    return names


class Plots(_Namespace):
    """Charts of a frame: `df.bal.plot.report("y", "yhat", by="group")`.

    Each chart is also a function, `bf.plot.report(df, "y", "yhat", by="group")`. Charts need the
    extra `plot`.
    """

    _public_name = "df.bal.plot"


class Tables(_Namespace):
    """Tables of a frame: `df.bal.table.report("y", "yhat", by="group")`.

    Each is also a function, `bf.table.report(df, "y", "yhat", by="group")`. Tables need the extra
    `table`.
    """

    _public_name = "df.bal.table"


class Bal(_Namespace):
    """The methods of balframe on a frame: `df.bal.report("y", "yhat")`.

    Each method is also a function, `bf.report(df, "y", "yhat")`.
    """

    @cached_property  # completers do not evaluate a property
    def plot(self) -> Plots:
        """Charts of the frame, each with the name of the method whose result it draws."""
        return Plots(self._frame)

    @cached_property
    def table(self) -> Tables:
        """Tables of the frame, each with the name of the method whose result it shows."""
        return Tables(self._frame)

    def __repr__(self) -> str:
        """List the methods, one line for each group, and the charts and tables."""
        charts, tables = (
            ", ".join(name for names in groups(namespace).values() for name in names)
            for namespace in (Plots, Tables)
        )
        return f"{super().__repr__()}\nplot: {charts}\ntable: {tables}"


# IPython's completer without Jedi reads annotations if a class has `__getattr__`
Bal.__annotations__ = Bal.__annotations__ | {"plot": Plots, "table": Tables}


def _load_store(name: str) -> Callable[..., Any]:
    store: Callable[..., Any] = import_module("balframe.methods.history.store").store
    return store


def _load_page(name: str) -> Callable[..., Any]:
    page: Callable[..., Any] = getattr(import_module(f"balframe.audit_page.{name}"), name)
    return page


def _add_functions(namespace: type, names: Mapping[str, Iterable[str]], load: _Load) -> None:
    """Add functions to a namespace, by their group."""
    for group in names:
        for name in names[group]:
            setattr(namespace, name, _NamespaceFunction(load, name, group))


_add_functions(Plots, CHARTS, load_method_chart)
_add_functions(Tables, METHODS_WITH_TABLES, load_method_table)
_add_functions(Bal, METHODS, load_method)
_add_functions(Bal, {"pages": ["audit"]}, _load_page)
_add_functions(Bal, {"history": ["store"]}, _load_store)


def public_functions() -> list[str]:
    """List the names of all methods, pages and others of a frame, in the order of their groups."""
    return [name for names in groups(Bal).values() for name in names]


def methods() -> list[str]:
    """List the names of the methods, whose results are frames, in the order of their groups."""
    return [name for name in public_functions() if vars(Bal)[name].is_loaded_by(load_method)]


def bal(frame: Any) -> Bal:  # noqa: ANN401 (a frame of any library)
    """Return the namespace of a frame, which pandas and polars frames have as `frame.bal`.

    Type checkers do not know the attribute `.bal`, which other libraries' classes get when balframe
    is imported. They know this function: its methods have the signatures of the functions, and
    return the frame's own type. It also takes frames without the attribute, such as those of DuckDB
    or PyArrow.

    Parameters
    ----------
    frame : frame of any supported library
        The data, which are never modified.

    Returns
    -------
    namespace
        Has each method as `bf.bal(frame).report(...)`, the charts as
        `bf.bal(frame).plot.report(...)`, and the tables as `bf.bal(frame).table.report(...)`.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [1, 1, 0], "yhat": [1, 0, 0]})
    >>> bf.bal(df).confusion("y", "yhat").equals(df.bal.confusion("y", "yhat"))
    True
    """
    return Bal(frame)


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


def register_pandas_and_polars() -> None:
    """Add the attribute to the frames of pandas and polars."""
    register_namespace("bal", Bal)
