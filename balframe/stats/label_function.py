"""Functions of an array of true and an array of predicted labels, evaluated on counts."""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from balframe._validate import is_number
from balframe.core.array_types import FloatArray, Int64Array
from balframe.core.class_counts import ClassCounts
from balframe.errors import OPTION, Advice, InvalidInputError, UnsupportedTypeError

MOST_ROWS = 10_000_000  # of a segment, whose labels are repeated in memory

LabelArray = npt.NDArray[Any]
PairRows = npt.NDArray[Any]  # rows of each pair of labels, which need not be whole numbers

_ignoring_warnings = threading.Lock()  # they are ignored in all threads or in none


@contextmanager
def without_warnings() -> Iterator[None]:
    """Ignore warnings of functions of users, which are not about the rows as they are."""
    with _ignoring_warnings, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@dataclass(frozen=True, slots=True)
class LabelPairs:
    """The pairs of a true and a predicted label that occur in a segment, and what it is called.

    `key` identifies each pair in all segments of the same class counts.
    """

    segment: int
    where: str
    key: Int64Array
    y_true: LabelArray
    y_pred: LabelArray
    n: PairRows

    @classmethod
    def of_segments(cls, c: ClassCounts) -> "Iterator[LabelPairs]":
        """Iterate over the segments that have rows."""
        cells = c.confusion_cells()
        assert c.labels is not None
        labels = np.array(c.labels)
        first = cells.segments[1]
        ends = np.append(first[1:], len(cells.n))
        for begin, end in zip(first.tolist(), ends.tolist(), strict=True):
            segment = int(cells.by[0][begin])
            actual, outcome, n = (a[begin:end] for a in (cells.actual, cells.outcome, cells.n))
            key = actual * c.n_labels + outcome
            yield cls(segment, _where(c, segment), key, labels[actual], labels[outcome], n)

    @classmethod
    def all_of(
        cls, c: ClassCounts, segment: int, positions: Int64Array, n: PairRows
    ) -> "LabelPairs":
        """Return all pairs of the labels at these positions of the label set."""
        assert c.labels is not None
        k, labels = len(positions), np.array(c.labels)[positions]
        actual, outcome = np.repeat(positions, k), np.tile(positions, k)
        key = actual * c.n_labels + outcome
        return cls(segment, _where(c, segment), key, np.repeat(labels, k), np.tile(labels, k), n)


def _where(c: ClassCounts, segment: int) -> str:
    """Return what a message calls a segment."""
    values = "" if c.describe is None else c.describe(segment)
    n = int(c.n[segment])
    rows = f"{n:,} row{'s' * (n != 1)}"
    return f"where {values} ({rows})" if values else f"in {rows}"


@dataclass(frozen=True, slots=True)
class LabelFunction:
    """A function of true and predicted labels, which returns a number, as a function of counts.

    `counts` is the name of the parameter that takes how many rows each pair of labels stands for.
    None if the function has none, and takes the labels of each row.
    """

    name: str
    function: Callable[..., object]
    counts: str | None

    def __call__(self, c: ClassCounts) -> FloatArray:
        """Evaluate the function in every segment; NaN in those without rows."""
        self.check(c)
        values = np.full(c.n_segments, np.nan)
        for pairs in LabelPairs.of_segments(c):
            values[pairs.segment] = self.evaluate(pairs, pairs.n)
        return values

    def check(self, c: ClassCounts) -> None:
        """Raise if rows have weights, or if labels are unknown."""
        if not c.counts_rows:
            raise InvalidInputError(
                "metric {!r} is a function of labels and cannot use the weights of "
                "{sample_weight}, because it takes labels of rows. Omit it, or write the metric "
                "as a function of class counts with bf.metric. If each row stands for several "
                "rows, give {counts} in its place.",
                self.name,
                sample_weight=OPTION,
                counts=OPTION,
            )
        if c.labels is None:
            raise InvalidInputError(
                "metric {!r} is a function of two labels, but here all labels other than the "
                "positive one count as negative. Write it as a function of class counts with "
                "bf.metric, or turn the true labels into two.",
                self.name,
            )

    def evaluate(self, pairs: LabelPairs, n: PairRows, sample: str = "") -> float:
        """Evaluate the function where each pair of labels occurs so many times.

        `sample` says in messages which sample of the segment this is.
        """
        where = f"{sample}{pairs.where}"
        y_true, y_pred, options = self._arguments(pairs, n)
        try:
            value = self.function(y_true, y_pred, **options)
        except Exception as error:
            raise InvalidInputError(
                "metric {!r} failed {}: {}: {}. Let the function return NaN where it is undefined; "
                "the result is then null.",
                self.name,
                where,
                type(error).__name__,
                str(error).rstrip("."),
            ) from error
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if not is_number(value):
            raise UnsupportedTypeError(
                "metric {!r} returned {!r} of type {} {}; the function must return one number.",
                self.name,
                value,
                type(value).__name__,
                where,
            )
        return float(value)

    def _arguments(
        self, pairs: LabelPairs, n: PairRows
    ) -> tuple[LabelArray, LabelArray, dict[str, PairRows]]:
        """Return the labels of every row, or of every pair that occurs, with its rows."""
        if self.counts is not None:
            occurs = n > 0
            return pairs.y_true[occurs], pairs.y_pred[occurs], {self.counts: n[occurs]}
        if n.sum() > MOST_ROWS:
            raise InvalidInputError(
                "metric {!r} takes the labels of every row, but there are more than {:,} rows {}. "
                "If the function has a parameter for the number of rows, such as sample_weight, "
                "give {counts} to bf.metric_from. Otherwise write it as a function of class counts "
                "with bf.metric.",
                self.name,
                MOST_ROWS,
                pairs.where,
                counts=Advice("sample_weight"),
            )
        return np.repeat(pairs.y_true, n), np.repeat(pairs.y_pred, n), {}
