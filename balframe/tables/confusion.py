"""The answer of `confusion` as a table for each segment: actual labels by predicted labels."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

from balframe._text import TOTAL
from balframe.api.columns import HEADING_SEPARATOR, PREDICTED_OF_MODELS, Kind
from balframe.frames.adapter import Name
from balframe.frames.query import MARGIN, MODEL, WEIGHT, N
from balframe.methods.scores.confusion import SHARE
from balframe.tables import format_cells as cells
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
    """The row of the answer for each pair of labels in each segment, roll-ups last."""

    layout: ResultLayout
    actual: Name
    predicted: Name
    labels: Sequence[Any]
    rows: Mapping[_Segment, Mapping[_LabelPair, int]]

    @classmethod
    def from_layout(cls, layout: ResultLayout) -> "ConfusionMatrices | None":
        """Read an answer; None where a table of rows suits it better.

        It has other columns than these, too many labels, or a pair of labels twice.
        """
        columns, values = layout.columns.items(), layout.values
        labelled = [name for name, one in columns if one.kind is Kind.LABEL]
        if len(labelled) != 2 or any(name not in layout.columns for name in layout.value_columns):
            return None
        actual, predicted = labelled
        keys = [*layout.by, *(name for name in (MARGIN, MODEL) if name in layout.columns)]
        rows: dict[_Segment, dict[_LabelPair, int]] = {}
        for row in sorted(range(layout.n_rows), key=lambda row: not layout.is_finest(row)):
            segment = tuple(values[name][row] for name in keys)
            rows.setdefault(segment, {})[values[actual][row], values[predicted][row]] = row
        labels = _ordered_labels(list(rows.values()))
        is_once = sum(map(len, rows.values())) == layout.n_rows
        if not is_once or not 1 < len(labels) <= _MAX_LABELS:
            return None
        return cls(layout, actual, predicted, labels, rows)

    def is_finest(self, segment: _Segment) -> bool:
        """Tell whether these are the counts of one segment, not of a roll-up."""
        return self.layout.is_finest(next(iter(self.rows[segment].values())))

    @property
    def has_headings(self) -> bool:
        """Tell whether there is more than all rows of one model."""
        return bool(self.layout.by) or MODEL in self.layout.columns

    def count(self, segment: _Segment, actual: Sequence[Any], predicted: Sequence[Any]) -> int:
        """Count the rows with these labels."""
        n = self.layout.values[N]
        rows = self.rows[segment]
        return sum(n[rows[pair]] for pair in rows if pair[0] in actual and pair[1] in predicted)

    def heading(self, segment: _Segment) -> str:
        """Name a segment and its model."""
        row = next(iter(self.rows[segment].values()))
        parts = []
        for name in self.layout.by:
            text = self.layout.placeholder(name, row)
            value = self.layout.values[name][row]
            shown = cells.format_value(value) if text is None else cells.format_placeholder(text)
            parts.append(f"{cells.format_value(name)}: {shown}")
        if MODEL in self.layout.columns:
            parts.append(cells.format_value(self.layout.values[MODEL][row]))
        return HEADING_SEPARATOR.join(parts)


def _ordered_labels(segments: Sequence[Mapping[_LabelPair, int]]) -> list[Any]:
    """List the labels in the order of the answer, which is theirs unless it was given."""
    found = list(dict.fromkeys(label for pairs in segments for pair in pairs for label in pair))
    try:
        ordered = sorted(found)
    except TypeError:
        return found
    place = {label: number for number, label in enumerate(ordered)}
    is_sorted = all(
        (place[a], place[b]) <= (place[c], place[d])
        for pairs in segments
        for (a, b), (c, d) in zip(list(pairs), list(pairs)[1:], strict=False)
    )
    return ordered if is_sorted else found


def confusion_content(found: ConfusionMatrices, decimals: int, most: int | None) -> TableContent:
    """Write a table for each segment, for as many segments as have at most so many rows."""
    finest = [one for one in found.rows if found.is_finest(one)]
    quota = len(finest) if most is None else max(most // len(found.labels), 1)
    segments = finest[:quota] + [one for one in found.rows if not found.is_finest(one)]
    one_by_one = [(label,) for label in found.labels]
    names, total = _column_names(found)
    columns: dict[Name, Sequence[Any]] = dict(zip(names, one_by_one, strict=True))
    columns[total] = found.labels
    rows = [(one, actual) for one in segments for actual in [*one_by_one, found.labels]]
    is_total = [actual is found.labels for _, actual in rows]
    shown = {
        found.actual: [
            _label_text(actual, end) for (_, actual), end in zip(rows, is_total, strict=True)
        ]
    }
    for name, predicted in columns.items():
        shown[name] = [_cell_text(found, *row, predicted, decimals) for row in rows]
    return TableContent(
        shown,
        {found.actual: _label_heading("Actual", found.actual)}
        | {name: _label_text(predicted, name == total) for name, predicted in columns.items()},
        keys=[found.actual],
        headings=[found.heading(one) for one, _ in rows] if found.has_headings else None,
        numbers={
            name: [found.count(one, actual, predicted) for one, actual in rows]
            for name, predicted in columns.items()
        },
        rollups={place for place, end in enumerate(is_total) if end},
        notes=_notes(found, len(finest), quota),
        spanner=(_label_heading("Predicted", found.predicted), names),
    )


def _column_names(found: ConfusionMatrices) -> tuple[list[Name], Name]:
    """Name the columns by their labels, and that of totals, apart from each other."""
    names: list[Name] = [found.actual]
    for text in [*map(str, found.labels), "total"]:
        while text in names:
            text += "_"
        names.append(text)
    return names[1:-1], names[-1]


def _label_heading(side: str, name: Name) -> str:
    """Say which labels they are, and what their column is named."""
    return side if name == PREDICTED_OF_MODELS else f"{side}: {cells.format_value(name)}"


def _label_text(labels: Sequence[Any], is_total: bool) -> str:
    return cells.format_placeholder(TOTAL) if is_total else cells.format_value(labels[0])


def _cell_text(
    found: ConfusionMatrices,
    segment: _Segment,
    actual: Sequence[Any],
    predicted: Sequence[Any],
    decimals: int,
) -> str:
    """Write how many rows there are, and their share; those on the diagonal are correct."""
    text = cells.format_count(found.count(segment, actual, predicted))
    if len(actual) > 1 or len(predicted) > 1:
        return text
    pair = (actual[0], predicted[0])
    text = f"<strong>{text}</strong>" if pair[0] == pair[1] else text
    row = found.rows[segment].get(pair)
    shares = found.layout.values.get(SHARE)
    return (
        text
        if shares is None or row is None
        else f"{text} {cells.format_secondary(shares[row], decimals)}"
    )


def _notes(found: ConfusionMatrices, n_segments: int, quota: int) -> list[str]:
    notes = ["Numbers of rows; bold: correct predictions."]
    if n_segments > quota:
        n = f"{cells.format_count(n_segments - quota)} of {cells.format_count(n_segments)}"
        notes.insert(0, f"{n} segments are not shown. Shown: the first.")
    values = found.layout.values
    if SHARE in values:
        of = next(
            (text for side, text in _SHARE_DENOMINATORS.items() if _is_share_of(found, side)), None
        )
        what = "rows" if WEIGHT not in values else "weight"
        notes.append(f"In grey: share of the {what}" + (f" of {of}." if of else "."))
    elif WEIGHT in values:
        notes.append("Weights are not shown.")
    return notes


def _is_share_of(found: ConfusionMatrices, side: str) -> bool:
    """Find out what shares are of: the sums of these are 1, where they are defined."""
    shares, sums = found.layout.values[SHARE], dict[Hashable, float]()
    for segment, rows in found.rows.items():
        for (actual, predicted), row in rows.items():
            if shares[row] is not None:
                key = (segment, {"true": actual, "pred": predicted, "all": None}[side])
                sums[key] = sums.get(key, 0) + shares[row]
    return all(isclose(one, 1, abs_tol=1e-6) for one in sums.values())
