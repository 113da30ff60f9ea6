"""Strata of partly labelled rows: the rows of a segment with the same prediction and verdict."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array

CORRECTIONS = ("correct", "bounds")  # choices of the option `missing`
KEEP = "keep"  # another one, by which a null true label is one more label
MIN_LABELS = 5  # of a stratum: with fewer, limits are wide, and those of scores decide too often


def is_correction(missing: object) -> bool:
    """Return whether rows without a true label are corrected for, by the option `missing`."""
    return isinstance(missing, str) and missing in CORRECTIONS


def concerns_unlabelled(missing: object) -> bool:
    """Return whether the option `missing` corrects for rows without a true label, or keeps them."""
    return is_correction(missing) or (isinstance(missing, str) and missing == KEEP)


def places(segment: Int64Array) -> Int64Array:
    """Return the place of each stratum, ascending by segment, among those of its segment."""
    size = np.bincount(segment)
    return np.arange(len(segment)) - (np.cumsum(size) - size)[segment]


@dataclass(frozen=True)
class Strata:
    """The rows of each stratum, those with a true label among them, and those that are right.

    Parameters
    ----------
    rows, labelled, right : float arrays, shape (segments, strata)
        Segments with fewer strata have some without rows.
    prediction : int64 array, shape (segments, strata)
        Code of the predicted label.
    positive : float array, shape (segments, strata), optional
        The rows with a true label that is the positive one.
    by_label : float array, shape (segments, strata, labels), optional
        The rows with each true label.
    doubt : float or float array, shape (segments,), default 1
        By how much the odds of being right may differ between rows with and without a label.
    is_bounded : bool, default False
        Whether nothing is assumed of rows without a label.
    """

    rows: FloatArray
    labelled: FloatArray
    right: FloatArray
    prediction: Int64Array
    positive: FloatArray | None = None
    by_label: FloatArray | None = None
    doubt: FloatArray | float = 1.0
    is_bounded: bool = False

    @classmethod
    def of(
        cls,
        segment: Int64Array,
        prediction: Int64Array,
        n_segments: int,
        rows: FloatArray,
        labelled: FloatArray,
        right: FloatArray,
        positive: FloatArray | None = None,
        by_label: FloatArray | None = None,
    ) -> "Strata":
        """Put strata, which are ascending by segment, side by side."""
        column = places(segment)
        place = segment, column
        shape = n_segments, int(column.max(initial=0)) + 1

        def spread(values: FloatArray) -> FloatArray:
            out = np.zeros((*shape, *values.shape[1:]))
            out[place] = values
            return out

        codes = np.full(shape, -1)
        codes[place] = prediction
        return cls(
            spread(rows),
            spread(labelled),
            spread(right),
            codes,
            None if positive is None else spread(positive),
            None if by_label is None else spread(by_label),
        )

    def at(self, segments: Int64Array | slice) -> "Strata":
        """Take the segments at these positions."""
        doubt = self.doubt if np.ndim(self.doubt) == 0 else np.asarray(self.doubt)[segments]
        return replace(self._taken(segments), doubt=doubt)

    def without_padding(self) -> "Strata":
        """Leave out the places at which no segment has a stratum with rows, but for the first."""
        used = np.asarray((self.rows > 0).any(axis=0))
        used[:1] = True
        return self._taken((slice(None), used))

    def segments_by_size(self) -> Iterator[Int64Array]:
        """Yield the positions of segments of which none has twice as many strata as another."""
        size = np.frexp((self.rows > 0).sum(axis=1))[1]
        for each in np.unique(size):
            yield np.flatnonzero(size == each)

    def _taken(self, index: Any) -> "Strata":  # noqa: ANN401 (of arrays)
        return replace(
            self._each(lambda values: values[index]),
            prediction=self.prediction[index],
            by_label=None if self.by_label is None else self.by_label[index],
        )

    def of_each_label(self) -> "Strata":
        """Return the strata of each segment and label, which is 1 against 0 of all others."""
        assert self.by_label is not None
        n_labels, n_strata = self.by_label.shape[2], self.by_label.shape[1]
        every = self.at(np.repeat(np.arange(len(self.rows)), n_labels))
        label = np.tile(np.arange(n_labels), len(self.rows))[:, None]
        positive = np.moveaxis(self.by_label, 2, 1).reshape(-1, n_strata)
        predicted = every.prediction == label
        return replace(
            every,
            right=np.where(predicted, positive, every.labelled - positive),
            prediction=predicted.astype(np.int64),
            positive=positive,
            by_label=None,
        )

    def only(self, used: BoolArray) -> "Strata":
        """Keep these strata, of the shape (segments, strata)."""
        return self._each(lambda values: np.where(used, values, 0))

    def _each(self, change: Callable[[FloatArray], FloatArray]) -> "Strata":
        """Change all counts of rows."""
        return replace(
            self,
            rows=change(self.rows),
            labelled=change(self.labelled),
            right=change(self.right),
            positive=None if self.positive is None else change(self.positive),
            by_label=None,
        )

    def followed_by(self, other: "Strata") -> "Strata":
        """Append the segments of others, without their rows by label."""

        def both(name: str, padding: float) -> Any:  # noqa: ANN401 (an array)
            parts = getattr(self, name), getattr(other, name)
            width = max(part.shape[1] for part in parts)
            return np.vstack(
                [
                    np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=padding)
                    for part in parts
                ]
            )

        doubts = (np.broadcast_to(each.doubt, len(each.rows)) for each in (self, other))
        has_positive = self.positive is not None and other.positive is not None
        return replace(
            self,
            rows=both("rows", 0),
            labelled=both("labelled", 0),
            right=both("right", 0),
            prediction=both("prediction", -1),
            positive=both("positive", 0) if has_positive else None,
            by_label=None,
            doubt=np.concatenate([*doubts]),
        )

    def others(self, segments: Int64Array) -> "Strata":
        """Return the strata of all other segments, for each segment at these positions."""
        everything = self.together().at(np.zeros_like(segments))
        n_strata = self.rows.shape[1]
        own = np.arange(everything.rows.shape[1]) // n_strata == segments[:, None]
        return everything.only(~own)

    def together(self) -> "Strata":
        """Return the strata of all segments as those of one."""
        together = self._each(lambda values: values.reshape(1, -1))
        return replace(together, prediction=self.prediction.reshape(1, -1))

    def has_both(self, label: int | None) -> BoolArray:
        """Return whether some rows of a segment are predicted to have a label, and some are not."""
        is_label = self.prediction == label
        return (self.only(is_label).n > 0) & (self.only(~is_label).n > 0)

    @property
    def n(self) -> FloatArray:
        """All rows of each segment."""
        return np.asarray(self.rows.sum(axis=1))

    @property
    def n_labelled(self) -> FloatArray:
        """Rows of each segment that have a true label."""
        return np.asarray(self.labelled.sum(axis=1))

    @property
    def share(self) -> FloatArray:
        """Share of each stratum in the rows of its segment: W."""
        n = self.n[:, None]
        return np.asarray(self.rows / np.where(n > 0, n, 1))

    @property
    def are_whole(self) -> bool:
        """Whether all rows have a true label."""
        return bool((self.labelled == self.rows).all())

    @property
    def fewest_labels(self) -> FloatArray:
        """The fewest rows with a true label in a stratum that has rows; 0 without strata."""
        fewest = np.where(self.rows > 0, self.labelled, np.inf).min(axis=1, initial=np.inf)
        return np.where(np.isfinite(fewest), fewest, 0)

    @property
    def lacks_labels(self) -> BoolArray:
        """Whether a segment has a stratum with rows and without a true label."""
        return np.asarray(((self.labelled == 0) & (self.rows > 0)).any(axis=1))
