"""Warnings of a probable mistake: most rows have a class label that only one column has."""

from collections.abc import Collection, Sequence

import numpy as np

from balframe.core.array_types import BoolArray
from balframe.core.label_set import Label, standard_pair
from balframe.errors import OPTION, Message, Spelled, listed
from balframe.frames.label_agreement import LabelAgreement, LabelColumn, LevelCounts
from balframe.frames.query import ExpectedOutcome

_FEW = 10  # rows, which may lack a label by chance
_MAX_LISTED = 5
_SAME = "the same class labels in both columns, or list all of them in {labels}."


def label_mismatch_warnings(
    parts: Sequence[LevelCounts], columns: Sequence[LabelColumn], agreement: LabelAgreement
) -> tuple[Message, ...]:
    """Describe each column of predictions whose labels are mostly not those of the truth.

    All outcomes may be other than the one that is expected.
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
            warning = _mismatch_warning(part, is_complete, pair, columns, agreement)
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
) -> Message | None:
    """Return a warning if most labels in the first column of a pair never occur in the second."""
    here, other = pair
    (positions, labels), (_, others) = agreement.column_labels[here], agreement.column_labels[other]
    unmatched = set(labels) - set(others)
    is_constant = not here and len(others) == 1  # as of a baseline that predicts one class
    if (
        not unmatched
        or standard_pair({*labels, *others}) is not None
        or (is_constant and set(others) < set(labels))
    ):
        return None
    rows = (
        part.sums.row_counts
        if is_complete is None
        else np.where(is_complete, part.sums.row_counts, 0)
    )
    unmatched_positions = [
        position for position, label in zip(positions, labels, strict=True) if label in unmatched
    ]
    is_unmatched = np.isin(part.labels[part.column_indices.index(here)], unmatched_positions)
    n, n_unmatched = int(rows.sum()), int(rows[is_unmatched].sum())
    if n < _FEW or 2 * n_unmatched <= n:
        return None
    what = "predictions" if here else "true labels"
    name, other_name = columns[here].name, columns[other].name
    return Message(
        "{:,} of {:,} {} in column {!r} never occur in column {!r}: {}. Column {!r} has {}. {}",
        n_unmatched,
        n,
        what,
        name,
        other_name,
        _listed_labels([label for label in labels if label in unmatched]),
        other_name,
        _listed_labels(others),
        _advice(name, labels if here else ()),
    )


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
