"""The method `calibration_curve`."""

from typing import Any, Unpack

import numpy as np

from balframe._validate import check_level, is_whole_number
from balframe.api.columns import (
    SEGMENT_KEYS,
    Kind,
    Span,
    count,
    details,
    estimate,
    key,
    limits,
    threshold_or_bound,
)
from balframe.api.method import Method
from balframe.api.options import DetailOptions, LevelOptions, Names
from balframe.api.run import Columns, run_score_method
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.cells import is_segment_start
from balframe.core.probability_scores import ProbabilityScores
from balframe.core.safe_divide import ratio
from balframe.errors import InvalidInputError
from balframe.frames.adapter import FrameT, Name
from balframe.frames.query import N
from balframe.frames.scores import ScoredFrame
from balframe.methods.calibration.calibration import CalibrationOptions
from balframe.stats.isotonic import isotonic_regression
from balframe.stats.proportions import wilson

BINS = 10
_MAX_SCORE_BINS = 20  # distinct scores, up to which each is a bin

METHOD = Method.of(
    *SEGMENT_KEYS,
    key("bin", kind=Kind.INTEGER, identifies=True),
    estimate("mean_score", identifies=True),
    estimate("observed", span=Span.UNIT),
    *limits(about="observed"),
    count(N),
    *details(
        threshold_or_bound("score_low"),
        threshold_or_bound("score_high"),
        count("n_positive"),
        estimate("isotonic", span=Span.UNIT),
    ),
    hints={
        "thresholds": "bins have about equally many rows. Give the number of bins as bins.",
        "sample_weight": "the curve counts rows. For identical rows, give their number as counts.",
        "cluster": "the intervals of the curve need independent rows. Keep one row of each "
        "cluster.",
    },
)


class _Options(LevelOptions, CalibrationOptions, DetailOptions, total=False): ...


@METHOD
def calibration_curve(
    frame: FrameT,
    y_true: Name,
    y_score: Names,
    *,
    by: Names = None,
    bins: int = BINS,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment and bin of scores with its observed share of positive rows.

    A reliability diagram draws `observed` against `mean_score`. If scores are calibrated
    probabilities, the two are equal apart from chance.

    Parameters
    ----------
    bins : int, default 10
        Number of bins of each segment, of about equally many rows. Rows with the same score are in
        the same bin. If a segment has at most 20 distinct scores, each of them is a bin.

    Returns
    -------
    frame of the same library
        One row for each segment, [model] and bin, in this order. Columns in brackets are present
        only if the options ask for them:

        - the by-columns, [`grouped_by`: the columns that define the segment], [`model`]
        - `bin`: position of the bin in its segment, from 1
        - `mean_score`: mean of the scores; `observed`: share of positive rows; `lower`, `upper`:
          its Wilson confidence interval, for this bin alone
        - `n`: number of rows

        With `detail`, also:

        - `score_low`, `score_high`: lowest and highest score of the bin
        - `n_positive`: number of rows with the positive label
        - `isotonic`: mean over the rows of the bin of the increasing function of the score that
          fits the labels of the segment best

    References
    ----------
    T. Dimitriadis, T. Gneiting and A. I. Jordan, "Stable reliability diagrams for probabilistic
    classifiers", PNAS 2021, for the isotonic function.

    Examples
    --------
    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame({"y": [0, 1, 0, 1], "p": [0.2, 0.2, 0.6, 0.6], "n": [80, 20, 60, 40]})
    >>> print(bf.calibration_curve(df, "y", "p", counts="n"))
    shape: (2, 6)
    ┌─────┬────────────┬──────────┬──────────┬──────────┬─────┐
    │ bin ┆ mean_score ┆ observed ┆ lower    ┆ upper    ┆ n   │
    │ --- ┆ ---        ┆ ---      ┆ ---      ┆ ---      ┆ --- │
    │ i64 ┆ f64        ┆ f64      ┆ f64      ┆ f64      ┆ i64 │
    ╞═════╪════════════╪══════════╪══════════╪══════════╪═════╡
    │ 1   ┆ 0.2        ┆ 0.2      ┆ 0.133367 ┆ 0.288829 ┆ 100 │
    │ 2   ┆ 0.6        ┆ 0.4      ┆ 0.309401 ┆ 0.497997 ┆ 100 │
    └─────┴────────────┴──────────┴──────────┴──────────┴─────┘
    """
    check_level(options["level"])
    if not is_whole_number(bins, 2):
        raise InvalidInputError(
            "{bins} is not a number of bins; give a whole number of at least 2.", bins=bins
        )

    def compute(scored: ScoredFrame) -> Columns:
        segment, columns = curve_columns(scored, int(bins), options["level"])
        return scored.counted_frame.by_columns(segment) | columns

    return run_score_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_score": y_score, "by": by, **options},
        compute,
    )


def curve_columns(
    scored: ScoredFrame, bins: int, level: float
) -> tuple[Int64Array, dict[Name, Any]]:
    """Return the segment of each row of the curve, and the other columns of `calibration_curve`."""
    p = ProbabilityScores.of(scored.ties)
    tie_bin = _tie_bins(p, bins)
    starts = np.flatnonzero(is_segment_start((p.segment, tie_bin), len(p.segment)))

    def bin_sums(values: FloatArray | Int64Array) -> Any:  # noqa: ANN401 (of the same dtype)
        return np.add.reduceat(values, starts) if len(starts) else values

    segment, n, k = p.segment[starts], bin_sums(p.n), bin_sums(p.k)
    last = np.append(starts, len(p.segment))[1:] - 1
    lower, upper = wilson(k.astype(float), n.astype(float), level)
    columns: dict[Name, Any] = {
        "bin": np.arange(len(segment)) - np.searchsorted(segment, segment) + 1,
        "score_low": p.score[starts],
        "score_high": p.score[last],
        "n": n,
        "n_positive": k,
        "mean_score": ratio(bin_sums(p.n * p.score), n.astype(float)),
        "observed": ratio(k.astype(float), n.astype(float)),
        "lower": lower,
        "upper": upper,
        "isotonic": ratio(bin_sums(p.n * isotonic_regression(p)), n.astype(float)),
    }
    return segment, columns


def _tie_bins(p: ProbabilityScores, bins: int) -> Int64Array:
    """Return the bin of each tie: quantiles of the segment, or each score if there are few."""
    rows_below = np.cumsum(p.n) - p.n - (np.cumsum(p.n_rows) - p.n_rows)[p.segment]
    doubled_rank = 2 * rows_below + p.n  # twice the rows of the segment up to the middle of the tie
    quantile_bin = np.minimum(doubled_rank * bins // (2 * p.n_rows[p.segment]), bins - 1)
    score_position = np.arange(len(p.segment)) - p.bounds[p.segment]
    has_few_scores = np.diff(p.bounds)[p.segment] <= _MAX_SCORE_BINS
    return np.asarray(np.where(has_few_scores, score_position, quantile_bin), np.int64)
