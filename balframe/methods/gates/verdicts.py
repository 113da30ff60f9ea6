"""From evidence to verdicts: pass, fail or inconclusive."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from balframe.api.columns import NOTE
from balframe.core.array_types import BoolArray, Int64Array
from balframe.frames.adapter import Name
from balframe.frames.counted_frame import CountedFrame
from balframe.methods.gates.evidence import Evidence
from balframe.methods.gates.rules import Rule

STATUSES = ("pass", "fail", "inconclusive")
PASS, FAIL, INCONCLUSIVE = range(3)
ABSENT, PART_ABSENT = "expected, but without rows", "an expected segment is without rows"
UNEXPECTED = "not expected"
_NOTES = (ABSENT, PART_ABSENT, UNEXPECTED)
_UNKNOWN = -1
_BASELINE_COUNTS = ("n", "n_labels", "baseline_n")
_BASELINE_SCORES = ("score", "baseline_score")
_CLUSTER_COLUMNS = ("effective_clusters", "design_effect")
_INTEGERS = ("segment", "rule", "status", "is_absent", "n_clusters", *_BASELINE_COUNTS)
_FLOATS = ("estimate", "lower", "upper", *_BASELINE_SCORES, *_CLUSTER_COLUMNS)
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

    Verdicts on groups of segments come last in each margin. `is_unexpected` says of each segment
    whether it was not expected; without expected segments, it is None.
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
    if counted_frame.clusters is not None:
        columns["n_clusters"] = counted_frame.count_column(verdicts["n_clusters"])
        columns |= {name: verdicts[name] for name in _CLUSTER_COLUMNS}
    if is_unexpected is not None:
        notes = np.where(is_unexpected[segment], _NOTES.index(UNEXPECTED), len(_NOTES))
        if blank is not None:
            notes[blank] = len(_NOTES)
        is_absent = verdicts["is_absent"] == 1
        notes[is_absent] = _NOTES.index(ABSENT)
        if blank is not None:
            notes[is_absent & blank] = _NOTES.index(PART_ABSENT)
        columns[NOTE] = counted_frame.text_column(_NOTES, notes)
    reasons = [item.reason for item in rules]
    texts = [reason for reason in reasons if reason is not None]
    if texts:
        codes = [len(texts) if reason is None else texts.index(reason) for reason in reasons]
        columns["reason"] = counted_frame.text_column(texts, np.array(codes)[rule])
    return columns


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
    if evidence.clusters is not None:
        names = ("n_clusters", *_CLUSTER_COLUMNS)
        verdicts |= dict(zip(names, evidence.clusters, strict=True))
    return verdicts


def _status(rule: Rule, evidence: Evidence, *, by_limits: bool) -> Int64Array:
    """Decide a rule by the limits, or by the estimate alone."""
    passes = rule.holds(evidence.estimate)
    if rule.metric is None:
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
