"""Warnings of a probable mistake: class labels that only one column has, or of two spellings."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from balframe.core.array_types import BoolArray, FloatArray, Int64Array
from balframe.core.cells import Cells
from balframe.core.label_set import Label, LabelSet, standard_pair
from balframe.core.safe_divide import ratio
from balframe.core.unique_rows import unique_rows
from balframe.errors import OPTION, Message, Spelled, listed
from balframe.frames.adapter import Adapter, Name, Series
from balframe.frames.counted_frame import CountedFrame, describe_values
from balframe.frames.query import ExpectedOutcome, Query

_FEW = 10  # rows, which may lack a label by chance
_SHARE = 1 / 10  # of a segment, of predictions of which others have a tenth of that at most
_RARELY = 1 / 10
_EXPECTED = 5  # rows with such predictions in other segments, which by chance are rarely none
_MAX_LISTED = 5
_SAME = "the same class labels in both columns, or list all of them in {labels}."


def label_warnings(counted_frame: CountedFrame) -> Sequence[Message]:
    """Return the warnings of counting, or else that of labels that only look different."""
    if counted_frame.label_warnings or counted_frame.query.labels is not None:
        return counted_frame.label_warnings
    spellings: dict[str, list[str]] = {}
    for label in counted_frame.labels.values:
        if isinstance(label, str):
            spellings.setdefault(label.strip().casefold(), []).append(label)
    return [
        Message(
            "the labels {} differ only in case or in spaces around them, and count as different "
            "labels. Write each label in one way, or list all labels in {labels}.",
            _listed_labels(texts),
            labels=OPTION,
        )
        for texts in spellings.values()
        if len(texts) > 1
    ][:1]


def label_mismatch_warnings(
    models: Sequence[Cells],
    query: Query,
    labels: LabelSet,
    by: Mapping[Name, Series],
    adapter: Adapter,
) -> tuple[Message, ...]:
    """Describe each column of predictions of which many labels never occur as true labels.

    They may be so in all rows or in a segment of the first by-columns, which are `by`. All outcomes
    may be other than the one that is expected. `models` are the cells of each of the outcomes.
    """
    n_labels = len(labels)
    if isinstance(query.y_true, ExpectedOutcome) or not n_labels:
        return ()
    models = [_with_rows(cells) for cells in models]
    true_labels = np.unique(np.concatenate([cells.actual for cells in models]))
    columns = {
        name: (cells, cells.outcome // n_labels**place % n_labels)
        for names, cells in zip(query.outcomes, models, strict=True)
        for place, name in zip(reversed(range(len(names))), names, strict=True)
    }
    warnings = []
    for name, (cells, codes) in columns.items():
        predicted = _Column(name, codes, np.unique(codes), is_truth=False)
        truth = _Column(query.y_true, cells.actual, true_labels, is_truth=True)
        for pair in ((predicted, truth), (truth, predicted)):
            warning = _mismatch_warning(cells, pair, labels, by, adapter)
            if warning is not None:
                warnings.append(warning)
                break
    return tuple(warnings)


def _with_rows(cells: Cells) -> Cells:
    """Return the cells that have rows, which none has that was left out."""
    at = np.flatnonzero(cells.n)
    return Cells(
        tuple(codes[at] for codes in cells.by),
        cells.actual[at],
        cells.outcome[at],
        cells.sums.at(at),
    )


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of labels: the code of each cell, and those that occur."""

    name: Name
    codes: Int64Array
    occurring: Int64Array
    is_truth: bool

    def labels(self, labels: LabelSet) -> list[Label]:
        """Return the labels that occur."""
        return [labels.values[code] for code in self.occurring]


def _mismatch_warning(
    cells: Cells,
    pair: tuple[_Column, _Column],
    labels: LabelSet,
    by: Mapping[Name, Series],
    adapter: Adapter,
) -> Message | None:
    """Return a warning if many labels in the first column of a pair never occur in the second."""
    here, other = pair
    own, others = here.labels(labels), other.labels(labels)
    is_constant = here.is_truth and len(others) == 1  # as of a baseline that predicts one class
    if (
        not set(own) - set(others)
        or standard_pair({*own, *others}) is not None
        or (is_constant and set(others) < set(own))
    ):
        return None
    rows, is_unmatched = cells.n, ~np.isin(here.codes, other.occurring)
    within, place = np.ones(len(rows), np.bool_), ""
    if rows.sum() < _FEW or 2 * rows[is_unmatched].sum() <= rows.sum():
        segment = _mismatched_segment(cells, list(by), here, is_unmatched)
        if segment is None:
            return None
        names, within = segment
        cell = int(np.argmax(within))
        codes = {name: (by[name], int(cells.by[[*by].index(name)][cell])) for name in names}
        place = f", where {describe_values(codes, adapter)},"
    occurring = np.unique(here.codes[within & is_unmatched])
    return Message(
        "{:,} of {:,} {} in column {!r}{} never occur in column {!r}: {}. Column {!r} has {}. {}",
        int(rows[within & is_unmatched].sum()),
        int(rows[within].sum()),
        "true labels" if here.is_truth else "predictions",
        here.name,
        place,
        other.name,
        _listed_labels([labels.values[code] for code in occurring]),
        other.name,
        _listed_labels(others),
        _advice(here.name, () if here.is_truth else own),
    )


def _mismatched_segment(
    cells: Cells, by: Sequence[Name], here: _Column, is_unmatched: BoolArray
) -> tuple[Sequence[Name], BoolArray] | None:
    """Return by-columns and the cells of the segment with the largest share of unmatched labels.

    At least a tenth of its labels are unmatched, and hardly any where these shares are lower: a
    label of many segments, such as the prediction "unknown", is no matter of spelling. As a model
    may never predict some labels, all true labels of a segment have to be unmatched, and several.
    """
    rows, level, share = cells.n, here.codes, 1.0 if here.is_truth else _SHARE
    for names, group in _segmentations(cells, by):
        n = np.bincount(group, rows)
        is_local = is_unmatched & _local_labels(group, n, level, rows)[level]
        unmatched = np.bincount(group, rows * is_local)
        differs = unmatched >= np.maximum(share * n, _FEW)
        expected = n[~differs].sum() * ratio(unmatched[differs].sum(), n[differs].sum())
        if not (expected >= _EXPECTED and unmatched[~differs].sum() <= _RARELY * expected):
            continue
        for segment in np.argsort(-ratio(unmatched, n), kind="stable")[: differs.sum()]:
            within = group == segment
            if not here.is_truth or len(np.unique(level[within])) > 1:
                return names, within
    return None


def _local_labels(
    group: Int64Array, n: FloatArray | Int64Array, level: Int64Array, rows: Int64Array
) -> BoolArray:
    """Return whether each label hardly occurs outside the segments that have it most often."""
    first, pair = unique_rows([level, group])
    labels, segments = level[first], group[first]
    counts, total = np.bincount(pair, rows), np.bincount(level, rows)
    often = counts * n.sum() > n[segments] * total[labels]
    n_labels = len(total)
    n_inside = np.bincount(labels, n[segments] * often, n_labels)
    inside = np.bincount(labels, counts * often, n_labels)
    outside_share = ratio(total - inside, n.sum() - n_inside)
    return np.asarray(outside_share <= _RARELY * ratio(inside, n_inside))


def _segmentations(cells: Cells, by: Sequence[Name]) -> Iterator[tuple[Sequence[Name], Int64Array]]:
    """Yield each by-column alone, and all of them, with the number of the segment of each cell."""
    for names in dict.fromkeys([*((name,) for name in by), tuple(by)]):
        if names and len(cells.n):
            yield names, unique_rows([cells.by[by.index(name)] for name in names])[1]


def _listed_labels(labels: Collection[Label]) -> str:
    return listed(map(repr, labels), _MAX_LISTED)


def _advice(predictions: object, labels: Sequence[Label]) -> Message:
    """Return advice; predictions with more than two numbers may be scores."""
    if len(labels) > 2 and isinstance(labels[0], int):
        return Message(
            "If {!r} is a score, turn it into labels first, with {}. Otherwise use " + _SAME,
            predictions,
            Spelled("`score >= threshold`", None, parameter="threshold"),
            labels=OPTION,
        )
    return Message("Use " + _SAME, labels=OPTION)
