"""The verb `fairness`."""

from typing import Unpack

from balframe._validate import check_min_support
from balframe.api.columns import (
    BESIDE,
    EXTREMES,
    N_CLUSTERS,
    N_COMPARED,
    ROLLED_UP,
    Naming,
    Span,
    estimate,
    key,
    limits,
    note,
    place,
)
from balframe.api.method import Verb
from balframe.api.metric_selection import Scoring, check_by
from balframe.api.options import Clustering, Level, Names, OfLabels
from balframe.api.run import Columns, answer
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import Reading
from balframe.methods.comparisons.criteria import METRICS, criteria_columns, measured
from balframe.methods.comparisons.extremes import Extremal, compared_groups
from balframe.stats.request import check_level

VERB = Verb.of(
    *ROLLED_UP,
    key("criterion", tells=True, naming=Naming.CRITERION, heading=BESIDE),
    key("measure", tells=True, naming=Naming.MEASURE),
    note("metric", naming=Naming.METRIC),
    estimate("estimate", tells=True, span=Span.AS_MEASURED),
    *limits(about="estimate"),
    place("bound", about="estimate"),
    *EXTREMES,
    estimate("lowest", span=Span.METRIC),
    estimate("highest", span=Span.METRIC),
    *N_COMPARED,
    N_CLUSTERS,
)


class _Options(Level, Clustering, OfLabels, total=False): ...


@VERB
def fairness(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names,
    min_support: int = 1,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per criterion of group fairness with its largest difference and ratio.

    Each criterion requires that a rate is equal in all segments. It is measured on the two segments
    that are furthest apart.

    | criterion | rate that is equal in all segments |
    | --- | --- |
    | demographic_parity | selection_rate |
    | equal_opportunity | recall |
    | equalized_odds | recall and false_positive_rate; the larger gap of the two counts |
    | predictive_parity | precision |
    | accuracy_equality | accuracy |
    | treatment_equality | treatment_ratio: FN / FP |
    | four_fifths_rule | selection_rate; the lowest must be at least 0.8 of the highest |

    The numbers are the same as in `disparity`. Most of these criteria cannot hold together if the
    prevalence differs between segments.

    Parameters
    ----------
    min_support : int, default 1
        Minimum number of rows in the denominator of a rate; segments with fewer rows are not
        compared. For treatment_ratio, it is the number of false negatives and false positives.

    Returns
    -------
    frame of the same library
        One row for each [margin], [model], criterion and measure, in this order. Columns in
        brackets are present only if the options ask for them:

        - [`margin`: the columns that define the segments], [`model`]
        - `criterion`; `measure`: "difference" (highest - lowest; 0 means equal) or "ratio" (lowest
          / highest; 1 means equal); `metric`: the rate whose segments are furthest apart
        - `estimate`, `lower`, `upper`: the measure and its confidence interval. The interval allows
          for the choice among all segments, but is not adjusted for the other rows of the result.
          All three are null if fewer than two segments can be compared. Ratios are also null if the
          highest rate is 0.
        - `bound`: the lowest ratio that the four-fifths rule allows
        - `lowest_<by>`, `highest_<by>` for each by-column: the two segments; `lowest`, `highest`:
          their rates
        - `n_segments`: number of segments compared; `n_left_out`: number of segments not compared,
          because the rate is undefined or `min_support` is not reached
        - with `cluster`, `n_clusters`: number of clusters with rows in these segments

    References
    ----------
    M. Hardt, E. Price and N. Srebro, "Equality of opportunity in supervised learning", NeurIPS
    2016; A. Chouldechova, "Fair prediction with disparate impact", Big Data 2017; R. Berk et al.,
    "Fairness in criminal justice risk assessments", Sociological Methods & Research 2021.

    Examples
    --------
    >>> import balframe as bf
    >>> races = ["African-American", "Caucasian"]
    >>> compas = bf.datasets.compas(backend="pandas").query("race in @races")
    >>> out = bf.fairness(compas, "reoffended", "high_risk", by="race", counts="n")
    >>> shown = out.query("measure == 'ratio'")[["criterion", "metric", "estimate", "bound"]]
    >>> print(shown.round(3).to_string(index=False))
             criterion              metric  estimate  bound
    demographic_parity      selection_rate     0.592    NaN
     equal_opportunity              recall     0.726    NaN
        equalized_odds false_positive_rate     0.523    NaN
     predictive_parity           precision     0.939    NaN
     accuracy_equality            accuracy     0.953    NaN
    treatment_equality     treatment_ratio     0.500    NaN
      four_fifths_rule      selection_rate     0.592    0.8
    """
    scoring = Scoring.of(METRICS, None, ())
    check_level(options["level"])
    check_min_support(min_support)

    def compute(reading: Reading) -> Columns:
        search = Extremal(options["level"], min_support)
        rows = [
            row
            for group, members in compared_groups(scoring.sample(reading), reading)
            for row in measured(search, scoring, members, group)
        ]
        return criteria_columns(reading, rows)

    return answer(
        frame,
        VERB,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        check=lambda query: check_by(query, "fairness"),
        suits=scoring.suits,
    )
