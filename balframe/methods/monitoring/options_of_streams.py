"""The options of monitoring, which the verb and its chart share."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypedDict

from balframe.api.options import Option

MARGIN, ALPHA, LOOKS, WINDOWS = 0.05, 0.05, 104, (1, 4, 13)

ReferenceOfStream = Mapping[str, Any] | object


class Watching(TypedDict, total=False):
    """How much worse matters, and how often an alarm may be false."""

    margin: Annotated[
        float,
        Option(
            "float, default 0.05",
            "How much worse than the reference the score may be, in the units of the metric. A "
            "period is ok only if a larger loss is ruled out.",
            MARGIN,
        ),
    ]
    alpha: Annotated[
        float,
        Option(
            "float, default 0.05",
            "Probability of any false alarm, over all periods, windows, segments and metrics "
            "together, if nothing got worse.",
            ALPHA,
        ),
    ]
    looks: Annotated[
        int,
        Option(
            "int, default 104",
            "Number of periods with rows for which alpha is promised: two years of weeks. Choose "
            "it before the first period, and do not change it later.",
            LOOKS,
        ),
    ]
    windows: Annotated[
        Sequence[int],
        Option(
            "list of int, default (1, 4, 13)",
            "Numbers of periods that are looked at together, at every period. All periods so far "
            "are always one more window.",
            WINDOWS,
        ),
    ]
    adjust: Annotated[
        Literal["bonferroni"] | None,
        Option(
            '{"bonferroni"} or None, default "bonferroni"',
            "Share alpha among the segments and metrics. With None, each of them has alpha for "
            "itself, so that some of many segments alarm by chance.",
            "bonferroni",
        ),
    ]
    dispersion: Annotated[
        Literal["estimate"] | None,
        Option(
            '{"estimate"}, optional',
            "Allow for scores that vary from period to period by more than chance. The variance "
            "between the periods of the reference is added to that of every difference. It takes "
            "about 26 periods of reference or more. By default, the rows alone make scores vary.",
        ),
    ]
