"""A table ready to be drawn, and how great_tables draws it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from balframe.frames.adapter import Name
from balframe.frames.convert_result import frame_from_lists
from balframe.tables.format_cells import escape_text

if TYPE_CHECKING:
    from great_tables import GT

_GROUP_COLUMN = "group_heading"
_EDGE, _RULE, _ROLLED_UP = "#c3c9d0", "#8b949e", "#f5f6f8"


@dataclass(frozen=True)
class TableContent:
    """The cells of a table as HTML, in columns, and what each column and row is.

    `keys` tell the rows of a group apart, `headings` stand above the groups, and `numbers` are the
    values of columns, which stay hidden. `above` is a text over some of the columns. Rows are given
    by their place: those of roll-ups, the first ones behind rows that are not shown, and those in
    italics.
    """

    cells: Mapping[Name, Sequence[str]]
    labels: Mapping[Name, str]
    keys: Sequence[Name]
    headings: Sequence[str] | None
    numbers: Mapping[Name, Sequence[Any]]
    rollups: Collection[int]
    cuts: Collection[int] = ()
    italics: Collection[int] = ()
    notes: Sequence[str] = ()
    spanner: tuple[str, Sequence[Name]] | None = None
    n_rows: int = field(init=False)

    def __post_init__(self) -> None:
        """Count the rows."""
        object.__setattr__(self, "n_rows", len(next(iter(self.cells.values()))))


def build_gt_table(sheet: TableContent, title: str | None, subtitle: str | None) -> "GT":
    """Hand the cells over to great_tables."""
    from great_tables import GT, html

    ids = _column_ids([*sheet.cells, *(name for name in sheet.numbers if name not in sheet.cells)])
    columns = {ids[name]: list(cells) for name, cells in sheet.cells.items()}
    if sheet.headings is not None:
        columns[_GROUP_COLUMN] = list(sheet.headings)
    hidden = {
        f"{ids[name]}_value": list(values)
        for name, values in sheet.numbers.items()
        if f"{ids[name]}_value" not in columns
    }
    keys = [ids[name] for name in sheet.keys]
    id_of_table = f"balframe_{token_hex(5)}"
    gt = GT(
        frame_from_lists(columns, hidden),
        rowname_col=keys[0] if keys and sheet.n_rows else None,  # a stub without rows has no label
        groupname_col=None if sheet.headings is None else _GROUP_COLUMN,
        id=id_of_table,
    )
    gt = gt.fmt(str, columns=list(columns)).cols_hide(list(hidden))
    gt = gt.cols_label({ids[name]: html(label) for name, label in sheet.labels.items()})
    if keys and sheet.n_rows:
        gt = gt.tab_stubhead(html(sheet.labels[sheet.keys[0]]))
    if sheet.spanner is not None:
        gt = gt.tab_spanner(html(sheet.spanner[0]), columns=[ids[one] for one in sheet.spanner[1]])
    numbers = [ids[one] for one in sheet.numbers if one in sheet.cells and one not in sheet.keys]
    gt = gt.cols_align("left", keys).cols_align("right", numbers)
    if title is not None:
        below = None if subtitle is None else html(escape_text(subtitle))
        gt = gt.tab_header(html(escape_text(title)), below)
    for note in sheet.notes:
        gt = gt.tab_source_note(html(note))
    # pages paint rows, as JupyterLab does in its dark theme; the table's own background stays
    css = f"#{id_of_table} tr {{ background: transparent; }}"
    return _style_rows(gt, sheet, keys).tab_options(table_additional_css=[css])


def _column_ids(names: Sequence[Name]) -> dict[Name, str]:
    """Name the columns for great_tables and polars, which reads ^...$ as a pattern."""
    ids: dict[Name, str] = {}
    for name in names:
        text = str(name).replace("^", "") or "column"
        while text in ids.values() or text == _GROUP_COLUMN:
            text += "_"
        ids[name] = text
    return ids


def _style_rows(gt: "GT", sheet: TableContent, keys: Sequence[str]) -> "GT":
    """Set roll-ups apart, and where rows are left out between the worst and the best."""
    from great_tables import loc, style

    if len(keys) > 1:
        edge = style.borders(sides="right", color=_EDGE, weight="2px")
        gt = gt.tab_style(edge, loc.body(columns=keys[-1]))
    rolled = sorted(sheet.rollups)
    first = [place for place in rolled if place and place - 1 not in sheet.rollups]
    styles = (
        (rolled, style.fill(color=_ROLLED_UP)),
        (first, style.borders(sides="top", color=_RULE, weight="2px")),
        (sorted(sheet.cuts), style.borders("top", color=_RULE, style="dashed", weight="2px")),
        (sorted(sheet.italics), style.text(style="italic")),
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
