"""Options that charts hand on to the verbs that they draw."""

from collections.abc import Sequence
from typing import Literal, TypedDict

from balframe.core.labels import Label
from balframe.frames.library import Name
from balframe.verbs.answer import Missing
from balframe.verbs.scoring import ClassWeight


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
