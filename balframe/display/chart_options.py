"""Options of charts: those handed on to the verbs that they draw, and how all are checked."""

from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Any, Literal, TypedDict

from balframe.analyses.scoring import ClassWeight
from balframe.core.labels import Label
from balframe.errors import InvalidInputError, UnsupportedTypeError, not_found
from balframe.frames.library import Name
from balframe.metrics.catalogue import find
from balframe.metrics.registry import Metric
from balframe.verbs.answer import Missing

MOST = 60


class RowOptions(TypedDict, total=False):
    """How rows count, and which labels there are."""

    sample_weight: Name | None
    counts: Name | None
    labels: Sequence[Label] | None
    pos_label: Label | None
    missing: Missing
    max_cells: int


class ScoreOptions(RowOptions, total=False):
    """What metrics at the thresholds of a score need besides."""

    class_weight: ClassWeight | None


class CellOptions(RowOptions, total=False):
    """What counts of cells need besides."""

    cells: bool


class GapOptions(CellOptions, total=False):
    """What differences of metrics need besides."""

    class_weight: ClassWeight | None


class LabelOptions(GapOptions, total=False):
    """What metrics of predicted labels need besides."""

    absent: Literal["skip", "null", "zero"]


def check_options(
    chart: Callable[..., Any], most: object, given: Iterable[str], handed_on: type
) -> None:
    """Refuse options that a chart neither has nor hands on, and a `most` that is no number."""
    own = (one.name for one in signature(chart).parameters.values() if one.kind == one.KEYWORD_ONLY)
    known = [*own, *handed_on.__annotations__]
    for name in given:
        if name not in known:
            raise not_found("option", name, known)
    if not isinstance(most, int) or isinstance(most, bool) or most < 2:
        raise InvalidInputError(f"most={most!r} is not a number of segments; give 2 or more.")


def one_metric(name: object) -> Metric:
    """Look up the metric of a chart, which shows a single one."""
    if not isinstance(name, str) or name == "all":
        raise UnsupportedTypeError(
            f"metric={name!r} is not the name of a metric; a chart shows one at a time."
        )
    return find(name)
