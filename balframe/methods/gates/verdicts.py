"""From evidence to verdicts: pass, fail or inconclusive."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from balframe.api.columns import NOTE, UNDECIDED
from balframe.core.array_types import BoolArray, Int64Array
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.methods.gates.evidence import Evidence
from balframe.methods.gates.rules import SEVERITIES, Rule, Severity

STATUSES = ("pass", "fail", "inconclusive")
PASS, FAIL, INCONCLUSIVE = range(3)
ABSENT, PART_ABSENT = "expected, but without rows", "an expected segment is without rows"
UNEXPECTED = "not expected"
SEVERITY = "severity"  # the column, if a rule is a warning
_WARN: Severity = "warn"
_NOTES = (ABSENT, PART_ABSENT, UNEXPECTED)
_UNDEFINED, _FEW_ROWS, _NOT_COMPARED = range(3)
_WHY_UNDECIDED = (
    "the score is undefined",
    "fewer rows than min_support",
    "a segment could not be compared",
)  # then come the reasons why rules may have no limits
_UNKNOWN = -1
_BASELINE_COUNTS = ("n", "n_labels", "baseline_n")
_BASELINE_SCORES = ("score", "baseline_score")
LEAST_DOUBT = "least_doubt"
_CLUSTER_COLUMNS = ("effective_clusters", "design_effect")
N_LABELLED = "n_labelled"
_COUNTS = ("n_clusters", N_LABELLED, *_BASELINE_COUNTS)
_INTEGERS = ("segment", "rule", "status", UNDECIDED, "is_absent", *_COUNTS)
_FLOATS = ("estimate", "lower", "upper", *_BASELINE_SCORES, *_CLUSTER_COLUMNS, LEAST_DOUBT)
_DTYPES = dict.fromkeys(_INTEGERS, np.int64) | dict.fromkeys(_FLOATS, np.float64)


def verdict_columns(
    rules: Sequence[Rule],
    evidence: Sequence[Evidence],
    counted_frame: CountedFrame,
    *,
    by_limits: bool,
    with_baseline: bool,
    absent_fails: bool,
    is_unexpected: BoolArray | None,
) -> dict[Name, Any]:
    """Return the columns of the verdicts, with rows by margin, segment and rule.

    Verdicts on groups of segments come last in each margin. `is_unexpected` is whether each
    segment was not expected; without expected segments, it is None.
    """
    verdicts = _sorted_verdicts(
        rules, evidence, counted_frame, by_limits=by_limits, absent_fails=absent_fails
    )
    rule, segment = verdicts["rule"], verdicts["segment"]
    is_blank = np.array([item.is_over_segments for item in rules])
    blank = is_blank[rule] if is_blank.any() else None
    _, first = counted_frame.cells.segments
    columns = counted_frame.by_columns(first[segment], blank) | {
        "rule": counted_frame.text_column([item.text for item in rules], rule),
        "estimate": verdicts["estimate"],
        "lower": verdicts["lower"],
        "upper": verdicts["upper"],
        "bound": np.array([item.bound for item in rules])[rule],
        "status": counted_frame.text_column(STATUSES, verdicts["status"]),
    }
    if with_baseline:
        columns |= {name: counted_frame.count_column(verdicts[name]) for name in _BASELINE_COUNTS}
        columns |= {name: verdicts[name] for name in _BASELINE_SCORES}
    if counted_frame.query.cluster is not None:
        columns["n_clusters"] = counted_frame.count_column(verdicts["n_clusters"])
        columns |= {name: verdicts[name] for name in _CLUSTER_COLUMNS}
    columns[LEAST_DOUBT] = verdicts[LEAST_DOUBT]
    columns[N_LABELLED] = counted_frame.count_column(verdicts[N_LABELLED])
    texts = [*_WHY_UNDECIDED, *(_why_no_limits(item) for item in rules)]
    reasons = sorted({*texts})
    reason_codes = np.array([*map(reasons.index, texts), len(reasons)])
    columns[UNDECIDED] = counted_frame.text_column(reasons, reason_codes[verdicts[UNDECIDED]])
    if is_unexpected is not None:
        notes = np.where(is_unexpected[segment], _NOTES.index(UNEXPECTED), len(_NOTES))
        if blank is not None:
            notes[blank] = len(_NOTES)
        is_absent = verdicts["is_absent"] == 1
        notes[is_absent] = _NOTES.index(ABSENT)
        if blank is not None:
            notes[is_absent & blank] = _NOTES.index(PART_ABSENT)
        columns[NOTE] = counted_frame.text_column(_NOTES, notes)
    own_reasons = [item.reason for item in rules]
    texts = [reason for reason in own_reasons if reason is not None]
    if texts:
        codes = [len(texts) if reason is None else texts.index(reason) for reason in own_reasons]
        columns["reason"] = counted_frame.text_column(texts, np.array(codes)[rule])
    if have_warnings(rules):
        severities = np.array([SEVERITIES.index(item.severity) for item in rules])
        columns[SEVERITY] = counted_frame.text_column(SEVERITIES, severities[rule])
    return columns


def have_warnings(rules: Sequence[Rule]) -> bool:
    """Return whether a rule is a warning, so that verdicts have a severity."""
    return any(rule.severity == _WARN for rule in rules)


def is_warning(verdict: Mapping[Any, Any]) -> bool:
    """Return whether a row of `check` is the verdict of a rule that only warns.

    A by-column of the same name stands before the rule, and there is no severity then.
    """
    names = list(verdict)
    return (
        verdict.get(SEVERITY) == _WARN
        and "rule" in names
        and names.index(SEVERITY) > names.index("rule")
    )


def _sorted_verdicts(
    rules: Sequence[Rule],
    evidence: Sequence[Evidence],
    counted_frame: CountedFrame,
    *,
    by_limits: bool,
    absent_fails: bool,
) -> dict[str, Any]:
    """Decide all rules, and sort the verdicts."""
    parts = [
        _rule_verdicts(rules[item.rule], item, by_limits=by_limits, absent_fails=absent_fails)
        for item in evidence
    ]
    verdicts = {
        name: np.concatenate([np.zeros(0, dtype), *(part[name] for part in parts)])
        for name, dtype in _DTYPES.items()
    }
    rule, segment = verdicts["rule"], verdicts["segment"]
    is_disparity = np.array([item.is_over_segments for item in rules])[rule]
    margin = counted_frame.segment_margins()[segment]
    group_or_segment = np.where(is_disparity, counted_frame.segment_models()[segment], segment)
    order = np.lexsort((rule, group_or_segment, is_disparity, margin))
    return {name: values[order] for name, values in verdicts.items()}


def _rule_verdicts(
    rule: Rule, evidence: Evidence, *, by_limits: bool, absent_fails: bool
) -> dict[str, Any]:
    """Return the verdicts of a rule, with what they are based on.

    Without a baseline or clusters, their counts are `_UNKNOWN` and their floats NaN.
    """
    size = len(evidence.segments)
    verdicts = {name: np.full(size, _UNKNOWN) for name in _INTEGERS}
    verdicts |= {name: np.full(size, np.nan) for name in _FLOATS}
    verdicts |= {
        "segment": evidence.segments,
        "rule": np.full(size, evidence.rule),
        "estimate": np.asarray(evidence.estimate, np.float64),
        "lower": np.asarray(evidence.lower, np.float64),
        "upper": np.asarray(evidence.upper, np.float64),
        "status": _status(rule, evidence, by_limits=by_limits),
    }
    verdicts[UNDECIDED] = _why_undecided(rule, evidence, verdicts["status"], by_limits=by_limits)
    if evidence.is_absent is not None:
        verdicts["is_absent"] = evidence.is_absent.astype(np.int64)
        can_change = evidence.is_absent & (verdicts["status"] != FAIL)
        verdict = FAIL if absent_fails else INCONCLUSIVE
        verdicts["status"] = np.where(can_change, verdict, verdicts["status"])
    scores = evidence.baseline_scores
    if scores is not None:
        verdicts |= {
            "n": scores.n,
            "n_labels": scores.n_labels,
            "score": scores.score,
            "baseline_score": scores.baseline_score,
            "baseline_n": np.where(scores.baseline_n > 0, scores.baseline_n, _UNKNOWN),
        }
    if evidence.n_labelled is not None:
        verdicts[N_LABELLED] = evidence.n_labelled
    if evidence.least_doubt is not None:
        is_decided = verdicts["status"] != INCONCLUSIVE
        verdicts[LEAST_DOUBT] = np.where(is_decided, evidence.least_doubt, np.nan)
    if evidence.clusters is not None:
        names = ("n_clusters", *_CLUSTER_COLUMNS)
        verdicts |= dict(zip(names, evidence.clusters, strict=True))
    return verdicts


def _why_no_limits(rule: Rule) -> str:
    """Return why a score may have no limits that decide a rule on it."""
    if rule.metric is None or rule.is_over_segments or rule.is_relative:
        return "its limits are undefined"
    return rule.metric.interval.why_undecided


def _why_undecided(
    rule: Rule, evidence: Evidence, status: Int64Array, *, by_limits: bool
) -> Int64Array:
    """Return the positions of reasons why verdicts are inconclusive; -1 where limits say so.

    The last reasons are those why rules have no limits, in the order of the rules.
    """
    estimate, is_undecided = np.asarray(evidence.estimate, np.float64), status == INCONCLUSIVE
    lacks_limits = np.isnan(np.asarray(evidence.lower, np.float64)) & by_limits
    reasons = np.select(
        [~is_undecided, np.isnan(estimate), ~evidence.is_evaluable, lacks_limits],
        [_UNKNOWN, _UNDEFINED, _FEW_ROWS, len(_WHY_UNDECIDED) + evidence.rule],
        _UNKNOWN if evidence.is_complete else _NOT_COMPARED,
    )
    return np.asarray(reasons, np.int64)


def _status(rule: Rule, evidence: Evidence, *, by_limits: bool) -> Int64Array:
    """Decide a rule by the limits, or by the estimate alone."""
    passes = rule.holds(evidence.estimate)
    if rule.is_on_count:
        return np.where(passes, PASS, FAIL)
    fails, is_decidable = ~passes, evidence.is_evaluable
    if by_limits:
        lower, upper = evidence.lower, evidence.upper
        is_decidable = is_decidable & ~np.isnan(lower) & ~np.isnan(upper)
        passes = passes & rule.holds(lower) & rule.holds(upper)
        if rule.operator == "==":
            fails = fails & ((lower > rule.bound) | (upper < rule.bound))
        else:
            fails = fails & ~rule.holds(lower) & ~rule.holds(upper)
    status = np.select([passes, fails], [PASS, FAIL], INCONCLUSIVE)
    status = np.where(is_decidable, status, INCONCLUSIVE)
    if evidence.is_complete:
        return status
    # One more segment can only make a disparity larger, so only some failures are final.
    mending = (">=", ">", "==") if rule.disparity == "difference" else ("<=", "<", "==")
    is_final = (status == FAIL) & (rule.operator not in mending)
    return np.where(is_final, FAIL, INCONCLUSIVE)
