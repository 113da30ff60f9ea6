"""The verb `power`."""

from collections.abc import Sequence
from dataclasses import replace
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
from balframe.api.method import Verb
from balframe.api.metric_selection import Scoring
from balframe.api.options import Answers, Cells, Counted, Names
from balframe.api.run import Columns, answer
from balframe.errors import InvalidInputError, check_choice, parameter
from balframe.frames.adapter import FrameT, Name
from balframe.frames.query import N, Query
from balframe.methods.gates.baseline_data import asked_of
from balframe.methods.gates.options_of_rules import Families
from balframe.methods.gates.plans import Planner, Powers, plan_columns, plannable
from balframe.methods.gates.rules import Rule, RulesOption, read_rules
from balframe.methods.gates.verdicts import check_have_baseline
from balframe.methods.gates.where import check_where
from balframe.stats.request import check_level

VERB = Verb.of(
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

    return answer(
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
