"""The namespace `.bal` of pandas and polars frames: every verb, as a method."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Generic, ParamSpec

from balframe.frames.library import FrameT, register_namespace
from balframe.verbs.classes import classes
from balframe.verbs.confusion import confusion
from balframe.verbs.report import report

P = ParamSpec("P")


def _on_frame(
    verb: Callable[Concatenate[FrameT, P], FrameT],
) -> Callable[Concatenate["Bal[FrameT]", P], FrameT]:
    @wraps(verb)
    def method(self: "Bal[FrameT]", *args: P.args, **kwargs: P.kwargs) -> FrameT:
        return verb(self._frame, *args, **kwargs)

    return method


class Bal(Generic[FrameT]):
    """The verbs of balframe on one frame: `df.bal.report("y", "yhat")`.

    Each is also a function, `bf.report(df, "y", "yhat")`.
    """

    def __init__(self, frame: FrameT) -> None:
        self._frame = frame

    confusion = _on_frame(confusion)
    classes = _on_frame(classes)
    report = _on_frame(report)


def register() -> None:
    """Give the frames of pandas and polars the attribute `bal`."""
    register_namespace("bal", Bal)
