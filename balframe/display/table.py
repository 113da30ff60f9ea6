"""The function `table`: the answer of a verb as a table for notebooks and pages."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from balframe.display import table_cells as cells
from balframe.display.table_layout import Layout, Values, choose
from balframe.display.table_scores import Pen
from balframe.errors import InvalidInputError, UnsupportedTypeError, check_choice, listed, parameter
from balframe.frames.deliver import collected, of_lists, rows_of
from balframe.frames.engines.given import unwrapped
from balframe.frames.engines.supported import (
    PANDAS,
    POLARS,
    POLARS_LAZY,
    PYARROW,
    check_installed,
    engine_of,
)
from balframe.frames.library import Name

if TYPE_CHECKING:
    from great_tables import GT

_GROUP = "group_heading"
_EDGE = "#c3c9d0"


def table(
    frame: Any,  # noqa: ANN401 (a frame of pandas, polars or pyarrow)
    *,
    verb: str | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    decimals: int = 3,
    bars: bool = True,
    worst: int = 1,
    max_rows: int | None = 60,
) -> "GT":
    """Show the answer of a verb as a table, with great_tables.

    A notebook displays the table by itself; `as_raw_html()` gives its HTML, and the methods of
    `great_tables.GT` restyle it. Needs the extra `table`.

    An estimate and its limits share a cell: the numbers, and below them a bar from 0 to the
    estimate on the range of the metric, with a line from the lower to the upper limit.
    Differences have a common axis around 0; a metric without a largest value has no bar. The
    by-columns stand on the left, models, metrics and rules are headings over their rows, and
    roll-ups come last in each. What is undefined is an em dash.

    Parameters
    ----------
    frame : pandas, polars or pyarrow frame
        The answer of a verb, with all its columns or some of them in their order, and columns of
        your own behind. A polars LazyFrame is collected.
    verb : str, optional
        The verb that gave the answer, as in "report". By default the columns tell; give it where
        the message says that they may be of more than one.
    title, subtitle : str, optional
        Plain text above the table.
    decimals : int, default 3
        How many decimals scores have.
    bars : bool, default True
        Draw the bars.
    worst : int, default 1
        How many segments to mark as the worst by each metric, with all that tie with them: those
        with the lowest scores, or the highest where lower is better. Roll-ups are never marked,
        models are looked at one by one, and metrics of which no direction is better have no
        mark. In an answer of `classes` the segments are compared label by label, or the labels
        where there is one segment.
    max_rows : int or None, default 60
        The most rows shown, roll-ups not counted. Of more, the worst and the best by the first
        metric are shown, as many of each, from worst to best; in an answer without one, the first
        rows. A note says how many are left out. None shows all.

    Returns
    -------
    great_tables.GT
        The table. Its columns are named as those of the frame and hold HTML; hidden columns
        `<name>_value` hold the numbers, for conditions on rows. Limits are among the hidden ones.

    Raises
    ------
    MissingExtraError
        If great_tables is not installed.
    BalframeError
        If the frame is no answer of a verb, or may be of several, or an option cannot be used;
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

    Restyled, by the numbers behind the cells:

    >>> import polars as pl
    >>> from great_tables import loc, style
    >>> few = loc.body(columns="n", rows=pl.col("n_value") < 100)
    >>> table = table.tab_style(style.text(color="grey"), few).cols_hide("n_labels")
    """
    check_installed("great_tables", "table", "tables")
    _check_options(title, subtitle, decimals, bars, worst, max_rows)
    layout = Layout.of(_values(frame), verb)
    choice = choose(layout, max_rows)
    pen = Pen(layout, choice, decimals, bars=bars, worst=worst)
    return _built(pen, title, subtitle)


def _check_options(
    title: object, subtitle: object, decimals: object, bars: object, worst: object, most: object
) -> None:
    for name, text in (("title", title), ("subtitle", subtitle)):
        if text is not None and not isinstance(text, str):
            raise UnsupportedTypeError(f"{parameter(name, text)} has to be a str, or None.")
    if subtitle is not None and title is None:
        raise InvalidInputError(
            f"{parameter('subtitle')} goes below a title; give {parameter('title')} too."
        )
    check_choice("bars", bars, (True, False))
    for name, number, least in (
        ("decimals", decimals, 0),
        ("worst", worst, 0),
        ("max_rows", 2 if most is None else most, 2),
    ):
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise InvalidInputError(
                f"{parameter(name, number)} has to be a whole number from {least}."
            )


def _values(frame: Any) -> Values:  # noqa: ANN401
    """Read a frame as lists of Python values, None for null."""
    engine = engine_of(unwrapped(frame)[0])
    if engine not in (PANDAS, POLARS, POLARS_LAZY, PYARROW):
        raise UnsupportedTypeError(
            f"got a frame of {engine.name}; give the answer of a verb, which is of pandas, polars "
            "or pyarrow."
        )
    frame = collected(frame)
    names = list(frame.column_names if engine is PYARROW else frame.columns)
    twice = [name for name, number in Counter(names).items() if number > 1]
    if twice:
        raise InvalidInputError(f"columns of the same name: {listed(map(repr, twice))}.")
    rows = rows_of(frame)
    return {name: [_plain(row[name]) for row in rows] for name in names}


def _plain(value: Any) -> Any:  # noqa: ANN401 (of any type)
    """Turn numbers of numpy into those of Python, and NaN into None."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if cells.is_undefined(value) else value


def _ids(names: Sequence[Name]) -> dict[Name, str]:
    """Name the columns for great_tables and polars, which reads ^...$ as a pattern."""
    ids: dict[Name, str] = {}
    for name in names:
        text = str(name).replace("^", "") or "column"
        while text in ids.values() or text == _GROUP:
            text += "_"
        ids[name] = text
    return ids


def _built(pen: Pen, title: str | None, subtitle: str | None) -> "GT":
    """Hand the cells over to great_tables."""
    from great_tables import GT, html

    layout, rows = pen.layout, pen.choice.rows
    shown = [*layout.keys, *layout.shown]
    ids = _ids([*shown, *(one for one in layout.values if one not in shown)])
    columns = {ids[name]: [pen.cell(name, row) for row in rows] for name in shown}
    if layout.groups:
        columns[_GROUP] = [pen.heading(row) for row in rows]
    hidden = {
        f"{ids[name]}_value": [values[row] for row in rows]
        for name, values in layout.values.items()
        if name in layout.numbers and f"{ids[name]}_value" not in columns
    }
    data = of_lists(columns, hidden)
    keys = [ids[name] for name in layout.keys]
    gt = GT(
        data,
        rowname_col=keys[0] if keys and rows else None,  # a stub without rows has no label
        groupname_col=_GROUP if layout.groups else None,
    )
    gt = gt.fmt(str, columns=list(columns)).cols_hide(list(hidden))
    gt = gt.cols_label({ids[name]: html(pen.label(name)) for name in shown})
    if keys and rows:
        gt = gt.tab_stubhead(html(pen.label(layout.keys[0])))
    numbers = [ids[name] for name in layout.shown if name in layout.numbers]
    gt = gt.cols_align("left", keys).cols_align("right", numbers)
    if title is not None:
        below = None if subtitle is None else html(cells.safe(subtitle))
        gt = gt.tab_header(html(cells.safe(title)), below)
    for note in pen.notes():
        gt = gt.tab_source_note(html(note))
    return _styled(gt, pen, keys)


def _styled(gt: "GT", pen: Pen, keys: Sequence[str]) -> "GT":
    """Set roll-ups apart, and where rows are left out between the worst and the best."""
    from great_tables import loc, style

    layout = pen.layout
    if len(keys) > 1:
        edge = style.borders(sides="right", color=_EDGE, weight="2px")
        gt = gt.tab_style(edge, loc.body(columns=keys[-1]))
    is_finest = [layout.is_finest(row) for row in pen.choice.rows]
    rolled = [place for place, finest in enumerate(is_finest) if not finest]
    first = [place for place in rolled if place and is_finest[place - 1]]
    cuts = [place for place, row in enumerate(pen.choice.rows) if row in pen.choice.cuts]
    styles = (
        (rolled, style.fill(color="#f5f6f8")),
        (first, style.borders(sides="top", color="#8b949e", weight="2px")),
        (cuts, style.borders(sides="top", color="#8b949e", style="dashed", weight="2px")),
    )
    for rows, one in styles:
        if rows:
            places = [loc.body(rows=rows), *([loc.stub(rows=rows)] if keys else [])]
            gt = gt.tab_style(one, places)
    return gt.opt_align_table_header("left").tab_options(
        table_font_size="14px",
        data_row_padding="5px",
        column_labels_font_weight="bold",
        row_group_font_weight="bold",
        row_group_padding="6px",
        source_notes_font_size="12px",
        source_notes_padding="2px",
    )
