"""From scores and confidence intervals to verdicts: pass, fail or inconclusive."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from balframe.analyses.evidence import Evidence, Search
from balframe.core.arrays import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.errors import InvalidInputError, UnknownNameError, advised, listed, marked, not_found
from balframe.frames.library import Name
from balframe.frames.query import Query
from balframe.frames.read import Reading
from balframe.gates.rules import Rule
from balframe.metrics.catalogue import registered

STATUS = ("pass", "fail", "inconclusive")
PASS, FAIL, INCONCLUSIVE = range(3)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Verdicts of rules on segments, or on groups of segments, each named by its first."""

    segment: Int64Array
    is_of_many: Int64Array
    rule: Int64Array
    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    status: Int64Array

    @classmethod
    def of(
        cls,
        rule: int,
        segment: Int64Array,
        found: Evidence,
        status: Int64Array,
        *,
        is_of_many: bool,
    ) -> "Verdicts":
        """Put the verdicts of one rule together."""
        of_many, number = (np.full(len(segment), one) for one in (int(is_of_many), rule))
        shown = (found.estimate, found.lower, found.upper)
        estimate, lower, upper = (np.asarray(values, np.float64) for values in shown)
        return cls(segment, of_many, number, estimate, lower, upper, status)

    @classmethod
    def concat(cls, parts: list["Verdicts"]) -> "Verdicts":
        """Put verdicts one below the other."""
        integers = ("segment", "is_of_many", "rule", "status")
        columns = {
            name: np.concatenate(
                [np.zeros(0, np.int64 if name in integers else np.float64)]
                + [getattr(part, name) for part in parts]
            )
            for name in cls.__dataclass_fields__
        }
        return cls(**columns)

    def in_order(self, reading: Reading) -> "Verdicts":
        """Sort by margin, segment and rule; verdicts on groups of segments come last."""
        _, first = reading.cells.segments
        margin = reading.margin_of_segments()[self.segment]
        model = reading.model_codes()[first[self.segment]]
        place = np.where(self.is_of_many, model, self.segment)
        order = np.lexsort((self.rule, place, self.is_of_many, margin))
        return Verdicts(*(getattr(self, name)[order] for name in self.__dataclass_fields__))


@dataclass(frozen=True, slots=True)
class Judge:
    """How rules are decided: by confidence intervals, or by estimates alone."""

    search: Search
    by_limits: bool

    def verdicts(
        self, rule: Rule, number: int, c: ClassCounts, reading: Reading
    ) -> Iterator[Verdicts]:
        """Judge all segments that a rule applies to, or those of each group together."""
        groups = _where(rule, reading) if c.n_segments else []
        if rule.over is None:
            segments = np.sort(np.concatenate([np.zeros(0, np.int64), *groups]))
            found = self.search.of_segments(rule.metric, rule.quantity, c, reading, segments)
            yield Verdicts.of(number, segments, found, self._status(rule, found), is_of_many=False)
            return
        margins = [int(reading.margin_of_segments()[segments[0]]) for segments in groups]
        for segments, margin in zip(groups, margins, strict=True):
            assert rule.metric is not None
            n_together = margins.count(margin)
            found = self.search.of_extremes(
                rule.over, rule.metric, rule.quantity, c, reading, segments, n_together
            )
            status = self._status(rule, found)
            if not found.is_complete:  # one more segment can only let them lie further apart
                mends = (">=", ">", "==") if rule.over == "difference" else ("<=", "<", "==")
                stands = (status == FAIL) & (rule.operator not in mends)
                status = np.where(stands, FAIL, INCONCLUSIVE)
            yield Verdicts.of(number, segments[:1], found, status, is_of_many=True)

    def _status(self, rule: Rule, found: Evidence) -> Int64Array:
        keeps = rule.holds(found.estimate)
        if rule.metric is None:
            return np.where(keeps, PASS, FAIL)
        fails, is_known = ~keeps, found.is_known
        if self.by_limits:
            lower, upper = found.lower, found.upper
            is_known = is_known & ~np.isnan(lower) & ~np.isnan(upper)
            keeps = keeps & rule.holds(lower) & rule.holds(upper)
            if rule.operator == "==":
                fails = (lower > rule.bound) | (upper < rule.bound)
            else:
                fails = fails & ~rule.holds(lower) & ~rule.holds(upper)
        status = np.select([keeps, fails], [PASS, FAIL], INCONCLUSIVE)
        return np.where(is_known, status, INCONCLUSIVE)


def _where(rule: Rule, reading: Reading) -> list[Int64Array]:
    """List the segments that a rule applies to, by group; every value named must occur."""
    codes = {
        name: [reading.code_of(name, value) for value in values]
        for name, values in rule.where.items()
    }
    _, first = reading.cells.segments
    for name, of_values in codes.items():
        for value, code in zip(rule.where[name], of_values, strict=True):
            if code not in reading.codes[name]:
                raise UnknownNameError(
                    f"the rule {rule.text!r} applies where {name!r} is {value!r}, which does not "
                    "occur in the data. Check its spelling, or remove it from 'where'."
                )
    found = []
    for group in reading.groups():
        if not set(codes) <= set(group.by) or (rule.over is not None and not group.by):
            continue
        applies = np.ones(len(group.segments), np.bool_)
        for name, of_values in codes.items():
            applies &= np.isin(reading.codes[name][first[group.segments]], of_values)
        if applies.any():
            found.append(group.segments[applies])
    if not found:
        wanted = {name: list(values) for name, values in rule.where.items()}
        raise UnknownNameError(
            f"the rule {rule.text!r} applies where {wanted}, and no segment has these values. "
            "Check 'where' of the rule."
        )
    return found


def verdict_columns(
    judge: Judge, rules: Sequence[Rule], c: ClassCounts, reading: Reading
) -> dict[Name, Any]:
    """Judge every rule, and put the verdicts one below the other."""
    found = [
        verdicts
        for number, rule in enumerate(rules)
        for verdicts in judge.verdicts(rule, number, c, reading)
    ]
    rows = Verdicts.concat(found).in_order(reading)
    _, first = reading.cells.segments
    has_blank = any(rule.over is not None for rule in rules)
    blank = rows.is_of_many.astype(bool) if has_blank else None
    columns = reading.by_columns(first[rows.segment], blank) | {
        "rule": reading.text_column([rule.text for rule in rules], rows.rule),
        "estimate": rows.estimate,
        "lower": rows.lower,
        "upper": rows.upper,
        "bound": np.array([rule.bound for rule in rules])[rows.rule],
        "status": reading.text_column(STATUS, rows.status),
    }
    reasons = [rule.reason for rule in rules]
    texts = [reason for reason in reasons if reason is not None]
    if texts:
        codes = [len(texts) if one is None else texts.index(one) for one in reasons]
        columns["reason"] = reading.text_column(texts, np.array(codes)[rows.rule])
    return columns


def check_have_limits(rules: Iterable[Rule]) -> None:
    """Raise if the metric of a rule has no confidence interval to decide it."""
    for rule in rules:
        if rule.metric is not None and not rule.metric.interval.method_of(None):
            with_limits = [one.name for one in registered() if one.interval.method_of(None)]
            raise InvalidInputError(
                f"metric {rule.quantity!r} has no confidence interval to decide the rule "
                f"{rule.text!r}. Give {advised('decide', 'estimate')}, or choose a metric that has "
                f"one: {listed(with_limits, len(with_limits))}."
            )


def check_where(rules: Iterable[Rule], query: Query) -> None:
    """Raise if 'where' of a rule names a column that is not a by-column."""
    for rule in rules:
        for name in rule.where:
            if name not in query.by:
                error = not_found("by-column", name, query.by)
                raise UnknownNameError(f"'where' of the rule {rule.text!r}: {marked(error)}")
