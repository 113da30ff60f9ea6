"""The method `slices`."""

from collections.abc import Mapping
from typing import Annotated, Any, TypedDict, Unpack, get_args

import numpy as np

from balframe._validate import check_choice, check_level, is_number, is_whole_number
from balframe.api.columns import (
    BY,
    METRIC_KEY,
    MIN_SUPPORT,
    P_ADJUSTED,
    UNADJUSTED_TEST_COLUMNS,
    Kind,
    Span,
    count,
    details,
    estimate,
    key,
    limits,
    metric_estimate,
    note,
)
from balframe.api.method import Method
from balframe.api.metric_selection import MetricSelection, SingleMetric
from balframe.api.options import (
    BackendOptions,
    CellOrRowOptions,
    ClassWeightOptions,
    DetailOptions,
    LevelOptions,
    Option,
    OutcomeOptions,
)
from balframe.api.run import Columns, run_method
from balframe.errors import OPTION, InvalidInputError, listed, parameter, warn
from balframe.frames.adapter import FrameT, Name
from balframe.frames.query import InputSpec, N, Query
from balframe.frames.slice_binning import Bins, BinsOption
from balframe.frames.slice_features import SliceFeatures, SliceFeatureSource
from balframe.methods.slices.population import Population
from balframe.methods.slices.prune import ListingOptions, OrderOption, list_worst
from balframe.methods.slices.result_rows import search_warnings, slice_columns
from balframe.methods.slices.significance import find_and_score_slices

BINS, METRIC = 4, "balanced_accuracy"

SLICE_MIN_SUPPORT = 30  # rows inside and outside of a slice, by default


class SearchOptions(TypedDict, total=False):
    """Which slices are searched, and which of them are listed."""

    over: Annotated[
        Any,  # names of columns, or a selector
        Option(
            "column name or list of column names, or a polars selector, optional",
            "The columns to search; by default all others, except dates, lists, structs and "
            "columns of which a threshold gives the predicted labels, which a warning names. A "
            "null is a level of its own. Levels with fewer rows than `min_support` are not "
            "searched.",
        ),
    ]
    metrics: Annotated[
        SingleMetric,
        Option(
            'metric name, default "balanced_accuracy"',
            "Name or alias of the one metric by which slices are worse. Slices are tested by "
            "proportions and means of recalls. By other metrics, they are listed by their "
            "difference, without limits and p-values.",
            METRIC,
        ),
    ]
    depth: Annotated[
        int, Option("int, default 3", "Maximum number of conditions in a slice.", default=3)
    ]
    order: Annotated[
        OrderOption,
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
            'edges between them, also by column: `{"age": [18, 25, 45]}`; "25 to 45" excludes 45. '
            "Up to 10 different values are cut only with edges, or if most are too rare to be "
            "searched. None takes each value on its own.",
            default=BINS,
        ),
    ]
    min_support: Annotated[
        int,
        Option(
            f"int, default {SLICE_MIN_SUPPORT}",
            "Minimum number of rows inside and outside of a slice, among those that the metric "
            "counts: all rows for accuracy, positives for recall, and rows of each label for "
            "balanced accuracy.",
            default=SLICE_MIN_SUPPORT,
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
            "Maximum number of slices to test. A search that needs more raises an error.",
            default=2_000_000,
        ),
    ]


METHOD = Method.of(
    key("slice", identifies=True),
    METRIC_KEY,
    metric_estimate(),
    estimate("difference", identifies=True, span=Span.AROUND_ZERO),
    *limits(about="difference"),
    P_ADJUSTED,
    count(N),
    *details(
        key("rank", kind=Kind.INTEGER),
        note("on", hidden=True),
        note(BY, kind=Kind.BY, hidden=True),
        count("depth", hidden=True),
        count(MIN_SUPPORT),
        count("wrong"),
        estimate("rest"),
        *UNADJUSTED_TEST_COLUMNS,
        estimate("excess_errors"),
        estimate("share_of_errors", span=Span.UNIT),
        count("n_explained"),
    ),
    hints={
        "by": "slices searches the columns of over.",
        "cluster": "the tests of slices need independent rows: with ten rows of each person, in "
        "up to 62% of simulated data sets, a slice was listed that is no worse. For rows in "
        "clusters, call gaps or disparity on chosen columns, or keep one row of each cluster.",
        "margins": "slices already searches every subset of the columns of over.",
    },
)


class _Options(
    OutcomeOptions,
    SearchOptions,
    LevelOptions,
    ClassWeightOptions,
    CellOrRowOptions,
    BackendOptions,
    DetailOptions,
    total=False,
): ...


@METHOD
def slices(
    frame: FrameT,
    y_true: Name = None,
    y_pred: Name = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per slice on which the model is significantly worse than on the others.

    A slice is a conjunction of conditions on columns, such as "sex = F and age 25 to 45". Every
    slice of up to `depth` columns that has enough rows is compared with the rest: all rows outside
    of it. The p-values are adjusted for all slices tested. A slice is left out if those listed
    before it explain its errors.

    Parameters
    ----------
    y_pred : column name
        The predicted class labels of one model.
    level : float, default 0.95
        Confidence level, in (0, 1). If nothing differs, any slice is listed with a probability of
        at most 1 - level. Each of the two limits holds at this level for all slices tested
        together.
    missing : {"raise", "drop"}
        How to handle nulls in columns other than those searched: raise an error, or drop the rows.
        NaN counts as null.
    sample_weight : column name, optional
        Row weights: finite, non-negative numbers. Slices are then listed by their difference,
        without limits and p-values.

    Returns
    -------
    frame of the same library
        One row for each slice listed, the worst first:

        - `slice`: its conditions in words
        - `metric`, `estimate`: the score of the slice; `difference`: estimate less the score of the
          rest, which are all other rows
        - `lower`, `upper`: limits of the difference, each of which holds for all slices tested
          together at this level. The one nearer to 0 does not cross it.
        - `p_adjusted`: p-value of the one-sided test that the slice is not worse than the rest,
          times the number of slices tested of this depth, times the number of depths, at most 1
        - `n`: number of rows

        With `detail`, also:

        - `rank`: position in the list; `on`: the columns that the conditions are on
        - the columns searched: the level in the slice, null if any. Numeric columns are text.
        - `depth`: number of conditions; `min_support`: rows that the metric counts, of the rarest
          label if it counts each; `wrong`: wrong rows among these
        - `rest`: the score of the rest
        - `p_value`: the p-value before the adjustment; `n_tests`: number of slices tested
        - `excess_errors`: wrong rows above those expected at the rates of the rest, in the labels
          in which the slice is worse; `share_of_errors`: share of all wrong rows
        - `n_explained`: number of slices left out because this one explains their errors

        If no slice is listed, a warning says how many were tested.

    Raises
    ------
    BalframeError
        If an argument is invalid, or no slice or too many have enough rows.

    Notes
    -----
    If being in a slice has nothing to do with being wrong, the probability that any such slice is
    listed is at most 1 - `level`. Differences and excesses are exaggerated, because slices are
    selected for being worse, and their cause may be another column. A slice is left out if it is
    not significantly worse once those listed before it are held fixed.

    References
    ----------
    The number of wrong rows in a slice is hypergeometric under the null hypothesis, summed exactly
    where the decision is close. C. J. Clopper and E. S. Pearson, Biometrika 1934, combined as in G.
    Y. Zou and A. Donner, Statistics in Medicine 2008, for limits with one label; P. J. Laud,
    Pharmaceutical Statistics 2017, with several.

    Examples
    --------
    >>> import balframe as bf
    >>> people = bf.datasets.compas_by_age_and_sex(backend="pandas")
    >>> out = bf.slices(people, "reoffended", "high_risk", counts="n", metrics="recall", top=3)
    >>> print(out.round(3).to_string(index=False))
                                 slice metric  estimate  difference  lower  upper  p_adjusted    n
                         age = over 45 recall     0.428      -0.234 -0.303 -0.163         0.0 1576
    race = Caucasian and age = over 45 recall     0.311      -0.337 -0.437 -0.223         0.0  752
                      race = Caucasian recall     0.523      -0.147 -0.202 -0.092         0.0 2454
    """
    selection = MetricSelection.of(options["metrics"], options["class_weight"], (METRIC,))
    name, metric = selection.single("slices", "slice is worse by it")
    _check_options(options)
    listing_options = ListingOptions(
        options["order"], options["top"], 1 - options["level"], options["min_difference"]
    )

    def compute(features: SliceFeatures) -> Columns:
        _check_any_searched(features)
        population = Population.of(features, metric, selection, options["min_support"])
        tested = find_and_score_slices(
            population,
            metric,
            selection,
            depth=options["depth"],
            max_slices=options["max_slices"],
            alpha=listing_options.alpha,
        )
        slice_list = list_worst(tested, population, listing_options)
        for message in search_warnings(slice_list, tested, population, listing_options):
            warn(message)
        return slice_columns(slice_list, tested, population, (name, metric), listing_options.alpha)

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": options["over"], **options},
        compute,
        input_spec=InputSpec(squares=False, by_parameter="over", all_columns=True),
        source=SliceFeatureSource(
            Bins.from_option(options["bins"], BINS), finds_scores=options["over"] is None
        ),
        check_query=_check_query,
        check_labels=lambda features: selection.check_labels(features.counted_frame),
    )


def _check_options(options: Mapping[str, Any]) -> None:
    """Raise where an option has an invalid value."""
    check_level(options["level"])
    check_choice("order", options["order"], get_args(OrderOption))
    for name in ("depth", "top", "min_support", "max_slices"):
        value = options[name]
        if not is_whole_number(value, 1):
            raise InvalidInputError(
                "{} is not valid; give a whole number of at least 1.", parameter(name, value)
            )
    difference = options["min_difference"]
    if not is_number(difference) or not 0 <= difference < np.inf:
        raise InvalidInputError(
            "{min_difference} is not valid; give a number of at least 0, in the units of the "
            "metric.",
            min_difference=difference,
        )


def _check_any_searched(features: SliceFeatures) -> None:
    """Raise if all columns look like scores of the model."""
    names = features.counted_frame.query.by
    if features.score_columns and features.score_columns >= {*names}:
        raise InvalidInputError(
            "all other columns look like scores of this model: {}. Name the columns to search in "
            "{over}.",
            listed(map(repr, names)),
            over=OPTION,
        )


def _check_query(query: Query) -> None:
    """Raise where several models are given, or a column of labels is searched."""
    if query.has_several_models:
        raise InvalidInputError(
            "{y_pred} is a list, but slices searches one model at a time; give one column name.",
            y_pred=list(query.y_pred),
        )
    if not query.by:
        others = f" but dates, lists or structs ({listed(map(repr, query.left_out))})"
        raise InvalidInputError(
            "{over} has no column to search{}; name at least one column.",
            others if query.left_out else "",
            over=OPTION,
        )
    roles = {*query.label_columns, query.counts, query.sample_weight} - {None}
    taken = [name for name in query.by if name in roles]
    if taken:
        raise InvalidInputError(
            "{over} has the column {!r}, which holds labels, counts or weights; leave it out of "
            "{over}.",
            taken[0],
            over=OPTION,
        )
