"""The method `check`."""

from dataclasses import replace
from typing import Annotated, Any, Literal, TypedDict, Unpack

import numpy as np

from balframe._validate import check_choice, check_level, check_min_support
from balframe.api.columns import (
    CORRECTED,
    DECISION_LIMITS,
    DESIGN_COLUMNS,
    HEADING_SEPARATOR,
    N_CLUSTERS,
    N_LABELLED,
    NOTE,
    SEGMENT_KEYS,
    UNDECIDED,
    Kind,
    Naming,
    Span,
    Statuses,
    count_or_null,
    details,
    estimate,
    key,
    limits,
    note,
    status,
    threshold_or_bound,
)
from balframe.api.method import Method
from balframe.api.metric_selection import Absent, MetricSelection, check_by
from balframe.api.option_types import BaselineOption, ExpectedSegments, ExpectOption
from balframe.api.options import (
    DEFAULT_LEVEL,
    ClassWeightOptions,
    ClusterOptions,
    DetailOptions,
    Names,
    Option,
    OutcomeOptions,
    PartlyLabelledRowOptions,
    ResultOptions,
)
from balframe.api.run import Columns, run_method
from balframe.core.strata import is_correction
from balframe.frames.adapter import FrameT, Name
from balframe.frames.expected_segments import ExpectedValues, add_expected_segments
from balframe.frames.query import N, Query
from balframe.frames.sources import Source
from balframe.methods.comparisons.score_models import check_predictions_or_scores
from balframe.methods.gates.absent_segments import Expectation, gone_since_baseline
from balframe.methods.gates.baseline import baseline_request
from balframe.methods.gates.correction import check_can_decide
from balframe.methods.gates.evidence import EvidenceRequest, check_applies
from balframe.methods.gates.expect import all_expected_values, check_some_are_expected
from balframe.methods.gates.rules import (
    ABSENT_VERDICTS,
    RuleSet,
    RulesOption,
    check_have_baseline,
    check_have_limits,
    check_where,
    read_rule_set,
)
from balframe.methods.gates.score_evidence import (
    ScoredSegments,
    check_on_labels,
    check_on_scores,
    check_scores_have_limits,
    score_evidence,
    score_input,
)
from balframe.methods.gates.verdicts import (
    LEAST_DOUBT,
    SEVERITY,
    STATUSES,
    have_warnings,
    verdict_columns,
)

# The options of rules.


Decide = Literal["confident", "estimate"]
AbsentSegments = Literal["inconclusive", "fail"]


class BaselineOptions(TypedDict, total=False):
    """What rules compare with."""

    baseline: Annotated[
        BaselineOption,
        Option(
            "column name, or rows or cells of an earlier run, optional",
            'What rules such as "recall >= baseline - 0.02" compare with. Give the name of another '
            "column of predictions to compare two models on the same rows. Give the rows of an "
            "earlier run, with the same columns, or a result of `confusion` with the same "
            "by-columns, to compare with other rows. With `cluster`, both runs need its column.",
        ),
    ]


class RuleOptions(ClassWeightOptions, BaselineOptions, total=False):
    """At which level rules are decided, and in which segments."""

    absent: Annotated[
        Absent,
        Option(
            '{"null", "skip", "zero"}',
            "How an average over labels treats a label that a segment lacks: make the average "
            "null, skip the label, or count its value as 0. If the average is null, the rule is "
            "inconclusive. Rules against a baseline average over the labels present on both sides.",
            default="null",
            part_of="labels",
        ),
    ]
    adjust: Annotated[
        Literal["bonferroni"] | None,
        Option(
            '{"bonferroni"} or None, default "bonferroni"',
            "Adjustment of the decision limits for multiple testing. "
            'With "bonferroni", the limits of a rule have simultaneous coverage at this level '
            "over all segments and models of a margin. With None, each pair has this coverage "
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


class ExpectOptions(TypedDict, total=False):
    """Which segments must have rows."""

    expect: Annotated[
        ExpectedSegments | ExpectOption,
        Option(
            "list, mapping or frame, optional",
            "The segments that must have rows: a list of values of the by-column, a mapping of "
            "columns to values, or a frame with the by-columns, such as the result of last "
            "month. A mapping stands for every combination of its values, and None for the null "
            "group. A by-column that it omits takes all of its values in the data. An expected "
            "segment without rows is judged too, and never passes. A warning names segments that "
            "are not expected.",
        ),
    ]
    absent_segments: Annotated[
        AbsentSegments,
        Option(
            '{"inconclusive", "fail"}',
            "The verdict on an expected segment without rows, and on rules over several segments "
            "that include one. A rule on a number of rows fails in any case if 0 violates it. A "
            "segment that only the cells of `baseline` have is expected by rules that compare "
            "with it.",
            default="inconclusive",
            part_of="expect",
        ),
    ]


class DecisionOptions(RuleOptions, ExpectOptions, total=False):
    """At which level rules are decided, or by estimates alone."""

    level: Annotated[
        float | None,
        Option(
            "float or None, default 0.95",
            "Confidence level of the decision limits, in (0, 1). A rule passes if all values "
            "between them satisfy it, fails if all violate it, and is inconclusive otherwise. With "
            "None, the estimate alone decides.",
            default=DEFAULT_LEVEL,
        ),
    ]
    decide: Annotated[
        Decide,
        Option(
            '{"confident", "estimate"}',
            "How rules are decided: by the decision limits, or by the estimate alone.",
            default="confident",
            part_of="level",
        ),
    ]


_BASELINE = (
    count_or_null(N, only_with="baseline"),
    count_or_null("n_labels", only_with="baseline"),
    count_or_null("baseline_n", only_with="baseline"),
    estimate("score", only_with="baseline"),
    estimate("baseline_score", only_with="baseline"),
)
METHOD = Method.of(
    *SEGMENT_KEYS,
    key("rule", identifies=True, naming=Naming.RULE, heading=HEADING_SEPARATOR),
    note("reason", only_with="reasons"),
    estimate("estimate", identifies=True, span=Span.BY_ROW, ranks_rows=True),
    *limits(about="estimate", name=DECISION_LIMITS),
    threshold_or_bound("bound", about="estimate"),
    status("status", identifies=True, statuses=Statuses(*STATUSES)),
    note(SEVERITY, only_with="warnings"),
    note(NOTE, only_with="expect"),
    replace(N_LABELLED, kind=Kind.INTEGER_OR_NULL),
    *details(
        *_BASELINE,
        replace(N_CLUSTERS, kind=Kind.INTEGER_OR_NULL),
        *DESIGN_COLUMNS,
        estimate(LEAST_DOUBT, only_with=CORRECTED),
        note(UNDECIDED),
    ),
)


class _Options(
    OutcomeOptions,
    DecisionOptions,
    ClusterOptions,
    PartlyLabelledRowOptions,
    ResultOptions,
    DetailOptions,
    total=False,
): ...


@METHOD
def check(
    frame: FrameT,
    y_true: Name = None,
    y_pred: Names = None,
    *,
    rules: RulesOption,
    y_score: Names = None,
    by: Names = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment and rule with its verdict: pass, fail or inconclusive.

    A rule compares a metric, or a count (`n`, `n_labels`, `min_support`), with a number:
    "balanced_accuracy >= 0.8". `difference(metric)` is the highest score of a segment minus the
    lowest. `ratio(metric)` is the lowest score divided by the highest. `n_segments` is the number
    of segments that have rows: "n_segments >= 6". The comparisons are >=, >, <=, < and ==.

    A segment without rows has no verdict unless it is expected: name it in `expect`.

    With `baseline`, a rule can compare a metric with that of another model or of an earlier run:
    "balanced_accuracy >= baseline - 0.02" or "false_positive_rate <= baseline + 0.01". The number
    is the non-inferiority margin. Without a number, the margin is 0.

    With `y_score` in place of `y_pred`, rules are on metrics of scores: "roc_auc >= 0.8",
    "roc_auc(max_fpr=0.1) >= 0.7", "average_precision >= 0.5", "brier_score <= 0.2" or
    "ks_statistic >= 0.3". The baseline is then the column of another model's scores.

    Parameters
    ----------
    y_pred : column name or list of column names, optional
        The predicted class labels. Several columns are treated as several models, and the result
        has a column `model`. Give either `y_pred` or `y_score`.
    y_score : column name or list of column names, optional
        The scores: finite numbers, higher for the positive label. All rules are then on metrics of
        scores or on counts. For rules on both, make two calls.
    rules : str, list, mapping or path
        The rules that every segment must satisfy. Give one rule or a list of rules, a mapping
        `{"recall": ">= 0.7", "n": ">= 100"}`, or the path of a .toml or .yaml file with a list
        `rules` and, optionally, `expect` and `absent_segments`. Segments are expected if the file
        or the option names them, and without rows they fail if either of the two demands it. An
        item of a list may be the path of such a file, or a mapping `{"rule": "recall >= 0.7",
        "where": {"group": ["a", "b"]}, "reason": "as agreed"}`: this rule applies only to segments
        with these values. With `"severity": "warn"`, a rule is judged as usual, but it never makes
        a gate fail, whether that of `require`, of `passed` or of the command line.

    Returns
    -------
    frame of the same library
        One row for each segment, [model] and rule, in this order. The rows of rules on a
        difference, a ratio or `n_segments` come after the segments and have null by-columns: one
        for each rule, margin and model. Columns in
        brackets are present only if the options or rules ask for them:

        - the by-columns, [`grouped_by`: the columns that define the segment], [`model`]
        - `rule`, [`reason`, if a rule has one]
        - `estimate`: the score, count, difference or ratio. Under a rule with a baseline, it is
          the score less that of the baseline.
        - `lower`, `upper`: its decision limits, which are wider than the confidence interval of
          `report`. For a count, both limits are the count itself. They are null if the estimate
          alone decides.
        - `bound`: the number in the rule. For "recall >= baseline - 0.02" it is -0.02.
        - `status`: "pass", "fail" or "inconclusive". It is inconclusive if the score is undefined.
          For example, an average over labels is undefined in a segment that lacks a label. A rule
          on a difference or ratio is also inconclusive if a segment could not be compared. It still
          fails if including that segment could only make the result worse. An expected segment
          without rows is "inconclusive", or "fail" with `absent_segments="fail"` or if its count 0
          violates the rule. Rules on a difference, a ratio or `n_segments` with such a segment do
          not pass either.
        - [`severity`: "error" or "warn", if a rule is a warning]
        - [`n_labelled`: number of rows with a true label, with `missing="correct"` and "bounds"]
        - [`note`: whether the segment is expected and without rows, or has rows and is not
          expected; otherwise null], with `expect`

        With `detail`, also:

        - with `baseline`, `n`, `baseline_n`: number of rows, and of rows of the baseline;
          `n_labels`: number of labels present on both sides; `score`, `baseline_score`: the two
          scores, averaged over these labels. They are null for rules without a baseline.
        - with `cluster`, `n_clusters`: number of clusters with rows in the segment;
          `effective_clusters` and `design_effect` of the estimate: number of clusters of equal size
          that carry as much information, and variance over that of independent rows. They are null
          for a difference or ratio, and the last two also for a count.
        - with `missing="correct"`, `least_doubt`: the smallest `doubt` that makes the verdict
          inconclusive; infinite if there is none, and null if the verdict is inconclusive anyway,
          and for a difference or ratio
        - `undecided`: why a verdict is inconclusive although no limits include the bound, such as
          "fewer than about 16 rows determine the score"; otherwise null

        Rules on a difference, a ratio or `n_segments` do not apply to the margin "overall", which
        is a single segment. Differences and ratios do not compare means over different labels: a
        segment that lacks a label of another segment is not compared, unless `absent="skip"` and
        `min_support=0`.

        The decision limits are those of confidence intervals that are wider than those of `report`,
        so that rules are rarely decided wrongly, even with few errors, and that hold for all
        segments of a rule together. A proportion has the Clopper-Pearson interval (f1 through the
        Jaccard index). A mean of recalls has the wider of the score interval and the
        skewness-corrected score interval. A geometric mean has products of Clopper-Pearson limits.
        Kappas, the Matthews correlation, averages over labels and F-beta have the Clopper-Pearson
        interval of an effective sample size, wider where they are more skewed or heavy-tailed than
        a proportion. They have none where fewer than about 16 rows determine the score. Likelihood
        and odds ratios have the wider of two score intervals, as means of recalls do. The
        difference and the ratio of segments have the limits of `disparity`, at a level that the
        models share.

        With `adjust`, the intervals of one rule have simultaneous coverage over their family: all
        segments and models of a margin. For a rule with a baseline, these are the segments that
        can be judged.

        A limit of a difference is the wider of two: that of the score interval, and that of the
        score interval corrected for skewness. From another column, the score interval is Tango's
        for paired data, which `compare` uses alone. From an earlier run, it is that of independent
        samples. For other metrics than proportions and means of recalls, such as f1 and kappa of an
        earlier run, the interval is computed from the intervals of both scores (MOVER-D).

        A metric of scores has the Clopper-Pearson interval of a proportion with as many rows as
        give it the same variance. For the lower limit, the variance is that after adding one
        positive and one negative row at the worst places; for the upper limit, at the best ones. So
        few rows, or a minority missing from the data, rarely mislead. `ks_statistic` has the limits
        of `ranking`, and log_loss has none, because the loss of a row has no upper bound. A
        difference from another model's scores has DeLong's variance. Its limits allow for rows that
        the data may lack by chance, and are further away if the differences of rows are skewed.
        Metrics of scores have no decision limits for rows in clusters, and none for differences of
        `ks_statistic` and of log_loss.

        With `missing="correct"` and "bounds", shares, recalls and means of two recalls have
        decision limits, and rules cannot have a baseline.

        A segment that the earlier run lacks is inconclusive, and `baseline_n` and `baseline_score`
        are null. A segment that only the earlier run has is a row with `n` 0, also inconclusive,
        or "fail" with `absent_segments="fail"`.

        A frame without rows has no segments and returns no verdicts, unless segments are expected.
        `require` raises for it.

    Raises
    ------
    BalframeError
        If a rule, a name, an option or a value is invalid, if a rule applies only to segments that
        neither occur nor are expected, if no rule applies to an expected segment without rows, or
        if a metric without a confidence interval is decided by one.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas(backend="pandas").query("race in ['Asian', 'Caucasian']")
    >>> rules = ["balanced_accuracy >= 0.6", "ratio(selection_rate) >= 0.8", "n >= 100"]
    >>> out = bf.check(compas, "reoffended", "high_risk", by="race", counts="n", rules=rules)
    >>> print(out.round(3).to_string(index=False))
         race                         rule  estimate    lower    upper  bound       status
        Asian     balanced_accuracy >= 0.6     0.790    0.582    0.935    0.6 inconclusive
        Asian                     n >= 100    32.000   32.000   32.000  100.0         fail
    Caucasian     balanced_accuracy >= 0.6     0.644    0.622    0.666    0.6         pass
    Caucasian                     n >= 100  2454.000 2454.000 2454.000  100.0         pass
          NaN ratio(selection_rate) >= 0.8     0.718    0.357    1.000    0.8 inconclusive

    Does a segment pass that has disappeared?

    >>> out = bf.check(
    ...     compas, "reoffended", "high_risk", by="race", counts="n", rules="n >= 30",
    ...     expect=["Asian", "Caucasian", "Hispanic"],
    ... )
    >>> out[["race", "estimate", "status", "note"]].fillna("").to_numpy().tolist()[1:]
    [['Caucasian', 2454.0, 'pass', ''], ['Hispanic', 0.0, 'fail', 'expected, but without rows']]

    Is a new model not worse than an old one by more than 0.05, on the same rows?

    >>> import polars as pl
    >>> cases = pl.DataFrame(
    ...     {
    ...         "y": [1, 1, 1, 1],
    ...         "old": [1, 1, 0, 0],
    ...         "new": [1, 0, 1, 0],
    ...         "n": [850, 30, 40, 80],
    ...     }
    ... )
    >>> rule = "recall >= baseline - 0.05"
    >>> out = bf.check(cases, "y", "new", counts="n", baseline="old", rules=rule)
    >>> print(out)
    shape: (1, 6)
    ┌───────────────────────────┬──────────┬───────────┬──────────┬───────┬────────┐
    │ rule                      ┆ estimate ┆ lower     ┆ upper    ┆ bound ┆ status │
    │ ---                       ┆ ---      ┆ ---       ┆ ---      ┆ ---   ┆ ---    │
    │ str                       ┆ f64      ┆ f64       ┆ f64      ┆ f64   ┆ str    │
    ╞═══════════════════════════╪══════════╪═══════════╪══════════╪═══════╪════════╡
    │ recall >= baseline - 0.05 ┆ 0.01     ┆ -0.006558 ┆ 0.026964 ┆ -0.05 ┆ pass   │
    └───────────────────────────┴──────────┴───────────┴──────────┴───────┴────────┘
    """
    rule_set: RuleSet = read_rule_set(rules)
    parsed_rules = rule_set.rules
    check_predictions_or_scores("check", y_pred, y_score)
    on_scores = y_score is not None
    baseline = options.pop("baseline")
    has_baseline = baseline is not None
    expect: object = options.pop("expect")
    absent_segments = options.pop("absent_segments")
    check_choice("absent_segments", absent_segments, ABSENT_VERDICTS)
    expectations = [*rule_set.expect, *([] if expect is None else [(expect, None)])]
    absent_fails = rule_set.absent_fails or absent_segments == "fail"
    check_some_are_expected(absent_fails, expectations, baseline)
    expected: list[ExpectedValues] = []
    adjust, level = options["adjust"], options["level"]
    check_choice("decide", options["decide"], ("confident", "estimate"))
    decide: Decide = "estimate" if level is None else options["decide"]
    level = DEFAULT_LEVEL if level is None else level
    check_choice("adjust", adjust, ("bonferroni", None))
    check_level(level)
    check_min_support(options["min_support"])
    check_have_baseline(parsed_rules, baseline)
    has_clusters = options["cluster"] is not None
    if on_scores:
        check_on_scores(parsed_rules)
        scores = score_input(baseline, options)
    else:
        check_on_labels(parsed_rules)
    if is_correction(options["missing"]):
        check_can_decide(
            parsed_rules,
            options["missing"],
            options["doubt"],
            decide,
            on_scores=on_scores,
            has_baseline=has_baseline,
        )
    comparison = baseline_request(None if on_scores else baseline, y_true, y_pred, by, options)
    if decide == "confident":
        check_have_limits(parsed_rules, paired=comparison.is_paired, clusters=has_clusters)
        check_scores_have_limits(parsed_rules, clusters=has_clusters)
    metrics = [rule.quantity for rule in parsed_rules if rule.metric is not None]
    absent, weights = options["absent"], options["class_weight"]
    selection = MetricSelection.of(list(dict.fromkeys(metrics)) or "accuracy", weights, (), absent)
    by_limits = decide == "confident"
    evidence_request = EvidenceRequest(by_limits, adjust is not None, level, options["min_support"])

    def check_query(query: Query) -> None:
        if any(rule.disparity is not None for rule in parsed_rules):
            check_by(query, "a rule on a difference or ratio")
        if any(rule.is_over_segments for rule in parsed_rules):
            check_by(query, "a rule on n_segments")
        by_columns = [name for name in query.by if not query.is_period(name)]
        expected.extend(all_expected_values(expectations, by_columns))
        check_where(parsed_rules, query)
        comparison.input.check(query)

    def compute(source_counts: Any) -> Columns:  # noqa: ANN401 (as the baseline has it)
        baseline = None
        scored = ScoredSegments.of(source_counts) if on_scores else None
        if scored is None:
            baseline = comparison.make_baseline(source_counts, replace(selection, absent="skip"))
        data = source_counts.counted_frame if baseline is None else baseline.data
        counted_frame = data if baseline is None else baseline.counted_frame
        expectation = None
        if expected:
            n = np.zeros(len(counted_frame.cells.segments[1]), np.int64)
            positions = slice(None) if baseline is None else baseline.positions
            n[positions] = (selection.sample(data).counts if scored is None else scored.totals).n
            expectation = Expectation.of(counted_frame, expected, n)
            counted_frame = expectation.counted_frame
        for rule in parsed_rules:
            is_alone = expectation is None and not rule.is_relative and not on_scores
            check_applies(rule, data if is_alone else counted_frame)
        if expectation is not None:
            expectation.check_are_judged(parsed_rules)
            expectation.warn_of_unexpected()
        if scored is None:
            evidence = evidence_request.collect(parsed_rules, selection, data, baseline)
        else:
            evidence = score_evidence(parsed_rules, evidence_request, scored)
        if expectation is None:
            evidence = gone_since_baseline(evidence)
        else:
            evidence = expectation.complete(parsed_rules, evidence)
        return verdict_columns(
            parsed_rules,
            evidence,
            counted_frame,
            by_limits=by_limits,
            with_baseline=has_baseline,
            absent_fails=absent_fails,
            is_unexpected=None if expectation is None else expectation.is_unexpected,
        )

    role = "y_score" if on_scores else "y_pred"
    names = {"y_true": y_true, role: y_score if on_scores else y_pred, "by": by, **options}
    input_spec = scores.input_spec if on_scores else comparison.input.input_spec
    source: Source = scores.source if on_scores else comparison.input.source
    optional_columns = ["baseline"] if has_baseline else []
    if expectations:
        optional_columns.append("expect")
    if any(rule.reason is not None for rule in parsed_rules):
        optional_columns.append("reasons")
    if have_warnings(parsed_rules):
        optional_columns.append("warnings")
    return run_method(
        frame,
        METHOD,
        names,
        compute,
        optional_columns=optional_columns,
        input_spec=input_spec,
        source=source,
        check_query=check_query,
        check_labels=lambda source_counts: (
            None if on_scores else selection.check_labels(source_counts.counted_frame)
        ),
        result_segments=lambda counted_frame: (
            add_expected_segments(counted_frame, expected).counted_frame
            if expected
            else counted_frame
        ),
    )
