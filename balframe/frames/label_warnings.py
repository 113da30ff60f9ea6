"""Warnings of a probable mistake: class labels that only one column has, or of two spellings."""

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from balframe.core.array_types import BoolArray, Int64Array
from balframe.core.label_set import Label, standard_pair
from balframe.core.unique_rows import unique_rows
from balframe.errors import OPTION, Message, Spelled, listed
from balframe.frames.adapter import Adapter, Name, Series
from balframe.frames.counted_frame import CountedFrame, describe_values
from balframe.frames.label_agreement import LabelAgreement, LabelColumn, LevelCounts
from balframe.frames.query import ExpectedOutcome

_FEW = 10  # rows, which may lack a label by chance
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
    parts: Sequence[LevelCounts],
    columns: Sequence[LabelColumn],
    agreement: LabelAgreement,
    by: Mapping[Name, Series],
    adapter: Adapter,
) -> tuple[Message, ...]:
    """Describe each column of predictions whose labels are mostly not those of the truth.

    They may be so in all rows or in a segment of the first by-columns, which are `by`. All outcomes
    may be other than the one that is expected.
    """
    if isinstance(columns[0].name, ExpectedOutcome):
        return ()
    parts_by_column = {
        index: (part, is_complete)
        for part, is_complete in zip(parts, agreement.is_complete, strict=True)
        for index in part.column_indices[1:]
    }
    warnings = []
    for index, (part, is_complete) in parts_by_column.items():
        for pair in ((index, 0), (0, index)):
            warning = _mismatch_warning(part, is_complete, pair, columns, agreement, by, adapter)
            if warning is not None:
                warnings.append(warning)
                break
    return tuple(warnings)


def _mismatch_warning(
    part: LevelCounts,
    is_complete: BoolArray | None,
    pair: tuple[int, int],
    columns: Sequence[LabelColumn],
    agreement: LabelAgreement,
    by: Mapping[Name, Series],
    adapter: Adapter,
) -> Message | None:
    """Return a warning if most labels in the first column of a pair never occur in the second."""
    here, other = pair
    (positions, labels), (_, others) = agreement.column_labels[here], agreement.column_labels[other]
    is_constant = not here and len(others) == 1  # as of a baseline that predicts one class
    if (
        not set(labels) - set(others)
        or standard_pair({*labels, *others}) is not None
        or (is_constant and set(others) < set(labels))
    ):
        return None
    level, rows = part.labels[part.column_indices.index(here)], part.sums.row_counts
    rows = rows if is_complete is None else np.where(is_complete, rows, 0)
    unmatched = [at for at, label in zip(positions, labels, strict=True) if label not in others]
    is_unmatched = np.isin(level, unmatched)
    within, place = np.ones(len(rows), np.bool_), ""
    if rows.sum() < _FEW or 2 * rows[is_unmatched].sum() <= rows.sum():
        share = 1 / 2 if here else 1.0
        segment = _mismatched_segment(part, list(by), level, rows, is_unmatched, share)
        if segment is None:
            return None
        names, within = segment
        cell = int(np.argmax(within))
        codes = {name: (by[name], int(part.by[[*by].index(name)][cell])) for name in names}
        place = f", where {describe_values(codes, adapter)},"
    occurring = {*level[within & is_unmatched & (rows > 0)].tolist()}
    name, other_name = columns[here].name, columns[other].name
    return Message(
        "{:,} of {:,} {} in column {!r}{} never occur in column {!r}: {}. Column {!r} has {}. {}",
        int(rows[within & is_unmatched].sum()),
        int(rows[within].sum()),
        "predictions" if here else "true labels",
        name,
        place,
        other_name,
        _listed_labels([x for at, x in zip(positions, labels, strict=True) if at in occurring]),
        other_name,
        _listed_labels(others),
        _advice(name, labels if here else ()),
    )


def _mismatched_segment(
    part: LevelCounts,
    by: Sequence[Name],
    level: Int64Array,
    rows: Int64Array,
    is_unmatched: BoolArray,
    share: float,
) -> tuple[Sequence[Name], BoolArray] | None:
    """Return by-columns and the cells of a segment of whose labels this share is unmatched, if any.

    As a model may never predict some labels, all true labels of a segment have to be unmatched, and
    they are several. A label that is mostly in other segments, such as the prediction "unknown", is
    no matter of spelling.
    """
    for names, group in _segmentations(part, by):
        n = np.bincount(group, rows)
        least = np.maximum(share * n, _FEW)
        differs = np.bincount(group, rows * is_unmatched) >= least
        n_inside = np.bincount(level, rows * differs[group])
        is_local = is_unmatched & (2 * n_inside > np.bincount(level, rows))[level]
        differs &= np.bincount(group, rows * is_local) >= least
        for segment in np.flatnonzero(differs):
            within = group == segment
            if share < 1 or len(np.unique(level[within & (rows > 0)])) > 1:
                return names, within
    return None


def _segmentations(
    part: LevelCounts, by: Sequence[Name]
) -> Iterator[tuple[Sequence[Name], Int64Array]]:
    """Yield each by-column alone, and all of them, with the number of the segment of each cell."""
    for names in dict.fromkeys([*((name,) for name in by), tuple(by)]):
        if names and len(part.by[0]):
            yield names, unique_rows([part.by[by.index(name)] for name in names])[1]


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
