"""What is probably not meant: most rows have a class label that only one of two columns has."""

from collections.abc import Collection, Sequence

import numpy as np

from balframe.core.array_types import BoolArray
from balframe.core.label_set import Label, are_standard
from balframe.errors import in_python, listed, parameter
from balframe.frames.label_agreement import Agreement, Counted, LabelColumn

_FEW = 10  # rows, which may lack a label by chance
_SHOWN = 5


def doubts_of(
    parts: Sequence[Counted], columns: Sequence[LabelColumn], agreed: Agreement
) -> tuple[str, ...]:
    """Describe each column of predictions whose labels are mostly not those of the truth."""
    of_holder = {
        holder: (part, whole)
        for part, whole in zip(parts, agreed.whole, strict=True)
        for holder in part.holders[1:]
    }
    doubts = []
    for holder, cells in of_holder.items():
        ways = (_doubt(*cells, pair, columns, agreed) for pair in ((holder, 0), (0, holder)))
        doubts += [one for one in ways if one is not None][:1]
    return tuple(doubts)


def _doubt(
    part: Counted,
    whole: BoolArray | None,
    pair: tuple[int, int],
    columns: Sequence[LabelColumn],
    agreed: Agreement,
) -> str | None:
    """Say that the labels of most rows in the first column of a pair never occur in the second."""
    here, other = pair
    (positions, labels), (_, others) = agreed.found[here], agreed.found[other]
    alone = set(labels) - set(others)
    is_constant = not here and len(others) == 1  # as of a baseline that predicts one class
    if not alone or are_standard({*labels, *others}) or (is_constant and set(others) < set(labels)):
        return None
    rows = part.sums.counted if whole is None else np.where(whole, part.sums.counted, 0)
    at_alone = [at for at, label in zip(positions, labels, strict=True) if label in alone]
    is_alone = np.isin(part.labels[part.holders.index(here)], at_alone)
    n, n_alone = int(rows.sum()), int(rows[is_alone].sum())
    if n < _FEW or 2 * n_alone <= n:
        return None
    what = "predictions" if here else "true labels"
    name, name_of_other = columns[here].name, columns[other].name
    return (
        f"{n_alone:,} of {n:,} {what} in column {name!r} never occur in column {name_of_other!r}: "
        f"{_shown([one for one in labels if one in alone])}. Column {name_of_other!r} has "
        f"{_shown(others)}. {_advice(name, labels if here else ())}"
    )


def _shown(labels: Collection[Label]) -> str:
    return listed(map(repr, labels), _SHOWN)


def _advice(predictions: object, labels: Sequence[Label]) -> str:
    """Say what to do; predictions that have more than two numbers may be scores."""
    same = (
        f"use the same class labels in both columns, or list all of them in {parameter('labels')}."
    )
    if len(labels) > 2 and isinstance(labels[0], int):
        code = in_python("`score >= threshold`", "threshold", None)
        first = f"If {predictions!r} is a score, turn it into labels first, with {code}."
        return f"{first} Otherwise {same}"
    return same[0].upper() + same[1:]
