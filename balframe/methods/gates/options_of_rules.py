"""The options of rules: what they compare with, and how they are decided."""

from typing import Annotated, Literal, TypedDict, get_args

from balframe.api.metric_selection import Absent
from balframe.api.options import ClassWeights, Level, Option
from balframe.frames.adapter import Name
from balframe.stats.request import Method

BaselineOption = Name | object | None  # a column, or the cells of an earlier run
Decide = Literal["confident", "estimate"]

_METHODS = ", ".join(f'"{name}"' for name in get_args(Method))


class Baselines(TypedDict, total=False):
    """What rules compare with."""

    baseline: Annotated[
        BaselineOption,
        Option(
            "column name, or cells of an earlier run, optional",
            'What rules such as "recall >= baseline - 0.02" compare with. Give the name of another '
            "column of predictions to compare two models on the same rows. Give a result of "
            "`confusion` with the same by-columns to compare with an earlier run on other rows.",
        ),
    ]


class Families(Level, ClassWeights, Baselines, total=False):
    """At which level rules are decided, and in which segments."""

    absent: Annotated[
        Absent,
        Option(
            '{"null", "skip", "zero"}',
            "How an average over labels treats a label that a segment lacks: make the average "
            "null, skip the label, or count its value as 0. If the average is null, the rule is "
            "inconclusive. Rules against a baseline average over the labels present on both sides.",
            default="null",
        ),
    ]
    adjust: Annotated[
        Literal["bonferroni"] | None,
        Option(
            '{"bonferroni"} or None, default "bonferroni"',
            "Adjustment of the confidence intervals for multiple testing. "
            'With "bonferroni", the intervals of a rule have simultaneous coverage at this level '
            "over all segments and models of a margin. With None, each interval has this coverage "
            "on its own, so some of many segments may fail by chance.",
            default="bonferroni",
        ),
    ]
    min_support: Annotated[
        int,
        Option(
            "int, default 1",
            "Minimum number of rows in the smallest denominator of a metric; segments with fewer "
            "rows are inconclusive. For a mean of recalls, this denominator is the support of the "
            "rarest label present.",
            default=1,
        ),
    ]


class Decisions(Families, total=False):
    """How rules are decided, and on which intervals."""

    interval: Annotated[
        Method | None,
        Option(
            f"{{{_METHODS}}}, optional",
            "Method of the confidence intervals, for the metrics that have it. The default, also "
            "used for other metrics, is conservative: wrong decisions are rare, even with few "
            "errors or many segments. It is the Clopper-Pearson interval for a "
            'proportion, and the wider of "score" and "scas" for a mean of recalls. Differences '
            "from a baseline always use the default.",
        ),
    ]
    decide: Annotated[
        Decide,
        Option(
            '{"confident", "estimate"}',
            "How rules are decided: by the confidence interval, or by the estimate alone. "
            'With "confident", a rule passes if the whole interval satisfies it, fails if the '
            "whole interval violates it, and is inconclusive otherwise.",
            default="confident",
        ),
    ]
