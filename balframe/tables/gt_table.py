"""The contents of a table, and the great_tables table made of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from balframe.frames.adapter import Name
from balframe.frames.convert_result import frame_from_lists
from balframe.tables.format_cells import escape_text

if TYPE_CHECKING:
    from great_tables import GT

DARK_NOTEBOOKS = (
    'body[data-jp-theme-light="false"], body.vscode-dark, html[theme="dark"], body.dark-theme'
)
LIGHT_NOTEBOOKS = (
    'body[data-jp-theme-light="true"], body.vscode-light, html[theme="light"], body.light-theme'
)


_GROUP_COLUMN = "group_heading"
# white becomes black, which the screen of the page shows through, and hues stay
_DARK_STYLE = "filter: invert(1) hue-rotate(180deg); mix-blend-mode: screen;"
_KEY_BORDER, _ROW_BORDER, _ROLLUP_FILL = "#c3c9d0", "#8b949e", "#f5f6f8"


@dataclass(frozen=True)
class TableContent:
    """The cells of a table as HTML, in columns, and what each column and row is.

    `keys` identify the rows of a group, `headings` stand above the groups, and `numbers` are the
    values of columns, which stay hidden. `spanner` is a text over some of the columns. Rows are
    given by their position: `rollups`, `cuts` (those that follow omitted rows) and `italics`.
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
        """Set the number of rows."""
        object.__setattr__(self, "n_rows", len(next(iter(self.cells.values()))))


def build_gt_table(content: TableContent, title: str | None, subtitle: str | None) -> "GT":
    """Return the great_tables table with these cells."""
    from great_tables import GT, html

    ids = _column_ids(
        [*content.cells, *(name for name in content.numbers if name not in content.cells)]
    )
    columns = {ids[name]: list(cells) for name, cells in content.cells.items()}
    if content.headings is not None:
        columns[_GROUP_COLUMN] = list(content.headings)
    hidden = {
        f"{ids[name]}_value": list(values)
        for name, values in content.numbers.items()
        if f"{ids[name]}_value" not in columns
    }
    keys = [ids[name] for name in content.keys]
    has_stub = bool(keys) and content.n_rows > 0  # without rows it has no label
    table_id = f"balframe_{token_hex(5)}"
    gt = GT(
        frame_from_lists(columns, hidden),
        rowname_col=keys[0] if has_stub else None,
        groupname_col=None if content.headings is None else _GROUP_COLUMN,
        id=table_id,
    )
    gt = gt.fmt(str, columns=list(columns)).cols_hide(list(hidden))
    gt = gt.cols_label({ids[name]: html(label) for name, label in content.labels.items()})
    if has_stub:
        gt = gt.tab_stubhead(html(content.labels[content.keys[0]]))
    if content.spanner is not None:
        gt = gt.tab_spanner(
            html(content.spanner[0]), columns=[ids[name] for name in content.spanner[1]]
        )
    numbers = [
        ids[name] for name in content.numbers if name in content.cells and name not in content.keys
    ]
    gt = gt.cols_align("left", keys).cols_align("right", numbers)
    if title is not None:
        subtitle_html = None if subtitle is None else html(escape_text(subtitle))
        gt = gt.tab_header(html(escape_text(title)), subtitle_html)
    for note in content.notes:
        gt = gt.tab_source_note(html(note))
    # pages paint rows, as JupyterLab does in its dark theme; the table's own background stays
    css = [
        f"#{table_id} tr {{ background: transparent; }}",
        f":is({DARK_NOTEBOOKS}) #{table_id} {{ {_DARK_STYLE} }}",
    ]
    return _style_rows(gt, content, keys).tab_options(table_additional_css=css)


def _column_ids(names: Sequence[Name]) -> dict[Name, str]:
    """Return names of columns for great_tables and polars, which reads ^...$ as a pattern."""
    ids: dict[Name, str] = {}
    for name in names:
        text = str(name).replace("^", "") or "column"
        while text in ids.values() or text == _GROUP_COLUMN:
            text += "_"
        ids[name] = text
    return ids


def _style_rows(gt: "GT", content: TableContent, keys: Sequence[str]) -> "GT":
    """Mark roll-ups, the places of omitted rows, and small categories."""
    from great_tables import loc, style

    if len(keys) > 1:
        border = style.borders(sides="right", color=_KEY_BORDER, weight="2px")
        gt = gt.tab_style(border, loc.body(columns=keys[-1]))
    rollups = sorted(content.rollups)
    first = [row for row in rollups if row and row - 1 not in content.rollups]
    styles = (
        (rollups, style.fill(color=_ROLLUP_FILL)),
        (first, style.borders(sides="top", color=_ROW_BORDER, weight="2px")),
        (
            sorted(content.cuts),
            style.borders("top", color=_ROW_BORDER, style="dashed", weight="2px"),
        ),
        (sorted(content.italics), style.text(style="italic")),
    )
    for rows, row_style in styles:
        if rows:
            locations = [loc.body(rows=rows), *([loc.stub(rows=rows)] if keys else [])]
            gt = gt.tab_style(row_style, locations)
    return gt.opt_align_table_header("left").tab_options(
        table_font_size="14px",
        data_row_padding="5px",
        column_labels_font_weight="bold",
        row_group_font_weight="bold",
        row_group_padding="6px",
        source_notes_font_size="12px",
        source_notes_padding="2px",
    )
