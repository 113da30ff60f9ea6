"""The verb `power`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from balframe._validate import check_min_support
from balframe.api.columns import (
    BESIDE,
    MIN_SUPPORT,
    SEGMENTS,
    Kind,
    Naming,
    Span,
    count,
    count_or_null,
    estimate,
    key,
    note,
    place,
)
from balframe.api.method import Method
from balframe.api.metric_selection import Scoring, value_of
from balframe.api.options import Answers, Cells, Counted, Names
from balframe.api.run import Columns, run_method
from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts, segments_at
from balframe.errors import InvalidInputError, check_choice, listed, parameter, warn
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import N, Query
from balframe.methods.comparisons.extremes import denominator
from balframe.methods.gates.baseline_data import asked_of
from balframe.methods.gates.baseline_differences import Baseline, Beside
from balframe.methods.gates.check import Families
from balframe.methods.gates.power_analysis import (
    RELIABILITY,
    Forecast,
    Goal,
    alone,
    beside,
    forecast,
    without_predictions,
)
from balframe.methods.gates.rules import Rule, RulesOption, check_where, read_rules, segments_of
from balframe.methods.gates.verdicts import check_have_baseline
from balframe.metrics.lookup import registered
from balframe.stats.base import check_level

# From rules to what they can see: how likely segments are to pass, and how many rows they need.


Powers = float | Sequence[float]  # one, or several

_UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Planner:
    """How rules will be decided, and which powers are asked for.

    `disagreement` is the share of rows that only one model gets right, where the predictions of
    the baseline are not known.
    """

    powers: Sequence[float]
    level: float
    simultaneous: bool
    min_support: int
    disagreement: float | None

    def plan(
        self, rule: Rule, c: ClassCounts, reading: CountedFrame, baseline: Baseline | None
    ) -> "Plans":
        """Plan a rule in all segments that it applies to; `c` are the counts of the data."""
        assert rule.metric is not None
        segments = segments_of(rule, reading)
        own = segments_at(c, segments)
        if rule.is_relative and baseline is not None:
            found = Beside.of(rule.metric, baseline, segments)
            estimate, support = found.difference, found.support
        else:
            estimate, support = value_of(rule.metric, own), denominator(rule.metric, own)
        known = ~np.isnan(estimate) & (support >= self.min_support)
        goal = Goal(rule.bound, rule.operator in (">=", ">"), self._tails(known, segments, reading))
        if not rule.is_relative:
            parts = alone(rule.metric, own, known, goal)
        elif baseline is not None:
            parts = beside(rule.metric, baseline, segments, known, goal)
        else:
            assert self.disagreement is not None
            estimate = np.where(known, 0.0, np.nan)
            parts = without_predictions(rule.metric, own, known, goal, self.disagreement)
        seen = forecast(rule.metric, own.n, own, list(parts), self.powers)
        return Plans(segments, own.n, own.min_support, estimate, seen)

    def _tails(self, known: BoolArray, segments: Int64Array, reading: CountedFrame) -> FloatArray:
        """Share the level among the segments of each margin that can be judged."""
        margin = reading.margin_of_segments()[segments]
        n_together = np.bincount(margin, weights=known)[margin] if self.simultaneous else 1
        return np.asarray((1 - self.level) / np.maximum(n_together, 1) / 2 * np.ones(len(known)))


@dataclass(frozen=True, slots=True)
class Plans:
    """The plans of one rule: its segments, their rows and scores, and what is seen in them."""

    segments: Int64Array
    n: Int64Array
    min_support: Int64Array
    estimate: FloatArray
    seen: Forecast


def plan_columns(
    planner: Planner,
    rules: Sequence[Rule],
    scoring: Scoring,
    shared: Scoring,
    reading: CountedFrame,
    baseline: Baseline | None,
) -> dict[Name, Any]:
    """Plan every rule, and put the plans one below the other.

    Rules on differences use the scoring `shared`, of labels that both sides have.
    """
    own, all_read = reading, reading if baseline is None else baseline.reading
    positions = None if baseline is None else baseline.positions
    segment, rule_of, plans = [], [], []
    for number, rule in enumerate(rules):
        if rule.is_relative:
            found = planner.plan(rule, shared.class_counts(all_read), all_read, baseline)
            at = found.segments
        else:
            found = planner.plan(rule, scoring.class_counts(own), own, None)
            at = found.segments if positions is None else positions[found.segments]
        segment.append(at)
        rule_of.append(np.full(len(at), number))
        plans.append(found)
    of_plans = np.concatenate(segment), np.concatenate(rule_of)
    return _in_rows(planner, rules, all_read, *of_plans, plans)


def _in_rows(
    planner: Planner,
    rules: Sequence[Rule],
    reading: CountedFrame,
    segment: Int64Array,
    rule: Int64Array,
    plans: Sequence[Plans],
) -> dict[Name, Any]:
    """Sort by margin, segment, rule and power."""
    _, first = reading.cells.segments
    margin = reading.margin_of_segments()[segment]
    order, n_powers = np.lexsort((rule, segment, margin)), len(planner.powers)

    def once(values: Any) -> Any:  # noqa: ANN401 (an array of any dtype)
        return np.repeat(np.concatenate([*values])[order], n_powers)

    def each(values: Iterable[FloatArray]) -> FloatArray:
        return np.asarray(np.concatenate([*values])[order].ravel())

    rows = np.repeat(order, n_powers)
    rule = rule[rows]
    return reading.by_columns(first[segment[rows]]) | {
        "rule": reading.text_column([one.text for one in rules], rule),
        "power": np.tile(np.asarray(planner.powers, np.float64), len(order)),
        "n": once(one.n for one in plans),
        "min_support": once(one.min_support for one in plans),
        "estimate": once(one.estimate for one in plans),
        "bound": np.array([one.bound for one in rules])[rule],
        "min_detectable_difference": each(one.seen.detectable for one in plans),
        "probability_pass": once(one.seen.probability_pass for one in plans),
        "n_needed": reading.count_column(_rows(each(one.seen.n_needed for one in plans))),
        "n_needed_per_label": reading.count_column(
            _rows(each(one.seen.n_needed_per_label for one in plans))
        ),
        "reliability": reading.text_column(
            RELIABILITY, once(one.seen.reliability for one in plans)
        ),
    }


def _rows(values: FloatArray) -> Int64Array:
    """Turn numbers of rows into integers, unknown where there are none or too many."""
    usable = values < 2.0**53
    return np.where(usable, np.where(usable, values, 0).astype(np.int64), _UNKNOWN)


def plannable(rules: Sequence[Rule], *, paired: bool) -> list[Rule]:
    """List the rules whose power is known, and warn of the others; raise if none is left."""
    left_out = {rule.text: why for rule in rules if (why := _why_not(rule, paired=paired))}
    kept = [rule for rule in rules if rule.text not in left_out]
    if left_out:
        reasons = listed((f"{text!r} ({why})" for text, why in left_out.items()), 5)
        message = f"power is not known for {reasons}."
        if not kept:
            known = [one.name for one in registered() if one.interval.is_linear]
            raise InvalidInputError(
                f"{message} Give a rule on one of {listed(known, len(known))}, such as "
                "'balanced_accuracy >= 0.8'."
            )
        warn(f"{message} {'It is' if len(left_out) == 1 else 'They are'} left out.")
    return kept


def _why_not(rule: Rule, *, paired: bool) -> str | None:
    if rule.metric is None:
        return "a count"
    if rule.over is not None:
        return f"a {rule.over} of segments"
    if rule.operator == "==":
        return "no interval has only this value"
    if not rule.metric.interval.is_linear:
        return f"{rule.quantity} is neither a proportion nor a mean of recalls"
    if rule.is_relative and paired and not rule.metric.interval.is_paired:
        return f"the denominator of {rule.quantity} depends on the predictions"
    return None


VERB = Method.of(
    *SEGMENTS,
    key("rule", naming=Naming.RULE, heading=BESIDE),
    key("power", kind=Kind.FLOAT, tells=True),
    count(N),
    count(MIN_SUPPORT),
    estimate("estimate", span=Span.AS_MEASURED),
    place("bound", about="estimate"),
    estimate("min_detectable_difference", tells=True),
    estimate("probability_pass", tells=True, span=Span.UNIT),
    count_or_null("n_needed"),
    count_or_null("n_needed_per_label"),
    note("reliability"),
    instead={
        "sample_weight": "power is not known for weighted rows; omit it.",
        "cluster": "power is not known for rows in clusters; omit it.",
        "interval": "power is that of the default intervals of `check`; omit it.",
        "decide": "power is that of rules decided by intervals; omit it.",
    },
)


class _Options(Families, Cells, Counted, Answers, total=False): ...


@VERB
def power(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    rules: RulesOption,
    by: Names = None,
    power: Powers = 0.8,
    disagreement: float | None = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment and rule with its power: how likely `check` is to decide it.

    Use it before `check` to choose how many rows to collect and which non-inferiority margin to
    allow. It plans a gate as if the observed scores were the true ones. It is no evidence that a
    rule holds.

    If the power is low, most verdicts are inconclusive. More rows, a wider margin or fewer segments
    increase it.

    Parameters
    ----------
    rules : str, list, mapping or path
        The rules to plan, in any of the forms that `check` reads. Rules on counts, on a difference
        or ratio of segments, and on metrics that are neither proportions nor means of recalls are
        left out with a warning.
    power : float or list of floats, default 0.8
        The probability with which a rule should be decided, in (0, 1). For each of several there is
        one row.
    disagreement : float, optional
        The expected share of the rows of each label that only one of two models gets right, in
        (0, 1]. Give it instead of `baseline` to plan rules on two models and the same rows before
        the predictions of one of them exist. Both models are assumed to have the same score.

    Returns
    -------
    frame of the same library
        One row for each segment, [model], rule and power, in this order. Columns in brackets are
        present only if the options ask for them:

        - the by-columns, [`margin`: the columns that define the segment], [`model`], `rule`
        - `power`: the power asked for
        - `n`: number of rows; `min_support`: number of rows of the rarest label present
        - `estimate`: the score, or its difference from the baseline; `bound`: the number in the
          rule, or the margin
        - `min_detectable_difference`: how much worse than the estimate the score must be for the
          rule to fail with this power. It is null if no score is low enough.
        - `probability_pass`: the probability that the rule passes if the estimate is true
        - `n_needed`: number of rows with which the rule passes with this power, if the estimate is
          true and the shares of the labels stay as they are. The rows of a baseline grow by the
          same factor. It is null unless the estimate is better than the bound.
        - `n_needed_per_label`: number of rows of each label that is needed if all labels have
          equally many. It is null for metrics of all rows, such as accuracy.
        - `reliability`: "exact" if the probabilities are exact, as for a proportion; "good" if they
          are approximations that are accurate to about 0.03; "rough" if there are too few rows for
          that: fewer than 30 right or wrong rows of a label. For two models on the same rows, these
          are fewer than 40 rows of a label that only one model gets right. All numbers are null in
          a segment that `check` could not judge.

        The probabilities are those of the confidence intervals that decide in `check`, with the
        same `level`, `adjust` and `min_support`.

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

    >>> import polars as pl
    >>> import balframe as bf
    >>> cases = pl.DataFrame({"y": [1, 1], "yhat": [1, 0], "n": [92, 8]})
    >>> plan = bf.power(cases, "y", "yhat", counts="n", rules="recall >= 0.85")
    >>> shown = pl.col("min_detectable_difference", "probability_pass").round(2), "n_needed"
    >>> plan.select(*shown).row(0)
    (0.18, 0.45, 185)

    With 100 cases, even this model passes in only 45 of 100 samples. It needs 185 cases to pass in
    80 of 100 samples. The rule fails with a power of 0.8 if the recall is lower by 0.18, or 0.74.

    A new model is planned. Its recall may be lower by at most 0.05, and the two models are expected
    to disagree on 10% of the cases:

    >>> rule = "recall >= baseline - 0.05"
    >>> plan = bf.power(cases, "y", "yhat", counts="n", rules=rule, disagreement=0.1)
    >>> plan["n_needed"].item()
    350
    """
    known = read_rules(rules)
    baseline = options.pop("baseline")
    powers = _powers(power)
    check_choice("adjust", options["adjust"], ("bonferroni", None))
    check_level(options["level"])
    check_min_support(options["min_support"])
    _check_disagreement(disagreement, baseline, known)
    asked = asked_of(baseline, options)
    if disagreement is None:
        check_have_baseline(known, baseline)
    kept = plannable(known, paired=asked.is_paired or disagreement is not None)
    metrics = list(dict.fromkeys(rule.quantity for rule in kept))
    scoring = Scoring.of(metrics, options["class_weight"], (), options["absent"])
    planner = Planner(
        powers,
        options["level"],
        options["adjust"] is not None,
        options["min_support"],
        disagreement,
    )

    def check_query(query: Query) -> None:
        check_where(kept, query)
        asked.check(query)
        if query.sample_weight is not None:
            raise InvalidInputError(
                "the cells have weights, but power is not known for weighted rows. Count the rows "
                "without weights."
            )

    def compute(found: Any) -> Columns:  # noqa: ANN401 (as the baseline has it)
        shared = replace(scoring, absent="skip")
        beside = asked.of(found, shared)
        own = found.reading if beside is None else beside.own
        return plan_columns(planner, kept, scoring, shared, own, beside)

    return run_method(
        frame,
        VERB,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        reads=asked.reads,
        source=asked.source,
        check=check_query,
        suits=lambda found: scoring.suits(found.reading),
    )


def _powers(given: Any) -> list[float]:  # noqa: ANN401 (what a caller gives)
    """Check the powers asked for."""
    powers = list(given) if isinstance(given, (list, tuple, np.ndarray)) else [given]
    if not all(_is_number(one) and 0 < one < 1 for one in powers):
        raise InvalidInputError(
            f"{parameter('power', given)} is not a probability; give a number between 0 and 1, "
            "such as 0.8, or a list of them."
        )
    if not powers or len(set(powers)) < len(powers):
        raise InvalidInputError(
            f"{parameter('power', given)} is empty or has a number twice; give each number once."
        )
    return [float(one) for one in powers]


def _is_number(given: object) -> bool:
    return isinstance(given, (int, float, np.floating)) and not isinstance(given, bool)


def _check_disagreement(given: Any, baseline: object, rules: Sequence[Rule]) -> None:  # noqa: ANN401
    if given is None:
        return
    if not _is_number(given) or not 0 < given <= 1:
        raise InvalidInputError(
            f"{parameter('disagreement', given)} is not a share; give a number above 0, up to 1, "
            "such as 0.1."
        )
    if baseline is not None:
        raise InvalidInputError(
            f"{parameter('disagreement')} and {parameter('baseline')} are both given, but the "
            "share of rows that only one model gets right follows from the baseline. Omit one."
        )
    if not any(rule.is_relative for rule in rules):
        raise InvalidInputError(
            f"{parameter('disagreement')} is given, but no rule compares with a baseline; give a "
            "rule such as 'balanced_accuracy >= baseline - 0.02', or omit it."
        )
