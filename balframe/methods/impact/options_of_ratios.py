"""The options of impact ratios, which the verb and its chart share."""

from collections.abc import Sequence
from typing import Annotated, TypedDict

from balframe.api.options import Cells, Option, Read, Repeated
from balframe.core.label_set import Label


class Selected(Repeated, Read, Cells, total=False):
    """How rows are counted, and which label means selected."""

    labels: Annotated[
        Sequence[Label] | None,
        Option(
            "list of labels, optional",
            "The labels of `selected`, in order; by default the sorted labels that occur.",
        ),
    ]
    pos_label: Annotated[
        Label | None,
        Option(
            "label, optional",
            "The label of `selected` that means selected; by default 1 or True if the labels are "
            "among {0, 1}, {-1, 1} or {False, True}.",
        ),
    ]


class Ratios(TypedDict, total=False):
    """Which categories are compared, and with which bound."""

    min_share: Annotated[
        float,
        Option(
            "float, default 0.02",
            "Minimum share of a category in the rows whose category is known, from 0 up to 1. "
            "Smaller categories have a rate but no ratio, and are never the most selected one. "
            "With 0, all categories are compared.",
            default=0.02,
        ),
    ]
    bound: Annotated[
        float,
        Option(
            "float, default 0.8",
            "The bound of impact ratios, above 0 and at most 1. The default is that of the "
            "four-fifths rule.",
            default=0.8,
        ),
    ]
