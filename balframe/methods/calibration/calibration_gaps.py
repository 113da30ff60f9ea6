"""The method `calibration_gaps`."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import numpy as np

from balframe.api.columns import (
    HIDDEN_TEST_COLUMNS,
    P_ADJUSTED,
    SEGMENT_KEYS,
    Span,
    count,
    details,
    estimate,
    limits,
    statistic,
    test,
)
from balframe.api.method import Method
from balframe.api.metric_selection import Adjust, check_by, warn_of_single_segment
from balframe.api.options import AdjustmentOptions, DetailOptions, LevelOptions, Names
from balframe.core.array_types import BoolArray, FloatArray
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.frames.adapter import FrameT, Name
from balframe.frames.query import N
from balframe.frames.scores import ScoredFrame
from balframe.methods.calibration.calibration import CalibrationOptions, run_segment_tests
from balframe.methods.calibration.cmh_test import EqualityTest, cmh_tests
from balframe.methods.calibration.conditional_excess import excess_p_value
from balframe.methods.calibration.strata import ScoreStrata
from balframe.stats.multiple_testing import adjust_within_families
from balframe.stats.proportions import Limits, normal_quantile

# Comparison of segments at the same scores: tests of equality, and Mantel-Haenszel differences.


_LEAST_SHARE = 1e-6  # of the difference: where a limit stands that has to exclude 0


@dataclass(frozen=True)
class SameScoreComparison:
    """Tests of all segments together, and the comparison of each segment with the rest.

    Parameters
    ----------
    all_equal, crossing : EqualityTest
        Statistic, degrees of freedom and p-value of the generalised Cochran-Mantel-Haenszel test,
        and of the test that also has power if differences change sign along the scores.
    observed, expected, ratio : float arrays, shape (segments,)
        Share of positive rows, the share expected from the strata, and the first over the second.
    difference, lower, upper : float arrays, shape (segments,)
        Mantel-Haenszel difference from the rest, and its limits.
    p_value : float array, shape (segments,)
        Of the test of each segment against the rest. NaN where the variance is 0.
    """

    all_equal: EqualityTest
    crossing: EqualityTest
    observed: FloatArray
    expected: FloatArray
    ratio: FloatArray
    difference: FloatArray
    lower: FloatArray
    upper: FloatArray
    p_value: FloatArray


def compare_at_same_scores(p: ProbabilityScores, level: float) -> SameScoreComparison:
    """Compare segments that have no row in common, all together and each with the rest."""
    strata = ScoreStrata.of(p)
    compare = partial(_compare_with_rest, level=level)
    return SameScoreComparison(*cmh_tests(strata), *strata.by_blocks(compare))


def _compare_with_rest(strata: ScoreStrata, level: float) -> tuple[FloatArray, ...]:
    """Return the shares of each segment and their ratio, difference, limits and p-value."""
    rows, observed, expected = map(strata.sum, (strata.n, strata.k, strata.expected))
    difference, lower, upper = mantel_haenszel(strata, normal_quantile(level))
    alpha, p_value = 1 - level, excess_p_value(strata)
    # limits always include a difference of 0, whose mid-p-value may be a little below 1
    p_value = np.where(difference == 0, np.maximum(p_value, alpha), p_value)
    return (
        ratio(observed, rows),
        ratio(expected, rows),
        ratio(observed, expected),
        difference,
        *_agreeing_limits(difference, (lower, upper), p_value < alpha),
        p_value,
    )


def _agreeing_limits(difference: FloatArray, limits: Limits, is_significant: BoolArray) -> Limits:
    """Move the limit nearer to 0 next to it, where 0 is on the side that the p-value contradicts.

    The limits are of a normal statistic, the p-value of the distribution of the counts: they can
    disagree on 0 where few positive rows are expected. No other difference is covered more or less.
    """
    lower, upper = limits
    least = _LEAST_SHARE * np.abs(difference)

    def moved(limit: FloatArray) -> FloatArray:
        return np.where(is_significant, np.maximum(limit, least), np.minimum(limit, 0))

    return (
        np.where(difference > 0, moved(lower), lower),
        np.where(difference < 0, -moved(-upper), upper),
    )


def mantel_haenszel(strata: ScoreStrata, z: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the difference of each segment's share of positive rows from that of the rest.

    sum w (k/n - k'/n') / sum w with w = n n' / N, over the strata. The limits are the differences d
    from which it is z standard errors away. Their variance is Sato's, (d P + Q) / (sum w)^2.
    With the variance at the estimate instead, limits of few rows have too low a coverage.

    Returns
    -------
    difference, lower, upper : float arrays, shape (segments,)
        NaN for a segment that has no stratum in common with another. The limits are NaN too where
        all outcomes of these strata are the same.

    References
    ----------
    N. Mantel and W. Haenszel, "Statistical aspects of the analysis of data from retrospective
    studies of disease", Journal of the National Cancer Institute 1959; T. Sato, "On the variance
    estimator for the Mantel-Haenszel risk difference", Biometrics 1989; B. Klingenberg, "A new and
    improved confidence interval for the Mantel-Haenszel risk difference", Statistics in Medicine
    2014.
    """
    n, k = strata.n, strata.k
    total, positive = strata.n_all[strata.position], strata.k_all[strata.position]
    n_rest, k_rest = total - n, positive - k
    weight = strata.sum(n * n_rest / total)
    difference = ratio(strata.sum((k * n_rest - k_rest * n) / total), weight)
    p_terms = (n**2 * k_rest - n_rest**2 * k + n * n_rest * (n_rest - n) / 2) / total**2
    q_terms = (k * (n_rest - k_rest) + k_rest * (n - k)) / (2 * total)
    scale = np.where(
        strata.sum(strata.variance) > 0, ratio(np.full(len(weight), z), weight), np.nan
    )
    shift = scale**2 * strata.sum(p_terms) / 2
    variance = 2 * difference * shift + scale**2 * strata.sum(q_terms)
    half = np.sqrt(np.maximum(variance, 0) + shift**2)
    middle = difference + shift
    return difference, np.maximum(middle - half, -1), np.minimum(middle + half, 1)


METHOD = Method.of(
    *SEGMENT_KEYS,
    estimate("observed", span=Span.UNIT),
    estimate("expected_at_same_scores", identifies=True, span=Span.UNIT),
    estimate("difference", span=Span.AROUND_ZERO, ranks_rows=True),
    *limits(about="difference"),
    P_ADJUSTED,
    count(N),
    *details(
        count("n_positive"),
        estimate("ratio"),
        *HIDDEN_TEST_COLUMNS,
        statistic("statistic", hidden=True),
        count("df", hidden=True),
        test("p_value_all"),
        test("p_value_crossing"),
    ),
    hints={
        "metrics": "calibration_gaps compares the shares of positive rows at the same scores. For "
        "metrics of labels, call gaps.",
        "reference": "calibration_gaps compares each segment with the rest.",
        "sample_weight": "the tests of calibration need rows without weights. For identical rows, "
        "give their number as counts.",
        "cluster": "the tests of calibration need independent rows: with ten rows of each "
        "person, they gave false alarms in up to 16% of simulated data sets. Keep one row of "
        "each cluster.",
        "cells": "calibration_gaps needs scores. Store one row per segment, true label and score, "
        "with its number of rows as counts.",
    },
)


class _Options(AdjustmentOptions, LevelOptions, CalibrationOptions, DetailOptions, total=False): ...


@METHOD
def calibration_gaps(
    frame: FrameT,
    y_true: Name,
    y_score: Names,
    *,
    by: Names,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment with its share of positives and the share expected at its scores.

    Does the same score mean the same in every segment? Rows are compared with rows of other
    segments that have the same score. Scores need not be probabilities.

    If there are at most 30 distinct scores, each is a stratum. Otherwise the strata are quantiles
    of the scores, 2 N^0.4 of them for N rows, and scores are similar within a stratum.

    Returns
    -------
    frame of the same library
        One row for each segment and [model], in this order. Columns in brackets are present only
        if the options ask for them:

        - the by-columns, [`grouped_by`: the columns that define the segment], [`model`]
        - `observed`: share of positive rows; `expected_at_same_scores`: the share that the segment
          would have if its rows were positive as often as all rows of the same stratum
        - `difference`: difference between the shares of positive rows of the segment and of the
          rest, at the same scores (Mantel-Haenszel); `lower`, `upper`: its confidence interval. Its
          limit nearer to 0 is moved, where necessary, so that it excludes 0 exactly where `p_value`
          is below 1 - level.
        - `p_adjusted`: mid-p-value of the test that there is no difference from the rest, given the
          number of positive rows at each score, adjusted for multiple testing
        - `n`: number of rows

        With `detail`, also:

        - `n_positive`: number of rows with the positive label
        - `ratio`: observed / expected_at_same_scores, above 1 if the scores of the segment are too
          low compared with those of others
        - `p_value`: the p-value before the adjustment; `n_tests`: number of p-values in the family,
          which are those of the margin
        - `statistic`, `df`, `p_value_all`: statistic, degrees of freedom and p-value of the test
          that the same score means the same in all segments; `p_value_crossing`: p-value of the
          test that also detects differences that change with the score, such as scores that are too
          high at one end and too low at the other. They are the same in all rows of a margin and
          model. Both p-values are of a chi-square distribution that is scaled where few positive
          rows are expected. Segments whose number of positive rows has a variance below 1 are also
          tested as one segment, and the larger p-value is taken.

        The comparison is null for a segment that has no stratum in common with others.

    Notes
    -----
    Scores may mean the same in all segments and yet be wrong in all of them; `calibration` tests
    that. If scores are calibrated and the shares of positive rows differ between segments, the mean
    scores of positive rows and of negative rows cannot both be equal in all segments. Error rates
    then differ at most thresholds.

    References
    ----------
    N. Mantel and W. Haenszel, "Statistical aspects of the analysis of data from retrospective
    studies of disease", Journal of the National Cancer Institute 1959; J. R. Landis, E. R. Heyman
    and G. G. Koch, "Average partial association in three-way contingency tables", International
    Statistical Review 1978, for all segments; T. Sato, "On the variance estimator for the
    Mantel-Haenszel risk difference", Biometrics 1989, and B. Klingenberg, "A new and improved
    confidence interval for the Mantel-Haenszel risk difference", Statistics in Medicine 2014, for
    the confidence interval.

    Examples
    --------
    >>> import pandas as pd
    >>> import balframe as bf
    >>> df = pd.DataFrame({"y": [0, 1] * 4, "decile": [1, 1, 2, 2] * 2, "g": list("aaaabbbb"),
    ...                    "n": [80, 20, 60, 40, 90, 10, 70, 30]})
    >>> out = bf.calibration_gaps(df, "y", "decile", by="g", counts="n")
    >>> print(out.round(3).to_string(index=False))
    g  observed  expected_at_same_scores  difference  lower  upper  p_adjusted   n
    a       0.3                     0.25         0.1  0.017  0.181       0.018 200
    b       0.2                     0.25        -0.1 -0.181 -0.017       0.018 200
    """
    request = {"y_true": y_true, "y_score": y_score, "by": by, **options}
    check_query = partial(check_by, method="calibration_gaps")
    return run_segment_tests(frame, METHOD, request, gap_columns, check_query=check_query)


# fields of a comparison that are columns of the same name, and the other columns
_SEGMENT_FIELDS = ("observed", "ratio", "difference", "lower", "upper", "p_value")
_OTHER_COLUMNS = ("expected_at_same_scores", "statistic", "p_value_all", "p_value_crossing")


def gap_columns(scored: ScoredFrame, level: float, adjust: Adjust) -> dict[Name, Any]:
    """Return the columns of `calibration_gaps`, comparing the segments of each margin and model."""
    counted_frame, n_segments = scored.counted_frame, scored.ties.n_segments
    warn_of_single_segment(counted_frame, "calibration_gaps")
    p = ProbabilityScores.of(scored.ties)
    columns = {name: np.full(n_segments, np.nan) for name in (*_SEGMENT_FIELDS, *_OTHER_COLUMNS)}
    df = np.zeros(n_segments, np.int64)
    for group in counted_frame.groups() if n_segments else []:
        segments = group.segments
        comparison = compare_at_same_scores(ProbabilityScores.of(scored.ties.at(segments)), level)
        for name in _SEGMENT_FIELDS:
            columns[name][segments] = getattr(comparison, name)
        columns["expected_at_same_scores"][segments] = comparison.expected
        all_equal = comparison.all_equal
        columns["statistic"][segments], df[segments] = all_equal.statistic, all_equal.df
        columns["p_value_all"][segments] = all_equal.p_value
        columns["p_value_crossing"][segments] = comparison.crossing.p_value
    adjusted, n_tests = adjust_within_families(
        columns["p_value"], counted_frame.segment_margins(), adjust
    )
    return {
        "n": p.n_rows,
        "n_positive": p.n_positive,
        **dict(columns.items()),
        "p_adjusted": adjusted,
        "n_tests": n_tests,
        "df": df,
    }
