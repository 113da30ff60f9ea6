"""`bf.table` and `bf.plot`: results as tables and charts, from a result or from the data.

`bf.table(result)` shows a result; `bf.table.report(df, "y", "yhat")` calls the method first. The
attributes follow from the lists of methods and charts; `presentation.pyi`, which
`.ci/accessor_stub.py` writes, spells them out for type checkers.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from balframe._traceback import short_traceback
from balframe.errors import no_attribute
from balframe.methods import CHARTS, METHODS, load_chart, names_in_groups

METHODS_WITH_TABLES = {  # `require` returns no frame of its own
    group: {name: family for name, family in names.items() if name != "require"}
    for group, names in METHODS.items()
}


class FunctionOfResults:
    """A function of a result; each of its attributes is such a function of the data."""

    __doc__ = property(lambda self: self._load().__doc__)  # type: ignore[assignment]

    def __init__(
        self,
        name: str,
        load: Callable[[], Callable[..., Any]],
        names: Iterable[str],
        load_attribute: Callable[[str], Callable[..., Any]],
    ) -> None:
        self.__name__ = self.__qualname__ = name
        self._load, self._load_attribute = load, load_attribute
        self._names = sorted(names)

    @short_traceback
    def __call__(self, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401 (of the function)
        """Return the table or the chart of a result."""
        return self._load()(*arguments, **options)

    @short_traceback
    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (a function of the data)
        """Load a function, and with it the library it needs, when it is first used."""
        if name == "__signature__":
            return inspect.signature(self._load())
        if name == "__annotations__":
            return self._load().__annotations__
        if name.startswith("_") or name not in self._names:
            raise no_attribute(f"bf.{self.__name__}", name, self._names)
        return self._load_attribute(name)

    def __dir__(self) -> list[str]:
        """List the attributes, for completion."""
        return list(self._names)

    def __repr__(self) -> str:
        """Name the function and its attributes."""
        return f"bf.{self.__name__}: of a result, or with the data as {', '.join(self._names)}"


def _load_table() -> Callable[..., Any]:
    from balframe.tables.table import table

    return table


def load_method_table(name: str) -> Callable[..., Any]:
    """Return the function that returns the table of a method's result."""
    from balframe.tables.method_tables import method_table

    return method_table(name)


def _load_plot() -> Callable[..., Any]:
    from balframe.result_charts import plot

    return plot


def load_method_chart(name: str) -> Callable[..., Any]:
    """Return the function that draws the chart of a method's result, and with it load Altair."""
    from balframe.frames.engines.registry import check_installed  # and with it what reads frames

    check_installed("altair", "plot", "charts")
    return load_chart(name)


plot = FunctionOfResults("plot", _load_plot, names_in_groups(CHARTS), load_method_chart)
table = FunctionOfResults(
    "table", _load_table, names_in_groups(METHODS_WITH_TABLES), load_method_table
)
