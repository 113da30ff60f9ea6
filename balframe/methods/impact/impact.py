"""The method `impact`."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypedDict, Unpack, get_args

from balframe._validate import check_choice, check_level, is_number
from balframe.api.columns import (
    BY,
    HEADING_SEPARATOR,
    HIDDEN_TEST_COLUMNS,
    P_ADJUSTED,
    TABLES,
    Kind,
    Naming,
    Span,
    count,
    count_or_null,
    details,
    estimate,
    key,
    limits,
    note,
    threshold_or_bound,
)
from balframe.api.method import Method
from balframe.api.metric_selection import check_adjust, check_by
from balframe.api.options import (
    AdjustmentOptions,
    BackendOptions,
    CellOptions,
    CountOptions,
    DetailOptions,
    InputOptions,
    LevelOptions,
    Names,
    Option,
)
from balframe.api.run import Columns, run_method
from balframe.core.label_set import DEFAULT_POS_LABEL, Label, why_no_default
from balframe.errors import NAME, OPTION, InvalidInputError, parameter
from balframe.frames.adapter import FrameT
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.median_selection import MedianSelections, MedianSelectionSource
from balframe.frames.query import GROUPED_BY, MODEL, InputSpec, N, Query
from balframe.frames.sources import LabelSource
from balframe.methods.impact.ratios import ImpactRequest, impact_columns

Favourable = Literal["selected", "not selected"]


class SelectionOptions(CountOptions, InputOptions, CellOptions, total=False):
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
            f"The label of `selected` that means selected; by default {DEFAULT_POS_LABEL}. Whether "
            "that is good for a person is what `favourable` says.",
        ),
    ]
    favourable: Annotated[
        Favourable | None,
        Option(
            '{"selected", "not selected"}',
            "What is good for a person: to be selected, as for a loan, or not to be, as for a high "
            "risk. Rates and ratios are those of this side. There is no default.",
        ),
    ]


class RatioOptions(TypedDict, total=False):
    """Which categories are compared, and with which bound."""

    min_share: Annotated[
        float,
        Option(
            "float, default 0.02",
            "Minimum share of a category among the rows whose category is known, from 0 up to 1. "
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


METHOD = Method.of(
    key(BY, kind=Kind.BY),
    key(GROUPED_BY, only_with=TABLES, heading=HEADING_SEPARATOR, naming=Naming.TABLE),
    key(MODEL, only_with="models", heading=HEADING_SEPARATOR),
    estimate("rate", span=Span.UNIT),
    estimate("impact_ratio", identifies=True, span=Span.UNIT, ranks_rows=True),
    *limits(about="impact_ratio"),
    P_ADJUSTED,
    note("role", naming=Naming.ROLE),
    count(N),
    *details(
        estimate("share"),
        count("n_favourable"),
        *limits("rate"),
        threshold_or_bound("threshold", only_with="score"),
        note(f"highest_{BY}", kind=Kind.BY, hidden=True),
        estimate("highest", hidden=True),
        threshold_or_bound("bound", about="impact_ratio", hidden=True),
        *HIDDEN_TEST_COLUMNS,
        count_or_null("short_of_parity"),
        count_or_null("short_of_bound"),
        note("one_more_reverses", kind=Kind.FLAG_OR_NULL),
        count("n_unknown", hidden=True),
        estimate("unknown_lower"),
        estimate("unknown_upper"),
    ),
    hints={
        "metrics": "impact compares selection rates. For other metrics, call disparity or gaps.",
        "sample_weight": "impact counts people, and a selection has no weight. Call disparity with "
        "metrics='selection_rate' for weighted rates.",
        "cluster": "impact needs one row per person. For several rows per person, call disparity "
        "with metrics='selection_rate' and cluster.",
        "margins": "impact already returns each by-column alone, and all of them together.",
        "y_true": "impact needs no true labels.",
        "y_pred": "give the column of selections as selected.",
        "y_score": "give the column of scores as score.",
    },
)


class _Options(
    RatioOptions,
    SelectionOptions,
    AdjustmentOptions,
    LevelOptions,
    BackendOptions,
    DetailOptions,
    total=False,
): ...


@METHOD
def impact(
    frame: FrameT,
    selected: Names = None,
    *,
    by: Names,
    score: Names = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per category with its rate of the favourable result and its impact ratio.

    The impact ratio of a category is its rate over the highest rate of a category. With
    `favourable="not selected"`, the rate is that of not being selected.
    Each by-column alone is a table of categories, and so are the combinations of all by-columns.

    Parameters
    ----------
    by : column name or list of column names
        The columns of categories, such as sex and race. The category of a row with a null is
        unknown.

    Returns
    -------
    frame of the same library
        One row for each table, category and [model], in this order: the tables of each by-column
        alone, in the order of `by`, then the table of all together. Columns in brackets are present
        only if the options ask for them:

        - the by-columns, [`grouped_by`: the by-columns of the table, with several of them or with
          `detail`], [`model`]
        - `rate`: share of the rows with the favourable result
        - `impact_ratio`: rate over the highest rate, null for categories that are not compared;
          `lower`, `upper`: its confidence interval, which allows for the choice of the category
          with the highest rate
        - `p_adjusted`: p-value of the two-sided test that the rate is equal to the highest one,
          adjusted for multiple testing; null for the category with the highest rate
        - `role`: "compared"; "small" if the category has a lower share than `min_share`, or no row;
          "unknown" if one of its by-columns is null
        - `n`: number of rows

        With `detail`, also:

        - `share`: share of the rows whose category is known, null if the category is unknown;
          `n_favourable`: number of rows with the favourable result
        - `rate_lower`, `rate_upper`: confidence interval of the rate
        - with `score`, `threshold`: the median score
        - `highest_<by>` for each by-column: the category compared that has the highest rate, in a
          tie the one with the most rows; `highest`: its rate
        - `bound`: that of the request
        - `p_value`: the p-value before the adjustment. The highest rate may be that of any other
          category (Bonferroni); it is at most 1 - level exactly where `upper` is below 1.
          `n_tests`: number of p-values in the family, which are those of the table and all models
        - `short_of_parity`: how many more rows of the category would need the favourable result to
          reach the highest rate, all else unchanged; `short_of_bound`: the same for the rate that
          is `bound` times the highest
        - `one_more_reverses`: whether the category would have the higher rate of the two if one
          more of it had the favourable result, and one fewer of the category with the highest rate
        - `n_unknown`: number of rows of the table whose category is unknown
        - `unknown_lower`, `unknown_upper`: the lowest and the highest impact ratio if each of these
          rows belongs to any of the categories compared

        Ratios and what follows from them are null in a table with fewer than two categories to
        compare, and if nobody in those compared has the favourable result.

    Notes
    -----
    The confidence interval describes the ratio of a category, not a decision on many: only
    `p_adjusted` allows for the number of categories. 95% intervals contained the true ratio in
    about 98% of simulated tables on average, and in at least 91.7% of samples in the designs
    enumerated. One of the limits may err in up to 6% of samples, with 15 rows beside thousands. The
    bounds with unknown rows are not confidence limits: they allow for the missing categories, but
    not for chance.

    References
    ----------
    New York City, rules on automated employment decision tools, 6 RCNY 5-300 to 5-304; Uniform
    Guidelines on Employee Selection Procedures, 29 CFR 1607.4(D), for the four-fifths rule, and
    question 21 of its Questions and Answers (1979), for `one_more_reverses`. J. J. Gart and J. Nam,
    "Approximate interval estimation of the ratio of binomial parameters: a review and corrections
    for skewness", Biometrics 1988, for the interval of the ratio to one category; J. C. Hsu,
    "Simultaneous confidence intervals for all distances from the 'best'", Annals of Statistics
    1981, for that to the best one.

    Examples
    --------
    >>> import pandas as pd
    >>> import balframe as bf
    >>> people = pd.DataFrame({"sex": ["F", "F", "M", "M"], "hired": [0, 1, 0, 1],
    ...                        "n": [80, 20, 60, 40]})
    >>> out = bf.impact(people, "hired", by="sex", counts="n", favourable="selected")
    >>> print(out.round(4).to_string(index=False))
    sex  rate  impact_ratio  lower  upper  p_adjusted     role   n
      F   0.2           0.5 0.3084 0.7812      0.0021 compared 100
      M   0.4           1.0 1.0000 1.0000         NaN compared 100
    """
    request = ImpactRequest(
        options["min_share"],
        options["bound"],
        options["level"],
        options["adjust"],
        is_selected_good=options["favourable"] != "not selected",
    )
    _check_favourable(options["favourable"])
    _check_request(request)
    uses_scores = _uses_scores(selected, score, options)
    predictions = "score" if uses_scores else "selected"

    def check(query: Query) -> None:
        check_by(query, "impact")
        _check_query(query, predictions)

    def compute(read: CountedFrame | MedianSelections) -> Columns:
        medians = read.medians if isinstance(read, MedianSelections) else None
        return impact_columns(read.counted_frame, request, medians)

    return run_method(
        frame,
        METHOD,
        {predictions: score if uses_scores else selected, "by": by, **options},
        compute,
        optional_columns=("score",) if uses_scores else (),
        input_spec=InputSpec(prediction_parameter=predictions, has_truth=False, margins_each=True),
        source=MedianSelectionSource() if uses_scores else LabelSource(),
        check_query=check,
        check_labels=_check_labels,
    )


def _uses_scores(selected: Names, score: Names, options: Any) -> bool:  # noqa: ANN401
    """Return whether scores are given; raise if both or neither of the two are."""
    if (selected is None) == (score is None):
        fault = "both are given" if score is not None else "neither is given"
        raise InvalidInputError(
            "impact needs either {selected}, a column that shows who is selected, or {score}, a "
            "column of scores, but {}.",
            fault,
            selected=NAME,
            score=NAME,
        )
    for name in ("labels", "pos_label"):
        if score is not None and options[name] is not None:
            raise InvalidInputError(
                "{} is for {selected}, but {score} is given, which has no labels; omit it.",
                parameter(name, options[name]),
                selected=NAME,
                score=NAME,
            )
    return score is not None


def _check_favourable(favourable: object) -> None:
    """Raise if it is not stated which side is good for a person."""
    if favourable is None:
        raise InvalidInputError(
            "impact needs {favourable}: 'selected' if it is good for a person to be selected, as "
            "for a loan, or 'not selected' if it is bad, as for a high risk.",
            favourable=NAME,
        )
    check_choice("favourable", favourable, get_args(Favourable))


def _check_request(request: ImpactRequest) -> None:
    """Raise if an option has an invalid value."""
    check_adjust(request.adjust)
    check_level(request.level)
    share, bound = request.min_share, request.bound
    if not is_number(share) or not 0 <= share < 1:
        raise InvalidInputError(
            "{min_share} is not a share; give a number from 0 up to 1, such as 0.02.",
            min_share=share,
        )
    if not is_number(bound) or not 0 < bound <= 1:
        raise InvalidInputError(
            "{bound} is not a ratio to keep; give a number above 0 and at most 1, such as 0.8.",
            bound=bound,
        )


def _check_query(query: Query, predictions: str) -> None:
    """Raise if a column has two roles, or cells have weights."""
    taken = [name for name in query.by if name in query.y_pred]
    if taken:
        raise InvalidInputError(
            "column {!r} is given as {} and in {by}; name the columns of categories in {by}.",
            taken[0],
            parameter(predictions, NAME),
            by=NAME,
        )
    if query.sample_weight is not None:
        raise InvalidInputError(
            "the cells have weights, but impact counts people; count them without {sample_weight} "
            "in `confusion`.",
            sample_weight=OPTION,
        )


def _check_labels(read: CountedFrame | MedianSelections) -> None:
    """Raise if it is unknown which label means selected."""
    counted_frame = read.counted_frame
    if len(counted_frame.labels) and counted_frame.pos_label_code() is None:
        raise InvalidInputError(
            "{selected} has the labels {}; give the one that means selected as {pos_label}. {}",
            counted_frame.labels,
            why_no_default(counted_frame.labels),
            selected=NAME,
            pos_label=OPTION,
        )
