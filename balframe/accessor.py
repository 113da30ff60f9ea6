"""The namespace `.bal` of pandas and polars frames: every verb, as a method."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from balframe.errors import check_choice
from balframe.frames.namespace import register_in_dask, register_namespace
from balframe.verbs.best_threshold import best_threshold
from balframe.verbs.check import check
from balframe.verbs.classes import classes
from balframe.verbs.compare import compare
from balframe.verbs.confusion import confusion
from balframe.verbs.curve import curve
from balframe.verbs.disparity import disparity
from balframe.verbs.fairness import fairness
from balframe.verbs.gaps import gaps
from balframe.verbs.posterior import posterior
from balframe.verbs.ranking import ranking
from balframe.verbs.report import report
from balframe.verbs.require import require

P = ParamSpec("P")
Result = TypeVar("Result")


def _on_frame(verb: Callable[Concatenate[Any, P], Result]) -> Callable[..., Result]:
    """Make a verb a method: the frame of the namespace is its first argument."""

    def method(self: "Bal", *args: P.args, **kwargs: P.kwargs) -> Result:
        return verb(self._frame, *args, **kwargs)

    return update_wrapper(method, verb)


class Bal:
    """The verbs of balframe on one frame: `df.bal.report("y", "yhat")`.

    Each is also a function, `bf.report(df, "y", "yhat")`.
    """

    def __init__(self, frame: Any) -> None:  # noqa: ANN401 (a frame of any library)
        self._frame = frame

    confusion = _on_frame(confusion)
    classes = _on_frame(classes)
    report = _on_frame(report)
    posterior = _on_frame(posterior)
    gaps = _on_frame(gaps)
    disparity = _on_frame(disparity)
    fairness = _on_frame(fairness)
    compare = _on_frame(compare)
    curve = _on_frame(curve)
    best_threshold = _on_frame(best_threshold)
    ranking = _on_frame(ranking)
    check = _on_frame(check)
    require = _on_frame(require)


def register(library: Literal["dask"]) -> None:
    """Give the frames of a library the attribute `bal`, where importing balframe does not.

    Parameters
    ----------
    library : {"dask"}
        The library. Frames of pandas and polars have the attribute already; for the others, call
        the functions, `bf.report(frame, ...)`.

    Raises
    ------
    InvalidInputError
        If the library is not one of the options.
    MissingExtraError
        If it is not installed; the message has the command that installs it.

    Examples
    --------
    >>> import balframe as bf
    >>> bf.register("dask")
    """
    check_choice("library", library, ("dask",))
    register_in_dask("bal", Bal)


def register_here() -> None:
    """Give the frames of pandas and polars the attribute."""
    register_namespace("bal", Bal)
