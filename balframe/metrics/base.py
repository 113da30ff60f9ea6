"""What every metric declares, whether it is computed from labels or from scores."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from balframe.core.array_types import FloatArray

_NO_LIMITS = "none: it is not a function of a confusion matrix"


@dataclass(frozen=True, slots=True)
class BaseMetric:
    """A function of counts with one value for each segment, and what it declares."""

    name: str
    function: Callable[..., FloatArray]
    range: tuple[float, float]
    better: str | None
    aliases: tuple[str, ...]
    source: str

    @property
    def meaning(self) -> str:
        """What the first sentence of the function's docstring says before its colon."""
        return self._first_sentence()[0]

    @property
    def formula(self) -> str:
        """What the first sentence of the function's docstring says after its colon."""
        return self._first_sentence()[2]

    @property
    def interval_kind(self) -> str:
        """The kind of its confidence interval; empty if there is none."""
        return ""

    @property
    def limits_for(self) -> str:
        """What its confidence limits may be used for, or why there are none."""
        return _NO_LIMITS

    @property
    def is_shipped(self) -> bool:
        """Whether balframe ships the metric."""
        return self.function.__module__.startswith("balframe.metrics.")

    def _first_sentence(self) -> tuple[str, str, str]:
        paragraph = inspect.cleandoc(self.function.__doc__ or "").split("\n\n")[0]
        return " ".join(paragraph.split()).rstrip(".").partition(": ")
