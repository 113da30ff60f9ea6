"""The verb `posterior`."""

from collections.abc import Iterable, Sequence

import numpy as np

from balframe.core.arrays import FloatArray
from balframe.core.class_counts import ClassCounts
from balframe.core.entries import Entries
from balframe.core.labels import Label
from balframe.errors import InvalidInputError, check_choice
from balframe.frames.library import FrameT, Name
from balframe.frames.query import MAX_CELLS, Options, Query
from balframe.frames.read import Reading
from balframe.intervals.equal_segments import over_segments
from balframe.intervals.recalls_of_counts import recalls_of_labels
from balframe.intervals.request import Prior, check_level
from balframe.intervals.sums_of_betas import PRIORS, Posterior
from balframe.verbs.answer import Backend, Columns, Margins, Missing, Names, answer

_COUNTED = ("n", "n_labels", "min_support")
_FOUND = ("mean", "sd", "median", "lower", "upper", "p_above")


def posterior(
    frame: FrameT,
    y_true: Name,
    y_pred: Names,
    *,
    by: Names = None,
    above: float | None = None,
    level: float = 0.95,
    prior: Prior = "uniform",
    sample_weight: Name | None = None,
    counts: Name | None = None,
    cells: bool = False,
    labels: Sequence[Label] | None = None,
    pos_label: Label | None = None,
    missing: Missing = "raise",
    margins: Margins = False,
    backend: Backend = None,
    max_cells: int = MAX_CELLS,
) -> FrameT:
    """Describe the posterior distribution of the balanced accuracy of every segment.

    The recalls of the labels present have independent Beta posteriors, and the balanced accuracy
    is their mean. With five labels or more that prior is far from flat on the mean: `report` with
    `interval=True` then covers better.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame, or one of Dask, PySpark, DuckDB, Ibis, SQLFrame
        The data; never changed. A polars LazyFrame gives a LazyFrame; the others compute at once.
    y_true : column name
        The true labels: booleans, integers, whole floats, strings, categories or dates.
    y_pred : column name or list of column names
        The predicted labels; a list compares several models and adds a column `model`.
    by : column name or list of column names, optional
        The columns whose combinations are the segments; by default all rows are one segment.
    above : float, optional
        The balanced accuracy to exceed, in [0, 1]; by default chance, 1 over the labels present.
    level : float, default 0.95
        Probability between `lower` and `upper`, with equal tails outside.
    prior : {"uniform", "jeffreys"}
        Prior of each recall: Beta(1, 1) or Beta(1/2, 1/2).
    sample_weight : column name, optional
        Weights of the rows, finite and not negative; each label counts Kish's effective size.
    counts : column name, optional
        How many identical rows each row stands for, whole numbers from 0.
    cells : bool, default False
        Read `frame` as the result of `confusion`: `n`, `weight` and `weight_sq` are totals.
    labels : list of labels, optional
        The label set in the order wanted; by default the sorted labels that occur.
    pos_label : label, optional
        Checked to be among the labels, as in `report`; it changes nothing here.
    missing : {"raise", "drop"}
        What to do about nulls outside of `by`: raise, or leave those rows out.
    margins : {False, "overall", "all"}
        Add roll-ups: over the whole frame, or over every subset of the by-columns.
    backend : {"pandas", "polars", "pyarrow"}, optional
        The library of the answer; by default that of the frame, or the one that suits its engine.
    max_cells : int, default 50 million
        The most cells that a lazy or distributed frame may send; more raise.

    Returns
    -------
    frame of the same library
        One row for each segment and [model], in this order, with

        - the by-columns, [`margin`: the columns that make the segment], [`model`]
        - `n`: rows; `n_labels`: labels present in the truth; `min_support`: rows of the rarest
        - `mean`, `sd`, `median`, `lower`, `upper`: of the posterior, null in an empty segment
        - `p_above`: probability that the balanced accuracy exceeds `above`

    Raises
    ------
    BalframeError
        If a name, an option or a value cannot be used; the message says what to do.

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
     n  n_labels  min_support  mean    sd  median  lower  upper  p_above
    46         3            4 0.776 0.073   0.781  0.622  0.903      1.0
    """
    check_level(level)
    check_choice("prior", prior, PRIORS)
    if above is not None and not (isinstance(above, (int, float)) and 0 <= above <= 1):
        raise InvalidInputError(f"above={above!r} is not a balanced accuracy, from 0 to 1.")

    def outputs(query: Query) -> Iterable[Name]:
        return (*query.by, *_COUNTED, *_FOUND)

    def compute(reading: Reading) -> Columns:
        reading.pos_label()
        c = ClassCounts.of(Entries.of(reading.cells, len(reading.labels)))
        counted = dict(zip(_COUNTED, (c.n, c.n_present, c.min_support), strict=True))
        tail = (1 - level) / 2

        def describe(x: FloatArray, n: FloatArray, a: FloatArray) -> list[FloatArray]:
            p = Posterior.of(x, n, a, prior)
            exceeded = np.full(len(x), 1 / x.shape[1] if above is None else above)
            median, lower, upper = p.quantiles((0.5, tail, 1 - tail))
            return [p.mean, p.sd, median, lower, upper, p.above(exceeded)]

        found = over_segments(recalls_of_labels(c), c.n_segments, len(_FOUND), describe)
        columns = reading.by_columns(reading.cells.segments[1])
        return columns | counted | dict(zip(_FOUND, found, strict=True))

    options = Options(
        y_true,
        y_pred,
        by,
        sample_weight,
        counts,
        labels,
        pos_label,
        missing,
        margins,
        backend,
        max_cells,
        cells=cells,
    )
    return answer(frame, options, compute, outputs)
