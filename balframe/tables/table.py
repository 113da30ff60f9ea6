"""The function `table`: the results of methods as tables for notebooks and pages."""

from typing import TYPE_CHECKING, Any

from balframe._validate import check_choice, check_min_support, is_whole_number
from balframe.api.checked_arguments import checked_arguments
from balframe.api.options import DEFAULT_MIN_SUPPORT
from balframe.errors import OPTION, InvalidInputError, UnsupportedTypeError, parameter
from balframe.frames.engines.registry import check_installed
from balframe.tables.format_cells import CellFormatter
from balframe.tables.gt_table import TableContent, build_gt_table
from balframe.tables.layout import ResultLayout, read_values
from balframe.tables.notes import table_notes
from balframe.tables.row_selection import select_rows

if TYPE_CHECKING:
    from great_tables import GT
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose

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


@checked_arguments
def table(
    frame: Any,  # noqa: ANN401 (a frame of pandas, polars or pyarrow)
    *,
    method: str | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    decimals: int = 3,
    bars: bool = True,
    worst: int = 1,
    min_support: int = DEFAULT_MIN_SUPPORT,
    max_rows: int | None = 60,
) -> "GT":
    """Return the result of a method such as `report` as a great_tables table.

    `bf.table.report(df, "y", "yhat", by="group")` calls the method and returns the table of its
    result, as `df.bal.table.report("y", "yhat", by="group")` does. Every method has such a
    function. It takes the arguments of the method and the options below, except `method`. Columns
    of details are shown for `detail=True` only.

    A notebook displays the table; `as_raw_html()` returns its HTML, and the methods of
    `great_tables.GT` restyle it. Needs the extra `table`. In notebooks with a dark theme, the table
    has light text on the notebook's background. Elsewhere it has a white background, so that it is
    readable on dark pages too.

    A cell shows an estimate, its confidence interval in brackets, and a bar below. The bar runs
    from 0 to the estimate, on the range of the metric, and a line on it spans the interval. Bars of
    differences have a common axis around 0; a metric without a largest value has no bar.

    The by-columns are on the left. Models, metrics and rules are headings above their rows, and
    roll-ups come last. A null segment is shown as (missing), a roll-up over all values of a column
    as (all), and an undefined score as an em dash.

    The result of `confusion` is shown as one confusion table for each segment and model: actual
    labels by predicted labels, with totals. It has one row for each pair of labels instead if there
    are more than 12 labels, or columns of your own.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame
        The result of a method: all its columns, or some of them in their order. Columns of your own
        may follow. A polars LazyFrame is collected.
    method : str, optional
        The method that returned the frame, as in "report". By default it follows from the columns;
        give it if the error message says that they fit more than one method.
    title, subtitle : str, optional
        Plain text above the table.
    decimals : int, default 3
        Number of decimals of scores. Thresholds have up to 6 more if they would look equal or 0;
        bounds have all the decimals that you gave. The frame has all digits.
    bars : bool, default True
        Draw the bars.
    worst : int, default 1
        How many segments to mark as the worst by each metric, with all ties, in the result of
        `gaps`. They are marked only if they are significantly worse than the reference: their
        verdict is "worse". Each model is ranked separately. Roll-ups are never marked, nor are
        metrics of which neither higher nor lower values are better. Results without a test of each
        segment, such as that of `report`, have no marks.
    min_support : int, default 10
        Mark a score only if its smallest denominator has at least this many rows; 0 marks all. The
        denominator is the column `n` for shares of all rows, such as accuracy, and the column
        `min_support` for recalls and their means. The denominators of precision and similar metrics
        are not in a result, so `min_support`, the rows of the rarest label, is used instead. If the
        frame has no `min_support`, `n` is used; if it has neither, nothing is marked.
    max_rows : int or None, default 60
        Maximum number of rows to show, not counting roll-ups. If there are more, the worst and the
        best by the first metric are shown, half of each, from worst to best. Of `monitor`, the last
        periods are shown. Without a metric, the first rows are shown, or the first segments of
        `confusion`. A note states how many are not shown. None shows all.

    Returns
    -------
    great_tables.GT
        The table. Its columns have the names of the frame's and hold HTML. Hidden columns
        `<name>_value` hold the numbers, for conditions on rows; lower and upper limits are among
        them. A confusion table has one column for each predicted label, and `total`.

    Raises
    ------
    MissingExtraError
        If great_tables is not installed.
    BalframeError
        If the frame is not the result of a method, or fits several, or an option cannot be used;
        the message says what to do.

    Examples
    --------
    >>> import balframe as bf
    >>> compas = bf.datasets.compas()
    >>> out = compas.bal.report(
    ...     "reoffended", "high_risk", by="race", counts="n", metrics="recall", interval=True
    ... )
    >>> table = bf.table(out, title="Who is found?", decimals=2)
    >>> "Asian" in table.as_raw_html()
    True

    The same from the data, in one call:

    >>> table = compas.bal.table.report(
    ...     "reoffended", "high_risk", by="race", counts="n", metrics="recall", interval=True,
    ...     title="Who is found?", decimals=2,
    ... )
    >>> "Asian" in table.as_raw_html()
    True

    Restyle it with conditions on the numbers behind the cells:

    >>> import polars as pl
    >>> from great_tables import loc, style
    >>> few = loc.body(columns="n", rows=pl.col("n_value") < 100)
    >>> table = table.tab_style(style.text(color="grey"), few)
    """
    options: dict[str, Any] = {
        "title": title,
        "subtitle": subtitle,
        "decimals": decimals,
        "bars": bars,
        "worst": worst,
        "min_support": min_support,
        "max_rows": max_rows,
    }
    return result_table(frame, method, **options)


def result_table(
    frame: Any,  # noqa: ANN401 (a frame of pandas, polars or pyarrow)
    method: str | None,
    *,
    title: Any,  # noqa: ANN401 (checked here, as the others are)
    subtitle: Any,  # noqa: ANN401
    decimals: Any,  # noqa: ANN401
    bars: Any,  # noqa: ANN401
    worst: Any,  # noqa: ANN401
    min_support: Any,  # noqa: ANN401
    max_rows: Any,  # noqa: ANN401
    hides_details: bool = False,
) -> "GT":
    """Return the table of a result; its columns of details may be read and not shown."""
    check_installed("great_tables", "table", "tables")
    _check_options(title, subtitle, decimals, bars, worst, max_rows)
    check_min_support(min_support)
    decimals, worst, min_support = int(decimals), int(worst), int(min_support)  # of NumPy, perhaps
    layout = ResultLayout.from_values(read_values(frame), method, hides_details=hides_details)
    matrices = ConfusionMatrices.from_layout(layout)
    if matrices is not None:
        return build_gt_table(confusion_content(matrices, decimals, max_rows), title, subtitle)
    selection = select_rows(layout, max_rows)
    formatter = CellFormatter(
        layout, selection, decimals, bars=bars, worst=worst, min_support=min_support
    )
    return build_gt_table(_table_content(formatter), title, subtitle)


def _check_options(
    title: object, subtitle: object, decimals: object, bars: object, worst: object, max_rows: object
) -> None:
    for name, text in (("title", title), ("subtitle", subtitle)):
        if text is not None and not isinstance(text, str):
            raise UnsupportedTypeError("{} must be a string or None.", parameter(name, text))
    if subtitle is not None and title is None:
        raise InvalidInputError(
            "{subtitle} is shown below a title; give {title} too.", subtitle=OPTION, title=OPTION
        )
    check_choice("bars", bars, (True, False))
    for name, number, minimum in (
        ("decimals", decimals, 0),
        ("worst", worst, 0),
        ("max_rows", 2 if max_rows is None else max_rows, 2),
    ):
        if not is_whole_number(number, minimum):
            raise InvalidInputError(
                "{} must be a whole number of at least {}.", parameter(name, number), minimum
            )


def _table_content(formatter: CellFormatter) -> TableContent:
    """Return all cells of a table with the rows of the result."""
    layout, rows = formatter.layout, formatter.selection.rows
    columns = [*layout.keys, *layout.value_columns]
    return TableContent(
        {name: [formatter.cell(name, row) for row in rows] for name in columns},
        {name: formatter.column_label(name) for name in columns},
        keys=layout.keys,
        headings=[formatter.heading(row) for row in rows] if layout.group_columns else None,
        numbers={
            name: [values[row] for row in rows]
            for name, values in layout.values.items()
            if name in layout.numeric_columns
        },
        rollups={position for position, row in enumerate(rows) if not layout.is_finest(row)},
        cuts={position for position, row in enumerate(rows) if row in formatter.selection.cuts},
        italics={position for position, row in enumerate(rows) if layout.is_small_category(row)},
        notes=table_notes(formatter),
    )


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
