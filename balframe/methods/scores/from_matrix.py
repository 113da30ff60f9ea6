"""The function `from_matrix`."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from balframe._validate import check_choice
from balframe.api.checked_arguments import checked_arguments
from balframe.core.label_set import Label, as_labels
from balframe.errors import NAME, InvalidInputError, listed, parameter
from balframe.frames.convert_result import backend_adapter
from balframe.frames.query import N


@checked_arguments
def from_matrix(
    matrix: npt.ArrayLike,
    labels: Sequence[Label] | None = None,
    *,
    rows: Literal["true", "pred"] = "true",
    backend: Literal["polars", "pandas"] = "polars",
) -> Any:  # noqa: ANN401 (a frame of the backend)
    """Return the cells of a confusion matrix as a frame, which methods read with `counts="n"`.

    A label whose row and column are 0 does not occur in the data. To keep it in the label set, give
    the method `labels=`.

    Parameters
    ----------
    matrix : array-like of int, shape (n_labels, n_labels)
        Counts of rows: non-negative whole numbers.
    labels : list of labels, optional
        Labels of the rows and columns of the matrix; by default 0, 1, ...
    rows : {"true", "pred"}
        Whether the rows of the matrix are the true labels, as in scikit-learn, or the predicted
        labels, as in [[tp, fp], [fn, tn]] with `labels=[1, 0]`.
    backend : {"polars", "pandas"}
        Library of the returned frame.

    Returns
    -------
    frame of the backend
        One row for each pair of labels, with the columns `actual`, `predicted` and `n`.

    Raises
    ------
    BalframeError
        If the matrix is not square, if its entries are not counts, or if the labels do not match
        its size.

    Examples
    --------
    >>> import balframe as bf
    >>> cells = bf.from_matrix([[45, 11], [5, 39]], labels=[1, 0], rows="pred")
    >>> cells.rows()
    [(1, 1, 45), (1, 0, 5), (0, 1, 11), (0, 0, 39)]
    >>> metrics = ["recall", "specificity"]
    >>> bf.report(cells, "actual", "predicted", counts="n", metrics=metrics).rows()
    [(100, 0.9, 0.78)]
    """
    check_choice("rows", rows, ("true", "pred"))
    library = backend_adapter(backend)
    counts = _as_counts(matrix)
    if isinstance(labels, str) or not hasattr(range(0) if labels is None else labels, "__len__"):
        raise InvalidInputError(
            "{labels} is not a list; give a list of labels, in order.", labels=labels
        )
    values = as_labels(range(len(counts)) if labels is None else labels, parameter("labels"))
    if len(values) != len(counts) or len(set(values)) < len(values):
        raise InvalidInputError(
            "{labels}=[{}] does not match the {} x {} matrix; give {} different labels, one for "
            "each row and column.",
            listed(map(repr, values)),
            len(counts),
            len(counts),
            len(counts),
            labels=NAME,
        )
    actual, predicted = (index.ravel() for index in np.indices(counts.shape))
    levels = library.label_series(values)
    return library.build_frame(
        {
            "actual": library.take(levels, actual, nullable=False),
            "predicted": library.take(levels, predicted, nullable=False),
            N: (counts if rows == "true" else counts.T).ravel(),
        }
    )


def _as_counts(matrix: npt.ArrayLike) -> npt.NDArray[np.int64]:
    try:
        array = np.asarray(matrix)
    except ValueError:  # rows of different lengths
        array = np.zeros(0)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size:
        raise InvalidInputError(
            f"got {matrix!r}, which is not a square matrix; give one with a row and a column for "
            "each label."
        )
    if (
        array.dtype.kind not in "iuf"
        or not (
            np.isfinite(array) & (array >= 0) & (array < 2.0**63) & (array == np.floor(array))
        ).all()
    ):
        raise InvalidInputError(
            f"got {matrix!r}, whose entries are not all counts; give non-negative whole numbers. "
            "Multiply shares by the number of rows first."
        )
    return array.astype(np.int64)
