"""The method `posterior`."""

from typing import Unpack

import numpy as np

from balframe._validate import check_choice, check_level, is_number
from balframe.api.columns import (
    SEGMENT_KEYS,
    SUPPORT_COLUMNS,
    Kind,
    count,
    details,
    estimate,
    limits,
    note,
)
from balframe.api.method import Method
from balframe.api.metric_selection import segment_counts
from balframe.api.options import (
    DetailOptions,
    LabelMethodOptions,
    LevelOptions,
    Names,
    PriorOptions,
)
from balframe.api.run import Columns, run_method
from balframe.core.array_types import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.core.label_counts import LabelCounts
from balframe.errors import InvalidInputError
from balframe.frames.adapter import FrameT, Name
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import N
from balframe.stats.batching import compute_by_segment
from balframe.stats.mean_recall import recalls_of_labels
from balframe.stats.mean_recall_posterior import PRIORS, Posterior

_POSTERIOR_COLUMNS = (
    estimate("mean", identifies=True),
    estimate("sd"),
    estimate("median"),
    *limits(),
    note("p_above", kind=Kind.FLOAT),
)
METHOD = Method.of(
    *SEGMENT_KEYS,
    estimate("mean", identifies=True),
    *limits(),
    note("p_above", kind=Kind.FLOAT),
    count(N),
    *details(*SUPPORT_COLUMNS, estimate("sd"), estimate("median")),
    hints={
        "cluster": "the posterior needs independent rows. For rows in clusters, call report with "
        "an interval.",
    },
)


class _Options(LevelOptions, PriorOptions, LabelMethodOptions, DetailOptions, total=False): ...


@METHOD
def posterior(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    above: float | None = None,
    **options: Unpack[_Options],
) -> FrameT:
    """Return one row per segment with the posterior distribution of its balanced accuracy.

    The recalls of the labels present have independent Beta posteriors, and the balanced accuracy
    is their mean. With five or more labels, this implies an informative prior for the mean. The
    confidence interval of `report` with `interval=True` then has better coverage.

    Parameters
    ----------
    above : float, optional
        The balanced accuracy to exceed, in [0, 1]; by default the chance level: 1 divided by the
        number of labels present.
    level : float, default 0.95
        Probability of the equal-tailed credible interval from `lower` to `upper`, in (0, 1).
    sample_weight : column name, optional
        Row weights: finite, non-negative numbers. Each label then has an effective sample size, the
        smaller of those for lower and upper limits in `report`.

    Returns
    -------
    frame of the same library
        One row for each segment and [model], in this order. Columns in brackets are present only
        if the options ask for them:

        - the by-columns, [`grouped_by`: the columns that define the segment], [`model`]
        - `mean`: mean of the posterior; `lower`, `upper`: its credible interval. They are null in
          an empty segment.
        - `p_above`: probability that the balanced accuracy exceeds `above`
        - `n`: number of rows
        - with `detail`, `n_labels`: number of labels present in the truth; `min_support`: number of
          rows of the rarest label present; `sd`, `median`: standard deviation and median of the
          posterior

    Notes
    -----
    With one label, all columns are exact. With more labels, quantiles have an error of at most 2e-6
    with `prior="uniform"`, and of up to 1e-4 with `prior="jeffreys"`. Near 0 and 1, the probability
    below a quantile is accurate to 1e-5, with up to 10^10 rows of two or three labels, or 10^6 of
    twenty. With two labels, `p_above` has an error below 1e-6. With three or more, it may be off by
    up to 0.005 with `prior="jeffreys"` if a label has few rows, all right or all wrong, and others
    have thousands.

    References
    ----------
    K. H. Brodersen, C. S. Ong, K. E. Stephan and J. M. Buhmann, "The balanced accuracy and its
    posterior distribution", ICPR 2010; H. Carrillo, K. H. Brodersen and J. A. Castellanos,
    "Probabilistic performance evaluation for multiclass classification using the posterior
    balanced accuracy", ROBOT 2013.

    Examples
    --------
    >>> import balframe as bf
    >>> cells = bf.from_matrix([[30, 1, 1], [2, 8, 0], [0, 1, 3]], backend="pandas")
    >>> out = bf.posterior(cells, "actual", "predicted", counts="n")
    >>> print(out.round(3).to_string(index=False))
     mean  lower  upper  p_above  n
    0.776  0.622  0.903      1.0 46
    """
    level, prior = options["level"], options["prior"]
    check_level(level)
    check_choice("prior", prior, PRIORS)
    if above is not None and not (is_number(above) and 0 <= above <= 1):
        raise InvalidInputError(
            "{above} is not a balanced accuracy; give a number from 0 to 1.", above=above
        )

    def compute(counted_frame: CountedFrame) -> Columns:
        c = ClassCounts.of(LabelCounts.of(counted_frame.cells, len(counted_frame.labels)))
        tail = (1 - level) / 2

        def summarize(x: FloatArray, n: FloatArray, a: FloatArray) -> list[FloatArray]:
            p = Posterior.of(x, n, a, prior)
            bound = np.full(len(x), 1 / x.shape[1] if above is None else above)
            median, lower, upper = p.quantiles((0.5, tail, 1 - tail))
            return [p.mean, p.sd, median, lower, upper, p.probability_above(bound)]

        values = compute_by_segment(recalls_of_labels(c), len(_POSTERIOR_COLUMNS), summarize)
        names = [column.name for column in _POSTERIOR_COLUMNS]
        columns = counted_frame.by_columns(counted_frame.cells.segments[1])
        return columns | segment_counts(c) | dict(zip(names, values, strict=True))

    return run_method(
        frame,
        METHOD,
        {"y_true": y_true, "y_pred": y_pred, "by": by, **options},
        compute,
        check_labels=CountedFrame.pos_label_code,
    )
