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
    too: the limits come from the rows that only one of them gets right. Each model is compared
    with each that comes after it in `y_pred`.

    Parameters
    ----------
    y_pred : list of column names
        The predictions of at least two models.
    sample_weight : column name, optional
        Weights of the rows, finite and not negative. The p-values are null then.
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
        - `difference`: estimate - reference_estimate; `lower`, `upper`: its limits, for metrics
          whose denominators do not depend on the predictions, null for others
        - `p_value`: McNemar's exact test, for those of them that are proportions; `p_adjusted`;
          `n_tests`: size of the family

    References
    ----------
    D. G. Bonett and R. M. Price, "Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data", Journal of Educational and Behavioral Statistics 2012, for
    each label; G. Y. Zou and A. Donner, Statistics in Medicine 2008, for their mean. Q. McNemar,
    "Note on the sampling error of the difference between correlated proportions or percentages",
    Psychometrika 1947.

    Examples
    --------
    Of 100 rows, both models get 70 right, the first 12 more and the second 3 more:

    >>> import polars as pl
    >>> import balframe as bf
    >>> df = pl.DataFrame(
    ...     {"y": [1] * 4, "m1": [1, 1, 0, 0], "m2": [1, 0, 1, 0], "n": [70, 12, 3, 15]}
    ... )
    >>> out = bf.compare(df, "y", ["m1", "m2"], counts="n", metrics="accuracy")
    >>> numbers = ["estimate", "reference_estimate", "difference", "p_value"]
    >>> out.select(pl.col(numbers).round(4)).row(0)
    (0.82, 0.73, 0.09, 0.0352)
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
        tables = {
            name: compared_models(metric, one, other, pair, options["level"], options["adjust"])
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
