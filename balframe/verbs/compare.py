"""The verb `compare`."""

from typing import Unpack

from balframe.analyses.differences_of_models import cells_of_models, compared_models, models_in_rows
from balframe.analyses.scoring import COMPARED, Metrics, Scoring
from balframe.errors import InvalidInputError, check_choice, parameter
from balframe.frames.library import FrameT, Name
from balframe.frames.query import Query, Reads
from balframe.frames.read import Reading
from balframe.intervals.request import check_level
from balframe.verbs.answer import Columns, answer
from balframe.verbs.columns import COUNTED, METRICS, SEGMENTS, TESTS, Span, estimate, key, limits
from balframe.verbs.declaration import Verb
from balframe.verbs.options import Adjustment, ClassWeights, Level, Names, OfScores

VERB = Verb.of(
    *SEGMENTS,
    key("reference", tells=True, heading=" against "),
    *COUNTED,
    METRICS,
    estimate("estimate", span=Span.METRIC, marks=True),
    estimate("reference_estimate"),
    estimate("difference", tells=True, span=Span.AROUND_ZERO, ranks=True),
    *limits(about="difference"),
    *TESTS,
)


class _Options(Adjustment, ClassWeights, Level, OfScores, total=False): ...


@VERB
def compare(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    metrics: Metrics = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Compare models on the same rows, segment by segment: which is better, and is it real.

    Both models see the same rows, so that most of what makes one score vary makes the other vary
    too: limits and p-values come from the rows that only one of them gets right. Each model is
    compared with each that comes after it in `y_pred`.

    The limits are Tango's for a difference of paired proportions, generalised to weighted means of
    recalls. They invert the score test, so that the p-value is below 1 - `level` exactly where they
    exclude 0. With one label, as for accuracy and recall, it is that of McNemar's statistic without
    a correction for continuity, (b - c)^2 / (b + c), b and c being the rows that only one of the
    models gets right.

    Where two models are equally good, p-values are below .05 in at most 1.07 times 5% of samples
    with one label of ten rows or more, if the models differ on at most half of these. With two
    labels of ten rows that is up to 1.18 times, and with thirty of five rows 1.25 times. At levels
    as small as .05 / 60 it is up to 1.4 times with several labels, and 1.8 times with thirty.

    Parameters
    ----------
    y_pred : list of column names
        The predictions of at least two models.
    sample_weight : column name, optional
        Weights of the rows, finite and not negative. Limits and p-values then use an effective
        number of rows of each label: Kish's, over the design effect of the difference where that is
        above 1, estimated with two mean rows more. They need several heavy rows of each label.
    missing : {"raise", "drop"}
        What to do about nulls outside of `by`: raise, or leave those rows out. For each pair of
        models, these are the rows where the truth or either prediction is null.

    Returns
    -------
    frame of the same library
        One row for each segment, pair of models and metric, in this order, with

        - the by-columns, [`margin`: the columns that make the segment], `model`, `reference`
        - `n`: rows; `n_labels`: labels present in the truth; `min_support`: rows of the rarest
        - `metric`, `estimate` and `reference_estimate`: the scores of `model` and `reference`
        - `difference`: estimate - reference_estimate; `lower`, `upper`: its limits; `p_value`: of
          the test that the models score the same. They are there for metrics whose denominators
          do not depend on the predictions, and null for others, as precision, f1 and kappa are
        - `p_adjusted`: adjusted within the family, which is all p-values of one metric over
          segments and pairs of models; with `margins` each margin is a family of its own
        - `n_tests`: how many p-values the family has

    References
    ----------
    T. Tango, "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design", Statistics in Medicine 1998. Q. McNemar, "Note on the sampling error of
    the difference between correlated proportions or percentages", Psychometrika 1947. L. Kish,
    "Survey Sampling", 1965.

    Examples
    --------
    Of 100 rows, both models get 70 right, the first 12 more and the second 3 more. McNemar's
    statistic is (12 - 3)^2 / (12 + 3) = 5.4, and a standard normal is beyond its root of 2.3238 in
    either direction with a probability of 0.0201:

    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame(
    ...     {"y": [1] * 4, "m1": [1, 1, 0, 0], "m2": [1, 0, 1, 0], "n": [70, 12, 3, 15]}
    ... )
    >>> out = bf.compare(df, "y", ["m1", "m2"], counts="n", metrics="accuracy")
    >>> numbers = ["estimate", "reference_estimate", "difference", "p_value"]
    >>> out.select(pl.col(numbers).round(4)).row(0)
    (0.82, 0.73, 0.09, 0.0201)
    """
    scoring = Scoring.of(metrics, options["class_weight"], COMPARED)
    check_choice("adjust", options["adjust"], ("bh", "holm", None))
    check_level(options["level"])

    def check(query: Query) -> None:
        if len(query.y_pred) < 2:
            raise InvalidInputError(
                f"{parameter('y_pred', y_pred)} names one model; compare needs a list of at least "
                "two columns of predictions."
            )

    def compute(reading: Reading) -> Columns:
        pair = cells_of_models(reading.cells, len(reading.labels))
        one, other = (scoring.class_counts(reading, cells) for cells in pair)
        _, first = reading.cells.segments
        margin = reading.margin_codes()[first]
        tables = {
            name: compared_models(
                metric, one, other, pair, margin, options["level"], options["adjust"]
            )
            for name, metric in scoring.metrics.items()
        }
        return models_in_rows(reading, one, tables)

    return answer(
        frame,
        VERB,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        reads=Reads(joint=True),
        check=check,
        suits=scoring.suits,
    )
