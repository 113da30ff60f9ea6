"""What all charts have in common: their parameters, and how these are checked."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from balframe.errors import InvalidInputError, UnknownNameError, UnsupportedTypeError, parameter
from balframe.frames.engines.given import held
from balframe.metrics.catalogue import find
from balframe.metrics.registry import Metric
from balframe.verbs.declaration import RAISES, with_options
from balframe.verbs.options import FRAMES, SHARED, Option

F = TypeVar("F", bound=Callable[..., Any])


MOST = 60
_SAID = {
    **SHARED,
    "frame": Option(
        FRAMES,
        "The data; never changed. A lazy frame is collected, for a chart needs numbers.",
    ),
    "y_pred": Option(
        "column name or list of column names",
        "The predicted labels; a list draws several models.",
    ),
    "y_score": Option(
        "column name or list of column names",
        "The scores, finite numbers that are higher for the positive label; a list draws several "
        "models. All labels other than the positive one count as negative.",
    ),
    "metric": Option('str, default "balanced_accuracy"', "Name or alias of a metric."),
    "most": Option(
        f"int, default {MOST}",
        "The most segments to draw; of more, the highest and the lowest are drawn, and a line "
        "below the title says how many are left out.",
    ),
}
_RAISES = f"""{RAISES.rstrip()}
MissingExtraError
    If Altair is not installed; the message has the command that installs it.

"""


def drawing(function: F) -> F:
    """Give a function that draws all options: in its signature, its docstring, and when called."""

    @wraps(function)
    def checked(*given: Any, **options: Any) -> Any:  # noqa: ANN401 (as the function's own)
        _check_most(options.get("most", MOST))
        frames = [held(frame) for frame in given[:1]]  # a chart may ask several verbs
        return function(*frames, *given[1:], **options)

    drawn, _ = with_options(checked, _SAID, _RAISES, UnknownNameError)
    return drawn  # type: ignore[return-value]


def _check_most(most: object) -> None:
    if not isinstance(most, int) or isinstance(most, bool) or most < 2:
        raise InvalidInputError(
            f"{parameter('most', most)} is not a number of segments; give 2 or more."
        )


def one_metric(name: object) -> Metric:
    """Look up the metric of a chart, which shows a single one."""
    if not isinstance(name, str) or name == "all":
        raise UnsupportedTypeError(
            f"{parameter('metric', name)} is not the name of a metric; a chart shows one at a time."
        )
    return find(name)
