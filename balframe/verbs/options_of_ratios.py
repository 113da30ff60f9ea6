"""The options of impact ratios, which the verb and its chart share."""

from typing import Annotated, TypedDict

from balframe.verbs.options import Option


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
