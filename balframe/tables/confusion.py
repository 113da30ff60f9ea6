"""The result of `confusion` as a table for each segment: actual labels by predicted labels."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

from balframe._text import TOTAL
from balframe.api.columns import HEADING_SEPARATOR, PREDICTED_OF_MODELS, Kind
from balframe.frames.adapter import Name
from balframe.frames.query import GROUPED_BY, MODEL, WEIGHT, N
from balframe.methods.scores.confusion import ESTIMATED, SHARE
from balframe.tables.format_cells import (
    format_count,
    format_placeholder,
    format_secondary,
    format_value,
)
from balframe.tables.gt_table import TableContent
from balframe.tables.layout import ResultLayout

_MAX_LABELS = 12
_SHARE_DENOMINATORS = {
    "true": "the actual label",
    "pred": "the predicted label",
    "all": "the segment",
}

_Segment = tuple[Hashable, ...]
_LabelPair = tuple[Any, Any]


@dataclass(frozen=True)
class ConfusionMatrices:
    """The row of the result for each pair of labels in each segment, roll-ups last."""

    layout: ResultLayout
    actual: Name
    predicted: Name
    labels: Sequence[Any]
    rows: Mapping[_Segment, Mapping[_LabelPair, int]]

    @classmethod
    def from_layout(cls, layout: ResultLayout) -> "ConfusionMatrices | None":
        """Return the matrices of a result, or None if a table of its rows suits it better.

        That is so with other columns than these, too many labels, or a pair of labels twice.
        """
        values = layout.values
        label_columns = [
            name for name, column in layout.columns.items() if column.kind is Kind.LABEL
        ]
        has_others = any(name not in layout.columns for name in layout.value_columns)
        if len(label_columns) != 2 or has_others:
            return None
        actual, predicted = label_columns
        keys = [*layout.by, *(name for name in (GROUPED_BY, MODEL) if name in layout.columns)]
        rows: dict[_Segment, dict[_LabelPair, int]] = {}
        for row in sorted(range(layout.n_rows), key=lambda row: not layout.is_finest(row)):
            segment = tuple(values[name][row] for name in keys)
            rows.setdefault(segment, {})[values[actual][row], values[predicted][row]] = row
        labels = _ordered_labels(list(rows.values()))
        are_unique = sum(map(len, rows.values())) == layout.n_rows
        if not are_unique or not 1 < len(labels) <= _MAX_LABELS:
            return None
        return cls(layout, actual, predicted, labels, rows)

    def is_finest(self, segment: _Segment) -> bool:
        """Return whether these are the counts of one segment, not of a roll-up."""
        return self.layout.is_finest(next(iter(self.rows[segment].values())))

    @property
    def has_headings(self) -> bool:
        """Return whether there is more than all rows of one model."""
        return bool(self.layout.by) or MODEL in self.layout.columns

    def count(self, segment: _Segment, actual: Sequence[Any], predicted: Sequence[Any]) -> int:
        """Return the number of rows with these labels."""
        n = self.layout.values[N]
        rows = self.rows[segment]
        return sum(n[rows[pair]] for pair in rows if pair[0] in actual and pair[1] in predicted)

    def heading(self, segment: _Segment) -> str:
        """Return the names of a segment and its model."""
        row = next(iter(self.rows[segment].values()))
        parts = []
        for name in self.layout.by:
            placeholder = self.layout.placeholder(name, row)
            text = (
                format_value(self.layout.values[name][row])
                if placeholder is None
                else format_placeholder(placeholder)
            )
            parts.append(f"{format_value(name)}: {text}")
        if MODEL in self.layout.columns:
            parts.append(format_value(self.layout.values[MODEL][row]))
        return HEADING_SEPARATOR.join(parts)


def _ordered_labels(segments: Sequence[Mapping[_LabelPair, int]]) -> list[Any]:
    """Return the labels sorted if the rows are, or else in the order of the rows."""
    labels = list(dict.fromkeys(label for pairs in segments for pair in pairs for label in pair))
    try:
        ordered = sorted(labels)
    except TypeError:
        return labels
    rank = {label: rank for rank, label in enumerate(ordered)}
    is_sorted = all(
        (rank[a], rank[b]) <= (rank[c], rank[d])
        for pairs in segments
        for (a, b), (c, d) in zip(list(pairs), list(pairs)[1:], strict=False)
    )
    return ordered if is_sorted else labels


def confusion_content(
    matrices: ConfusionMatrices, decimals: int, max_rows: int | None
) -> TableContent:
    """Return a table for each segment, for as many segments as fit into the number of rows."""
    finest = [segment for segment in matrices.rows if matrices.is_finest(segment)]
    max_segments = len(finest) if max_rows is None else max(max_rows // len(matrices.labels), 1)
    rollups = [segment for segment in matrices.rows if not matrices.is_finest(segment)]
    segments = finest[:max_segments] + rollups
    single_labels = [(label,) for label in matrices.labels]
    names, total = _column_names(matrices)
    columns: dict[Name, Sequence[Any]] = dict(zip(names, single_labels, strict=True))
    columns[total] = matrices.labels
    rows = [
        (segment, actual) for segment in segments for actual in [*single_labels, matrices.labels]
    ]
    is_total = [actual is matrices.labels for _, actual in rows]
    cell_texts = {
        matrices.actual: [
            _label_text(actual, total_row)
            for (_, actual), total_row in zip(rows, is_total, strict=True)
        ]
    }
    for name, predicted in columns.items():
        cell_texts[name] = [_cell_text(matrices, *row, predicted, decimals) for row in rows]
    return TableContent(
        cell_texts,
        {matrices.actual: _label_heading("Actual", matrices.actual)}
        | {name: _label_text(predicted, name == total) for name, predicted in columns.items()},
        keys=[matrices.actual],
        headings=[matrices.heading(segment) for segment, _ in rows]
        if matrices.has_headings
        else None,
        numbers={
            name: [matrices.count(segment, actual, predicted) for segment, actual in rows]
            for name, predicted in columns.items()
        },
        rollups={position for position, total_row in enumerate(is_total) if total_row},
        notes=_notes(matrices, len(finest), max_segments),
        spanner=(_label_heading("Predicted", matrices.predicted), names),
    )


def _column_names(matrices: ConfusionMatrices) -> tuple[list[Name], Name]:
    """Return different names for the columns of predicted labels, and for that of totals."""
    names: list[Name] = [matrices.actual]
    for text in [*map(str, matrices.labels), "total"]:
        while text in names:
            text += "_"
        names.append(text)
    return names[1:-1], names[-1]


def _label_heading(side: str, name: Name) -> str:
    """Return the heading that names a side of the matrix, and the column of its labels."""
    return side if name == PREDICTED_OF_MODELS else f"{side}: {format_value(name)}"


def _label_text(labels: Sequence[Any], is_total: bool) -> str:
    return format_placeholder(TOTAL) if is_total else format_value(labels[0])


def _cell_text(
    matrices: ConfusionMatrices,
    segment: _Segment,
    actual: Sequence[Any],
    predicted: Sequence[Any],
    decimals: int,
) -> str:
    """Return the number of rows, bold if they are correct, and their share."""
    text = format_count(matrices.count(segment, actual, predicted))
    if len(actual) > 1 or len(predicted) > 1:
        return text
    pair = (actual[0], predicted[0])
    text = f"<strong>{text}</strong>" if pair[0] == pair[1] else text
    row = matrices.rows[segment].get(pair)
    shares = matrices.layout.values.get(SHARE)
    return (
        text
        if shares is None or row is None
        else f"{text} {format_secondary(shares[row], decimals)}"
    )


def _notes(matrices: ConfusionMatrices, n_segments: int, max_segments: int) -> list[str]:
    notes = ["Numbers of rows; bold: correct predictions."]
    if n_segments > max_segments:
        n = f"{format_count(n_segments - max_segments)} of {format_count(n_segments)}"
        notes.insert(0, f"{n} segments are not shown. Shown: the first.")
    values = matrices.layout.values
    if SHARE in values:
        denominator = next(
            (text for side, text in _SHARE_DENOMINATORS.items() if _is_share_of(matrices, side)),
            None,
        )
        unit = "rows" if WEIGHT not in values else "weight"
        notes.append(
            f"In grey: share of the {unit}" + (f" of {denominator}." if denominator else ".")
        )
    elif WEIGHT in values:
        notes.append("Weights are not shown.")
    if ESTIMATED in values:
        notes[0] = f"Rows with a true label; bold: correct predictions. {ESTIMATED} is not shown."
    return notes


def _is_share_of(matrices: ConfusionMatrices, side: str) -> bool:
    """Return whether shares are of this side: where they are defined, they add up to 1."""
    shares, sums = matrices.layout.values[SHARE], dict[Hashable, float]()
    for segment, rows in matrices.rows.items():
        for (actual, predicted), row in rows.items():
            if shares[row] is not None:
                key = (segment, {"true": actual, "pred": predicted, "all": None}[side])
                sums[key] = sums.get(key, 0) + shares[row]
    return all(isclose(total, 1, abs_tol=1e-6) for total in sums.values())
