"""The options that methods share: the type, default and description of each, declared once.

A method or a chart takes a group of them as `**options: Unpack[...]`. Signatures, docstrings and
the command line read them here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict, get_args, get_type_hints

from balframe.api.metric_selection import COMPARED_METRICS, Absent, Adjust, ClassWeight
from balframe.api.option_types import Correction, LabelSetting
from balframe.core.label_set import DEFAULT_POS_LABEL, Label
from balframe.frames.adapter import Name
from balframe.frames.engines.registry import ENGINES
from balframe.frames.query import MAX_CELLS
from balframe.metrics.registry import PRESETS
from balframe.stats.base import IntervalMethod, IntervalOption, Prior

Names = Name | Sequence[Name] | None
Missing = Literal["raise", "drop"]
CorrectedMissing = Literal["raise", "drop", "correct"]
KeptMissing = Literal["raise", "drop", "correct", "keep"]
PartlyMissing = Literal["raise", "drop", "correct", "bounds"]
Margins = Literal[False, "overall", "all"]
Backend = Literal["pandas", "polars", "pyarrow"] | None

DEFAULT_LEVEL = 0.95
DEFAULT_MIN_SUPPORT = 10  # rows, wherever segments are ranked, marked or called extreme
_INTERVAL_METHODS = ", ".join(f'"{name}"' for name in get_args(IntervalMethod))
_LIBRARIES = dict.fromkeys(engine.name.partition(",")[0] for engine in ENGINES)
_PRESET_NAMES = ", ".join(f'"{name}"' for name in PRESETS)
FRAMES = f"a frame of {', '.join(_LIBRARIES)} or narwhals"


@dataclass(frozen=True, slots=True)
class Option:
    """The description of a parameter: its type in words, what it does, and its default."""

    type_text: str
    text: str
    default: Any = None
    part_of: str = ""  # the option whose value has it in Python; the command line has it alone
    is_setting: bool = False  # of `bf.options`, that every call takes


def metrics_option(default: Sequence[str]) -> Option:
    """Return the description of `metrics` for a method with these metrics by default."""
    return Option(
        "str, list of str or mapping, optional",
        f"Names of metrics (see `bf.list_metrics()`) or presets: {_PRESET_NAMES}. A mapping of "
        f"new names renames them. By default {_in_words(default)}, and with `class_weight` "
        "weighted_balanced_accuracy.",
    )


def _in_words(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


_OF_TRUE_LABELS = {  # what choices of `missing` do with nulls in the true labels
    "correct": "let labelled rows stand for them",
    "bounds": "assume nothing about them",
    "keep": "keep them as one more label, to correct later",
}
_METHODS_WITH = {  # these choices, and why other methods are without them
    "correct": "report, classes, gaps, disparity, confusion, check, require, power and audit: for "
    "others, no limits or tests are known if rows lack a true label",
    "bounds": "report, classes, gaps, disparity, check and require: for others, no such limits are "
    "known",
    "keep": "confusion: others count pairs of two labels",
}


def methods_with(missing: object) -> str:
    """Return which methods have this choice of `missing`, and why; empty for other values."""
    methods = _METHODS_WITH.get(missing) if isinstance(missing, str) else None
    return f" {missing!r} is for {methods}." if methods else ""


def _missing_option(choices: Any) -> Option:  # noqa: ANN401 (a Literal)
    """Return the description of `missing` for a method with these choices."""
    names = get_args(choices)
    of_true_labels = [
        f'{text} ("{name}")' for name, text in _OF_TRUE_LABELS.items() if name in names
    ]
    how = "raise an error, or drop the rows"
    if of_true_labels:
        these = ", or ".join(of_true_labels)
        how = f"raise an error, drop the rows, or in the true labels {these}"
    quoted = ", ".join(f'"{name}"' for name in names)
    return Option(
        f"{{{quoted}}}",
        f"Nulls and NaN outside of `by`: {how}.",
        default="raise",
    )


class WeightOptions(TypedDict, total=False):
    """The weights of rows."""

    sample_weight: Annotated[
        Name | None,
        Option(
            "column name, optional",
            "Weights of rows, finite and not negative; `n` and supports count rows.",
        ),
    ]


class CountOptions(TypedDict, total=False):
    """The number of rows that a row stands for."""

    counts: Annotated[
        Name | None,
        Option(
            "column name, optional",
            "How many rows each row stands for; by default 1.",
        ),
    ]


class LabelOptions(TypedDict, total=False):
    """The label set."""

    labels: Annotated[
        Sequence[Label] | LabelSetting | None,
        Option(
            "list of labels, optional",
            "The class labels in order; by default those that occur, sorted. `bf.label_set` sets "
            "how absent ones count.",
        ),
    ]
    pos_label: Annotated[
        Label | None,
        Option(
            "label, optional",
            f"The positive label; by default {DEFAULT_POS_LABEL}.",
        ),
    ]


class MissingOptions(TypedDict, total=False):
    """How nulls are handled."""

    missing: Annotated[Missing, _missing_option(Missing)]


class CollectOptions(TypedDict, total=False):
    """How much is collected."""

    max_cells: Annotated[
        int,
        Option(
            "int, default 50 million",
            "Maximum number of confusion cells collected from a lazy or distributed frame, and of "
            "those in its roll-ups. A query that needs more raises an error.",
            default=MAX_CELLS,
            is_setting=True,
        ),
    ]


class InputOptions(MissingOptions, CollectOptions, total=False):
    """How nulls are handled, and how much is collected."""


class UnweightedRowOptions(CountOptions, LabelOptions, InputOptions, total=False):
    """How rows are counted, and the label set."""


class RowOptions(WeightOptions, UnweightedRowOptions, total=False):
    """How rows are counted and weighted, and the label set."""


class CellOptions(TypedDict, total=False):
    """Whether the frame holds cells."""

    cells: Annotated[
        bool | None,
        Option(
            "bool, optional",
            "Read the data as a result of `confusion`: its columns `n`, `weight`, `weight_sq` "
            "and `weight_max` hold totals. By default, its columns tell.",
            part_of="frame",
        ),
    ]


class ClusterOptions(TypedDict, total=False):
    """The clusters of rows."""

    cluster: Annotated[
        Name | None,
        Option(
            "column name, optional",
            "Rows with the same value, such as those of a patient, depend on each other: intervals "
            "and tests use the variation between clusters.",
        ),
    ]


class CellOrRowOptions(RowOptions, CellOptions, total=False):
    """How rows or cells are counted, and the label set."""


class LevelOptions(TypedDict, total=False):
    """The confidence level."""

    level: Annotated[
        float,
        Option("float, default 0.95", "Confidence level, in (0, 1).", DEFAULT_LEVEL),
    ]


class IntervalOptions(LevelOptions, total=False):
    """Which confidence intervals are added."""

    interval: Annotated[
        IntervalOption,
        Option(
            "True or str, optional",
            "Add confidence intervals, each for its segment alone: by the default method (True), "
            'or "wilson", "scas", "jeffreys" or "exact" for proportions, "score", '
            '"scas", "mover", "posterior" or "jeffreys_posterior" for means of recalls.',
        ),
    ]


class PriorOptions(TypedDict, total=False):
    """The prior of the recalls."""

    prior: Annotated[
        Prior,
        Option(
            '{"uniform", "jeffreys"}',
            'Prior of each recall in a posterior: Beta(1, 1) for "uniform", Beta(1/2, 1/2) for '
            '"jeffreys".',
            default="uniform",
        ),
    ]


class VerdictOptions(TypedDict, total=False):
    """Verdicts that rows without a true label have, too."""

    verdict: Annotated[
        Names,
        Option(
            "column name or list of column names, optional",
            'With `missing="correct"`: verdicts that all rows have, such as those of a judge, or '
            "other columns that may have influenced which rows were labelled. Among rows with the "
            "same prediction and verdicts, those with and without a true label are assumed to have "
            "the same distribution of true labels.",
            part_of="missing",
        ),
    ]
    label_probability: Annotated[
        Name | None,
        Option(
            "column name, optional",
            'With `missing="correct"`: the probability with which each row was chosen to be '
            "labelled, above 0 and up to 1, if it differs between rows with the same prediction "
            "and verdicts. It may be null for rows without a true label.",
            part_of="missing",
        ),
    ]


class CorrectedOptions(VerdictOptions, total=False):
    """How nulls are handled, and rows without a true label corrected for."""

    missing: Annotated[CorrectedMissing | Correction, _missing_option(CorrectedMissing)]


class KeptOptions(VerdictOptions, total=False):
    """How nulls are handled, and rows without a true label corrected for or kept."""

    missing: Annotated[KeptMissing | Correction, _missing_option(KeptMissing)]


class PartlyLabelledOptions(VerdictOptions, total=False):
    """How nulls are handled, and rows without a true label allowed for."""

    missing: Annotated[PartlyMissing | Correction, _missing_option(PartlyMissing)]
    doubt: Annotated[
        float | None,
        Option(
            "float, optional",
            'With `missing="correct"`: the largest factor by which the odds of being right may '
            "differ between rows with and without a true label. A larger factor widens the limits, "
            "which `report` and `classes` then have by default; 1 means no difference.",
            part_of="missing",
        ),
    ]


class OutcomeOptions(TypedDict, total=False):
    """Outcomes in place of a truth and predictions."""

    outcome: Annotated[
        Names,
        Option(
            "column name or list of column names, optional",
            "In place of `y_true` and `y_pred`: 1, true or `pos_label` in rows that passed. The "
            "metric is their rate.",
        ),
    ]


class ClassWeightOptions(TypedDict, total=False):
    """How labels are weighted."""

    class_weight: Annotated[
        ClassWeight | None,
        Option(
            'mapping of labels to weights, "balanced" or "prevalence", optional',
            "Weights of the labels in weighted_balanced_accuracy.",
        ),
    ]


class AbsentLabelOptions(TypedDict, total=False):
    """How labels absent from a segment are handled."""

    absent: Annotated[
        Absent,
        Option(
            '{"skip", "null", "zero"}',
            "How an average over labels treats a label whose value is undefined in a segment, as "
            'the recall of a label without rows is: leave it out ("skip"), be null, or count 0.',
            default="skip",
            part_of="labels",
        ),
    ]


class AdjustmentOptions(TypedDict, total=False):
    """The adjustment of p-values for multiple testing."""

    adjust: Annotated[
        Adjust,
        Option(
            '{"bh", "holm"} or None, default "bh"',
            "Adjustment of the p-values of one metric within one margin: Benjamini and Hochberg's "
            "limits the expected share of false alarms among the differences found, Holm's the "
            "probability of any.",
            default="bh",
        ),
    ]


class MarginOptions(TypedDict, total=False):
    """The margins returned in addition to the segments."""

    margins: Annotated[
        Margins,
        Option(
            '{False, "overall", "all"}',
            "Add roll-ups: over all rows, or over every subset of up to 12 by-columns.",
            default=False,
        ),
    ]


class DetailOptions(TypedDict, total=False):
    """Whether the result has details."""

    detail: Annotated[
        bool,
        Option(
            "bool, default False",
            "Add the columns of details after the others: supports, raw p-values, the score of "
            "the reference and similar ones.",
            default=False,
            is_setting=True,
        ),
    ]


class BackendOptions(TypedDict, total=False):
    """The library of the result."""

    backend: Annotated[
        Backend,
        Option(
            '{"pandas", "polars", "pyarrow"}, optional',
            "Library of the returned frame; by default that of the input frame, or the one that "
            "suits its engine.",
            is_setting=True,
        ),
    ]


class ResultOptions(MarginOptions, BackendOptions, total=False):
    """The rows of the result, and its library."""


class PartlyLabelledRowOptions(
    WeightOptions,
    CountOptions,
    LabelOptions,
    PartlyLabelledOptions,
    CollectOptions,
    CellOptions,
    total=False,
):
    """How rows of which some may lack a true label, or cells, are counted."""


class CorrectedRowOptions(
    WeightOptions,
    CountOptions,
    LabelOptions,
    CorrectedOptions,
    CollectOptions,
    CellOptions,
    total=False,
):
    """How rows of which some may lack a true label, or cells, are counted; without `doubt`."""


class KeptRowOptions(
    WeightOptions,
    CountOptions,
    LabelOptions,
    KeptOptions,
    CollectOptions,
    CellOptions,
    total=False,
):
    """How rows of which some may lack a true label, or cells, are counted; or kept as cells."""


class LabelMethodOptions(CellOrRowOptions, ResultOptions, total=False):
    """The options of all methods on predicted labels."""


class ScoreMethodOptions(RowOptions, ResultOptions, total=False):
    """The options of all methods on scores, and of those that need rows."""


SHARED = {  # of parameters in a function's own signature, which its docstring may leave out
    "frame": Option(
        "frame of pandas, polars or another library",
        "The data, never modified. A LazyFrame of polars returns a LazyFrame.",
    ),
    "y_true": Option(
        "column name",
        "The true class labels: booleans, whole numbers, strings, categories or dates.",
    ),
    "y_pred": Option(
        "column name or list of column names",
        "The predicted class labels. Several columns are several models, in a column `model`.",
    ),
    "y_score": Option(
        "column name or list of column names",
        "The scores: finite numbers, higher for the positive label; all other labels are negative. "
        "Several columns are several models, in a column `model`.",
    ),
    "selected": Option(
        "column name or list of column names, optional",
        "Who is selected: 1, true or yes, or else `pos_label`. Several columns are several models. "
        "Give either `selected` or `score`.",
    ),
    "score": Option(
        "column name or list of column names, optional",
        "Scores in place of selections: a row counts as selected if its score is above the median "
        "of all rows, also of unknown category; with ties, these may be fewer than half.",
    ),
    "by": Option(
        "column name or list of column names",
        "The columns whose combinations of values are the segments. It takes `bf.bins` of numbers "
        "and `bf.period` of times. A null is a segment; without `by`, all rows are one.",
    ),
    "metrics": metrics_option(COMPARED_METRICS),
}


def group_options(group: Any) -> Mapping[str, tuple[Any, Option]]:  # noqa: ANN401 (a TypedDict)
    """Return the type and the description of every option of a group."""
    hints = get_type_hints(group, include_extras=True)
    return {name: get_args(annotated) for name, annotated in hints.items()}


_LAST = (  # options in the order in which a reader needs them, after those that a method has alone
    *("interval", "level", "adjust", "min_support", "cluster", "sample_weight", "counts"),
    *("pos_label", "labels", "class_weight", "missing", "margins", "outcome"),
)


def reading_place(name: str) -> int:
    """Return the place of an option among those that follow a method's own parameters."""
    return 1 + _LAST.index(name) if name in _LAST else 0
