"""The function `table`: the result of a method as a table for notebooks and pages."""

from typing import TYPE_CHECKING, Any

from balframe._validate import check_choice, check_min_support, is_whole_number
from balframe.api.checked_arguments import checked_arguments
from balframe.api.options import DEFAULT_MIN_SUPPORT
from balframe.errors import OPTION, InvalidInputError, UnsupportedTypeError, parameter
from balframe.frames.engines.registry import check_installed
from balframe.tables.confusion import ConfusionMatrices, confusion_content
from balframe.tables.format_cells import CellFormatter
from balframe.tables.gt_table import TableContent, build_gt_table
from balframe.tables.layout import ResultLayout, read_values
from balframe.tables.notes import table_notes
from balframe.tables.row_selection import select_rows

if TYPE_CHECKING:
    from great_tables import GT


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
