"""The verb `gaps`."""

from typing import Unpack

import numpy as np

from balframe.analyses.differences_of_segments import Comparison, gaps_in_rows
from balframe.analyses.references import (
    Against,
    ReferenceOption,
    check_not_ambiguous,
    check_reference,
)
from balframe.analyses.scoring import COMPARED, Metrics, Scoring, check_by
from balframe.core.selection import segments_at
from balframe.errors import check_choice
from balframe.frames.library import FrameT, Name
from balframe.frames.query import Query
from balframe.frames.read import Reading
from balframe.intervals.request import check_level
from balframe.verbs.answer import Columns, answer
from balframe.verbs.columns import COUNTED, METRICS, SEGMENTS, TESTS, Span, estimate, limits, note
from balframe.verbs.declaration import Verb
from balframe.verbs.options import Adjustment, ClassWeights, Level, Names, OfLabels

VERB = Verb.of(
    *SEGMENTS,
    *COUNTED,
    METRICS,
    estimate("estimate", tells=True, span=Span.METRIC, marks=True),
    note("reference"),
    estimate("reference_estimate"),
    estimate("difference", tells=True, span=Span.AROUND_ZERO, ranks=True),
    estimate("ratio"),
    *limits(about="difference"),
    *TESTS,
)


class _Options(Adjustment, ClassWeights, Level, OfLabels, total=False): ...


@VERB
def gaps(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names,
    metrics: Metrics = None,
    reference: ReferenceOption = "rest",
    **options: Unpack[_Options],
) -> FrameT:
    """Compare every segment with the rest, or with another reference: by how much, and is it real.

    A segment is part of the whole, so that the two are not independent and a test against the
    whole would find too little: the rest, all rows but those of the segment, is what is tested.
    Averages over labels look at the labels that are present on both sides, so that a segment
    without a difficult label does not seem better for it.

    Parameters
    ----------
    reference : "rest", "overall", "largest", "best", "worst", a value, or a mapping
        What each segment is compared with: all others together ("rest"), all rows ("overall", the
        difference only), the segment with the most rows ("largest"), that with the "best" or
        "worst" score, or that with this value in the by-column.
        `{"sex": "F", "race": "A"}` names a segment of several columns. Limits and
        p-values against the best or worst allow for its choice among all segments.

    Returns
    -------
    frame of the same library
        One row for each segment, [model] and metric, in this order, with

        - the by-columns, [`margin`: the columns that make the segment], [`model`]
        - `n`: rows of the segment; `n_labels`: labels present on both sides; `min_support`: rows
          of the segment with the rarest of these labels
        - `metric`, `estimate`: over these labels, so that an average may differ from that of
          `report`; `reference`: its name, `reference_estimate`
        - `difference`: estimate - reference_estimate; `ratio`: estimate / reference_estimate, null
          where one of them is below 0 or the second is 0
        - `lower`, `upper`: limits of the difference, of each row by itself, null for metrics
          without an interval
        - `p_value`: two-sided, that both sides have the same score, for every proportion and mean
          of recalls; it is under 1 - level where the limits exclude 0, and nowhere else (for a
          level of 0.7 or more).
          `p_adjusted`; `n_tests`: size of the family, the p-values of the metric in the margin

        The reference's own row has the difference 0 and no limits. `reference="rest"` pools rows,
        so that its recalls are weighted by support: where segments have equal scores from unequal
        recalls, the rest may score differently, and with many segments that is found. A segment
        as reference, or the test of `disparity`, asks the other question.

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used, or the reference does not exist; the
        message says what to do.

    References
    ----------
    P. J. Laud, "Equal-tailed confidence intervals for comparison of rates", Pharmaceutical
    Statistics 2017, for proportions and, extended, means of recalls; R. G. Newcombe, "Interval
    estimation for the difference between independent proportions", Statistics in Medicine 1998,
    from the limits of both sides, for other metrics; Y. Benjamini and Y. Hochberg, "Controlling
    the false discovery rate", JRSS B 1995.

    Examples
    --------
    >>> import balframe as bf
    >>> races = ["African-American", "Caucasian"]
    >>> compas = bf.datasets.compas(backend="pandas").query("race in @races")
    >>> out = bf.gaps(
    ...     compas, "reoffended", "high_risk", by="race", counts="n",
    ...     metrics="false_positive_rate", reference="Caucasian",
    ... )
    >>> shown = ["race", "estimate", "reference", "difference", "lower", "upper"]
    >>> print(out[shown].round(4).to_string(index=False))
                race  estimate reference  difference  lower  upper
    African-American    0.4485 Caucasian      0.2139 0.1822 0.2452
           Caucasian    0.2345 Caucasian      0.0000    NaN    NaN
    """
    scoring = Scoring.of(metrics, options["class_weight"], COMPARED)
    check_choice("adjust", options["adjust"], ("bh", "holm", None))
    check_level(options["level"])

    def check(query: Query) -> None:
        check_by(query, "gaps")
        check_reference(reference, query, scoring.metrics)

    def compute(reading: Reading) -> Columns:
        c = scoring.class_counts(reading)
        check_not_ambiguous(reference, reading)
        against = Against(reference, scoring.metrics, options["level"])
        groups = reading.groups()
        order = np.argsort(np.concatenate([group.segments for group in groups]))
        found = [against.group(group, segments_at(c, group.segments), reading) for group in groups]
        tables = {
            name: Comparison.concat([of_group[name] for of_group in found]).at(order)
            for name in scoring.metrics
        }
        return gaps_in_rows(reading, c, tables, options["adjust"])

    return answer(
        frame,
        VERB,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        check=check,
        suits=scoring.suits,
    )
