"""The method `check`."""

from collections.abc import Iterable
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
from balframe.errors import InvalidInputError
from balframe.frames.adapter import FrameT, Name
from balframe.frames.expected_segments import ExpectedValues, add_expected_segments
from balframe.frames.query import PERIOD, N, Query
from balframe.frames.sources import Source, with_edges
from balframe.methods.comparisons.score_models import check_predictions_or_scores
from balframe.methods.gates.absent_segments import Expectation, gone_since_baseline
from balframe.methods.gates.baseline import baseline_request
from balframe.methods.gates.evidence import EvidenceRequest, check_applies
from balframe.methods.gates.expect import all_expected_values, check_some_are_expected
from balframe.methods.gates.rules import (
    ABSENT_VERDICTS,
    BY_ESTIMATE,
    Rule,
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
from balframe.metrics.partly_labelled import PARTLY_LABELLED, check_metrics

# The options of rules.


Decide = Literal["confident", "estimate"]
AbsentSegments = Literal["inconclusive", "fail"]


class BaselineOptions(TypedDict, total=False):
    """What rules compare with."""

    baseline: Annotated[
        BaselineOption,
        Option(
            "column name, or rows or cells of an earlier run, optional",
            'What rules such as "recall >= baseline - 0.02" compare with: another column of '
            "predictions, or the rows of an earlier run or its result of `confusion`.",
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
            'With "bonferroni", the decision limits of a rule hold together over all segments and '
            "models of a margin. With None, each alone.",
            default="bonferroni",
        ),
    ]
    min_support: Annotated[
        int,
        Option(
            "int, default 1",
            "Rows that the smallest denominator of a metric needs, or the rarest label of a mean "
            "of recalls.",
            default=1,
        ),
    ]


class ExpectOptions(TypedDict, total=False):
    """Which segments must have rows."""

    expect: Annotated[
        ExpectedSegments | ExpectOption,
        Option(
            "list, mapping or frame, optional",
            "The segments that must have rows: values of the by-column, a mapping of columns to "
            "values, in every combination, or a frame, such as last month's result. Those without "
            "rows never pass; a warning names others.",
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
            "Confidence level of the decision limits. A rule passes if all values between them "
            "satisfy it, and fails if none does. With None, the estimate decides.",
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

    A rule compares a metric or a count (`n`, `n_labels`, `min_support`) with a number, by >=, >,
    <=, < or ==: "recall >= 0.8". `difference(metric)` is the highest score of a segment minus the
    lowest, `ratio(metric)` the lowest divided by the highest, and `n_segments` the number of
    segments. With `baseline`, "recall >= baseline - 0.02" has a non-inferiority margin of 0.02.

    Parameters
    ----------
    y_pred : column name or list of column names, optional
        The predicted class labels. Several columns are several models, in a column `model`.
    y_score : column name or list of column names, optional
        The scores, in place of `y_pred`: finite numbers, higher for the positive label.
    rules : str, list, mapping or path
        The rules of every segment: a text, a list, a mapping `{"recall": ">= 0.7"}`, or the path
        of a .toml or .yaml file with `rules` and, optionally, `expect` and `absent_segments`. An
        item may be a path, or `{"rule": "recall >= 0.7", "where": {"group": ["a", "b"]},
        "reason": "as agreed"}`, for these values only. With `"severity": "warn"`, a rule fails no
        gate.

    Returns
    -------
    frame of the same library
        One row per segment, [model] and rule, in this order; rules over segments come last, with
        null by-columns. Columns in brackets follow from options:

        - the by-columns, [`grouped_by`: those that define the segment], [`model`]
        - `rule`, [`reason`]
        - `estimate`: score, count, difference or ratio; with a baseline, score less baseline
        - `lower`, `upper`: decision limits, wider than those of `report`
        - `bound`: the number in the rule; -0.02 for "recall >= baseline - 0.02"
        - `status`: "pass", "fail" or "inconclusive", as where the score is undefined
        - [`severity`: "error" or "warn"], [`n_labelled`: rows with a true label]
        - [`note`: that a segment is expected and without rows, or not expected]

        With `detail`, also:

        - with `baseline`, `n`, `baseline_n`: rows; `n_labels`: labels on both sides; `score`,
          `baseline_score`: the scores over these
        - with `cluster`, `n_clusters`, `effective_clusters` and `design_effect`, as in `report`
        - `least_doubt`: the smallest `doubt` with which the verdict is inconclusive
        - `undecided`: why a verdict is inconclusive although no limits include the bound

        Metrics of scores have no limits with `cluster`, nor have log_loss and differences of
        `ks_statistic`.

    Raises
    ------
    BalframeError
        If an argument is invalid, or no rule applies to an expected segment without rows.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas(backend="pandas").query("race in ['Asian', 'Caucasian']")
    >>> rules = ["balanced_accuracy >= 0.6", "ratio(selection_rate) >= 0.8"]
    >>> out = bf.check(compas, "reoffended", "high_risk", by="race", counts="n", rules=rules)
    >>> print(out.round(3).to_string(index=False))
         race                         rule  estimate  lower  upper  bound       status
        Asian     balanced_accuracy >= 0.6     0.790  0.582  0.935    0.6 inconclusive
    Caucasian     balanced_accuracy >= 0.6     0.644  0.622  0.666    0.6         pass
          NaN ratio(selection_rate) >= 0.8     0.718  0.357  1.000    0.8 inconclusive

    Does a segment pass that has disappeared?

    >>> out = bf.check(
    ...     compas, "reoffended", "high_risk", by="race", counts="n", rules="n >= 30",
    ...     expect=["Asian", "Caucasian", "Hispanic"],
    ... )
    >>> out[["race", "estimate", "status", "note"]].fillna("").to_numpy().tolist()[1:]
    [['Caucasian', 2454.0, 'pass', ''], ['Hispanic', 0.0, 'fail', 'expected, but without rows']]

    Is a new model worse than an old one by at most 0.05, on the same rows?

    >>> import polars as pl
    >>> cases = {"y": [1] * 4, "old": [1, 1, 0, 0], "new": [1, 0, 1, 0], "n": [850, 30, 40, 80]}
    >>> out = bf.check(
    ...     pl.DataFrame(cases), "y", "new", counts="n", baseline="old",
    ...     rules="recall >= baseline - 0.05",
    ... )
    >>> out.select(pl.col("estimate", "lower", "upper").round(3), "status").rows()
    [(0.01, -0.007, 0.027, 'pass')]
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
    frame, by = with_edges(frame, by, {"y_true": y_true, "y_pred": y_pred, **options})
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
        by_columns = [name for name in query.by if name != PERIOD or query.period is None]
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


def check_can_decide(
    rules: Iterable[Rule],
    missing: object,
    doubt: object,
    decide: str,
    *,
    on_scores: bool,
    has_baseline: bool,
) -> None:
    """Raise for rules that are not decided if rows lack a true label."""
    if on_scores or has_baseline:
        raise InvalidInputError(
            "{missing} is for rules on metrics of predicted labels without a baseline; give only "
            "such rules, or drop the rows without a true label.",
            missing=missing,
        )
    if decide == "estimate" and (missing == "bounds" or doubt is not None):
        raise InvalidInputError(
            "{decide} leaves the limits aside, and doubt and bounds change nothing else; omit one.",
            decide=BY_ESTIMATE,
        )
    names = [rule.metric.name for rule in rules if rule.metric is not None]
    check_metrics(names, PARTLY_LABELLED, "decided")
