"""The method `power`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, TypedDict, Unpack

import numpy as np

from balframe._validate import check_choice, check_level, check_min_support
from balframe.api.columns import (
    BY,
    DESIGN_COLUMNS,
    HEADING_SEPARATOR,
    MIN_SUPPORT,
    N_CLUSTERS,
    SEGMENT_KEYS,
    Kind,
    Naming,
    Span,
    count,
    count_or_null,
    details,
    estimate,
    key,
    note,
    threshold_or_bound,
)
from balframe.api.method import Method
from balframe.api.metric_selection import MetricSelection
from balframe.api.option_types import PlannedDesign
from balframe.api.options import (
    CellOptions,
    ClusterOptions,
    CollectOptions,
    CorrectedOptions,
    CountOptions,
    DetailOptions,
    LabelOptions,
    LevelOptions,
    Names,
    Option,
    OutcomeOptions,
    ResultOptions,
)
from balframe.api.run import Columns, run_method
from balframe.errors import InvalidInputError
from balframe.frames.adapter import FrameT, Name
from balframe.frames.engines.inputs import InputFrame, read_streams
from balframe.frames.query import N, Query
from balframe.methods.gates.baseline import baseline_request
from balframe.methods.gates.check import RuleOptions
from balframe.methods.gates.plan_labels import (
    LabelRequest,
    check_can_plan,
    check_half_width,
)
from balframe.methods.gates.power_analysis import PowerRequest
from balframe.methods.gates.power_columns import power_columns
from balframe.methods.gates.power_options import (
    Powers,
    check_design_effect,
    check_disagreement,
    check_powers,
    check_trials,
    rules_with_power,
)
from balframe.methods.gates.rules import RulesOption, check_have_baseline, check_where, read_rules

_RULE_COLUMNS = (
    key("rule", naming=Naming.RULE, heading=HEADING_SEPARATOR),
    estimate("estimate", span=Span.BY_ROW),
    key("power", kind=Kind.FLOAT, identifies=True),
)
_OF_RULES = (
    *SEGMENT_KEYS,
    *_RULE_COLUMNS,
    estimate("detectable_difference", identifies=True),
    estimate("power_at_zero", identifies=True, span=Span.UNIT),
    count_or_null("rows_needed"),
    count_or_null("clusters_needed", only_with="cluster"),
    count(N),
    *details(
        count(MIN_SUPPORT),
        N_CLUSTERS,
        *DESIGN_COLUMNS,
        threshold_or_bound("bound", about="estimate"),
        count_or_null("rows_needed_per_label"),
        note("reliability"),
    ),
)
_OF_STRATA = (
    key(BY, kind=Kind.BY),
    *_RULE_COLUMNS,
    count_or_null("labels_needed", identifies=True),
    count("n_labelled"),
    count(N),
    *details(
        threshold_or_bound("bound", about="estimate"),
        estimate("power_at_zero", span=Span.UNIT),
        estimate("half_width", span=Span.UNIT),
    ),
)
METHOD = Method(
    {"rules": _OF_RULES, "strata": _OF_STRATA},
    {
        "sample_weight": "power is not known for weighted rows; omit it.",
        "interval": "power is that of the default intervals of `check`; omit it.",
    },
)


class DesignOptions(TypedDict, total=False):
    """What is assumed of rows that do not exist yet."""

    design: Annotated[
        PlannedDesign | None,
        Option(
            "value of `bf.design`, optional",
            "What is assumed of rows that do not exist yet: `bf.design` takes the disagreement of "
            "two models, the design effect of clusters, and the number of trials.",
        ),
    ]
    disagreement: Annotated[
        float | None,
        Option(
            "float, optional",
            "The expected share of the rows of each label that only one of two models gets right, "
            "in (0, 1], instead of a baseline.",
            part_of="design",
        ),
    ]
    design_effect: Annotated[
        float | None,
        Option(
            "float, optional",
            "The variance of the score over that of as many independent rows, at least 1, instead "
            "of clusters.",
            part_of="design",
        ),
    ]
    trials: Annotated[
        int | None,
        Option(
            "int, optional",
            "The planned number of rows of each cluster, such as trials of each item; by default "
            "the observed average.",
            part_of="design",
        ),
    ]


class PlanOptions(
    LevelOptions,
    DesignOptions,
    OutcomeOptions,
    RuleOptions,
    CellOptions,
    CountOptions,
    LabelOptions,
    CorrectedOptions,
    CollectOptions,
    ClusterOptions,
    total=False,
):
    """How rules are planned, as a table or as a chart."""


class _Options(PlanOptions, ResultOptions, DetailOptions, total=False): ...


@METHOD
def power(
    frame: FrameT,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    rules: RulesOption,
    by: Names = None,
    power: Powers = 0.8,
    half_width: float | None = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment and rule with its power: how likely `check` is to decide it.

    Use it before `check` to choose how many rows to collect and which non-inferiority margin to
    allow. It plans a gate as if the observed scores were the true ones. It is not evidence that a
    rule holds.

    Samples are random rows of the segment, so the number of rows of each label varies between them,
    and so does the denominator of a recall or precision. All numbers but `rows_needed_per_label`
    are averaged over the numbers of rows that a denominator, or two labels, can have. With three
    labels or more, and with `class_weight="prevalence"`, they are those of the observed numbers of
    rows of each label. If `baseline` has cells, the numbers of its rows are those observed.

    If the power is low, most verdicts are inconclusive. More rows, a wider margin or fewer segments
    increase it.

    Parameters
    ----------
    rules : str, list, mapping or path
        The rules to plan, in any of the forms that `check` reads. Rules on counts, on a difference
        or ratio of segments, and on metrics that are neither proportions, means of recalls nor
        pass@k or pass^k are left out with a warning. The segments are those of the data: `expect`
        and `absent_segments` of a file of rules are not used.
    power : float or list of floats, default 0.8
        The probability with which a rule should be decided, in (0, 1). Each of several has a row of
        its own.
    half_width : float, optional
        With `missing="correct"`: plan the labels for which the confidence interval of each rule's
        metric has this expected half width, instead of labels for a power. Neither `power` nor the
        bounds of the rules are then used.

    Returns
    -------
    frame of the same library
        One row for each segment, [model], rule and power, in this order. Columns in brackets are
        present only if the options ask for them:

        - the by-columns, [`grouped_by`: the columns that define the segment], [`model`], `rule`
        - `estimate`: the score, or its difference from the baseline
        - `power`: the power requested
        - `detectable_difference`: how much worse than the estimate the score must be for the rule
          to fail with this power. It is null where the rule already fails with this power if
          nothing is worse, and where no score is low enough.
        - `power_at_zero`: the probability that the rule passes if nothing is worse, so that the
          estimate is the true score
        - `rows_needed`: number of rows with which the rule passes with this power, if the estimate
          is true and the shares of the labels stay as they are. The rows of a baseline grow by the
          same factor. It is null unless the estimate is better than the bound, and where a
          proportion would need more than 10^15 rows.
        - with `cluster`, `clusters_needed`: number of clusters that have as many rows in total
        - `n`: number of rows

        With `detail`, also:

        - `min_support`: number of rows of the rarest label present
        - with `cluster`, `n_clusters`: number of clusters; `effective_clusters` and `design_effect`
          of `estimate`, by which rows are divided
        - `bound`: the number in the rule, or the margin
        - `rows_needed_per_label`: number of rows of each label needed if all labels have equally
          many. It is null for metrics of all rows, such as accuracy.
        - `reliability`: "exact" if the probabilities are exact, to 0.001 in large segments, as for
          a proportion; "good" if they are approximations that are accurate to about 0.03; "rough"
          if there are too few rows for that: fewer than 30 right or wrong rows of a label. For two
          models on the same rows, these are fewer than 40 rows of a label that only one model gets
          right. It is "rough" with a design effect above 1, too. All numbers are null in a segment
          that `check` could not judge.

        The probabilities are those of the confidence intervals that decide in `check`, with the
        same `level`, `adjust` and `min_support`. With a design effect, they are those of the
        effective number of independent rows. `check` allows for more, because it has to estimate
        the variance between clusters. In a simulation of 20 to 150 clusters of 5 to 20 rows, with
        intraclass correlations of 0.1 to 0.3, rules passed with a probability up to 0.15 lower than
        `power_at_zero`.

        For pass@k and pass^k, the probability that a trial of an item passes is assumed to vary
        between items as a beta distribution, which is estimated from the data. More trials help
        only as far as trials of one item differ.

        With `missing="correct"`, there is one row for each stratum, rule and power. The rows of a
        segment with the same prediction and `verdict` are a stratum. The columns are the
        by-columns, the verdicts, the prediction, `rule`, `estimate` and `power`, and:

        - `labels_needed`: number of rows of the stratum to be labelled, with those that have a
          label; null if labels of all rows do not suffice, or if the estimate violates the rule.
          They are in proportion to W sqrt(p (1 - p)), where W is the share of the stratum and p
          that of right rows, or to the same at the bound if that is larger. For recalls, the
          derivative of the recall replaces W. It is 5 at least, 0 in a stratum that the rule does
          not concern, and null for a recall if all rows have the same prediction.
        - `n_labelled`, `n`: number of rows of the stratum with a label, and of all
        - with `detail`, `bound`; `power_at_zero`: the probability that the rule passes with the
          existing labels; `half_width`: expected half width of the confidence interval with the
          labels needed

        `bf.draw_rows` draws the rows to be labelled. In simulations, rules with the labels of plans
        for a power of 0.8 passed with probabilities of 0.78 to 0.95 for shares, of 0.78 to 0.89 for
        recalls, and of 0.68 to 0.90 for means of two recalls; nine of ten plans are between 0.76
        and 0.89.

    Raises
    ------
    BalframeError
        If a rule, a name, an option or a value is invalid, if rows are weighted, or if the power of
        no rule is known.

    References
    ----------
    C. P. Farrington and G. Manning, "Test statistics and sample size formulae for comparative
    binomial trials with null hypothesis of non-zero risk difference or non-unity relative risk",
    Statistics in Medicine 1990. P. Hall, "On the removal of skewness by transformation", JRSS B
    1992.

    Examples
    --------
    A model finds 92 of 100 cases, and the rule is `recall >= 0.85`:

    >>> import pandas as pd
    >>> import balframe as bf
    >>> cases = pd.DataFrame({"y": [1, 1], "yhat": [1, 0], "n": [92, 8]})
    >>> plan = bf.power(cases, "y", "yhat", counts="n", rules="recall >= 0.85")
    >>> plan.T
                                        0
    rule                   recall >= 0.85
    estimate                         0.92
    power                             0.8
    detectable_difference        0.182247
    power_at_zero                 0.44711
    rows_needed                       185
    n                                 100

    With 100 cases, even this model passes in only 45 of 100 samples. It needs 185 cases to pass in
    80 of 100 samples. The rule fails with a power of 0.8 if the recall is lower by 0.18, or 0.74.

    A new model is planned. Its recall may be lower by at most 0.05, and the two models are expected
    to disagree on 10% of the cases:

    >>> rule = "recall >= baseline - 0.05"
    >>> both = bf.design(disagreement=0.1)
    >>> plan = bf.power(cases, "y", "yhat", counts="n", rules=rule, design=both)
    >>> int(plan["rows_needed"].item())
    350
    """
    check_half_width(half_width, options["missing"])
    if options["missing"] == "correct":
        return plan_labels(frame, y_true, y_pred, rules, options, by, power, half_width)
    return plan_rules(frame, y_true, y_pred, rules, options, by=by, power=power)


def plan_rules(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    rules: RulesOption,
    options: Mapping[str, Any],
    *,
    by: Names,
    power: Powers,
    difference_if_failing: float = np.nan,
) -> FrameT:
    """Return the result of `power`, whose options are complete.

    `difference_if_failing` is the detectable difference where a rule already fails: null, or the 0
    at which a curve of power starts.
    """
    parsed_rules = read_rules(rules)
    baseline, disagreement = options["baseline"], options["disagreement"]
    design_effect, trials = options["design_effect"], options["trials"]
    others = {name: value for name, value in options.items() if name != "baseline"}
    powers = check_powers(power)
    check_choice("adjust", options["adjust"], ("bonferroni", None))
    check_level(options["level"])
    check_min_support(options["min_support"])
    check_disagreement(disagreement, baseline, parsed_rules)
    check_design_effect(design_effect, options["cluster"], disagreement)
    comparison = baseline_request(baseline, y_true, y_pred, by, options)
    if disagreement is None:
        check_have_baseline(parsed_rules, baseline)
    planned_rules = rules_with_power(
        parsed_rules, paired=comparison.is_paired or disagreement is not None
    )
    check_trials(trials, options["cluster"], planned_rules)
    metrics = list(dict.fromkeys(rule.quantity for rule in planned_rules))
    selection = MetricSelection.of(metrics, options["class_weight"], (), options["absent"])
    request = PowerRequest(
        powers,
        options["level"],
        options["adjust"] is not None,
        options["min_support"],
        disagreement,
        design_effect,
        trials,
    )

    def check_query(query: Query) -> None:
        check_where(planned_rules, query)
        comparison.input.check(query)
        if query.sample_weight is not None:
            raise InvalidInputError(
                "the cells have weights, but power is not known for weighted rows. Count the rows "
                "without weights."
            )

    def compute(source_counts: Any) -> Columns:  # noqa: ANN401 (as the baseline has it)
        shared = replace(selection, absent="skip")
        baseline = comparison.make_baseline(source_counts, shared)
        counted_frame = source_counts.counted_frame if baseline is None else baseline.data
        columns = power_columns(request, planned_rules, selection, shared, counted_frame, baseline)
        difference = columns["detectable_difference"]
        columns["detectable_difference"] = np.where(
            difference == 0, difference_if_failing, difference
        )
        return columns

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **others},
        compute,
        layout="rules",
        input_spec=comparison.input.input_spec,
        source=comparison.input.source,
        check_query=check_query,
        check_labels=lambda source_counts: selection.check_labels(source_counts.counted_frame),
    )


def plan_labels(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    rules: RulesOption,
    options: Mapping[str, Any],
    by: Names,
    power: Powers,
    half_width: float | None = None,
) -> FrameT:
    """Return how many rows of each stratum to label, with complete options of `power`."""
    planned_rules = rules_with_power(read_rules(rules), paired=False)
    check_can_plan(planned_rules, options)
    check_level(options["level"])
    metrics = list(dict.fromkeys(rule.quantity for rule in planned_rules))
    selection = MetricSelection.of(metrics, options["class_weight"], (), options["absent"])
    rows, segment_columns, strata = _strata_columns(frame, by, options["verdict"], y_pred)
    request = LabelRequest(
        check_powers(power),
        options["level"],
        options["adjust"] is not None,
        half_width,
        len(segment_columns),
    )
    names = {name: value for name, value in options.items() if name != "baseline"}
    planned: FrameT = run_method(
        rows,
        METHOD,
        {**names, "y_true": y_true, "y_pred": y_pred, "by": strata, "verdict": None},
        lambda counted_frame: request.columns(planned_rules, selection, counted_frame),
        layout="strata",
        check_query=lambda query: check_where(planned_rules, query),
        check_labels=selection.check_labels,
    )
    return planned


def _strata_columns(
    frame: object, by: Names, verdict: Names, y_pred: Names
) -> tuple[Any, list[Name], list[Name]]:
    """Return the rows, the columns of segments, and these with the others that define strata."""
    rows = read_streams(frame)
    opened = InputFrame.open(rows)
    segment_columns = opened.names(by)
    others = dict.fromkeys([*opened.names(verdict), *opened.names(y_pred)])
    added = [name for name in others if name not in segment_columns]
    return rows, segment_columns, [*segment_columns, *added]
