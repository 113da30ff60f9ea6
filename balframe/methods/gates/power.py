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
from balframe.frames.sources import with_edges
from balframe.methods.gates.baseline import baseline_request
from balframe.methods.gates.check import RuleOptions
from balframe.methods.gates.plan_labels import (
    LabelRequest,
    check_can_plan,
    check_half_width,
)
from balframe.methods.gates.power_analysis import PowerRequest
from balframe.methods.gates.power_options import (
    Powers,
    check_design_effect,
    check_disagreement,
    check_powers,
    check_trials,
    power_columns,
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
    allow. It plans a gate as if the observed scores were the true ones. More rows, a wider margin
    or fewer segments increase the power.

    Parameters
    ----------
    rules : str, list, mapping or path
        The rules to plan, in any of the forms that `check` reads. Those on counts, on a difference
        or ratio of segments, and on metrics other than proportions, means of recalls, pass@k and
        pass^k are left out with a warning.
    power : float or list of floats, default 0.8
        The probability with which a rule should be decided, in (0, 1); each has a row of its own.
    half_width : float, optional
        With `missing="correct"`: plan labels for confidence intervals of this expected half width,
        instead of for a power.

    Returns
    -------
    frame of the same library
        One row per segment, [model], rule and power. Columns in brackets follow from options:

        - the by-columns, [`grouped_by`: those that define the segment], [`model`], `rule`
        - `estimate`: the score, or its difference from the baseline
        - `power`: the power requested
        - `detectable_difference`: how much worse than the estimate the score must be for the rule
          to fail with this power; null if it fails already, or cannot
        - `power_at_zero`: the probability that the rule passes if the estimate is the true score
        - `rows_needed`: rows with which the rule passes with this power, if the estimate is true
          and labels keep their shares; null unless it is better than the bound
        - with `cluster`, `clusters_needed`: clusters with as many rows
        - `n`: rows

        With `detail`, also:

        - `min_support`: rows of the rarest label; with `cluster`, `n_clusters`,
          `effective_clusters` and `design_effect`
        - `bound`: the number in the rule, or the margin
        - `rows_needed_per_label`: rows of each label if all have equally many; null for metrics of
          all rows, such as accuracy
        - `reliability`: "exact", to 0.001 in large segments; "good", to about 0.03; or "rough",
          with few right or wrong rows of a label, or a design effect

        With `missing="correct"`, a row is for a stratum: the rows of a segment with the same
        prediction and verdicts. Its columns are these, `rule`, `estimate`, `power`, and:

        - `labels_needed`: rows to be labelled, with those that are; null if all do not suffice
        - `n_labelled`, `n`: rows with a label, and of all
        - with `detail`, `bound`; `power_at_zero`: with the existing labels; `half_width`: that of
          the interval with the labels needed

        `bf.draw_rows` draws the rows to be labelled.

    Raises
    ------
    BalframeError
        If an argument is invalid, rows are weighted, or the power of no rule is known.

    References
    ----------
    C. P. Farrington and G. Manning, "Test statistics and sample size formulae for comparative
    binomial trials", Statistics in Medicine 1990; P. Hall, "On the removal of skewness by
    transformation", JRSS B 1992.

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

    It passes in 45 of 100 samples of 100 cases, and in 80 of 100 samples of 185.

    A new model may have a recall lower by 0.05, and disagree on 10% of the cases:

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
    frame, by = with_edges(frame, by, {"y_true": y_true, "y_pred": y_pred, **options})
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
    segment_columns = opened.entries(by)
    others = dict.fromkeys([*opened.names(verdict), *opened.names(y_pred)])
    added = [name for name in others if name not in segment_columns]
    return rows, segment_columns, [*segment_columns, *added]
