"""The options of a search for slices, which the verb and its chart share."""

from typing import Annotated, Any, TypedDict

from balframe.api.options import Option
from balframe.frames.slice_binning import BinsOption
from balframe.methods.slices.prune import Order

BINS, METRIC = 4, "balanced_accuracy"


class Searches(TypedDict, total=False):
    """Which slices are searched, and which of them are listed."""

    over: Annotated[
        Any,  # names of columns, or a selector
        Option(
            "column name or list of column names, or a polars selector, optional",
            "The columns to search; by default all other columns. A null is a level of its own. "
            "Levels with fewer rows than `min_support` are not searched.",
        ),
    ]
    metric: Annotated[
        str,
        Option(
            'str, default "balanced_accuracy"',
            "Name or alias of the metric by which slices are worse. Slices are tested by "
            "proportions and means of recalls. By other metrics, they are listed by their "
            "difference, without limits and p-values.",
            METRIC,
        ),
    ]
    depth: Annotated[
        int, Option("int, default 3", "Maximum number of conditions in a slice.", default=3)
    ]
    order: Annotated[
        Order,
        Option(
            '{"p_value", "lower", "impact"}',
            "Order of the slices: by adjusted p-value; by the limit of the difference that is "
            'nearer to 0, largest first ("lower"); or by the difference times the number of rows '
            'that the metric counts, largest first ("impact").',
            "p_value",
        ),
    ]
    top: Annotated[int, Option("int, default 10", "Maximum number of slices listed.", default=10)]
    bins: Annotated[
        BinsOption,
        Option(
            "int, mapping or None, default 4",
            "How numeric columns are cut: the number of bins of about equally many rows, or the "
            'edges between bins. A mapping says it by column: `{"age": [18, 25, 45]}`. "25 to 45" '
            "includes 25 and excludes 45. A column with at most 10 different values is not cut "
            "unless edges are given. None takes each value on its own.",
            default=BINS,
        ),
    ]
    min_support: Annotated[
        int,
        Option(
            "int, default 30",
            "Minimum number of rows inside and outside of a slice, among those that the metric "
            "counts: all rows for accuracy, positives for recall, and rows of each label for "
            "balanced accuracy.",
            default=30,
        ),
    ]
    min_difference: Annotated[
        float,
        Option(
            "float, default 0",
            "Minimum difference between a slice and the rest. In large data, nearly every slice "
            "differs.",
            default=0.0,
        ),
    ]
    max_slices: Annotated[
        int,
        Option(
            "int, default 2 million",
            "Maximum number of slices to test. A search that finds more raises.",
            default=2_000_000,
        ),
    ]
