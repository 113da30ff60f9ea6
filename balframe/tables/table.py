"""The function `table`: the result of a method as a table for notebooks and pages."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from balframe._text import midnights_as_dates
from balframe._validate import check_choice, check_min_support, is_whole_number
from balframe.api.checked_arguments import checked_arguments
from balframe.api.options import DEFAULT_MIN_SUPPORT
from balframe.errors import OPTION, InvalidInputError, UnsupportedTypeError, listed, parameter
from balframe.frames.convert_result import collect_result, row_dicts
from balframe.frames.engines.inputs import unwrap
from balframe.frames.engines.registry import (
    PANDAS,
    POLARS,
    POLARS_LAZY,
    PYARROW,
    check_installed,
    find_engine,
)
from balframe.tables.confusion import ConfusionMatrices, confusion_content
from balframe.tables.format_cells import CellFormatter, is_undefined
from balframe.tables.gt_table import TableContent, build_gt_table
from balframe.tables.layout import ResultLayout, Values
from balframe.tables.notes import table_notes
from balframe.tables.row_selection import select_rows

if TYPE_CHECKING:
    from great_tables import GT


@checked_arguments
def table(
    frame: Any,  # noqa: ANN401 (a frame of pandas, polars or pyarrow)
    *,
    verb: str | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    decimals: int = 3,
    bars: bool = True,
    worst: int = 1,
    min_support: int = DEFAULT_MIN_SUPPORT,
    max_rows: int | None = 60,
) -> "GT":
    """Return the result of a method such as `report` as a great_tables table.

    A notebook displays the table; `as_raw_html()` returns its HTML, and the methods of
    `great_tables.GT` restyle it. Needs the extra `table`. The table has a white background, so that
    it is readable on dark pages too.

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
    verb : str, optional
        The method that returned the frame, as in "report". By default it follows from the columns;
        give it if the error message says that they fit more than one method.
    title, subtitle : str, optional
        Plain text above the table.
    decimals : int, default 3
        Number of decimals of scores. Thresholds have up to 6 more if they would look equal or 0;
        bounds have all that you gave. The frame has all digits.
    bars : bool, default True
        Draw the bars.
    worst : int, default 1
        How many segments to mark as the worst by each metric: those with the lowest scores, or the
        highest where lower is better, with all ties. Each model is ranked separately. Roll-ups are
        never marked, nor are metrics without a better direction. In the result of `classes`,
        segments are compared label by label, or the labels if there is one segment.
    min_support : int, default 10
        Mark a score only if its smallest denominator has at least this many rows; 0 marks all. The
        denominator is the column `n` for shares of all rows, such as accuracy, and the column
        `min_support` for recalls and their means. `report` does not return the denominators of
        precision and similar metrics, so `min_support`, the rows of the rarest label, is used
        instead. If the frame has no `min_support`, `n` is used; if it has neither, nothing is
        marked.
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

    Restyle it with conditions on the numbers behind the cells:

    >>> import polars as pl
    >>> from great_tables import loc, style
    >>> few = loc.body(columns="n", rows=pl.col("n_value") < 100)
    >>> table = table.tab_style(style.text(color="grey"), few).cols_hide("n_labels")
    """
    check_installed("great_tables", "table", "tables")
    _check_options(title, subtitle, decimals, bars, worst, max_rows)
    check_min_support(min_support)
    decimals, worst, min_support = int(decimals), int(worst), int(min_support)  # of NumPy, perhaps
    layout = ResultLayout.from_values(_read_values(frame), verb)
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


def _read_values(frame: Any) -> Values:  # noqa: ANN401
    """Return a frame as lists of Python values, None for null."""
    engine = find_engine(unwrap(frame)[0])
    if engine not in (PANDAS, POLARS, POLARS_LAZY, PYARROW):
        raise UnsupportedTypeError(
            f"got a frame of {engine.name}; give the result of a method as a frame of pandas, "
            "polars or pyarrow."
        )
    frame = collect_result(frame)
    names = list(frame.column_names if engine is PYARROW else frame.columns)
    duplicates = [name for name, number in Counter(names).items() if number > 1]
    if duplicates:
        raise InvalidInputError(
            "the frame has several columns of the same name: "
            f"{listed(map(repr, duplicates))}; rename them."
        )
    rows = row_dicts(frame)
    return {name: midnights_as_dates([_python_value(row[name]) for row in rows]) for name in names}


def _python_value(value: Any) -> Any:  # noqa: ANN401 (of any type)
    """Return the Python number for one of numpy, and None for NaN."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if is_undefined(value) else value


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
