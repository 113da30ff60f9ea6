"""The table of a method's result, from the data: `bf.table.report(df, "y", "yhat", by="group")`."""

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from balframe._traceback import short_traceback
from balframe.api.checked_arguments import check_arguments
from balframe.api.method import Parameter, declare_parameters, docstring_parameters
from balframe.api.unknown_options import unknown_option_message
from balframe.errors import UnsupportedTypeError
from balframe.frames.engines.registry import check_installed
from balframe.methods import declaration, load_method
from balframe.tables.table import result_table, table

if TYPE_CHECKING:
    from great_tables import GT

_DETAIL = "detail"
_OF_RESULTS = ("frame", "method")  # parameters of `bf.table` that say what the result is
_DOCSTRING = """Return the result of `bf.{name}` as a great_tables table.

It is `bf.table(bf.{name}(...))` in one call. The method computes its columns of details too, such
as supports, which decide what is marked; the table shows them for `detail=True` only.

Parameters
----------
{parameters}

Returns
-------
great_tables.GT
    The table, as `bf.table` returns it.

Raises
------
MissingExtraError
    If great_tables is not installed.
BalframeError
    As `bf.{name}` and `bf.table` raise.
"""


@cache
def method_table(name: str) -> Callable[..., "GT"]:
    """Return the function that takes what a method takes, and returns the table of its result.

    An option that both the method and `bf.table` have is the method's.
    """
    declared = declaration(name)
    method, own = load_method(name), declared.parameters
    of_table = {
        option: parameter
        for option, parameter in _table_parameters().items()
        if option not in own and option not in _OF_RESULTS
    }
    parameters: Mapping[str, Parameter] = {**own, **of_table}
    defaults = {
        option: parameter.default
        for option, parameter in _table_parameters().items()
        if option not in _OF_RESULTS
    }
    public_name = f"bf.table.{name}"

    @short_traceback
    def complete(*arguments: Any, **options: Any) -> "GT":  # noqa: ANN401 (as the method's own)
        check_installed("great_tables", "table", "tables")
        for option in options:
            if option not in parameters:
                raise UnsupportedTypeError(
                    unknown_option_message(option, parameters, declared.hints, public_name)
                )
        check_arguments(public_name, [*parameters.values()], arguments, options)
        request = {option: value for option, value in options.items() if option in own}
        shows_details = request.get(_DETAIL, False)
        if _DETAIL in own:
            request[_DETAIL] = shows_details or True
        display = defaults | {
            option: value for option, value in options.items() if option not in own
        }
        return result_table(
            method(*arguments, **request), name, hides_details=not shows_details, **display
        )

    complete.__name__ = complete.__qualname__ = name
    declare_parameters(complete, parameters, inspect.signature(table).return_annotation)
    entries = "\n".join(
        parameter.docstring_entry for parameter in parameters.values() if parameter.is_public
    )
    complete.__doc__ = _DOCSTRING.format(name=name, parameters=entries)
    return complete


@cache
def _table_parameters() -> Mapping[str, Parameter]:
    return docstring_parameters(table)
