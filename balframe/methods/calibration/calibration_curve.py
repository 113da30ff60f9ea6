"""The verb `calibration_curve`."""

from typing import Unpack

import numpy as np

from balframe.api.columns import SEGMENTS, Kind, Span, count, estimate, key, limits, place
from balframe.api.method import Method
from balframe.api.options import Level, Names
from balframe.api.run import Columns, answer_from_scores
from balframe.errors import InvalidInputError, parameter
from balframe.frames.adapter import FrameT, Name
from balframe.frames.scores import ScoredFrame
from balframe.methods.calibration.calibration import Calibrating, curve_in_rows
from balframe.stats.base import check_level

BINS = 10
VERB = Method.of(
    *SEGMENTS,
    key("bin", kind=Kind.INTEGER),
    place("score_low"),
    place("score_high", tells=True),
    count("n"),
    count("n_positive"),
    estimate("mean_score"),
    estimate("observed", span=Span.UNIT),
    *limits(about="observed"),
    estimate("isotonic", tells=True, span=Span.UNIT),
    instead={
        "thresholds": "a bin has about as many rows as every other. Give their number as bins.",
        "sample_weight": "the curve counts rows. For identical rows, give their number as counts.",
        "cluster": "the intervals of the curve need independent rows.",
    },
)


class _Options(Level, Calibrating, total=False): ...


@VERB
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
    probabilities, the two are equal but for chance.

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

        - the by-columns, [`margin`: the columns that define the segment], [`model`]
        - `bin`: position of the bin in its segment, from 1; `score_low`, `score_high`: its lowest
          and highest score
        - `n`: number of rows; `n_positive`: number of rows with the positive label
        - `mean_score`: mean of the scores; `observed`: share of positive rows; `lower`, `upper`:
          its Wilson confidence interval, for this bin alone
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
    >>> out = bf.calibration_curve(df, "y", "p", counts="n")
    >>> out.select("bin", "n", "mean_score", "observed").rows()
    [(1, 100, 0.2, 0.2), (2, 100, 0.6, 0.4)]
    """
    check_level(options["level"])
    if not isinstance(bins, (int, np.integer)) or isinstance(bins, bool) or bins < 2:
        raise InvalidInputError(
            f"{parameter('bins', bins)} is not a number of bins; give a whole number of at least 2."
        )

    def compute(scored: ScoredFrame) -> Columns:
        segment, columns = curve_in_rows(scored, int(bins), options["level"])
        return scored.reading.by_columns(segment) | columns

    return answer_from_scores(
        frame,
        VERB,
        {"y_true": y_true, "y_score": y_score, "by": by, **options},
        compute,
    )
