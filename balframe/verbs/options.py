"""The options that verbs share: type, default and description of each, said once.

A verb, or a chart of one, takes a group of them by `**options: Unpack[...]`. Signatures, docstrings
and the command line read them here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict, get_args, get_type_hints

from balframe.analyses.scoring import Absent, Adjust, ClassWeight
from balframe.core.labels import Label
from balframe.frames.engines.supported import ENGINES
from balframe.frames.library import Name
from balframe.frames.query import MAX_CELLS
from balframe.intervals.request import IntervalOption, Method, Prior

Names = Name | Sequence[Name] | None
Decide = Literal["confident", "estimate"]
Missing = Literal["raise", "drop"]
Margins = Literal[False, "overall", "all"]
Backend = Literal["pandas", "polars", "pyarrow"] | None

_METHODS = ", ".join(f'"{name}"' for name in get_args(Method))
_HOLDERS = dict.fromkeys(one.name.partition(",")[0] for one in ENGINES)
FRAMES = f"a frame of {', '.join(_HOLDERS)} or narwhals"


@dataclass(frozen=True, slots=True)
class Option:
    """What is said of a parameter: its kind in words, what it does, and its default."""

    kind: str
    text: str
    default: Any = None


class Rows(TypedDict, total=False):
    """How rows count, and which labels there are."""

    sample_weight: Annotated[
        Name | None,
        Option(
            "column name, optional",
            "Weights of the rows, finite and not negative. Scores use them; `n`, supports and "
            "other counts count rows all the same.",
        ),
    ]
    counts: Annotated[
        Name | None,
        Option(
            "column name, optional",
            "How many identical rows each row stands for, whole numbers from 0.",
        ),
    ]
    labels: Annotated[
        Sequence[Label] | None,
        Option(
            "list of labels, optional",
            "The label set in its order; by default the sorted labels that occur.",
        ),
    ]
    pos_label: Annotated[
        Label | None,
        Option(
            "label, optional",
            "The positive label, of binary metrics and of scores; by default 1 or True where the "
            "labels are among {0, 1}, {-1, 1} or {False, True}. A label of such a pair may be "
            "given even if no row has it.",
        ),
    ]
    missing: Annotated[
        Missing,
        Option(
            '{"raise", "drop"}',
            "What to do about nulls outside of `by`: raise, or leave those rows out. NaN counts as "
            "null.",
            default="raise",
        ),
    ]
    max_cells: Annotated[
        int,
        Option(
            "int, default 50 million",
            "The most cells to hold in memory; more are refused. It holds for lazy and distributed "
            "frames.",
            default=MAX_CELLS,
        ),
    ]


class CellsOrRows(Rows, total=False):
    """What frames of cells need besides."""

    cells: Annotated[
        bool,
        Option(
            "bool, default False",
            "Read the data as the result of `confusion`: `n`, `weight` and `weight_sq` are totals.",
            default=False,
        ),
    ]


class Level(TypedDict, total=False):
    """How sure limits are."""

    level: Annotated[
        float, Option("float, default 0.95", "Confidence level of the limits, in (0, 1).", 0.95)
    ]


class Intervals(Level, total=False):
    """Which limits there are."""

    interval: Annotated[
        IntervalOption,
        Option(
            f"{{True, {_METHODS}}}, optional",
            "Add confidence limits of each segment by itself: by the default method of each "
            'metric, or by a named one where it is defined. Proportions have "wilson", "scas", '
            '"jeffreys" and "exact"; means of recalls, as balanced accuracy is, have "score", '
            '"scas", "mover" and "posterior". Metrics without an interval get null limits.',
        ),
    ]


class Priors(TypedDict, total=False):
    """What is assumed of recalls before rows are seen."""

    prior: Annotated[
        Prior,
        Option(
            '{"uniform", "jeffreys"}',
            "Prior of each recall in a posterior: Beta(1, 1) or Beta(1/2, 1/2).",
            default="uniform",
        ),
    ]


class ClassWeights(TypedDict, total=False):
    """How labels are weighted."""

    class_weight: Annotated[
        ClassWeight | None,
        Option(
            'mapping of every label to its weight, "balanced" or "prevalence", optional',
            "Weights of the labels in weighted_balanced_accuracy.",
        ),
    ]


class Absences(TypedDict, total=False):
    """What becomes of labels that a segment lacks."""

    absent: Annotated[
        Absent,
        Option(
            '{"skip", "null", "zero"}',
            "What an average over labels does about a label whose value is undefined in a segment: "
            "skip it, be null, or count zero for it. The recall of a label without rows is "
            'undefined. "skip" averages over the other labels, "zero" over the whole label set.',
            default="skip",
        ),
    ]


class Adjustment(TypedDict, total=False):
    """How p-values allow for their number."""

    adjust: Annotated[
        Adjust,
        Option(
            '{"bh", "holm"} or None, default "bh"',
            "How p-values are adjusted for their number: so that few of the differences found are "
            "false alarms (Benjamini and Hochberg), or that hardly ever one is (Holm). The family "
            "is all p-values of one metric, in each margin by itself; undefined ones are left out.",
            default="bh",
        ),
    ]


class Decisions(Level, ClassWeights, total=False):
    """How rules are decided."""

    absent: Annotated[
        Absent,
        Option(
            '{"null", "skip", "zero"}',
            "What an average over labels does about a label of the label set that a segment "
            "lacks: be null, so that a rule is inconclusive, average over the other labels, or "
            "count zero for it.",
            default="null",
        ),
    ]
    interval: Annotated[
        Method | None,
        Option(
            f"{{{_METHODS}}}, optional",
            "The method of the limits where a metric has it. By default, and for other metrics, "
            "limits that rarely decide wrongly even where errors are rare and segments many: "
            "those of Clopper and Pearson for a proportion, and for a mean of recalls the wider "
            'of "score" and "scas".',
        ),
    ]
    decide: Annotated[
        Decide,
        Option(
            '{"confident", "estimate"}',
            "How rules are decided: by the limits, or by the estimate alone. By the limits a rule "
            "fails where all of the interval violates it, passes where all of the interval keeps "
            "it, and is inconclusive otherwise.",
            default="confident",
        ),
    ]
    adjust: Annotated[
        Literal["bonferroni"] | None,
        Option(
            '{"bonferroni"} or None, default "bonferroni"',
            "Make the limits of a rule hold in all its segments and models at once, at this level, "
            "in each margin by itself. With None each holds alone, and of many segments some "
            "would fail by chance.",
            default="bonferroni",
        ),
    ]
    min_support: Annotated[
        int,
        Option(
            "int, default 1",
            "Rows that the smallest denominator of a metric must have; segments with fewer are "
            "inconclusive. That of a mean of recalls is the rarest label present.",
            default=1,
        ),
    ]


class RollUps(TypedDict, total=False):
    """What is answered beside the segments."""

    margins: Annotated[
        Margins,
        Option(
            '{False, "overall", "all"}',
            "Add roll-ups: over all rows, or over every subset of the by-columns. What "
            "compares segments compares them within each.",
            default=False,
        ),
    ]


class Answers(RollUps, total=False):
    """What comes back."""

    backend: Annotated[
        Backend,
        Option(
            '{"pandas", "polars", "pyarrow"}, optional',
            "The library of the answer; by default that of the frame, or the one that suits its "
            "engine.",
        ),
    ]


class OfLabels(CellsOrRows, Answers, total=False):
    """The options of all verbs on predicted labels."""


class OfScores(Rows, Answers, total=False):
    """The options of all verbs on scores, and of those that need rows."""


SHARED = {  # parameters that a verb has in its own signature, and whose words it may leave out
    "frame": Option(
        FRAMES,
        "The data; never changed. A polars LazyFrame gives a LazyFrame; the others compute at "
        "once. A frame of narwhals gives one.",
    ),
    "y_true": Option(
        "column name",
        "The true labels: booleans, integers, whole floats, strings, categories or dates.",
    ),
    "y_pred": Option(
        "column name or list of column names",
        "The predicted labels; several columns are several models and add a column `model`.",
    ),
    "y_score": Option(
        "column name or list of column names",
        "The scores, finite numbers that are higher for the positive label; several columns are "
        "several models and add a column `model`. All labels other than the positive one count "
        "as negative.",
    ),
    "by": Option(
        "column name or list of column names",
        "The columns whose combinations are the segments; a null is a segment of its own. Where "
        "they may be left out, all rows are one segment then.",
    ),
    "metrics": Option(
        "str or list of str, optional",
        'Names or aliases of metrics, or "all"; by default accuracy and balanced_accuracy, and '
        "with `class_weight` also weighted_balanced_accuracy.",
    ),
}


def options_of(group: Any) -> Mapping[str, tuple[Any, Option]]:  # noqa: ANN401 (a TypedDict)
    """List the options of a group: the type of each, and what is said of it."""
    hints = get_type_hints(group, include_extras=True)
    return {name: get_args(annotated) for name, annotated in hints.items()}
