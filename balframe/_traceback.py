"""Tracebacks of the family of errors: the caller's line and the message, without our frames."""

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from balframe.errors import BalframeError

F = TypeVar("F", bound=Callable[..., Any])


def shows_all_frames() -> bool:
    """Return whether the user asks for whole tracebacks."""
    return os.environ.get("BALFRAME_TRACEBACK", "").casefold() == "full"


def drop_frames(error: BalframeError) -> BalframeError:
    """Return the error without the frames that lead to it, and without those of its causes."""
    cause = error.__cause__
    while cause is not None:
        cause.__traceback__, cause.__suppress_context__ = None, True
        cause = cause.__cause__
    return error.with_traceback(None)


def short_traceback(function: F) -> F:
    """Let errors of the family appear as if this function, which a caller calls, raised them.

    pytest and IPython leave out its frame as well. Python prints the line that raises, whose
    comment says how to see the others.
    """

    @wraps(function)
    def raising(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401 (as the function's own)
        __tracebackhide__ = not shows_all_frames()
        try:
            return function(*arguments, **options)
        except BalframeError as error:
            if not __tracebackhide__:
                raise
            raise drop_frames(error) from error.__cause__  # BALFRAME_TRACEBACK=full shows more

    return raising  # type: ignore[return-value]
