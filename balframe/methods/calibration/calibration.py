"""The method `calibration`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, Unpack

import numpy as np

from balframe._validate import check_level
from balframe.api.columns import (
    HIDDEN_TEST_COLUMNS,
    P_ADJUSTED,
    SEGMENT_KEYS,
    Span,
    count,
    details,
    estimate,
    limits,
    test,
)
from balframe.api.method import Method
from balframe.api.metric_selection import Adjust, check_adjust
from balframe.api.options import (
    AdjustmentOptions,
    DetailOptions,
    LevelOptions,
    Names,
    Option,
    ResultOptions,
    UnweightedRowOptions,
)
from balframe.api.run import Columns, run_score_method
from balframe.core.array_types import FloatArray
from balframe.core.prefix_sums import PrefixSums
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.core.threads import run_on_all_cores
from balframe.errors import InvalidInputError
from balframe.frames.adapter import FrameT, Name
from balframe.frames.query import N, Query
from balframe.frames.scores import ScoredFrame
from balframe.methods.calibration.observed_expected import intercept_limits, oe_ratio_limits
from balframe.methods.calibration.recalibration_test import recalibration_p_value
from balframe.methods.calibration.saddlepoint import log_tail, tilted_moments
from balframe.methods.calibration.slope_limits import SlopeFit, fit_offset, labels_overlap, logits
from balframe.metrics.definitions.probability import (
    brier_score,
    discrimination,
    log_loss,
    miscalibration,
    oe_ratio,
    uncertainty,
)
from balframe.stats.lazy_scipy import special
from balframe.stats.multiple_testing import adjust_within_families

# Kuiper's test that scores are calibrated probabilities, without bins.


_TERMS = np.arange(1, 13)  # enough for 16 digits of either series
_SERIES_SWITCH = 1.5  # the larger ranges use the alternating series
_SKEWNESS_FROM = 2.0  # standard deviations, from where on the skewness of the total matters
_SMALLEST_RANGE = 0.1  # the probability to exceed it is 1, up to 1e-200


def kuiper(p: ProbabilityScores) -> tuple[FloatArray, FloatArray]:
    """Return the range of the running sums of k - n s over ascending scores, and its p-value.

    The range, with the sum of no row in it, is divided by the number of rows. The p-value compares
    it, divided by the standard deviation sqrt(sum n s (1 - s)), with the range of a Wiener process.
    For more than 2 standard deviations, the leading terms of that are tails of the total, which are
    replaced by those of the sum of the outcomes: its skewness matters there.

    Returns
    -------
    statistic, p_value : float arrays, shape (segments,)
        NaN for a segment without rows. The p-value is NaN too if all scores are 0 or 1 and right;
        it is 0 if they are 0 or 1 and one is wrong.

    References
    ----------
    W. Feller, "The asymptotic distribution of the range of sums of independent random variables",
    Annals of Mathematical Statistics 1951; I. Arrieta-Ibarra and others, "Metrics of calibration
    for probabilistic predictions", Journal of Machine Learning Research 2022.
    """
    sum_range, p_value = p.by_blocks(_kuiper_block)
    return ratio(sum_range, p.n_rows), p_value


def _kuiper_block(p: ProbabilityScores) -> tuple[FloatArray, FloatArray]:
    """Return the range of the running sums, and its p-value."""
    sum_range, deviation = _running_sum_range(p)
    with np.errstate(divide="ignore"):
        standardised = np.divide(
            sum_range,
            deviation,
            out=np.full(len(sum_range), np.nan),
            where=(deviation > 0) | (sum_range > 0),
        )
    p_value = range_tail(standardised)
    is_large = (standardised > _SKEWNESS_FROM) & (deviation > 0)
    if is_large.any():
        large = p.of_segments(is_large).uncertain
        p_value[is_large] = _skewed_tail(large, sum_range[is_large], standardised[is_large])
    return sum_range, p_value


def _skewed_tail(p: ProbabilityScores, sum_range: FloatArray, x: FloatArray) -> FloatArray:
    """Return the probability that the range of the running sums is larger.

    The terms of `range_tail` are reflections of the total at multiples of x. The first is
    8 Phi(-x) = 4 Phi(-x) + 4 Phi(-x): the total is above E + R, or below E - R.
    """
    above = _total_beyond(p, p.expected + sum_range, 1)
    below = _total_beyond(p, p.expected - sum_range, -1)
    reflections = -16 * special.ndtr(-2 * x) + 24 * special.ndtr(-3 * x)
    return np.clip(4 * (above + below) + reflections, 0, 1)


def _total_beyond(p: ProbabilityScores, total: FloatArray, sign: int) -> FloatArray:
    """Return the probability of more positive rows than a total above E, or fewer than one below.

    By the saddlepoint approximation for a continuous total.
    """
    is_possible = (total > 0) & (total < p.n_rows)
    possible, total = p.of_segments(is_possible), total[is_possible]
    t = fit_offset(possible, total, np.full(len(total), fill_value=True))
    cumulant, variance = tilted_moments(possible, t)
    w = np.sqrt(2 * np.maximum(t * total - cumulant, 0))
    out = np.zeros(p.n_segments)
    usable = (w > 0) & (sign * t > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = np.exp(log_tail(w, np.abs(t) * np.sqrt(variance)))
    out[is_possible] = np.where(usable, tail, 0.5)
    return out


def _running_sum_range(p: ProbabilityScores) -> tuple[FloatArray, FloatArray]:
    """Return the range of the running sums, and their standard deviation at the end."""
    running = PrefixSums.of(p.k - p.n * p.score)
    ends = np.arange(1, len(p.score) + 1)
    sums_so_far = running.between(p.bounds[p.segment], ends)
    high = np.maximum(p.reduced(np.maximum, sums_so_far), 0)
    low = np.minimum(p.reduced(np.minimum, sums_so_far), 0)
    return high - low, np.sqrt(np.maximum(p.variance, 0))


def range_tail(x: FloatArray) -> FloatArray:
    """Return the probability that the range of a Wiener process on [0, 1] exceeds x."""
    out = np.where(np.isnan(x), np.nan, 1.0)
    large, small = (
        np.flatnonzero(x > _SERIES_SWITCH),
        np.flatnonzero((x > _SMALLEST_RANGE) & (x <= _SERIES_SWITCH)),
    )
    j = _TERMS
    alternating = j * (-1.0) ** (j - 1)
    out[large] = 8 * special.ndtr(-j * x[large, None]) @ alternating
    odd = ((2 * j - 1) * np.pi) ** 2
    squared = x[small, None] ** 2
    out[small] -= 8 * ((1 / squared + 1 / odd) * np.exp(-odd / (2 * squared))).sum(axis=1)
    return np.clip(out, 0, 1)


# Logistic recalibration of scores: intercept, slope and O/E with limits, and a test of both.
#
# The log odds of a positive row are a + b l with l = log(s / (1 - s)). Scores of 0 and 1 that are
# right add nothing. A segment where one of them is wrong has no recalibration.


@dataclass(frozen=True)
class Recalibration:
    """Recalibration of segments, with arrays of the shape (segments,).

    Parameters
    ----------
    intercept, intercept_lower, intercept_upper : float arrays
        The intercept of the recalibration whose slope is 1, which solves sum n expit(a + l) = O.
        NaN without scores between 0 and 1. Of a segment where these rows are all negative, the
        estimate and the lower limit are NaN, and where they are all positive, the upper one.
    slope, slope_lower, slope_upper : float arrays
        NaN where maximum likelihood has no finite slope: all rows are positive or all negative, or
        no positive row scores lower than a negative one, or none scores higher. NaN too where 100
        Newton steps do not converge.
    oe_ratio_lower, oe_ratio_upper : float arrays
        Limits of O / E, NaN where E is 0.
    p_value : float array
        Of the test that intercept and slope are 0 and 1. NaN without scores between 0 and 1.
    """

    intercept: FloatArray
    intercept_lower: FloatArray
    intercept_upper: FloatArray
    slope: FloatArray
    slope_lower: FloatArray
    slope_upper: FloatArray
    oe_ratio_lower: FloatArray
    oe_ratio_upper: FloatArray
    p_value: FloatArray


def recalibrate(p: ProbabilityScores, level: float) -> Recalibration:
    """Recalibrate the scores of every segment, with limits of this confidence level."""
    return Recalibration(*p.by_blocks(partial(_recalibrate_block, level=level)))


def _recalibrate_block(p: ProbabilityScores, level: float) -> tuple[FloatArray, ...]:
    uncertain = _finite_logits(p)
    has_both = (uncertain.n_positive > 0) & (uncertain.n_positive < uncertain.n_rows)
    intercept = fit_offset(uncertain, uncertain.n_positive.astype(np.float64), has_both)
    lower, upper = intercept_limits(uncertain, intercept, level)
    logit = replace(uncertain, score=logits(uncertain))
    overlap = labels_overlap(logit)
    fit = SlopeFit.of(logit.of_segments(overlap), intercept[overlap])
    slopes = np.full((3, p.n_segments), np.nan)
    slopes[:, overlap] = fit.slope, *fit.limits(level)
    return (
        intercept,
        lower,
        upper,
        *slopes,
        *oe_ratio_limits(p, uncertain, (lower, upper), level),
        recalibration_p_value(uncertain, logit.score, intercept, overlap, fit),
    )


def _finite_logits(p: ProbabilityScores) -> ProbabilityScores:
    """Keep the scores between 0 and 1, of segments whose scores of 0 and 1 are all right."""
    is_invalid = p.is_refuted | p.is_outside
    ties = p.uncertain
    return ties.where(~is_invalid[ties.segment]) if is_invalid.any() else ties


class CalibrationOptions(UnweightedRowOptions, ResultOptions, total=False):
    """The options that the methods of calibration share."""

    resolution: Annotated[
        int | None,
        Option(
            "int, optional",
            "Round scores to multiples of 1 / resolution before they are counted. A distributed "
            "engine then sends at most that many distinct scores per unit and segment: 10000 "
            "rounds to multiples of 0.0001. By default, scores are exact.",
        ),
    ]


METHOD = Method.of(
    *SEGMENT_KEYS,
    estimate("observed", span=Span.UNIT),
    estimate("mean_score", span=Span.UNIT),
    estimate("oe_ratio", identifies=True),
    *limits("oe_ratio"),
    P_ADJUSTED,
    count(N),
    *details(
        count("n_positive"),
        estimate("intercept"),
        *limits("intercept"),
        estimate("slope"),
        *limits("slope"),
        estimate("brier_score"),
        estimate("miscalibration"),
        estimate("discrimination"),
        estimate("uncertainty", hidden=True),
        estimate("log_loss", hidden=True),
        estimate("kuiper", hidden=True),
        test("kuiper_p_value"),
        *HIDDEN_TEST_COLUMNS,
    ),
    hints={
        "metrics": "calibration always returns the same columns. For metrics of labels, call "
        "report.",
        "sample_weight": "the tests of calibration need rows without weights. For identical rows, "
        "give their number as counts.",
        "cluster": "the tests of calibration need independent rows: with ten rows of each "
        "person, they gave false alarms in up to 14% of simulated data sets. Keep one row of "
        "each cluster.",
        "cells": "calibration needs scores. Store one row per segment, true label and score, with "
        "its number of rows as counts.",
    },
)


class _Options(AdjustmentOptions, LevelOptions, CalibrationOptions, DetailOptions, total=False): ...


@METHOD
def calibration(
    frame: FrameT,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment that shows whether its scores are calibrated probabilities.

    Scores are calibrated if, of all rows with a score of 0.3, 30% are positive. Scores must be
    probabilities, from 0 to 1. For other scores, `calibration_gaps` compares segments.

    Parameters
    ----------
    y_score : column name or list of column names
        Predicted probabilities of the positive label, from 0 to 1. Several columns are treated as
        several models, and the result has a column `model`. All labels other than the positive one
        count as negative.

    Returns
    -------
    frame of the same library
        One row for each segment and [model], in this order. Columns in brackets are present only
        if the options ask for them:

        - the by-columns, [`grouped_by`: the columns that define the segment], [`model`]
        - `observed`: share of positive rows; `mean_score`: mean of the scores
        - `oe_ratio`: observed / mean_score, below 1 if scores are too high; `oe_ratio_lower`,
          `oe_ratio_upper`: its confidence interval, given the scores, if only the intercept is
          wrong. Its variance allows for a slope other than 1.
        - `p_adjusted`: p-value of the test that intercept and slope are 0 and 1, from the tails of
          the number of positive rows and of the slope given it, adjusted for multiple testing
        - `n`: number of rows

        With `detail`, also:

        - `n_positive`: number of rows with the positive label
        - `intercept`: what must be added to the logit of every score so that their mean equals the
          observed share, below 0 if scores are too high; `intercept_lower`, `intercept_upper`: its
          confidence interval. Without positive or without negative rows, the estimate and one limit
          are null.
        - `slope`: slope of the logistic regression of the label on the logits of the scores, below
          1 if scores are too extreme; `slope_lower`, `slope_upper`: its confidence interval, by r*.
          Null if scores separate the labels.
        - `brier_score`: mean squared difference between score and label, which is miscalibration -
          discrimination + uncertainty. `miscalibration` is what an increasing function of the score
          could gain, `discrimination` what the best such function gains over a constant, and
          `uncertainty` is the Brier score of the observed share.
        - `log_loss`: mean negative log-likelihood
        - `kuiper`: range of the running sums of label - score, over ascending scores, divided by n;
          `kuiper_p_value`: p-value of the test that it is 0 but for chance
        - `p_value`: the p-value before the adjustment; `n_tests`: number of p-values in the family,
          which are those of the margin

        A score of exactly 0 or 1 that is wrong makes the log loss, the columns of intercept and
        slope, and `p_value` null. `slope` is also null without two different scores between 0 and
        1; `p_value` is then the exact one of the number of positive rows, and null if all scores
        are 0 or 1. `kuiper_p_value` is null if all scores are 0 or 1 and right, and `oe_ratio`
        if all scores are 0.

    Raises
    ------
    BalframeError
        If a name, an option or a value is invalid, or a score is outside [0, 1]. The message says
        what to do.

    Notes
    -----
    The two tests detect different faults. That of intercept and slope has more power if scores are
    too high, or too extreme, throughout. Kuiper's has more if they are too high in some places and
    too low in others.

    Do not rank segments by `kuiper` or `miscalibration`: both are larger in small segments, by
    chance alone.

    References
    ----------
    D. R. Cox, "Two further applications of a model for binary regression", Biometrika 1958, for
    intercept and slope; T. Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability diagrams
    for probabilistic classifiers", PNAS 2021, for the parts of the Brier score; I. Arrieta-Ibarra
    and others, "Metrics of calibration for probabilistic predictions", JMLR 2022, for the range of
    the running sums; W. Feller, "The asymptotic distribution of the range of sums of independent
    random variables", Annals of Mathematical Statistics 1951, for its distribution.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 1, 0, 1], "p": [0.2, 0.2, 0.6, 0.6], "n": [80, 20, 60, 40]})
    >>> print(bf.calibration(df, "y", "p", counts="n"))
    shape: (1, 7)
    ┌──────────┬────────────┬──────────┬────────────────┬────────────────┬────────────┬─────┐
    │ observed ┆ mean_score ┆ oe_ratio ┆ oe_ratio_lower ┆ oe_ratio_upper ┆ p_adjusted ┆ n   │
    │ ---      ┆ ---        ┆ ---      ┆ ---            ┆ ---            ┆ ---        ┆ --- │
    │ f64      ┆ f64        ┆ f64      ┆ f64            ┆ f64            ┆ f64        ┆ i64 │
    ╞══════════╪════════════╪══════════╪════════════════╪════════════════╪════════════╪═════╡
    │ 0.3      ┆ 0.4        ┆ 0.75     ┆ 0.599848       ┆ 0.912017       ┆ 0.000289   ┆ 200 │
    └──────────┴────────────┴──────────┴────────────────┴────────────────┴────────────┴─────┘
    """
    request = {"y_true": y_true, "y_score": y_score, "by": by, **options}
    return run_segment_tests(frame, METHOD, request, calibration_columns)


def run_segment_tests(
    frame: FrameT,
    method: Method,
    request: Mapping[str, Any],
    test_columns: Callable[[ScoredFrame, float, Adjust], dict[Name, Any]],
    *,
    check_query: Callable[[Query], None] = lambda query: None,
) -> FrameT:
    """Run a method that returns one row per segment, with columns of its tests."""
    level, adjust = request["level"], request["adjust"]
    check_level(level)
    check_adjust(adjust)

    def compute(scored: ScoredFrame) -> Columns:
        columns = test_columns(scored, level, adjust)
        return scored.counted_frame.by_columns(np.arange(scored.ties.n_segments)) | columns

    return run_score_method(frame, method, request, compute, check_query=check_query)


def calibration_columns(scored: ScoredFrame, level: float, adjust: Adjust) -> dict[Name, Any]:
    """Return the columns of `calibration`: estimates and tests of every segment."""
    _check_probabilities(scored)
    p = ProbabilityScores.of(scored.ties)
    parts = run_on_all_cores(partial(_columns_of_block, level=level), p.blocks())
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    adjusted, n_tests = adjust_within_families(
        columns["p_value"], scored.counted_frame.segment_margins(), adjust
    )
    return {**columns, "p_adjusted": adjusted, "n_tests": n_tests}


def _columns_of_block(p: ProbabilityScores, level: float) -> dict[Name, Any]:
    """Return the columns of some segments, whose arrays stay in cache."""
    statistic, kuiper_p = kuiper(p)
    r = recalibrate(p, level)
    return {
        "n": p.n_rows,
        "n_positive": p.n_positive,
        "observed": ratio(p.n_positive.astype(float), p.n_rows.astype(float)),
        "mean_score": ratio(p.expected, p.n_rows.astype(float)),
        "oe_ratio": oe_ratio(p),
        "oe_ratio_lower": r.oe_ratio_lower,
        "oe_ratio_upper": r.oe_ratio_upper,
        "intercept": r.intercept,
        "intercept_lower": r.intercept_lower,
        "intercept_upper": r.intercept_upper,
        "slope": r.slope,
        "slope_lower": r.slope_lower,
        "slope_upper": r.slope_upper,
        "brier_score": brier_score(p),
        "miscalibration": miscalibration(p),
        "discrimination": discrimination(p),
        "uncertainty": uncertainty(p),
        "log_loss": log_loss(p),
        "kuiper": statistic,
        "kuiper_p_value": kuiper_p,
        "p_value": r.p_value,
    }


def _check_probabilities(scored: ScoredFrame) -> None:
    """Raise where a score is not a probability."""
    ties = scored.ties
    is_outside = (ties.score < 0) | (ties.score > 1)
    if not is_outside.any():
        return
    # of the first such model, only the finest segments: their rows are in no other
    finest = scored.counted_frame.cell_margins()[ties.segment] == 0
    models = scored.counted_frame.cell_models()[ties.segment]
    model = models[is_outside].min()
    n = int(ties.n[is_outside & finest & (models == model)].sum())
    name = scored.counted_frame.query.y_pred[model]
    raise InvalidInputError(
        f"column {name!r} has {n} score{'s' * (n != 1)} outside [0, 1], but calibration is about "
        "probabilities. Give predicted probabilities, or call calibration_gaps, which compares "
        "segments at the same scores, whatever they are."
    )
