"""Values that are taken as they are: Typer would load Pydantic to convert any of them."""

from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any, get_args

_TEXTS = (str, str | None, list[str], list[str] | None)


def texts_of(function: Callable[..., Any] | None) -> list[str]:
    """List the parameters of a command that are texts."""
    parameters = {} if function is None else signature(function).parameters
    return [n for n, one in parameters.items() if get_args(one.annotation)[0] in _TEXTS]


def unconverted(parameters: Any, texts: list[str]) -> Any:  # noqa: ANN401 (Typer's own types)
    """Have parameters take texts and defaults as they are."""
    for one in parameters:
        one.process_value = partial(_processed, one, one.name in texts)
    return parameters


def _processed(parameter: Any, is_text: bool, ctx: Any, value: Any) -> Any:  # noqa: ANN401
    """Leave the conversion to Typer, and what is missing, where it is needed."""
    may_be_missing = not parameter.required or ctx.resilient_parsing
    is_default = value is parameter.default and may_be_missing
    if not is_default and not (is_text and value):
        return type(parameter).process_value(parameter, ctx, value)
    callback = parameter.callback
    return value if callback is None else callback(ctx, parameter, value)
